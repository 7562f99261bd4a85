// The current release of MuJoCo (npm's @mujoco/mujoco, WebAssembly) against ours: the same file read by
// both, the same numbers at random states; constraints off in both.
//
//     node compare_numbers.mjs PROGRAM [STATES] [FILE ...]
//
// PROGRAM is compare_numbers of compare_numbers.c, which says what is compared. Without files: those of
// test/read, which both must read; the examples; and the public models in $ZW_MODELS (or
// /work/shared/models), if they are there. What is not compared is said by name. The package is
// looked for in $ZW_NODE_MODULES, then in build/npm/node_modules (tools/need puts it there). Exit code
// 77: it is not here.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import {root, load, mujoco, setCoordinates} from './oracle.mjs';

const [program, wanted, ...given] = process.argv.slice(2);
const states = Number(wanted ?? (process.env.ZW_CAMPAIGN === 'small' ? 10 : 100));

// ---- Comparison -------------------------------------------------------------------------------

const what = ['masses', 'M', 'bias', 'qacc', 'energies', 'momenta', 'poses', 'tendons', 'actuators', 'sensors'];

// |ours - theirs| over the largest of theirs, or over the floor if that is more: where nothing acts,
// forces are round-off.
function apart(ours, theirs, floor) {
  let far = 0;
  let size = floor;
  for (let i = 0; i < theirs.length; i++) {
    far = Math.max(far, Math.abs(ours[i] - theirs[i])); // what is no number stays so
    size = Math.max(size, Math.abs(theirs[i]));
  }
  return far / size;
}

// R diag(moment) R' as xx yy zz xy xz yz.
function tensor([w, x, y, z], moment) {
  const R = [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
  return [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]].map(
      ([i, j]) => moment.reduce((sum, m, k) => sum + R[i][k] * m * R[j][k], 0));
}

