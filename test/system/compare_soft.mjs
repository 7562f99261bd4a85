// MuJoCo's current release (npm's @mujoco/mujoco) against our soft law: the same states, its
// solver run to the end; contacts, forces of constraints and accelerations compared; and 100 steps by
// each of its integrators.
//
//     node compare_soft.mjs PROGRAM [FILE ...]
//
// PROGRAM is compare_soft of compare_soft.c. Without files: those of test/system/soft, those of test/read, and five of the
// public models in $ZW_MODELS (or /work/shared/models), if they are there; ZW_CAMPAIGN=large has all of them. States are those of
// MuJoCo's own motion under random controls, 60 of a file, or 200 in the large campaign. Motions of 100 steps begin at five starts for each integrator,
// or $ZW_DRAWS: number 1, 2, 3 ... of a generator, none left out. Each is compared twice: step by step, from MuJoCo's state before it, and in one go.
//
// Contacts are of three kinds. MuJoCo finds some by formulas: these must be the same. It finds some by iterations, one point (ellipsoids, spheres in
// meshes): these agree as far as its iterations go, which are run to 1e-12 m: steps agree
// to 1e-5, or to ten times what its own steps differ by if it ends at 1e-8 m or begins 1e-12 or 1e-9 beside. Where several points are a matter of choice (cylinders and meshes
// with these, capsules and boxes) ours are others: such states and steps are counted ("other points"), and a motion is compared up to the first of them, and another without contacts.
// So are those in which a row has no compliance (a loop closed at the centre of mass of a body whose axle goes through it; MuJoCo's least is 1e-15: its forces
// cancel each other to their last digits), and those in which MuJoCo's solver has not ended.
//
// Motions that part by more than 1e-7 although their steps agree are compared with MuJoCo's own, begun again with speeds that differ by what the
// steps differ by, or 1e-14: what counts is how far ours is before these have parted by 1e-8, and the motion is counted as sensitive if they do.
// States and steps whose accelerations and speeds change as much as they differ if the last digit of a coordinate does are "shaky". The package is found by oracle.mjs. Exit code 77: it is not here.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import {coordinates, root, load, mujoco, setCoordinates} from './oracle.mjs';

const [program, ...given] = process.argv.slice(2);
const large = process.env.ZW_CAMPAIGN === 'large';
let motions = large ? 5 : 3;
let samples = large ? 40 : 20;
const bound = 1e-6;
// One step from the same state: round-off, amplified by the constraints; what has meshes is of floats in MuJoCo (2^-24 = 6e-8); points that it finds by
// iterations to 1e-12 m have normals that are known to the root of that in parts of a radius, 1e-5 for a centimetre (and forces turn with them), unless
// the iterations end before: then its own steps scatter as much.
const CCD = 1e-12;
const turned = 1e-5;
const stepped = (model) => model.nmesh > 0 ? 1e-7 : 1e-9;
const iterated = 1e-4;
const followed = 1e-7;
const starts = Number(process.env.ZW_DRAWS ?? 5); // of each integrator
const sensed = ['touch.xml', 'tendon_load.xml']; // sensors of contacts, too; those of all else are compared by compare_numbers.mjs

const models = process.env.ZW_MODELS ?? '/work/shared/models';
const isPublic = (file) => file.startsWith(path.resolve(models) + path.sep);

// ---- States -----------------------------------------------------------------------------------

let seed = 7;
function chance() { // -1 ... 1
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return (seed >>> 8) / 8388608 - 1;
}

// At its first key, or in the reference pose.
function begin(model, data) {
  if (model.nkey > 0) {
    mujoco.mj_resetDataKeyframe(model, data, 0);
  } else {
    mujoco.mj_resetData(model, data);
  }
  data.act.fill(0); // as ours begin
}

