// The engine runs here, so that the page never stalls. It steps for a part of each frame, and sends the samples.
import engineUrl from '../../build/wasm/engine.wasm?url';
import { massOf, moveBy, ratesOf, spread } from './metric';
import { placeOf, placesOf, type About, type Fault, type Handle, type Meshes, type Problem, type Row, type Sample } from './numbers';
import { startEngine } from './module.mjs';

// A world: its text, and its differences from that text.
export interface World {
  files: [string, string | Uint8Array][]; path: string; settings: [string, number][]; key: number;
  law?: string; contact?: string; leaveOut?: number[];
  from?: { t: number; q: number[]; v: number[]; params: number[] }; // it starts here, not where the text says
  ahead?: number; // for pictures: so much of the motion before the first sample
}
export type Order =
  | ({ type: 'open' } & World)
  | { type: 'play' | 'pause' | 'start' | 'step' | 'release' | 'problem' }
  | { type: 'speed'; value: number }
  | { type: 'until'; t: number }
  | { type: 'param'; index: number; value: number }
  | { type: 'place' | 'hold'; handle: Handle; to: number[] }
  | { type: 'select'; subject: number }
  | { type: 'seek'; index: number }
  | { type: 'replay'; rows: Row[]; handles: Handle[] }
  | { type: 'grab'; body: number; at: number[]; rate: number }
  | { type: 'pull'; to: number[] };

export type News =
  | { type: 'opened'; about: About; meshes: Meshes; sample: Sample; before: Sample[]; chunk: number; bits: string; kept: boolean }
  | { type: 'failed'; error: Fault; running: boolean }
  | { type: 'samples'; list: Sample[]; from: number; bits: string; rate: number }
  | { type: 'at'; sample: Sample; index: number; count: number; bits: string }
  | { type: 'replayed'; list: Sample[]; forces: Float64Array[]; pushes: number[][][] } // pushes: of each instant, at each handle
  | { type: 'problem'; problem: Problem | null; t: number }
  | { type: 'thin' | 'paused' | 'ended' };

type Engine = Awaited<ReturnType<typeof startEngine>>;
const send = (news: News) => postMessage(news);
// Compiled while it arrives; a host that does not call it application/wasm makes it compiled afterwards.
const compiled = (answer: Response) => answer.headers.get('content-type') === 'application/wasm'
  ? WebAssembly.compileStreaming(answer) : answer.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
const starting: Promise<Engine> = fetch(engineUrl).then(compiled).then(startEngine);

let engine: Engine;
let open: World | null = null; // what the world is of
let about: About, states: (Uint8Array | null)[] = [], most = 6000, chunk = 1, every = 1 / 60;
let alive = false, playing = false, speed = 1, due = 0, last = 0, held = '', cursor = 0, subject = -1;
let tickNow = 1 / 60, usualChunk = 1; // of this world
let goal = 0, waiting = false; // of 'until'

function openWorld(more = ''): boolean {
  const world = open!, coder = new TextEncoder();
  engine.forgetFiles();
  for (const [name, data] of world.files) engine.file(name, typeof data === 'string' ? coder.encode(data) : data);
  for (const [name, value] of world.settings) engine.setting(name, value);
  engine.key(world.key);
  if (world.law) engine.law(world.law);
  if (world.contact) engine.contact(world.contact);
  for (const index of world.leaveOut ?? []) engine.leaveOut(index);
  if (!engine.open(world.path, more)) return false;
  engine.select(subject);
  return true;
}

function keepState(t: number, q: ArrayLike<number>, v: ArrayLike<number>, params: ArrayLike<number>) {
  [[t], params, [], q, v].forEach((values, which) => engine.keep(which, values));
  return engine.takeOver();
}

function meshesNow(): Meshes {
  return {
    mesh: about.meshes.map((m, i) => engine.mesh(i, m.vertices, m.faces)),
    height: about.hfields.map((h, i) => engine.heights(i, h.columns * h.rows)),
  };
}

// For pictures: so much of the motion, in a few samples.
function lookAhead(time: number, tick: number): Sample[] {
  const list: Sample[] = [], steps = Math.min(600, Math.ceil(time / tick)), part = Math.max(1, Math.ceil(steps / 40)), began = performance.now();
  for (let k = 0; k < steps && performance.now() - began < 400; k++) {
    const sample = k % part === 0 ? engine.look() : null;
    if (sample) list.push(sample);
    if (engine.steps(1) < 1) break;
  }
  return list;
}

// At many times real time what moves by an adaptive method goes further at once: no frame shows what is between.
function setTick() {
  const usual = tickNow, fast = engine.setTick(speed >= 50 ? Math.max(usual, 0.3) : usual) > usual;
  chunk = fast ? 1 : usualChunk;
  every = chunk * engine.tick();
}

