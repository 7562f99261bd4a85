// MuJoCo's current release checks `zwang export`: it reads the file and what zwang made of it,
// and both must have the same keys, and the same numbers at random states and after some steps (without contacts where
// there are meshes), with MuJoCo's solver run to the end.
//
//     node compare_export.mjs ZWANG [FILE ...]
//
// ZWANG is the program. Without files: those of test/read, the examples, and the public models in
// $ZW_MODELS (or /work/shared/models), if they are there. What is refused, or not read by MuJoCo, is said
// by name. Exit code 77: the package is not here.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {root, load, mujoco} from '../system/oracle.mjs';

const [program, ...given] = process.argv.slice(2);
const states = process.env.ZW_CAMPAIGN === 'small' ? 3 : 10;
const nudges = [1e-15, -1e-15, 1e-14]; // what differs no more than MuJoCo does when its coordinates change by that is the same
const what = ['keys', 'mass', 'energy', 'bias', 'passive', 'actuators', 'sensors', 'qacc', '20 steps'];

let seed = 1;
function random() { // from -1 to 1
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 1073741824 - 1;
}

// |a - b| over the largest, or over the floor where nothing acts.
function apart(a, b, floor) {
  if (a.length !== b.length) {
    return Infinity;
  }
  let far = 0;
  let size = floor;
  for (let i = 0; i < a.length; i++) {
    far = Math.max(far, Math.abs(a[i] - b[i]));
    size = Math.max(size, Math.abs(b[i]));
  }
  return far / size;
}

// Readings but those of axes of inertia, which are not unique where moments are equal.
function readings(model, data) {
  const list = [];
  for (let i = 0; i < model.nsensor; i++) {
    const inertial = mujoco.mjtObj.mjOBJ_BODY.value;
    if (model.sensor_objtype[i] !== inertial && model.sensor_reftype[i] !== inertial) {
      list.push(...data.sensordata.subarray(model.sensor_adr[i], model.sensor_adr[i] + model.sensor_dim[i]));
    }
  }
  return list;
}

// Where a file attaches others, their keys are not read (docs/bodies.md).
function compare(one, two, keys) {
  const names = ['nq', 'nv', 'nu', 'nbody', 'njnt', 'ngeom', 'neq', 'ntendon', 'nsensordata', 'npair', 'nexclude', 'nmocap', ...(keys ? ['nkey'] : [])];
  const differ = names.filter((name) => one[name] !== two[name]);
  if (differ.length > 0) {
    return {why: 'sizes differ: ' + differ.map((name) => `${name} ${one[name]}/${two[name]}`).join(' ')};
  }
  seed = 1; // every file has the same states, whatever files there are
  const worst = Object.fromEntries(what.map((key) => [key, 0]));
  const keep = (key, value) => worst[key] = Math.max(worst[key], value);
  keep('mass', apart(one.body_mass, two.body_mass, 1e-12));
  for (const key of one.nkey !== two.nkey ? [] : ['time', 'qpos', 'qvel', 'act', 'ctrl', 'mpos', 'mquat']) {
    keep('keys', apart(one[`key_${key}`], two[`key_${key}`], 1));
  }
  for (const {opt} of [one, two]) {
    opt.tolerance = 0;
    opt.ls_tolerance = opt.ccd_tolerance = 1e-12;
    opt.iterations = opt.ccd_iterations = 1000;
    opt.ls_iterations = 200;
    opt.disableflags &= ~mujoco.mjtDisableBit.mjDSBL_WARMSTART.value;
  }
  one.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value;
  two.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value;
  if (one.nmesh > 0) { // which points of two hulls touch hangs on the last bits of their frames
    one.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value;
    two.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value;
  }
  const a = new mujoco.MjData(one);
  const b = new mujoco.MjData(two);
  for (let k = 0; k < states; k++) {
    mujoco.mj_resetData(one, a);
    mujoco.mj_resetData(two, b);
    for (let i = 0; i < one.nq; i++) {
      a.qpos[i] += 0.1 * random();
    }
    mujoco.mj_normalizeQuat(one, a.qpos);
    for (let i = 0; i < one.nv; i++) {
      a.qvel[i] = 0.1 * random();
    }
    for (let i = 0; i < one.nu; i++) {
      a.ctrl[i] = random();
    }
    b.qpos.set(a.qpos);
    b.qvel.set(a.qvel);
    b.ctrl.set(a.ctrl);
    const [speeds, controls] = [Array.from(a.qvel), Array.from(a.ctrl)];
    mujoco.mj_forward(one, a);
    mujoco.mj_forward(two, b);
    keep('energy', apart(a.energy, b.energy, 1e-9));
    keep('bias', apart(a.qfrc_bias, b.qfrc_bias, 1e-6));
    keep('passive', apart(a.qfrc_passive, b.qfrc_passive, 1e-6));
    keep('actuators', apart(a.qfrc_actuator, b.qfrc_actuator, 1e-6));
    const seen = [['sensors', readings], ['qacc', (model, data) => Array.from(data.qacc)]]
        .map(([key, look]) => ({key, look, theirs: look(one, a), far: apart(look(one, a), look(two, b), 1e-3), own: 0}));
    if (seen.some(({far}) => far > 1e-10)) {
      for (const nudge of nudges) {
        const q = Array.from(b.qpos);
        a.qpos.set(q.map((x, i) => x * (1 + (i % 2 ? nudge : -nudge))));
        mujoco.mj_forward(one, a);
        seen.forEach((it) => it.own = Math.max(it.own, apart(it.look(one, a), it.theirs, 1e-3)));
        a.qpos.set(q);
      }
    }
    seen.forEach(({key, far, own}) => keep(key, far > 10 * own ? far : 0));
    const begin = Array.from(a.qpos);
    const run = (model, data, nudge) => {
      mujoco.mj_resetData(model, data);
      data.qpos.set(begin.map((x, i) => x * (1 + (i % 2 ? nudge : -nudge))));
      data.qvel.set(speeds);
      data.ctrl.set(controls);
      for (let step = 0; step < 20; step++) {
        mujoco.mj_step(model, data);
      }
      return Array.from(data.qpos);
    };
    const ours = run(two, b, 0);
    const theirs = run(one, a, 0);
    const far = apart(theirs, ours, 1);
    const own = far > 1e-12 ? Math.max(...nudges.map((nudge) => apart(run(one, a, nudge), theirs, 1))) : 0;
    keep('20 steps', far > 10 * own ? far : 0);
  }
  a.delete();
  b.delete();
  return worst;
}