// The motion of MuJoCo from its first key, or the reference pose, under random controls.
function draw(model, data) {
  const list = [];
  const every = Math.max(1, Math.round(1 / model.opt.timestep / samples));
  for (let m = 0; m < motions; m++) {
    begin(model, data);
    for (let i = 0; i < model.nv; i++) {
      data.qvel[i] = 0.5 * chance();
    }
    for (let k = 0; k < samples; k++) {
      const u = Array.from(data.ctrl, (_, i) => {
        let [low, high] = model.actuator_ctrlrange.subarray(2 * i, 2 * i + 2);
        [low, high] = low < high ? [low, high] : [-1, 1];
        return (low + high) / 2 + (high - low) / 2 * chance();
      });
      data.ctrl.set(u);
      for (let i = 0; i < 3 * model.nmocap; i++) { // they are moved about
        data.mocap_pos[i] += 0.02 * chance();
      }
      for (let j = 0; j < every; j++) {
        mujoco.mj_step(model, data);
      }
      const state = {q: coordinates(model, data), v: Array.from(data.qvel), act: Array.from(data.act), u};
      if ([...state.q, ...state.v].every((x) => Math.abs(x) < 1e8)) { // and not where it explodes
        list.push(state);
      }
    }
  }
  return list;
}

// ---- Comparison -------------------------------------------------------------------------------

function apart(ours, theirs, floor) {
  let far = 0;
  let size = floor;
  for (let i = 0; i < theirs.length; i++) {
    far = Math.max(far, Math.abs(ours[i] - theirs[i]));
    size = Math.max(size, Math.abs(theirs[i]));
  }
  return far / size;
}

function ask(file, list, ...more) {
  const input = new Float64Array(list.flat());
  const said = spawnSync(program, [file, ...more], {maxBuffer: 1 << 30, input: Buffer.from(input.buffer)});
  if (said.status !== 0) {
    return {why: `we: ${(said.stdout.toString() + said.stderr.toString()).trim()}`};
  }
  const bytes = said.stdout;
  return {numbers: new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))};
}

// How MuJoCo finds the points of what touches now: 0 by formulas that we have as well (or nothing touches), 1 by iterations, to its
// ccd_tolerance (ellipsoids; spheres and capsules with meshes; capsules with cylinders), 2 by a choice of several points that differs from ours.
function rule(model, data) {
  const type = Object.fromEntries(Object.entries(mujoco.mjtGeom).filter(([name]) => name.startsWith('mjGEOM_'))
      .map(([name, it]) => [name.slice(7).toLowerCase(), it.value]));
  const formulas = [[type.plane, type.sphere], [type.plane, type.capsule], [type.plane, type.ellipsoid], [type.plane, type.cylinder],
                    [type.plane, type.box], [type.sphere, type.sphere], [type.sphere, type.capsule], [type.sphere, type.cylinder],
                    [type.sphere, type.box], [type.capsule, type.capsule], [type.capsule, type.box], [type.box, type.box]];
  const all = data.contact;
  let found = data.efc_D.subarray(0, data.nefc).some((D) => D > 1e14) || data.solver_niter[0] >= model.opt.iterations ? 2 : 0;
  for (let i = 0; i < data.ncon; i++) {
    const [a, b] = Array.from(all.get(i).geom, (g) => model.geom_type[g]).sort((x, y) => x - y);
    const smooth = a !== type.hfield && ([a, b].some((x) => x === type.sphere || x === type.ellipsoid) ||
        a === type.capsule && (b === type.cylinder || b === type.mesh));
    found = Math.max(found, formulas.some(([x, y]) => x === a && y === b) ? 0 : smooth ? 1 : 2);
  }
  return found;
}

const flat = ({q, v, act, u}) => [...q, ...v, ...act, ...u];
const RK4 = 1;
const stateOf = (model, data) => [...coordinates(model, data), ...data.qvel, ...data.act, ...data.ctrl];
const parting = (ours, theirs) => Math.max(0, ...theirs.map((x, i) => Math.abs(x - ours[i]) / Math.max(1, Math.abs(x))));
const largest = (list) => Math.max(1, ...list.map(Math.abs));

