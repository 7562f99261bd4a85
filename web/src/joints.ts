// Forces on the speeds of joints as arrows: along the axis of a slide, about that of a hinge, of free and ball joints in their frames.
import type { About, Places, Sample } from './numbers';
import type { Push } from './plane';

const kinds = ['free', 'ball', 'slide', 'hinge'];

// v turned by the quaternion (w, x, y, z): v + 2 u x (u x v + w v).
function turned([w, x, y, z]: number[], v: number[]): number[] {
  const cross = (a: number[], b: number[]) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], u = [x, y, z];
  const once = cross(u, v).map((c, k) => c + w * v[k]), twice = cross(u, once);
  return v.map((c, k) => c + 2 * twice[k]);
}

export function jointPushes(about: About, p: Places, sample: Sample, force: ArrayLike<number>): Push[] {
  const list: Push[] = [];
  about.joints.forEach((joint, i) => {
    const kind = kinds[joint.kind], name = joint.name || 'joint' + i, f = p.frame + 7 * joint.body, quat = Array.from(sample.slice(f + 3, f + 7));
    const at = turned(quat, joint.pos).map((v, k) => v + sample[f + k]), first = about.speeds.indexOf(kind === 'free' ? name + '.vx' : kind === 'ball' ? name + '.wx' : name + "'");
    if (first < 0) return;
    const three = (k: number) => [0, 1, 2].map((d) => force[first + k + d]);
    if (kind === 'free') list.push({ at, force: three(0), turns: false, share: 0 });
    if (kind === 'free' || kind === 'ball') list.push({ at, force: turned(quat, three(kind === 'free' ? 3 : 0)), turns: true, share: 0 });
    else list.push({ at, force: turned(quat, joint.axis).map((v) => v * force[first]), turns: kind === 'hinge', share: 0 });
  });
  return list;
}