// A new world, or the old one with other numbers: from its start.
function begin(world: World, kept: boolean) {
  open = world;
  held = '';
  subject = kept ? subject : -1;
  alive = openWorld();
  const { from } = world;
  if (!alive || (from && !keepState(from.t, from.q, from.v, from.params))) {
    alive = playing = false;
    send({ type: 'failed', error: engine.error(), running: false });
    return;
  }
  about = engine.about();
  const tick = tickNow = engine.tick();
  chunk = usualChunk = Math.max(1, Math.round(Math.min(about.run[1] || 1 / 60, 1 / 30) / tick));
  every = chunk * tick;
  setTick();
  const before = lookAhead(world.ahead ?? 0, tick);
  const sample = engine.look();
  if (!sample) {
    send({ type: 'failed', error: engine.error(), running: false });
    return;
  }
  most = Math.max(300, Math.min(6000, Math.floor(4e6 / sample.length)));
  states = [engine.save()];
  cursor = 0;
  due = 0;
  goal = -Infinity;
  send({ type: 'opened', about, meshes: meshesNow(), sample, before, chunk, bits: engine.hash(), kept });
}

function remember(list: Sample[]) {
  const sample = engine.look();
  if (!sample) return false;
  // a world that is held has other equations: its states are shown, and not gone back to
  states.push(held ? null : engine.save());
  list.push(sample);
  cursor = states.length - 1;
  return true;
}

function fail() {
  playing = false;
  const error = engine.error();
  if (error.status === 0) send({ type: 'ended' });
  else send({ type: 'failed', error, running: true });
}

function thin() {
  if (states.length <= most) return;
  states = states.filter((_, i) => i % 2 === 0);
  cursor = states.length - 1;
  send({ type: 'thin' });
}

// Steps until the clock is reached, at most for so many milliseconds.
function advance(time: number, budget: number): boolean {
  const began = performance.now(), list: Sample[] = [], from = states.length;
  let done = 0, fine = true;
  due += time;
  while (fine && due >= every && performance.now() - began < budget) {
    fine = engine.steps(chunk) === chunk;
    if (!remember(list)) fine = false;
    due -= every;
    done += every;
  }
  if (due > every) due = every; // slower than requested: do not catch up later
  const took = (performance.now() - began) / 1000;
  if (list.length > 0) send({ type: 'samples', list, from, bits: engine.hash(), rate: took > 0 ? done / took : 0 });
  if (!fine) fail();
  thin();
  return fine;
}

function turn() {
  if (!playing) return;
  const now = performance.now();
  advance(speed * Math.min(0.1, (now - last) / 1000), 14);
  last = now;
  setTimeout(turn, 4);
}

// Follows another world up to the time that it has reached.
function follow() {
  waiting = false;
  const now = engine.look()?.[0] ?? Infinity;
  if (!alive || now >= goal - 0.5 * every) return;
  due = 0;
  if (advance(goal - now + 0.5 * every, 14) && !waiting) {
    waiting = true;
    setTimeout(follow, 2);
  }
}

// Discards all states after the one that was gone back to.
function forgetLater() {
  if (cursor < states.length - 1) states.length = cursor + 1;
}

function restoreAt(index: number) {
  let i = Math.max(0, Math.min(states.length - 1, index));
  while (i > 0 && !states[i]) i--;
  const bytes = states[i];
  if (bytes && engine.restore(bytes)) {
    cursor = i;
    const sample = engine.look();
    if (sample) send({ type: 'at', sample, index: i, count: states.length, bits: engine.hash() });
  }
}

function showAgain() {
  forgetLater();
  const sample = engine.look();
  if (!sample) return;
  states[cursor] = held ? null : engine.save();
  send({ type: 'at', sample, index: cursor, count: states.length, bits: engine.hash() });
}

// Equations: the same model with an additional spring, in the same state.
function hold({ handle, to }: Extract<Order, { type: 'place' | 'hold' }>) {
  const problem = engine.look() && engine.problem(), mass = problem ? massOf(problem, ratesOf(problem, handle.axes)) : 0;
  if (!(mass > 0)) return;
  const w = 2 * Math.PI * 1.5, k = mass * w * w, c = 2 * mass * w * 0.7, names = to.map((_, i) => 'studio_' + i);
  engine.snapshot();
  const more = `param ${names.map((name, i) => `${name} = ${to[i]}`).join(', ')}\nforce ${k}*((${names.join(', ')}) - ${handle.where}) - ${c}*${handle.rate} at ${handle.where}\n`;
  if (openWorld(more) && engine.takeOver()) {
    held = 'point';
    engine.hideParams(to.length);
  } else if (!openWorld() || !engine.takeOver()) fail();
}