// 100 steps of MuJoCo from the start of this number: states before and after each, and by which rule its contacts were found.
// Five steps come before, under other controls: many models stand on the floor to the last bit at first, and touch it or not by round-off.
// `nudge`: the speeds differ by so much in the beginning. null: its motion explodes.
function motionOf(model, data, integrator, number, nudge) {
  seed = number;
  begin(model, data);
  model.opt.integrator = integrator;
  for (let i = 0; i < model.nv; i++) {
    data.qvel[i] += 0.1 * chance();
  }
  for (let k = 0; k < 5; k++) {
    mujoco.mj_step(model, data);
  }
  for (let i = 0; i < model.nu; i++) {
    const [low, high] = model.actuator_ctrlrange.subarray(2 * i, 2 * i + 2);
    data.ctrl[i] = low < high ? (low + high) / 2 + (high - low) / 8 * chance() : 0.1 * chance();
  }
  for (let i = 0; i < model.nv && nudge; i++) {
    data.qvel[i] += nudge * (1 + Math.abs(data.qvel[i])) * (i % 2 ? 1 : -1);
  }
  const list = [];
  data.time = 0;
  for (let k = 0; k < 100; k++) {
    const before = stateOf(model, data);
    mujoco.mj_step(model, data);
    if (data.time < (k + 0.5) * model.opt.timestep) { // it has begun again
      return null;
    }
    list.push({before, q: Array.from(data.qpos), v: Array.from(data.qvel), rule: rule(model, data)});
  }
  if (integrator === RK4) { // we see its last stage alone; the others touch what is touched in the step or in those beside it
    const own = list.map((it) => it.rule);
    list.forEach((it, k) => { it.rule = Math.max(...own.slice(Math.max(0, k - 1), k + 2)); });
  }
  return list;
}

const lastDigit = [1, -1, 3, -3, 10, -10, 30].map((digits) => [CCD, digits * 1e-15]);
const beside = [[1e-8, 0], [CCD, 1e-12], [CCD, -1e-12], [CCD, 1e-9], [CCD, -1e-9]];
// How far MuJoCo's own step from a state scatters, if its iterations end earlier or the coordinates differ slightly.
function scatter(model, data, before, ways) {
  const nq = model.nq + 7 * model.nmocap;
  const step = (tolerance, nudge) => {
    mujoco.mj_resetData(model, data);
    setCoordinates(model, data, before.slice(0, nq).map((x, i) => x + nudge * (i % 2 ? 1 : -1)));
    data.qvel.set(before.slice(nq, nq + model.nv));
    data.act.set(before.slice(nq + model.nv, nq + model.nv + model.na));
    data.ctrl.set(before.slice(nq + model.nv + model.na));
    model.opt.ccd_tolerance = tolerance;
    mujoco.mj_step(model, data);
    model.opt.ccd_tolerance = CCD;
    return Array.from(data.qvel);
  };
  const own = step(CCD, 0);
  return Math.max(...ways.map(([tolerance, nudge]) =>
      Math.max(...step(tolerance, nudge).map((x, i) => Math.abs(x - own[i]))))) / largest(own);
}

