// Surfaces of meshes, hulls, height fields and recorded solids.
import * as THREE from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import type { Draw } from './numbers';

export function flat(vertex: Float64Array, face: Int32Array) {
  const geometry = new THREE.BufferGeometry(), corners = new Float32Array(3 * face.length);
  face.forEach((v, i) => { for (let k = 0; k < 3; k++) corners[3 * i + k] = vertex[3 * v + k]; });
  geometry.setAttribute('position', new THREE.BufferAttribute(corners, 3));
  geometry.computeVertexNormals();
  return geometry;
}

// The faces of a solid in a recording: lists of corners, each with its length before it.
export function faces(draw: Draw) {
  const list: number[] = [], face = draw.faces ?? [];
  for (let i = 0; i < face.length; i += face[i] + 1) for (let k = 2; k < face[i]; k++) list.push(face[i + 1], face[i + k], face[i + k + 1]);
  return flat(Float64Array.from(draw.vertices ?? []), Int32Array.from(list));
}

// A mesh without faces is its convex hull.
export function hull(vertex: Float64Array) {
  return new ConvexGeometry(Array.from({ length: vertex.length / 3 }, (_, i) => new THREE.Vector3().fromArray(vertex, 3 * i)));
}

export function field(about: { columns: number; rows: number; half: number[] }, height: Float64Array) {
  const { columns, rows, half } = about, geometry = new THREE.PlaneGeometry(2 * half[0], 2 * half[1], columns - 1, rows - 1);
  const position = geometry.getAttribute('position') as THREE.BufferAttribute;
  for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) {
    position.setXYZ(j * columns + i, -half[0] + (2 * half[0] * i) / (columns - 1), -half[1] + (2 * half[1] * j) / (rows - 1), height[j * columns + i]);
  }
  geometry.computeVertexNormals();
  return geometry;
}
