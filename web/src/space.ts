// Bodies in space: their shapes, what touches with its forces, and arrows of the principle.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { contactSize, drawKinds, head, type About, type Draw, type Geom, type Meshes, type Places, type Sample } from './numbers';
import { curveColour, ghostOf, namedColour, type Theme } from './theme';
import type { Arrows, Ghost, Push } from './plane';
import { faces, field, flat, hull } from './surfaces';

interface Line { object: THREE.Object3D; update: (sample: Sample, samples: Sample[], index: number) => void }

// One motion on the stage: its numbers, and what shows them.
interface Actor { about: About; places: Places; bodies: THREE.Group[]; lines: Line[]; pale: boolean }

const up = new THREE.Vector3(0, 0, 1);
export const viewpoints: Record<string, [number, number, number]> = { usual: [0.75, -1.6, 0.62], front: [0, -1, 0.12], side: [1, 0, 0.12], top: [0, -0.001, 1] };


// What is shown: groups 0 to 2, as in MuJoCo; of models that have nothing there, all.
const shapesOf = (about: About) => { const list = about.geoms.filter((g) => g.group <= 2); return list.length > 0 ? list : about.geoms; };

// Planes have no end, whatever size they are drawn with: one can walk off a drawn floor, so it is drawn wide.
const isFloor = (g: Geom) => g.body === 0 && Math.abs(g.quat[1]) + Math.abs(g.quat[2]) < 1e-6;