// ---- The table --------------------------------------------------------------------------------

const rows = [];
const silent = [];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'zwang-export-'));

// MuJoCo keeps meshes as floats and turns them into frames of their own: 1e-6 then.
function compareFile(file) {
  const own = path.join(folder, String(rows.length + silent.length)); // load() takes whole folders
  fs.mkdirSync(own);
  const made = path.join(own, 'made.xml');
  const name = path.relative(file.startsWith(root) ? root : path.dirname(path.dirname(file)), file);
  const one = load(file);
  if (typeof one === 'string') {
    silent.push(`${name}: MuJoCo: ${one}`);
    return;
  }
  const said = spawnSync(program, ['export', '--quiet', file, made]);
  if (said.status !== 0) {
    silent.push(`${name}: ${said.stderr.toString().trim().split('\n')[0]}`);
    one.delete();
    return;
  }
  const two = load(made);
  let worst;
  try {
    worst = typeof two === 'string' ? {why: `MuJoCo does not read it: ${two}`} : compare(one, two, !fs.readFileSync(file, 'utf8').includes('<attach'));
  } catch (problem) { // 2 GB are all it has
    silent.push(`${name}: ${String(problem.message ?? problem).split('\n')[0]}`);
    return;
  }
  const bound = one.nmesh > 0 || one.nhfield > 0 ? 1e-5 : 1e-9;
  rows.push({name, worst, good: !worst.why && what.every((key) => worst[key] <= bound * (key === '20 steps' ? 100 : 1))});
  one.delete();
  if (typeof two !== 'string') {
    two.delete();
  }
}

function robots(place) {
  return fs.existsSync(place) ? fs.readdirSync(place).filter((name) => name.endsWith('.xml')).sort()
                                    .map((name) => path.join(place, name)) : [];
}

given.forEach((file) => compareFile(path.resolve(file)));
if (given.length === 0) {
  for (const place of ['test/read/mjcf', 'test/read/mjcf_now', 'examples/bodies', 'examples/contact']) {
    robots(path.join(root, place)).forEach(compareFile);
  }
  const models = process.env.ZW_MODELS ?? '/work/shared/models';
  if (fs.existsSync(models)) {
    fs.readdirSync(models).sort().map((name) => path.join(models, name))
        .filter((place) => fs.statSync(place).isDirectory()).forEach((place) => robots(place).forEach(compareFile));
  } else {
    console.log(`no public models: there is no folder ${models} (see ZW_MODELS)`);
  }
}
fs.rmSync(folder, {recursive: true});
console.log(`MuJoCo ${mujoco.mj_versionString()} on files and their exports, ${states} states each, largest relative differences\n`);
for (const {name, worst, good} of rows) {
  console.log(`${good ? '      ' : 'WRONG '} ${name}: ` +
              (worst.why ?? what.map((key) => `${key} ${worst[key].toExponential(0)}`).join(', ')));
}
console.log('\nNot compared:');
silent.forEach((line) => console.log(`- ${line}`));
process.exit(rows.some((row) => !row.good) || rows.length === 0 ? 1 : 0);