// Mass, centre and moments of every body, each relative to its own size.
function masses(model, ours) {
  let worst = 0;
  for (let i = 1; i < model.nbody; i++) {
    const own = ours.subarray(10 * i, 10 * i + 10);
    const moment = Array.from(model.body_inertia.subarray(3 * i, 3 * i + 3));
    const theirs = tensor(model.body_iquat.subarray(4 * i, 4 * i + 4), moment);
    const mass = model.body_mass[i];
    const reach = mass > 0 ? Math.sqrt(Math.max(...moment) / mass) : 1;
    worst = Math.max(worst, apart(own.subarray(0, 1), [mass], 1e-12),
                     mass > 0 ? apart(own.subarray(1, 4), model.body_ipos.subarray(3 * i, 3 * i + 3),
                                      Math.max(reach, 1e-3)) : 0, // what weighs nothing has no centre
                     apart(own.subarray(4), theirs, 1e-12));
  }
  return worst;
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

// Energies without what stands still; momenta about the origin.
function observe(model, data) {
  let still = 0; // and weights that are taken off have a potential here
  let mass = 0;
  const {mjDSBL_GRAVITY, mjDSBL_SPRING, mjDSBL_DAMPER} = mujoco.mjtDisableBit;
  const flags = model.opt.disableflags;
  const gravity = flags & mjDSBL_GRAVITY.value ? [0, 0, 0] : model.opt.gravity;
  const lifted = !(flags & mjDSBL_SPRING.value && flags & mjDSBL_DAMPER.value);
  for (let i = 1; i < model.nbody; i++) {
    mass += model.body_mass[i];
    const root = model.body_weldid[i];
    for (let k = 0; k < 3 && (root === 0 || model.body_mocapid[root] >= 0); k++) {
      still -= model.body_mass[i] * gravity[k] * data.xipos[3 * i + k];
    }
    for (let k = 0; k < 3 && lifted && root !== 0 && model.body_mocapid[root] < 0; k++) {
      still -= model.body_gravcomp[i] * model.body_mass[i] * gravity[k] * data.xipos[3 * i + k];
    }
  }
  const linear = Array.from(data.subtree_linvel.subarray(0, 3), (v) => v * mass);
  const turn = cross(data.subtree_com.subarray(0, 3), linear);
  return {
    energy: [data.energy[1], data.energy[0] - still],
    momentum: [...linear, ...turn.map((x, k) => x + data.subtree_angmom[k])],
  };
}

// Does this sensor tell principal axes of a body that has several choices of them? Or energies, which are compared on their own?
function ambiguous(model, sensor) {
  const {mjOBJ_BODY} = mujoco.mjtObj;
  const {mjSENS_E_POTENTIAL, mjSENS_E_KINETIC} = mujoco.mjtSensor;
  if ([mjSENS_E_POTENTIAL.value, mjSENS_E_KINETIC.value].includes(model.sensor_type[sensor])) {
    return true;
  }
  const of = [[model.sensor_objtype, model.sensor_objid], [model.sensor_reftype, model.sensor_refid]];
  return of.some(([type, id]) => {
    const moment = model.body_inertia.subarray(3 * id[sensor], 3 * id[sensor] + 3);
    const equal = (i, j) => Math.abs(moment[i] - moment[j]) <= 1e-12;
    return type[sensor] === mjOBJ_BODY.value && (equal(0, 1) || equal(1, 2) || equal(0, 2));
  });
}

// Of our entries (row, column) take theirs away; what is left should be nothing.
function matrix(model, data, place, M, room) {
  const n = model.nv;
  let size = 0;
  let far = 0;
  for (let e = 0; e < M.length; e++) {
    room[place[2 * e] * n + place[2 * e + 1]] = M[e];
  }
  for (let i = 0; i < n; i++) {
    for (let e = model.M_rowadr[i]; e < model.M_rowadr[i] + model.M_rownnz[i]; e++) {
      const at = i * n + model.M_colind[e];
      size = Math.max(size, Math.abs(data.M[e]));
      far = Math.max(far, Math.abs(room[at] - data.M[e]));
      room[at] = 0;
    }
  }
  for (let e = 0; e < M.length; e++) { // of which they have no entry
    const at = place[2 * e] * n + place[2 * e + 1];
    far = Math.max(far, Math.abs(room[at]));
    room[at] = 0;
  }
  return n > 0 ? far / size : far;
}

function poses(model, data, ours) {
  const body = (i, from, count) => Array.from(from.subarray(count * i, count * i + count));
  let worst = 0;
  for (let i = 1; i < model.nbody; i++) {
    const quat = ours.subarray(7 * i + 3, 7 * i + 7);
    const theirs = body(i, data.xquat, 4);
    const sign = theirs.reduce((sum, x, k) => sum + x * quat[k], 0) < 0 ? -1 : 1;
    worst = Math.max(worst, apart(ours.subarray(7 * i, 7 * i + 3), body(i, data.xpos, 3), 1),
                     apart(quat.map((x) => sign * x), theirs, 1));
  }
  return worst;
}

function compare(model, numbers, urdf) {
  let at = 0;
  const take = (count) => numbers.subarray(at, at += count);
  const [nq, nv, bodies, controls, motorsOff, entries, acts, tendons, readings] = take(9);
  const sizes = [[nq, model.nq + 7 * model.nmocap], [nv, model.nv], [bodies, model.nbody]];
  const fused = bodies > model.nbody && urdf; // MuJoCo joins what cannot move in a URDF file
  if (sizes.some(([a, b], i) => a !== b && !(fused && i === 2))) {
    return {why: `sizes differ: ${sizes.map((pair) => pair.join('/')).join(' ')}`};
  }
  const off = mujoco.mjtDisableBit;
  model.opt.disableflags |= off.mjDSBL_CONSTRAINT.value | off.mjDSBL_CONTACT.value |
      (motorsOff ? off.mjDSBL_ACTUATION.value : 0);
  model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value;
  const data = new mujoco.MjData(model);
  const worst = {motorsOff, masses: 0, fused};
  const own = take(10 * bodies);
  worst.masses = fused ? 0 : masses(model, own);
  const keep = (name, value) => worst[name] = Math.max(worst[name], value);
  what.slice(1).forEach((name) => worst[name] = 0);
  const place = take(2 * entries);
  const room = new Float64Array(nv * nv);
  for (let k = 0; k < states; k++) {
    setCoordinates(model, data, take(nq));
    data.qvel.set(take(nv));
    data.act.set(take(acts).subarray(0, motorsOff ? 0 : model.na));
    data.ctrl.set(take(controls).subarray(0, motorsOff ? 0 : model.nu));
    mujoco.mj_forward(model, data);
    mujoco.mj_subtreeVel(model, data);
    const theirs = observe(model, data);
    keep('M', matrix(model, data, place, take(entries), room));
    keep('bias', apart(take(nv), data.qfrc_bias, 1e-3));
    keep('qacc', apart(take(nv), data.qacc, 1e-3));
    keep('energies', apart(take(2), theirs.energy, 1e-12));
    const [linear, angular] = [take(3), take(3)];
    keep('momenta', nv === 0 ? 0 : Math.max(apart(linear, theirs.momentum.slice(0, 3), 1e-12), apart(angular, theirs.momentum.slice(3), 1e-12)));
    const placed = take(7 * bodies);
    keep('poses', fused ? 0 : poses(model, data, placed));
    for (let i = 0; i < tendons; i++) {
      keep('tendons', apart(take(2), [data.ten_length[i], data.ten_velocity[i]], 1e-3));
    }
    for (let i = 0; i < (motorsOff ? 0 : controls); i++) {
      const scaled = model.actuator_trntype[i] === mujoco.mjtTrn.mjTRN_TENDON.value &&
          model.tendon_actfrcrange[2 * model.actuator_trnid[2 * i] + 1] > 0; // to the range of all on a tendon: not here
      const theirs = [data.actuator_length[i], data.actuator_velocity[i], data.actuator_force[i]];
      keep('actuators', apart(take(3).subarray(0, scaled ? 2 : 3), theirs.slice(0, scaled ? 2 : 3), 1e-3));
    }
    const reading = take(readings);
    for (let i = 0; i < model.nsensor && readings === model.nsensordata; i++) {
      const from = model.sensor_adr[i];
      const to = from + model.sensor_dim[i];
      keep('sensors', ambiguous(model, i) ? 0 : apart(reading.subarray(from, to), data.sensordata.subarray(from, to), 1));
    }
  }
  data.delete();
  worst.unheard = readings !== model.nsensordata;
  return worst;
}

// ---- The table --------------------------------------------------------------------------------

const older = ['meshes_exact.xml']; // its compiler option is gone; mjcf_now/meshes.xml has the rules
const rows = [];
const silent = [];

// Whether it passed: meshes are of floats in MuJoCo, so what depends on them is known to 1e-6.
function compareFile(file, ours) {
  if (older.includes(path.basename(file))) {
    return;
  }
  const model = load(file);
  const said = spawnSync(program, [file, String(states)], {maxBuffer: 1 << 30});
  const name = path.relative(file.startsWith(root) ? root : path.dirname(path.dirname(file)), file);
  let why = null;
  if (typeof model === 'string') {
    why = `MuJoCo: ${model}`;
  } else if (said.status !== 0) {
    why = `we: ${(said.stdout.toString() + said.stderr.toString()).trim()}`;
  }
  if (why === null) {
    const bytes = said.stdout;
    const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const worst = compare(model, numbers, file.endsWith('.urdf'));
    why = worst.why ?? null;
    if (why === null) {
      // MuJoCo looks for lengths of muscles with the tolerance that the file gives its solver; ours
      // goes to round-off, and forces with that length differ by 2e-10.
      const searched = model.nu > 0 && /<muscle(?![^>]*lengthrange)[^>]*(tendon|joint)=/.test(fs.readFileSync(file, 'utf8'));
      const bound = model.nmesh > 0 && worst.masses > 1e-12 ? 1e-6 : searched ? 1e-9 : 1e-10;
      const rays = model.nmesh > 0 && model.sensor_type.includes(mujoco.mjtSensor.mjSENS_RANGEFINDER.value); // may end on meshes
      const good = worst.masses <= (model.nmesh > 0 ? 1e-6 : 1e-10) &&
          what.slice(1).every((key) => worst[key] <= (rays && key === 'sensors' ? 1e-6 : bound));
      rows.push({name: name + (worst.motorsOff ? ', motors off' : '') + (worst.unheard ? ', sensors not compared' : '') + (worst.fused ? ', bodies joined' : ''), nv: model.nv, worst, good});
    }
  }
  if (why !== null) {
    silent.push({name, why, bad: ours});
  }
  if (typeof model !== 'string') {
    model.delete();
  }
}

function robots(folder) {
  if (!fs.existsSync(folder)) {
    return [];
  }
  return fs.readdirSync(folder).filter((name) => /\.(xml|urdf)$/.test(name)).sort().map((name) => path.join(folder, name));
}

for (const file of given) {
  compareFile(path.resolve(file), false);
}
if (given.length === 0) {
  for (const folder of ['test/read/mjcf', 'test/read/mjcf_now', 'examples/bodies']) {
    robots(path.join(root, folder)).forEach((file) => compareFile(file, folder.startsWith('test')));
  }
  const models = process.env.ZW_MODELS ?? '/work/shared/models';
  if (fs.existsSync(models)) {
    for (const folder of fs.readdirSync(models).sort()) {
      const place = path.join(models, folder);
      if (fs.statSync(place).isDirectory()) {
        robots(place).forEach((file) => compareFile(file, false));
      }
    }
  } else {
    console.log(`no public models: there is no folder ${models} (see ZW_MODELS)`);
  }
}
console.log(`MuJoCo ${mujoco.mj_versionString()}, ${states} states each, largest relative differences\n`);
console.log(`| model | dofs | ${what.join(' | ')} | |`);
console.log(`|---|---|${what.map(() => '---|').join('')}---|`);
for (const {name, nv, worst, good} of rows) {
  console.log(`| ${name} | ${nv} | ${what.map((key) => worst[key].toExponential(0)).join(' | ')} | ${good ? '' : 'DIFFERS'} |`);
}
console.log('\nNot compared:');
for (const {name, why} of silent) {
  console.log(`- ${name}: ${why}`);
}
process.exit(rows.some((row) => !row.good) || silent.some((file) => file.bad) ? 1 : 0);