function release() {
  if (held === 'body') engine.release();
  if (held === 'point') {
    engine.snapshot();
    if (!openWorld() || !engine.takeOver()) fail();
  }
  held = '';
}

function pull(to: number[]) {
  if (held === 'body') engine.pull(to);
  if (held === 'point') {
    to.forEach((value, i) => engine.setParam(about.params.length + i, value));
  }
}

// Moves a point as close to a place as the constraints allow; everything else moves as little as possible.
function place({ handle, to }: Extract<Order, { type: 'place' | 'hold' }>) {
  const p = placesOf(about), n = about.coords.length;
  for (let round = 0; round < 6; round++) {
    const sample = engine.look(), q = sample && Array.from(sample.slice(p.q, p.v)), problem = handle.axes.length > 0 ? null : engine.problem();
    if (!sample || !q) break;
    handle.axes.forEach((i, k) => { q[i] = to[k]; });
    if (handle.axes.length === 0) {
      const at = placeOf(handle, p, sample), move = problem && problem.n === n ? moveBy(problem, ratesOf(problem, []).slice(0, to.length), to.map((v, k) => v - at[k])) : null;
      if (!move) break;
      move.forEach((v, i) => { q[i] += v; });
    }
    if (!keepState(sample[0], q, sample.slice(p.v, p.a), sample.slice(p.param, p.param + about.params.length)) || handle.axes.length > 0) break;
  }
  showAgain();
}

function setParam(index: number, value: number) {
  if (engine.setParam(index, value)) {
    showAgain();
    return;
  }
  // Others were computed from it: read the file again with this number.
  const settings = open!.settings.filter(([name]) => name !== about.params[index]);
  begin({ ...open!, settings: [...settings, [about.params[index], value]] }, true);
}

// A force on the coordinates as forces at points.
function pushesOf(handles: Handle[], force: Float64Array): number[][] {
  const rates: number[][] = [];
  for (const { axes, point } of handles) {
    engine.select(point);
    const problem = engine.problem(), rows = problem ? ratesOf(problem, axes) : [];
    for (let d = 0; d < 3; d++) rates.push(rows[d] ?? Array.from(force, () => 0));
  }
  const list = spread(rates, force);
  return handles.map((_, k) => list.slice(3 * k, 3 * k + 3));
}

// A recording as instants of this model: everything that the model says about them, and the force beside its own that
// the recorded accelerations would need.
function replay({ rows, handles }: Extract<Order, { type: 'replay' }>) {
  const list: Sample[] = [], forces: Float64Array[] = [], pushes: number[][][] = [], params = engine.look()!.slice(0);
  const at = 12 + about.coords.length + 6 * about.speeds.length + about.rows.length;
  for (const row of rows) {
    if (!keepState(row.t, row.q, row.v, params.slice(at, at + about.params.length))) break;
    const sample = engine.look(), force = sample && engine.unexplained(row.a);
    if (!sample || !force) break;
    list.push(sample);
    forces.push(force);
    pushes.push(pushesOf(handles, force));
  }
  engine.select(subject);
  if (list.length === 0) fail();
  else send({ type: 'replayed', list, forces, pushes });
}

function start() {
  release();
  states.length = 1;
  if (engine.start()) {
    cursor = 0;
    goal = -Infinity;
    showAgain();
  } else fail();
}

const acts: { [K in Order['type']]: (order: Extract<Order, { type: K }>) => void } = {
  open: (order) => begin(order, false),
  play() { forgetLater(); playing = true; last = performance.now(); turn(); },
  pause() { playing = false; send({ type: 'paused' }); },
  speed: (order) => { speed = order.value; setTick(); },
  step() { forgetLater(); due = 0; advance(every * 1.0000001, 1e4); },
  until(order) { goal = order.t; if (!waiting) follow(); },
  start,
  param: (order) => setParam(order.index, order.value),
  place,
  select(order) { subject = order.subject; engine.select(subject); if (!playing) showAgain(); },
  seek(order) { playing = false; restoreAt(order.index); },
  replay,
  problem: () => send({ type: 'problem', problem: engine.problem(), t: engine.look()?.[0] ?? 0 }),
  grab(order) { if (engine.grab(order.body, order.at, order.rate)) held = 'body'; },
  hold,
  pull: (order) => pull(order.to),
  release,
};

onmessage = async (event: MessageEvent<Order>) => {
  engine ??= await starting;
  const order = event.data;
  if (order.type === 'open' || alive) (acts[order.type] as (order: Order) => void)(order);
};