export class Space {
  readonly canvas: HTMLCanvasElement;
  readonly controls: OrbitControls;
  private renderer: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  private sun = new THREE.DirectionalLight(0xffffff, 2.1);
  private world = new THREE.Group();
  private ghostWorld = new THREE.Group();
  private actor!: Actor;
  private ghost: Actor | null = null;
  private axes: THREE.Object3D[] = [];
  private gone: THREE.Object3D[] = []; // no more in the scene, disposed of behind the next frame: programs of the same kind stay compiled
  private cones: THREE.Mesh[] = [];
  private mark = new THREE.BoxHelper(new THREE.Group(), 0x888888);
  private arrows: THREE.ArrowHelper[] = [];
  private pushes: THREE.ArrowHelper[] = [];
  private principle: THREE.ArrowHelper[] = [];
  private hand: THREE.Line;
  private grip = new THREE.Mesh(new THREE.SphereGeometry(1, 20, 12), new THREE.MeshBasicMaterial());
  private about!: About;
  private places!: Places;
  private reach = 1;
  private meshSize: number[] = []; // how far a mesh reaches from its origin
  private box = new THREE.Box3();
  private middle = new THREE.Vector3();
  private turned = false;
  private push = 0;
  private longest = 0;
  private size = { width: 0, height: 0, ratio: 0 };
  private work: WebGLSync | null = null; // the frame that is being drawn
  private began = 0;
  private slow = 0;
  private dots = 2; // at most so many to a point of the page, along each axis
  private picked: THREE.Object3D[] = [];
  follow = false;
  forces = true;
  joints = false;
  moved = () => {};

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.camera.up.copy(up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => this.moved());
    this.controls.addEventListener('start', () => { this.turned = true; });
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.mark.visible = false;
    this.scene.add(this.world, this.ghostWorld, this.mark, this.sun, this.sun.target, new THREE.HemisphereLight(0xffffff, 0x8899aa, 1.5));
    this.hand = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]), new THREE.LineBasicMaterial({ color: 0x888888 }));
    this.hand.visible = this.grip.visible = false;
    this.scene.add(this.hand, this.grip);
  }

  setWorld(about: About, places: Places, meshes: Meshes, first: Sample, theme: Theme) {
    this.about = about;
    this.places = places;
    this.push = this.longest = 0;
    this.box.makeEmpty();
    this.turned = false;
    this.clear(this.world);
    this.setGhost(null, null, theme);
    for (const arrow of [...this.arrows, ...this.pushes, ...this.principle, ...this.cones]) this.scene.remove(arrow);
    this.arrows = [];
    this.pushes = [];
    this.cones = [];
    this.principle = [theme.free, theme.actual, theme.force].map((colour) => this.addArrow(colour));
    this.meshSize = meshes.mesh.map(({ vertex }) => vertex.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
    this.measure(first);
    this.actor = this.cast(about, places, meshes, theme, this.world, false);
    this.addAxes(theme);
    this.put(this.actor, first);
    this.setCamera();
  }

  private clear(group: THREE.Group) {
    this.gone.push(...group.children);
    group.clear();
  }
  private dispose() {
    for (const child of this.gone.splice(0)) child.traverse((o) => { if (o instanceof THREE.Mesh || o instanceof THREE.Line) { o.geometry.dispose(); (o.material as THREE.Material).dispose(); } });
  }

  // Another motion, drawn translucent.
  setGhost(ghost: Ghost | null, meshes: Meshes | null, theme: Theme) {
    this.clear(this.ghostWorld);
    this.ghost = ghost && meshes ? this.cast(ghost.about, ghost.places, meshes, ghostOf(theme), this.ghostWorld, true) : null;
  }

  private cast(about: About, places: Places, meshes: Meshes, theme: Theme, to: THREE.Group, pale: boolean): Actor {
    const actor: Actor = { about, places, bodies: Array.from({ length: about.bodies.length }, () => new THREE.Group()), lines: [], pale };
    for (const body of actor.bodies) to.add(body);
    this.addShapes(actor, meshes, theme, to);
    this.addDraws(actor, theme, to);
    return actor;
  }

  // The axes of joints, in the frames of their bodies; a free body has none.
  private addAxes(theme: Theme) {
    this.axes = [];
    for (const joint of this.about.joints) {
      const axis = new THREE.Vector3(...(joint.axis as [number, number, number]));
      if (!(axis.length() > 0) || !this.actor.bodies[joint.body]) continue;
      const arrow = new THREE.ArrowHelper(axis.normalize(), new THREE.Vector3(...(joint.pos as [number, number, number])), 0.16 * this.reach, theme.accent, 0.04 * this.reach, 0.025 * this.reach);
      for (const part of [arrow.line, arrow.cone]) { (part.material as THREE.Material).depthTest = false; part.renderOrder = 4; }
      this.axes.push(arrow);
      this.actor.bodies[joint.body].add(arrow);
    }
  }

  // Keeps bodies that move away in view, until the user turns the view.
  include(sample: Sample) {
    if (this.about.bodies.length > 0 || this.turned) return;
    const before = this.reach;
    this.measure(sample);
    if (this.reach > 1.02 * before) this.setCamera();
    else this.reach = before;
  }

  // Follows bodies that leave, until the user turns the view: their mean position stays within a part of the view.
  private keepInSight() {
    const moving = this.actor.bodies.slice(1);
    if (this.turned || moving.length === 0) return;
    const away = moving.reduce((sum, body) => sum.addScaledVector(body.position, 1 / moving.length), new THREE.Vector3()).sub(this.middle), far = away.length(), most = 0.35 * this.reach;
    if (far > most) away.multiplyScalar(1 - most / far); else away.set(0, 0, 0);
    away.add(this.middle).sub(this.controls.target);
    this.controls.target.add(away);
    this.camera.position.add(away);
  }

  // How large the scene is, and where.
  private measure(first: Sample) {
    const { box } = this, p = new THREE.Vector3();
    const f = this.places.frame;
    shapesOf(this.about).forEach((g) => {
      if (g.shape === 0) return;
      const size = g.shape === 6 ? this.meshSize[g.mesh] ?? 0.1 : g.shape === 7 ? Math.max(...(this.about.hfields[g.hfield]?.half ?? [1])) : Math.max(...g.size);
      p.set(first[f + 7 * g.body], first[f + 7 * g.body + 1], first[f + 7 * g.body + 2]);
      const q = new THREE.Quaternion(first[f + 7 * g.body + 4], first[f + 7 * g.body + 5], first[f + 7 * g.body + 6], first[f + 7 * g.body + 3]);
      p.add(new THREE.Vector3(...g.pos).applyQuaternion(q));
      if (size > 50) return;
      box.expandByPoint(p.clone().addScalar(size));
      box.expandByPoint(p.clone().addScalar(-size));
    });
    for (const draw of this.about.draws) {
      if (this.about.geoms.length > 0 || drawKinds[draw.kind] === 'plane' || drawKinds[draw.kind] === 'arrow') continue;
      for (let k = 0; k < draw.points; k++) {
        const at = this.places.output + draw.output + draw.dimension * k;
        p.set(first[at], first[at + 1], draw.dimension > 2 ? first[at + 2] : 0);
        const r = draw.radius ? Math.abs(first[this.places.output + draw.output + draw.points * draw.dimension]) : 0;
        if (Number.isFinite(p.x + p.y + p.z)) { box.expandByPoint(p.clone().addScalar(r)); box.expandByPoint(p.clone().addScalar(-r)); }
      }
    }
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    this.reach = Math.max(0.05, sphere.radius);
    this.middle.copy(sphere.center);
  }

  fitted() { this.turned = true; } // from now on only the user moves the camera
  look(from: string) { this.turned = true; this.setCamera(new THREE.Vector3(...(viewpoints[from] ?? viewpoints.usual))); }
  setCamera(from = new THREE.Vector3(...viewpoints.usual)) {
    this.controls.target.copy(this.middle);
    const far = (1.1 * this.reach) / Math.sin((0.5 * this.camera.fov * Math.PI) / 180) / Math.min(1, this.camera.aspect);
    this.camera.position.copy(this.controls.target).addScaledVector(from.clone().normalize(), Math.max(far, 0.2));
    this.camera.near = far / 200;
    this.camera.far = far * 60;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  sameView(other: Space) {
    this.turned = true;
    this.controls.target.copy(other.controls.target);
    this.camera.position.copy(other.camera.position);
    this.camera.near = other.camera.near;
    this.camera.far = other.camera.far;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  private colourOf(theme: Theme, body: number) {
    const { parents } = this.about;
    if (body === 0) return theme.dark ? '#59626d' : '#c6ccd4';
    const roots = parents.map((p, i) => (i > 0 && p === 0 ? i : -1)).filter((i) => i > 0);
    let root = body;
    while (parents[root] !== 0) root = parents[root];
    if (roots.length > 1) return curveColour(theme, roots.indexOf(root));
    // one mechanism is of one colour; neighbours differ by their shade
    let deep = 0;
    for (let at = body; at !== 0; at = parents[at]) deep++;
    return '#' + new THREE.Color(curveColour(theme, 0)).lerp(new THREE.Color(theme.dark ? '#2b3440' : '#ffffff'), deep % 2 ? 0.12 : 0.42).getHexString();
  }

  private addShapes({ about, bodies, pale }: Actor, meshes: Meshes, theme: Theme, to: THREE.Group) {
    if (!pale) this.picked = [];
    shapesOf(about).forEach((g) => {
      if (pale && g.body === 0) return;
      const geometry = this.shape(g, meshes);
      if (!geometry) return;
      const ground = g.shape === 0, colour = new THREE.Color(this.colourOf(theme, g.body));
      // the model's own colour, where it says one (opacity -1: none)
      const own = g.rgba[3] >= 0, opacity = pale ? 0.45 : own ? g.rgba[3] : 1;
      if (opacity === 0) return;
      if (own) colour.setRGB(g.rgba[0], g.rgba[1], g.rgba[2], THREE.SRGBColorSpace);
      const material = new THREE.MeshStandardMaterial({
        color: ground && !own ? (theme.dark ? '#20262d' : '#eef0f3') : colour, roughness: own ? 1 - Math.min(1, Math.max(0, g.shine)) : 0.75, metalness: 0.02,
        side: g.shape === 7 || ground ? THREE.DoubleSide : THREE.FrontSide, transparent: opacity < 1, opacity, depthWrite: opacity === 1,
      });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.set(g.pos[0], g.pos[1], g.pos[2]);
      mesh.quaternion.set(g.quat[1], g.quat[2], g.quat[3], g.quat[0]).normalize();
      mesh.castShadow = !ground && !pale;
      mesh.receiveShadow = !pale;
      mesh.userData.body = g.body;
      if (g.body > 0 && !pale) this.picked.push(mesh);
      bodies[g.body]?.add(mesh);
      if (ground) mesh.add(this.paper(theme, g));
    });
    if (!pale && !about.geoms.some((g) => g.shape === 0) && !about.draws.some((d) => drawKinds[d.kind] === 'plane')) to.add(this.paper(theme, null));
  }

  private paper(theme: Theme, g: Geom | null, onGround = g !== null) {
    const raw = this.reach / 4, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw)!;
    const size = g && isFloor(g) ? 160 * step : g && g.size[0] > 0 ? 2 * Math.min(g.size[0], 40 * step) : 40 * step;
    const grid = new THREE.GridHelper(size, Math.max(2, Math.round(size / step)), theme.line, onGround ? (theme.dark ? '#3a434d' : '#c3cad2') : theme.dark ? '#2c333b' : '#dfe3e8');
    grid.rotation.x = Math.PI / 2;
    grid.position.z = 0.0015 * this.reach;
    return grid;
  }

  private shape(g: Geom, meshes: Meshes): THREE.BufferGeometry | null {
    const [a, b, c] = g.size, turn = (x: THREE.BufferGeometry) => x.rotateX(Math.PI / 2);
    if (g.shape === 0) return new THREE.PlaneGeometry(a > 0 && !isFloor(g) ? 2 * a : 80 * this.reach, b > 0 && !isFloor(g) ? 2 * b : 80 * this.reach);
    if (g.shape === 1) return new THREE.SphereGeometry(a, 32, 20);
    if (g.shape === 2) return turn(new THREE.CapsuleGeometry(a, 2 * b, 10, 24));
    if (g.shape === 3) return new THREE.SphereGeometry(1, 32, 20).scale(a, b, c);
    if (g.shape === 4) return turn(new THREE.CylinderGeometry(a, a, 2 * b, 36));
    if (g.shape === 5) return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
    if (g.shape === 8) return turn(new THREE.CylinderGeometry(0, a, 2 * b, 36));
    if (g.shape === 6 && meshes.mesh[g.mesh]) {
      const { vertex, face } = meshes.mesh[g.mesh];
      return face.length > 0 ? flat(vertex, face) : hull(vertex);
    }
    if (g.shape === 7 && meshes.height[g.hfield]) return field(this.about.hfields[g.hfield], meshes.height[g.hfield]);
    return null;
  }

  // Lines and points that a model draws in space.
  private addDraws({ about, places, lines }: Actor, theme: Theme, to: THREE.Group) {
    const trailColour = curveColour(theme, 1);
    about.draws.forEach((draw, i) => {
      const kind = drawKinds[draw.kind], at = (k: number) => places.output + draw.output + draw.dimension * k;
      const read = (s: Sample, k: number) => new THREE.Vector3(s[at(k)], s[at(k) + 1], draw.dimension > 2 ? s[at(k) + 2] : 0);
      const robot = about.geoms.length > 0;
      if (about.recorded && (kind === 'box' || kind === 'solid' || kind === 'plane' || kind === 'arrow')) {
        lines.push(this.addRecorded(draw, i, places, theme));
        return;
      }
      if (kind === 'box' || kind === 'solid' || kind === 'plane' || kind === 'arrow' || kind === 'text' || (robot && (draw.radius || kind === 'circle' || kind === 'point'))) return;
      const many = about.draws.length > 8;
      const solid = about.recorded === true && draw.radius === 1; // a shape of a robot
      const colour = namedColour(theme, draw.colour, solid ? this.shade(theme, i) : kind === 'line' ? theme.ink : curveColour(theme, many ? 0 : i));
      if (kind === 'trail') {
        const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: namedColour(theme, draw.colour, trailColour) }));
        line.frustumCulled = false;
        lines.push({ object: line, update: (_, samples, index) => {
          const step = Math.max(1, Math.ceil(index / 2000)), list: THREE.Vector3[] = [];
          for (let k = 0; k < index; k += step) list.push(read(samples[k], 0));
          list.push(read(samples[index], 0));
          line.geometry.dispose();
          line.geometry = new THREE.BufferGeometry().setFromPoints(list);
        } });
      } else if (kind === 'point' || kind === 'circle') {
        const material = new THREE.MeshStandardMaterial({ color: colour, roughness: 0.7, transparent: kind === 'circle' && !solid, opacity: kind === 'circle' && !solid ? 0.55 : 1 });
        for (let k = 0; k < draw.points; k++) {
          const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 28, 18), material);
          ball.castShadow = kind === 'point' || solid;
          lines.push({ object: ball, update: (s) => {
            ball.position.copy(read(s, k));
            ball.scale.setScalar(kind === 'circle' && draw.radius ? Math.abs(s[at(draw.points)]) || 1e-6 : 0.035 * this.reach);
          } });
        }
      } else {
        const closed = kind === 'polygon', rods = draw.points <= 12 && kind !== 'polygon';
        const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: colour }));
        line.frustumCulled = false;
        const tubes = rods ? Array.from({ length: draw.points - 1 }, () => new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 14).rotateX(Math.PI / 2), new THREE.MeshStandardMaterial({ color: colour, roughness: 0.7 }))) : [];
        // a recorded shape is round at its ends; what moves in equations has a ball there
        const ends = rods && (solid || (!robot && !draw.radius && draw.fixed.some((f) => !f))) ? Array.from({ length: draw.points }, () => new THREE.Mesh(new THREE.SphereGeometry(1, 24, 14), new THREE.MeshStandardMaterial({ color: colour, roughness: 0.7 }))) : [];
        const group = new THREE.Group();
        group.add(line, ...tubes, ...ends);
        lines.push({ object: group, update: (s) => {
          const list = Array.from({ length: draw.points }, (_, k) => read(s, k));
          if (closed) list.push(list[0]);
          line.visible = !rods;
          if (!rods) {
            line.geometry.dispose();
            line.geometry = new THREE.BufferGeometry().setFromPoints(list);
          }
          ends.forEach((end, k) => {
            end.castShadow = true;
            end.visible = solid || !draw.fixed.slice(draw.dimension * k, draw.dimension * (k + 1)).every((f) => f);
            end.position.copy(list[k]);
            end.scale.setScalar(solid ? Math.abs(s[at(draw.points)]) : 0.03 * this.reach);
          });
          tubes.forEach((tube, k) => {
            const way = list[k + 1].clone().sub(list[k]), length = way.length(), thick = draw.radius ? Math.abs(s[at(draw.points)]) : 0.011 * this.reach;
            tube.visible = length > 0;
            tube.castShadow = true;
            tube.position.copy(list[k]).addScaledVector(way, 0.5);
            tube.scale.set(thick, thick, length);
            if (length > 0) tube.quaternion.setFromUnitVectors(up, way.multiplyScalar(1 / length));
          });
        } });
      }
    });
    for (const line of lines) to.add(line.object);
  }

  // Neighbours differ by their shade.
  private shade(theme: Theme, i: number) {
    return '#' + new THREE.Color(curveColour(theme, 0)).lerp(new THREE.Color(theme.dark ? '#2b3440' : '#ffffff'), i % 2 ? 0.12 : 0.42).getHexString();
  }

  // Shapes of a recording: a box by four corners, a solid by its origin and three axes, a plane, a force.
  private addRecorded(draw: Draw, i: number, places: Places, theme: Theme): Line {
    const kind = drawKinds[draw.kind], at = (k: number) => places.output + draw.output + 3 * k, still = draw.fixed.every((f) => f);
    const read = (s: Sample, k: number) => new THREE.Vector3(s[at(k)], s[at(k) + 1], s[at(k) + 2]);
    if (kind === 'arrow') {
      const arrow = this.addArrow(namedColour(theme, draw.colour, theme.force));
      this.scene.remove(arrow);
      return { object: arrow, update: (s) => {
        const from = read(s, 0), way = read(s, 1).sub(from);
        if (this.forces && Number.isFinite(way.x + way.y + way.z)) this.setArrow(arrow, from, way); else arrow.visible = false;
      } };
    }
    const ground = kind === 'plane', colour = namedColour(theme, draw.colour, ground ? (theme.dark ? '#20262d' : '#eef0f3') : still ? (theme.dark ? '#59626d' : '#c6ccd4') : this.shade(theme, i));
    const geometry = ground ? new THREE.PlaneGeometry(80 * this.reach, 80 * this.reach) : kind === 'box' ? new THREE.BoxGeometry(1, 1, 1).translate(0.5, 0.5, 0.5) : faces(draw);
    const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: colour, roughness: 0.75, side: THREE.DoubleSide }));
    mesh.castShadow = !ground;
    mesh.receiveShadow = true;
    mesh.matrixAutoUpdate = mesh.frustumCulled = false;
    if (ground) mesh.add(this.paper(theme, null, true));
    return { object: mesh, update: (s) => {
      const o = read(s, 0), x = read(s, 1).sub(o), y = read(s, 2).sub(o), z = ground ? x.clone().cross(y) : read(s, 3).sub(o);
      mesh.visible = Number.isFinite(o.x + x.x + y.x + z.x);
      mesh.matrix.makeBasis(x, y, z).setPosition(o);
    } };
  }

  private addArrow(colour: string) {
    const arrow = new THREE.ArrowHelper(up, new THREE.Vector3(), 1, colour);
    for (const part of [arrow.line, arrow.cone]) {
      (part.material as THREE.Material).depthTest = false;
      part.renderOrder = 5;
    }
    arrow.visible = false;
    this.scene.add(arrow);
    return arrow;
  }

  private put({ places, bodies }: Actor, sample: Sample) {
    const f = places.frame;
    bodies.forEach((body, i) => {
      const at = f + 7 * i;
      body.position.set(sample[at], sample[at + 1], sample[at + 2]);
      body.quaternion.set(sample[at + 4], sample[at + 5], sample[at + 6], sample[at + 3]);
    });
  }

  private setArrow(arrow: THREE.ArrowHelper, from: THREE.Vector3, way: THREE.Vector3) {
    const length = way.length();
    arrow.visible = length > 0.002 * this.reach;
    if (!arrow.visible) return;
    arrow.position.copy(from);
    arrow.setDirection(way.clone().multiplyScalar(1 / length));
    arrow.setLength(length, Math.min(0.06 * this.reach, 0.4 * length), Math.min(0.03 * this.reach, 0.2 * length));
  }

  private paintContacts(sample: Sample, theme: Theme) {
    const count = this.forces ? Math.min(400, Math.round(sample[head.contacts])) : 0;
    while (this.arrows.length < count) this.arrows.push(this.addArrow(theme.force));
    let largest = 0;
    const vector = (i: number) => new THREE.Vector3(sample[i], sample[i + 1], sample[i + 2]);
    for (let k = 0; k < count; k++) largest = Math.max(largest, vector(this.places.contact + contactSize * k + 3).length());
    this.push = Math.max(largest, 0.98 * this.push);
    const slide = new THREE.Color(curveColour(theme, 4)), stick = new THREE.Color(theme.force);
    this.arrows.forEach((arrow, k) => {
      const at = this.places.contact + contactSize * k;
      if (k >= count || !(this.push > 0)) { arrow.visible = false; return; }
      // the square root, so that small forces remain visible beside large ones
      const force = vector(at + 3), size = force.length();
      this.setArrow(arrow, vector(at), size > 0 ? force.multiplyScalar((0.3 * this.reach * Math.sqrt(size / this.push)) / size) : force);
      arrow.setColor(sample[at + 9] === 2 ? slide : stick);
    });
    this.paintCones(sample, count, theme, slide, stick);
  }

  // The cone of friction at each contact: the force lies within it where it sticks, on it where it slides.
  private paintCones(sample: Sample, count: number, theme: Theme, slide: THREE.Color, stick: THREE.Color) {
    const shown = Math.min(count, 60), high = 0.16 * this.reach;
    while (this.cones.length < shown) {
      const cone = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 28, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5), new THREE.MeshBasicMaterial({ color: theme.force, transparent: true, opacity: 0.16, depthWrite: false, side: THREE.DoubleSide }));
      this.cones.push(cone);
      this.scene.add(cone);
    }
    this.cones.forEach((cone, k) => {
      const at = this.places.contact + contactSize * k, { geoms } = this.about;
      const mu = k < shown ? Math.max(geoms[sample[at + 12]]?.friction ?? 0, geoms[sample[at + 13]]?.friction ?? 0) : 0;
      cone.visible = k < shown && mu > 0;
      if (!cone.visible) return;
      cone.position.set(sample[at], sample[at + 1], sample[at + 2]);
      cone.quaternion.setFromUnitVectors(up, new THREE.Vector3(sample[at + 6], sample[at + 7], sample[at + 8]));
      cone.scale.set(high * mu, high * mu, high);
      (cone.material as THREE.MeshBasicMaterial).color.copy(sample[at + 9] === 2 ? slide : stick);
    });
  }

  // Forces that a model does not explain; torques in another colour.
  private paintPushes(list: Push[], theme: Theme) {
    while (this.pushes.length < list.length) this.pushes.push(this.addArrow(theme.force));
    this.pushes.forEach((arrow, k) => {
      const push = list[k], size = push ? Math.hypot(...push.force) : 0;
      if (!(size > 0)) { arrow.visible = false; return; }
      const vector = (v: number[]) => new THREE.Vector3(v[0], v[1], v[2] ?? 0);
      this.setArrow(arrow, vector(push.at), vector(push.force).multiplyScalar((0.6 * this.reach * push.share) / size));
      arrow.setColor(push.turns ? curveColour(theme, 4) : theme.force);
    });
  }

  private paintPrinciple(set: Arrows | null) {
    const vector = (v?: number[]) => new THREE.Vector3(v?.[0] ?? 0, v?.[1] ?? 0, v?.[2] ?? 0);
    const from = vector(set?.at), actual = vector(set?.actual), free = vector(set?.free), size = Math.max(actual.length(), free.length());
    if (!(size > 0)) { for (const arrow of this.principle) arrow.visible = false; return; }
    this.longest = Math.max(size, 0.995 * this.longest);
    const scale = (0.6 * this.reach) / this.longest;
    this.setArrow(this.principle[0], from, free.clone().multiplyScalar(scale));
    this.setArrow(this.principle[1], from, actual.clone().multiplyScalar(scale));
    this.setArrow(this.principle[2], from.clone().addScaledVector(free, scale), actual.sub(free).multiplyScalar(scale));
  }

  // False: the frame before is still being drawn, come again. So no frames pile up, and the page stays awake where
  // drawing is slow; there it takes fewer dots while things move, and at last no shadows.
  paint(theme: Theme, samples: Sample[], index: number, principle: Arrows | null, pull: [number[], number[]] | null, body: number, still: boolean, ghost: Ghost | null = null, pushes: Push[] = []): boolean {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!(width > 0 && height > 0)) return true;
    if (this.busy()) return false;
    this.setSize(width, height, Math.min(still ? 2 : this.dots, devicePixelRatio || 1));
    this.paintPushes(pushes, theme);
    this.show(samples, index, theme, principle, pull, body, ghost);
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    this.work = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.began = performance.now();
    return true;
  }

  private busy() {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    if (!this.work) return false;
    if (!gl.isContextLost() && gl.getSyncParameter(this.work, gl.SYNC_STATUS) !== gl.SIGNALED) return true;
    gl.deleteSync(this.work);
    this.work = null;
    this.slow = performance.now() - this.began > 50 && this.size.ratio <= this.dots ? this.slow + 1 : 0;
    if (this.slow >= 4) {
      this.slow = 0;
      if (this.dots > 0.5) this.dots = Math.min(this.dots, devicePixelRatio || 1) / 1.5;
      else this.sun.castShadow = false;
    }
    return false;
  }

  private setSize(width: number, height: number, ratio: number) {
    if (this.size.width === width && this.size.height === height && this.size.ratio === ratio) return;
    this.size = { width, height, ratio };
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  private show(samples: Sample[], index: number, theme: Theme, principle: Arrows | null, pull: [number[], number[]] | null, body: number, ghost: Ghost | null = null) {
    const sample = samples[index];
    this.put(this.actor, sample);
    for (const line of this.actor.lines) line.update(sample, samples, index);
    this.ghostWorld.visible = ghost !== null;
    if (ghost && this.ghost) {
      this.put(this.ghost, ghost.samples[ghost.index]);
      for (const line of this.ghost.lines) line.update(ghost.samples[ghost.index], ghost.samples, ghost.index);
    }
    for (const axis of this.axes) axis.visible = this.joints;
    const chosen = principle && body > 0 ? this.actor.bodies[body] : undefined;
    this.mark.visible = chosen !== undefined && chosen.children.length > 0;
    if (chosen && this.mark.visible) {
      (this.mark.material as THREE.LineBasicMaterial).color.set(theme.accent);
      this.mark.setFromObject(chosen);
    }
    this.paintContacts(sample, theme);
    this.paintPrinciple(principle);
    if (!this.follow) this.keepInSight();
    else if (body > 0 && this.actor.bodies[body]) {
      const to = this.actor.bodies[body].position.clone().sub(this.controls.target);
      this.controls.target.add(to);
      this.camera.position.add(to);
    }
    this.hand.visible = this.grip.visible = pull !== null;
    if (pull) {
      const [from, to] = pull.map((p) => new THREE.Vector3().fromArray(p));
      this.hand.geometry.setFromPoints([from, to]);
      this.grip.position.copy(to);
      this.grip.scale.setScalar(0.02 * this.reach);
      for (const part of [this.hand, this.grip]) (part.material as THREE.MeshBasicMaterial).color.set(theme.accent);
    }
    this.sun.position.copy(this.controls.target).add(new THREE.Vector3(0.5, -0.8, 1.8).multiplyScalar(3 * this.reach));
    this.sun.target.position.copy(this.controls.target);
    const shade = this.sun.shadow.camera, wide = 2.2 * this.reach;
    [shade.left, shade.right, shade.top, shade.bottom, shade.near, shade.far] = [-wide, wide, wide, -wide, 0.1 * this.reach, 12 * this.reach];
    shade.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
    this.dispose();
  }

  // A small picture of the last sample, with the way to it, whatever the canvas' size on the page is.
  picture(theme: Theme, samples: Sample[], width: number, height: number) {
    this.setSize(width, height, 1);
    for (const sample of samples) this.include(sample);
    this.setCamera();
    this.show(samples, samples.length - 1, theme, null, null, -1);
  }

  free() { this.controls.dispose(); this.renderer.dispose(); }

  // The body under a place of the canvas, and the point of it that was met, in its frame and in the world.
  pick(x: number, y: number): { body: number; local: number[]; world: number[] } | null {
    const ray = this.ray(x, y), hit = ray.intersectObjects(this.picked, false)[0];
    if (!hit) return null;
    const body = hit.object.userData.body as number;
    return { body, local: this.actor.bodies[body].worldToLocal(hit.point.clone()).toArray(), world: hit.point.toArray() };
  }
  // The frequency w of the spring of the pointer, on which bodies hang lower by a twentieth of the size of the scene: g / w^2 = size / 20.
  springRate() { return Math.sqrt((20 * 9.81) / this.reach); }
  // Where on the canvas the first shape of a body that can be held is.
  somewhere(): [number, number] | null {
    const shape = this.picked[0]?.getWorldPosition(new THREE.Vector3());
    return shape ? this.place(shape.toArray()) : null;
  }
  private ray(x: number, y: number) {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight), this.camera);
    return ray;
  }
  // Where a point of the world is on the canvas.
  place = (p: number[]): [number, number] => {
    const at = new THREE.Vector3(p[0], p[1], p[2] ?? 0).project(this.camera);
    return [(0.5 + 0.5 * at.x) * this.canvas.clientWidth, (0.5 - 0.5 * at.y) * this.canvas.clientHeight];
  };
  // The place under the mouse, at the depth of a point.
  at(x: number, y: number, depth: number[]): number[] | null {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3(depth[0], depth[1], depth[2] ?? 0));
    return this.ray(x, y).ray.intersectPlane(plane, new THREE.Vector3())?.toArray() ?? null;
  }
  pointOf(body: number, local: number[]) { return this.actor.bodies[body].localToWorld(new THREE.Vector3(...(local as [number, number, number]))).toArray(); }
}