// Motions from so many starts by this integrator. Of steps from the same state (MuJoCo's, at each instant): the largest difference
// of coordinates and speeds, in parts of 1 and of their size, by the rule of its contacts; and of the 100 steps in one go, up to the
// first contact that is not by formulas. Where these part, MuJoCo's own motion is begun again with speeds that differ in the last digits:
// `sensitive` counts motions in which that grows to a tenth of what is allowed, and these are compared until then.
function follow(file, model, data, integrator, untouched) {
  const worst = {step: [0, 0, 0], steps: [0, 0, 0], lost: 0, shaky: 0, far: 0, whole: 0, sensitive: 0, explodes: 0};
  const motions = Array.from({length: starts}, (_, d) => ({number: d + 1, list: motionOf(model, data, integrator, d + 1, 0)}));
  const kept = motions.filter(({list}) => list !== null);
  worst.explodes = starts - kept.length;
  const width = model.nq + 7 * model.nmocap + model.nv;
  const nq = width - model.nv;
  const once = ask(file, kept.flatMap(({list}) => list.map(({before}) => before)), '1', String(integrator), ...(untouched ? ['untouched'] : []));
  const many = ask(file, kept.map(({list}) => list[0].before), '100', String(integrator), ...(untouched ? ['untouched'] : []));
  if (once.why || many.why) {
    return {...worst, far: NaN, step: [NaN, NaN, NaN]};
  }
  kept.forEach(({number, list}, m) => {
    let off = 0;
    const ways = []; // how far ours is from theirs after each step
    const free = list.findIndex((it) => it.rule > 0);
    list.forEach((it, k) => {
      const own = once.numbers.subarray(5 + (100 * m + k) * width, 5 + (100 * m + k + 1) * width);
      const apart = Math.max(parting(own, it.q), Math.max(...it.v.map((x, i) => Math.abs(x - own[nq + i]))) / largest(it.v));
      const trembles = it.rule === 0 && apart > stepped(model) && apart <= 10 * scatter(model, data, it.before, lastDigit);
      worst.shaky += trembles;
      worst.step[it.rule] = Math.max(worst.step[it.rule], trembles ? 0 : Number.isNaN(apart) ? Infinity : apart);
      worst.steps[it.rule]++;
      worst.lost += it.rule === 1 && !(apart <= turned) && !(apart <= 10 * scatter(model, data, it.before, beside));
      off = it.rule === 0 ? Math.max(off, apart) : off;
      if (free < 0 || k < free) {
        const at = 5 + (100 * m + k) * width;
        const now = parting(many.numbers.subarray(at, at + nq), it.q);
        ways.push(Number.isNaN(now) ? Infinity : now);
      }
    });
    worst.whole += free < 0;
    let far = Math.max(0, ...ways);
    if (far > followed) { // compared until its own motions, begun beside, have parted a tenth as far
      const others = [1, -1, 3].map((sign) => motionOf(model, data, integrator, number, sign * Math.max(off, 1e-14)));
      const grown = list.findIndex((it, k) => others.some((other) => other === null || !(parting(other[k].q, it.q) < followed / 10)));
      worst.sensitive += grown >= 0;
      far = Math.max(0, ...ways.slice(0, grown < 0 ? ways.length : grown));
    }
    worst.far = Math.max(worst.far, far);
  });
  if (worst.whole < kept.length && !untouched) {
    const flags = model.opt.disableflags;
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value;
    const alone = follow(file, model, data, integrator, true);
    model.opt.disableflags = flags;
    worst.far = Math.max(worst.far, alone.far);
    worst.step[0] = Math.max(worst.step[0], alone.step[0]);
    worst.steps[0] += alone.steps[0];
  }
  return worst;
}

// What sensors say where a step of ours has led to.
function sensors(file, model, data, states) {
  const {why, numbers} = ask(file, states.map(flat), '-1');
  let at = 5;
  let far = why ? NaN : 0;
  const take = (count) => numbers.subarray(at, at += count);
  for (let k = 0; k < states.length && !why; k++) {
    const count = take(1)[0];
    mujoco.mj_resetData(model, data);
    setCoordinates(model, data, Array.from(take(model.nq + 7 * model.nmocap)));
    data.qvel.set(take(model.nv));
    data.ctrl.set(states[k].u);
    mujoco.mj_forward(model, data);
    const said = take(count);
    for (let i = 0; i < model.nsensor && count === model.nsensordata; i++) {
      const from = model.sensor_adr[i];
      const to = from + model.sensor_dim[i];
      far = Math.max(far, apart(said.subarray(from, to), data.sensordata.subarray(from, to), 1));
    }
    far = count === model.nsensordata ? far : NaN;
  }
  return far;
}

// Of each contact: position, depth beyond its margin, normal, force along the world's axes.
function contacts(model, data) {
  const list = [];
  const all = data.contact;
  const room = new mujoco.DoubleBuffer(6);
  for (let i = 0; i < data.ncon; i++) {
    const c = all.get(i);
    if (c.efc_address < 0) {
      continue;
    }
    mujoco.mj_contactForce(model, data, i, room);
    const along = room.GetView();
    const frame = Array.from(c.frame);
    const force = [0, 1, 2].map((k) => frame[k] * along[0] + frame[3 + k] * along[1] + frame[6 + k] * along[2]);
    list.push([...c.pos, c.dist - c.includemargin, ...frame.slice(0, 3), ...force]);
  }
  room.delete();
  return list;
}

