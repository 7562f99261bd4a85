// What the engine reports: about.c names the parts, look.c lists the numbers of an instant.

export interface Curve { kind: number; plot: number; output: number; x: string; y: string }
export interface Draw {
  kind: number; dimension: number; points: number; output: number; radius: number; fixed: number[]; text: string; colour: string;
  vertices?: number[]; faces?: number[]; // of a solid in a recording
}
export interface Geom {
  body: number; shape: number; mesh: number; hfield: number; group: number; touches: number;
  rgba: number[]; shine: number; size: number[]; friction: number; pos: number[]; quat: number[]; name: string;
}
export interface Joint { body: number; kind: number; pos: number[]; axis: number[]; name: string }
export interface About {
  coords: string[]; speeds: string[]; params: string[]; constraints: string[]; rows: string[]; bodies: string[];
  curves: Curve[]; draws: Draw[]; geoms: Geom[];
  meshes: { vertices: number; faces: number }[]; hfields: { columns: number; rows: number; half: number[] }[];
  parents: number[]; points: string[]; keys: string[]; controls: { param: number; limited: number; range: number[] }[];
  joints: Joint[]; equalities: string[];
  outputs: number; frames: number; contacts: number; run: number[]; method: string; contact: string; linear: number; // 1: one linearisation a step
  law: string; version: string;
  recorded?: boolean; // a recording: shapes are draws
}
export interface Fault { status: number; file: string; line: number; column: number; text: string }
export interface Meshes { mesh: { vertex: Float64Array; face: Int32Array }[]; height: Float64Array[] }

// A row of a recording, with its derivatives; and the principle as a problem (engine.h: studio_problem).
export interface Row { t: number; q: number[]; v: number[]; a: number[] }
export interface Problem { n: number; m: number; numbers: Float64Array }

export const drawKinds = ['point', 'line', 'circle', 'trail', 'spring', 'polygon', 'text', 'box', 'solid', 'plane', 'arrow'] as const;
export type Sample = Float64Array;

export const head = { t: 0, energy: 1, kinetic: 2, potential: 3, power: 4, position: 5, velocity: 6, certificate: 7, Z: 8, contacts: 9, selected: 11 };

// Where each part begins in a sample.
export interface Places {
  q: number; v: number; a: number; free: number; FN: number; FL: number; FC: number; lambda: number; param: number; output: number;
  frame: number; subject: number; contact: number;
}
export function placesOf(about: About): Places {
  const n = about.speeds.length;
  const q = 12, v = q + about.coords.length, a = v + n, free = a + n, FN = free + n, FL = FN + n, FC = FL + n;
  const lambda = FC + n, param = lambda + about.rows.length, output = param + about.params.length;
  const frame = output + about.outputs, subject = frame + 7 * about.frames, contact = subject + 12;
  return { q, v, a, free, FN, FL, FC, lambda, param, output, frame, subject, contact };
}

// Contact laws: the name in the engine, and the label.
export const contactLaws: [string, string][] = [['coulomb', 'Coulomb, exact'], ['linear', 'Coulomb, one linearisation'], ['convex', 'convex'], ['soft', 'soft, as MuJoCo']];
export const contactOf = (about: About) => (about.contact === 'coulomb' && about.linear ? 'linear' : about.contact);
export const contactSize = 14; // numbers of a contact

// A point of equations that can be selected and dragged: coordinates x and y (and z), x1 and y1, x[3] and y[3], where the text has them as a place; or
// one that the model names. `where` and `rate` are its place and velocity in the language of models.
export interface Handle { where: string; rate: string; axes: number[]; point: number } // axes: its coordinates, or none; point: its number among those with names, or -1
export function handlesOf(about: About, text: string): Handle[] {
  if (about.bodies.length > 0) return [];
  const list: Handle[] = [], wide = about.draws.some((d) => d.dimension === 3) ? 3 : 2;
  about.coords.forEach((name) => {
    const match = /^x(.*)$/.exec(name), names = match ? ['x', 'y', 'z'].map((axis) => axis + match[1]).filter((n) => about.coords.includes(n)) : [];
    const written = new RegExp('\\(\\s*' + names.map((n) => n.replace(/\[.*$/, '') + '(\\[[^\\]]*\\])?').join('\\s*,\\s*') + '\\s*\\)');
    if (names.length === wide && written.test(text)) list.push({ where: `(${names.join(', ')})`, rate: `(${names.map((n) => n + "'").join(', ')})`, axes: names.map((n) => about.coords.indexOf(n)), point: -1 });
  });
  about.points.forEach((name, point) => list.push({ where: name, rate: name + "'", axes: [], point }));
  return list;
}
// Where it is.
export const placeOf = (handle: Handle, p: Places, s: Sample): number[] =>
  (handle.axes.length > 0 ? handle.axes.map((i) => s[p.q + i]) : Array.from(s.slice(p.frame + 7 * handle.point, p.frame + 7 * handle.point + 3)));

export const sayNumber = (v: number, digits = 4) =>
  !Number.isFinite(v) ? '–' : (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) ? v.toExponential(2) : String(Number(v.toPrecision(digits)))).replace(/-/g, '\u2212');