// The largest differences of the nearest ones; a contact may be seen from either side.
function compareContacts(ours, theirs) {
  const size = Math.max(1e-3, ...theirs.map((c) => Math.hypot(...c.slice(7))));
  let place = 0;
  let force = 0;
  const left = ours.slice();
  for (const c of theirs) {
    let best = null;
    left.forEach((own, at) => {
      const sign = own[4] * c[4] + own[5] * c[5] + own[6] * c[6] < 0 ? -1 : 1;
      const far = Math.max(...[0, 1, 2, 3].map((k) => Math.abs(own[k] - c[k])),
                           ...[4, 5, 6].map((k) => Math.abs(sign * own[k] - c[k])));
      if (best === null || far < best.far) {
        best = {far, at, push: Math.max(...[7, 8, 9].map((k) => Math.abs(sign * own[k] - c[k])))};
      }
    });
    place = Math.max(place, best.far);
    force = Math.max(force, best.push / size);
    left.splice(best.at, 1);
  }
  return {place, force};
}

// Do its own accelerations change by as much if the last digit of a coordinate does? (A cylinder that stands straight up to 1e-9 has
// its lowest point anywhere on the rim.) The state is as it was afterwards.
function shaky(model, data, q, v, act, u, off) {
  const at = (nudge) => {
    mujoco.mj_resetData(model, data);
    setCoordinates(model, data, q.map((x, i) => x + nudge * (i % 2 ? 1 : -1)));
    data.qvel.set(v);
    data.act.set(act);
    data.ctrl.set(u);
    mujoco.mj_forward(model, data);
    return Array.from(data.qacc);
  };
  const change = Math.max(...lastDigit.map(([, nudge]) => apart(at(nudge), at(0), 1e-3)));
  return change > off / 10;
}

function compareFile(file) {
  seed = 7; // whatever was compared before
  const model = load(file);
  if (typeof model === 'string') {
    return {why: `MuJoCo: ${model}`};
  }
  const data = new mujoco.MjData(model);
  const states = draw(model, data);
  const {why, numbers} = ask(file, states.map(flat));
  if (why) {
    return {why};
  }
  let at = 0;
  const take = (count) => numbers.subarray(at, at += count);
  const [nq, nv, activations, controls] = take(5);
  if (nq !== model.nq + 7 * model.nmocap || nv !== model.nv || activations !== model.na || controls !== model.nu) {
    return {why: `sizes differ: ${nq}/${model.nq} ${nv}/${model.nv} ${controls}/${model.nu}`};
  }
  // To the end: with 0 it would go on to the last iteration, of which nothing but the first few changes a digit.
  Object.assign(model.opt, {tolerance: 1e-20, iterations: 100, ls_iterations: 50, ls_tolerance: 1e-6, ccd_tolerance: CCD, ccd_iterations: 200});
  const worst = {nv, states: 0, contacts: 0, rows: 0, other: 0, missing: 0, shaky: 0, iterated: 0, failed: 0, place: 0, force: 0, push: 0, a: 0};
  for (const {q, v, act, u} of states) {
    const solved = take(1)[0] !== 0;
    const a = solved ? take(nv) : [];
    const push = solved ? take(nv) : [];
    const points = solved ? Array.from({length: take(1)[0]}, () => Array.from(take(10))) : [];
    mujoco.mj_resetData(model, data);
    setCoordinates(model, data, q);
    data.qvel.set(v);
    data.act.set(act);
    data.ctrl.set(u);
    mujoco.mj_forward(model, data);
    const theirs = contacts(model, data);
    const found = rule(model, data);
    if (found === 2) {
      worst.other++;
      continue;
    }
    if (!solved) {
      worst.failed++;
      continue;
    }
    if (theirs.length !== points.length) {
      worst.missing++;
      continue;
    }
    const {place, force} = compareContacts(points, theirs);
    if (found === 0 && Math.max(place, force, apart(a, data.qacc, 1e-3)) > bound && shaky(model, data, q, v, act, u, apart(a, data.qacc, 1e-3))) {
      worst.shaky++;
      continue;
    }
    if (found === 1) {
      worst.iterated = Math.max(worst.iterated, place, force, apart(push, data.qfrc_constraint, 1e-3), apart(a, data.qacc, 1e-3));
      worst.other++;
      continue;
    }
    worst.states++;
    worst.contacts += points.length;
    worst.rows += data.nefc;
    worst.place = Math.max(worst.place, place);
    worst.force = Math.max(worst.force, force);
    worst.push = Math.max(worst.push, apart(push, data.qfrc_constraint, 1e-3));
    worst.a = Math.max(worst.a, apart(a, data.qacc, 1e-3));
  }
  worst.sensors = sensed.includes(path.basename(file)) ? sensors(file, model, data, states) : 0;
  worst.stepped = stepped(model);
  worst.motions = [0, 1, 2, 3].map((integrator) => follow(file, model, data, integrator));
  data.delete();
  model.delete();
  return worst;
}

const named = ['mujoco_samples/humanoid.xml', 'mujoco_samples/car.xml', 'agility_cassie/scene.xml',
               'trossen_wx250s/wx250s.xml', 'robotiq_2f85/2f85.xml'];

// ---- The table --------------------------------------------------------------------------------

const own = path.join(root, 'test/system/soft');
// What the readers are tested with, at fewer states. Left out: what this release no longer reads.
const apartFrom = ['meshes_exact.xml'];
const read = ['test/read/mjcf_now', 'test/read/mjcf'].flatMap((folder) => fs.readdirSync(path.join(root, folder)).sort()
    .filter((name) => /\.(xml|urdf)$/.test(name) && !apartFrom.includes(name)).map((name) => path.join(root, folder, name)));
const files = given.length > 0 ? given.map((file) => path.resolve(file)) :
    [...fs.readdirSync(own).filter((name) => name.endsWith('.xml')).sort().map((name) => path.join(own, name)),
     ...read, ...publicModels()];

// All but parts of others and what lacks files of its meshes.
function publicModels() {
  if (!large) {
    return named.map((name) => path.join(models, name)).filter((file) => fs.existsSync(file));
  }
  const left = ['keyframes.xml', 'go1.xml', 'unitree_go1/scene.xml'];
  return !fs.existsSync(models) ? [] : fs.readdirSync(models).sort().flatMap((folder) => {
    const place = path.join(models, folder);
    return fs.statSync(place).isDirectory() ? fs.readdirSync(place).sort().map((name) => path.join(place, name)) : [];
  }).filter((file) => file.endsWith('.xml') && !left.some((name) => file.endsWith(name)));
}
const show = (x) => x.toExponential(0);
let bad = files.length === 0;
console.log(`MuJoCo ${mujoco.mj_versionString()}: largest relative differences\n`);
console.log('| model | dofs | states | contacts | rows | other points | shaky | places | contact forces | forces | accelerations | sensors | one step: formulas | iterated | other points | whole motions | sensitive | explode | q after 100 steps: Euler | RK4 | implicit | implicitfast | |');
console.log(`|${'---|'.repeat(23)}`);
const many = [motions, samples];
for (const file of files) {
  const few = isPublic(file) && !named.some((other) => file.endsWith(other));
  [motions, samples] = file.includes('/test/read/') ? [2, 10] : few ? [1, 10] : many;
  const w = compareFile(file);
  const name = path.join(path.basename(path.dirname(file)), path.basename(file));
  if (w.why) {
    bad = true;
    console.log(`| ${name} | ${w.why} |`);
    continue;
  }
  const total = (of) => w.motions.reduce((sum, m) => sum + m[of], 0);
  const step = [0, w.iterated, 0].map((x, k) => Math.max(x, ...w.motions.map((m) => m.step[k])));
  const good = w.failed === 0 && w.missing === 0 && w.states + w.other > 0 && [w.place, w.force, w.push, w.a].every((x) => x <= bound) &&
      w.sensors <= 1e-9 && step[0] <= w.stepped && w.iterated <= iterated && total('lost') === 0 && w.motions.every((m) => m.far <= followed);
  bad ||= !good;
  console.log(`| ${name} | ${w.nv} | ${w.states} | ${w.contacts} | ${w.rows} | ${w.other} | ${w.shaky + total('shaky')} | ${show(w.place)} | ${
      show(w.force)} | ${show(w.push)} | ${show(w.a)} | ${show(w.sensors)} | ${step.map((x, k) => x > 0 ? show(x) : '').join(' | ')} | ${
      total('whole')} of ${4 * starts} | ${total('sensitive')} | ${total('explodes')} | ${w.motions.map((m) => show(m.far)).join(' | ')} | ${
      good ? '' : 'DIFFERS'}${w.failed ? ` ${w.failed} failed` : ''}${total('lost') ? ` ${total('lost')} steps with iterated points` : ''}${w.missing ? ` ${w.missing} states with other points` : ''} |`);
}
process.exit(bad ? 1 : 0);
