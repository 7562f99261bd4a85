// The current release of MuJoCo (npm's @mujoco/mujoco) against include/zwang/look.h: the same
// file read by both, the same questions at random states; constraints off in both.
//
//     node compare_look.mjs PROGRAM [STATES] [FILE ...]
//
// PROGRAM is compare_look of compare_look.c, which says what is compared. Without files: those of
// test/read, the examples, and the public models in $ZW_MODELS (or /work/shared/models), if they
// are there. Exit code 77: MuJoCo is not here.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import {root, load, mujoco, setCoordinates} from '../system/oracle.mjs';

const [program, wanted, ...given] = process.argv.slice(2);
const states = Number(wanted ?? (process.env.ZW_CAMPAIGN === 'small' ? 1 : 2));

const what = ['mass', 'forces', 'poses', 'velocities', 'accelerations', 'jacobians', 'bias', 'momenta', 'inverse'];

// |ours - theirs| over the largest of theirs, or over the floor if that is more.
function apart(ours, theirs, floor) {
  let far = 0;
  let size = floor;
  for (let i = 0; i < theirs.length; i++) {
    far = Math.max(far, Math.abs(ours[i] - theirs[i]));
    size = Math.max(size, Math.abs(theirs[i]));
  }
  return far / size;
}

function buffer(count) {
  const it = new mujoco.DoubleBuffer(Math.max(count, 1));
  return {it, get: () => Array.from(it.GetView()), free: () => it.delete()};
}

// (dJ/dt) v by their derivative of the Jacobian.
function times(J, n, v) {
  return [0, 1, 2].map((k) => v.reduce((sum, x, i) => sum + J[k * n + i] * x, 0));
}

function askFrame(model, data, kind, index, v) {
  const n = model.nv;
  const [p, r, motion] = [buffer(3 * n), buffer(3 * n), buffer(6)];
  const site = kind === 'site';
  const object = site ? mujoco.mjtObj.mjOBJ_SITE.value : mujoco.mjtObj.mjOBJ_XBODY.value;
  const pos = Array.from((site ? data.site_xpos : data.xpos).subarray(3 * index, 3 * index + 3));
  (site ? mujoco.mj_jacSite : mujoco.mj_jacBody)(model, data, p.it, r.it, index);
  const answer = {pos, position: p.get(), rotation: r.get()};
  mujoco.mj_objectVelocity(model, data, object, index, motion.it, 0);
  [answer.spin, answer.velocity] = [motion.get().slice(0, 3), motion.get().slice(3)];
  mujoco.mj_objectAcceleration(model, data, object, index, motion.it, 0);
  [answer.spinRate, answer.acceleration] = [motion.get().slice(0, 3), motion.get().slice(3)];
  mujoco.mj_jacDot(model, data, p.it, r.it, pos, site ? model.site_bodyid[index] : index);
  [answer.bias, answer.spinBias] = [times(p.get(), n, v), times(r.get(), n, v)];
  [p, r, motion].forEach((x) => x.free());
  return answer;
}

function askSubtree(model, data, index) {
  const n = model.nv;
  const [p, r] = [buffer(3 * n), buffer(3 * n)];
  mujoco.mj_jacSubtreeCom(model, data, p.it, index);
  mujoco.mj_angmomMat(model, data, r.it, index);
  const answer = {com: p.get(), spin: r.get()};
  [p, r].forEach((x) => x.free());
  return answer;
}

function compare(model, numbers) {
  let at = 0;
  const take = (count) => numbers.subarray(at, at += count);
  const [nq, nv, bodies, sites, controls, motorsOff] = take(6);
  const sizes = [[nq, model.nq + 7 * model.nmocap], [nv, model.nv], [bodies, model.nbody], [sites, model.nsite]];
  if (sizes.some(([a, b]) => a !== b)) {
    return {why: `sizes differ: ${sizes.map((pair) => pair.join('/')).join(' ')}`};
  }
  const off = mujoco.mjtDisableBit;
  model.opt.disableflags |= off.mjDSBL_CONSTRAINT.value | off.mjDSBL_CONTACT.value |
      (motorsOff ? off.mjDSBL_ACTUATION.value : 0);
  const data = new mujoco.MjData(model);
  const worst = {motorsOff};
  what.forEach((name) => worst[name] = 0);
  const keep = (name, value) => worst[name] = value <= worst[name] ? worst[name] : value;
  const gravity = Array.from(model.opt.gravity);
  for (let k = 0; k < states; k++) {
    setCoordinates(model, data, take(nq));
    const v = Array.from(take(nv));
    data.qvel.set(v);
    data.ctrl.set(take(controls).subarray(0, motorsOff ? 0 : model.nu));
    mujoco.mj_forward(model, data);
    mujoco.mj_subtreeVel(model, data);
    data.qacc.set(take(nv)); // what follows is for our accelerations
    mujoco.mj_rnePostConstraint(model, data);
    const [M, y] = [buffer(nv * nv), buffer(nv)];
    mujoco.mj_fullM(model, data, M.it);
    keep('mass', apart(take(nv * nv), M.get(), 1e-12));
    mujoco.mj_mulM(model, data, y.it, v);
    keep('mass', apart(take(nv), y.get(), 1e-12));
    mujoco.mj_solveM(model, data, y.it, v);
    keep('mass', apart(take(nv), y.get(), 1e-12));
    [M, y].forEach((x) => x.free());
    const [speeds, weights, springs, motors, passive] = [0, 1, 2, 3, 4].map(() => take(nv));
    // weights that motors take off are forces of motors there, and weights that are less here
    const [all, spring, damper, fluid] = [data.qfrc_passive, data.qfrc_spring, data.qfrc_damper, data.qfrc_fluid];
    const lifted = Array.from(data.qfrc_gravcomp);
    const own = lifted.map((x, i) => x - (all[i] - spring[i] - damper[i] - fluid[i]));
    const most = Math.max(1e-3, ...[speeds, weights, springs, motors, passive].map((f) => Math.max(...f.map(Math.abs))));
    keep('forces', apart(speeds.map((x, i) => lifted[i] - x - weights[i]), data.qfrc_bias, most));
    keep('forces', apart(springs, data.qfrc_spring, most));
    keep('forces', apart(motors.map((x, i) => x + own[i]), data.qfrc_actuator, most));
    keep('forces', apart(passive, Array.from(data.qfrc_damper).map((x, i) => x + data.qfrc_fluid[i]), most));
    for (let f = 0; f < bodies + sites; f++) {
      const theirs = askFrame(model, data, f < bodies ? 'body' : 'site', f < bodies ? f : f - bodies, v);
      keep('poses', apart(take(3), theirs.pos, 1));
      take(4);
      keep('velocities', Math.max(apart(take(3), theirs.velocity, 1), apart(take(3), theirs.spin, 1)));
      // theirs is what an accelerometer measures, minus gravity; but nothing where nothing can move
      const body = f < bodies ? f : model.site_bodyid[f - bodies];
      const root = model.body_weldid[body];
      const gravityThere = root === 0 || model.body_mocapid[root] >= 0 ? [0, 0, 0] : gravity;
      keep('accelerations', Math.max(apart(take(3), theirs.acceleration.map((x, i) => x + gravityThere[i]), 1),
                                     apart(take(3), theirs.spinRate, 1)));
      keep('bias', Math.max(apart(take(3), theirs.bias, 1), apart(take(3), theirs.spinBias, 1)));
      keep('jacobians', Math.max(apart(take(3 * nv), theirs.position, 1), apart(take(3 * nv), theirs.rotation, 1)));
    }
    for (let b = 0; b < bodies; b++) {
      const theirs = askSubtree(model, data, b);
      const part = (from) => Array.from(from.subarray(3 * b, 3 * b + 3));
      const mass = model.body_subtreemass[b];
      const ours = {mass: take(1), com: take(3), velocity: take(3), spin: take(3), J: take(3 * nv), L: take(3 * nv)};
      if (mass <= 0) {
        continue;
      }
      keep('momenta', Math.max(apart(ours.mass, [mass], 1e-12), apart(ours.com, part(data.subtree_com), 1),
                               apart(ours.velocity, part(data.subtree_linvel), 1),
                               apart(ours.spin, part(data.subtree_angmom), mass),
                               apart(ours.J, theirs.com, 1), apart(ours.L, theirs.spin, mass)));
    }
    data.qacc.set(v);
    mujoco.mj_inverse(model, data);
    keep('inverse', apart(take(nv).map((x, i) => x + (model.nu > 0 ? own[i] : 0)), data.qfrc_inverse, most));
  }
  data.delete();
  return worst;
}

// ---- The table --------------------------------------------------------------------------------

const MOST = 100; // dofs of what is compared without being asked for
const rows = [];
const silent = [];

// Where a tendon winds inside a shape MuJoCo iterates to 1e-6 of the point where it touches (wrap_inside of its sources), and
// the moment arm is as good as the last step of that.
function windsInside(model) {
  const shapes = [mujoco.mjtWrap.mjWRAP_SPHERE.value, mujoco.mjtWrap.mjWRAP_CYLINDER.value];
  return Array.from(model.wrap_type).some((kind, i) => shapes.includes(kind) && model.wrap_prm[i] >= 0);
}

function compareFile(file) {
  const model = load(file);
  if (typeof model !== 'string' && model.nv > MOST && given.length === 0) {
    silent.push({name: file, why: `${model.nv} dofs take long; give it by name`});
    model.delete();
    return;
  }
  const said = spawnSync(program, [file, String(states)], {maxBuffer: 1 << 30});
  const name = path.relative(file.startsWith(root) ? root : path.dirname(path.dirname(file)), file);
  let why = typeof model === 'string' ? `MuJoCo: ${model}`
      : said.status !== 0 ? `we: ${(said.stdout.toString() + said.stderr.toString()).trim()}` : null;
  if (why === null) {
    const bytes = said.stdout;
    const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const worst = compare(model, numbers);
    why = worst.why ?? null;
    if (why === null) { // masses of meshes are of floats there
      const bound = model.nmesh > 0 ? 1e-6 : windsInside(model) ? 1e-6 : 1e-10;
      const loose = ['mass', 'forces', 'accelerations', 'momenta', 'inverse'];
      const good = what.every((key) => worst[key] <= (loose.includes(key) ? bound : 1e-10));
      rows.push({name: name + (worst.motorsOff ? ', motors off' : ''), nv: model.nv, worst, good});
    }
  }
  if (why !== null) {
    silent.push({name, why});
  }
  if (typeof model !== 'string') {
    model.delete();
  }
}

function robots(folder) {
  return !fs.existsSync(folder) ? [] : fs.readdirSync(folder).filter((name) => name.endsWith('.xml')).sort()
      .map((name) => path.join(folder, name));
}

given.forEach((file) => compareFile(path.resolve(file)));
if (given.length === 0) {
  for (const folder of ['test/read/mjcf', 'test/read/mjcf_now', 'examples/bodies']) {
    robots(path.join(root, folder)).forEach(compareFile);
  }
  const models = process.env.ZW_MODELS ?? '/work/shared/models';
  if (fs.existsSync(models)) {
    for (const folder of fs.readdirSync(models).sort()) {
      if (fs.statSync(path.join(models, folder)).isDirectory()) {
        robots(path.join(models, folder)).forEach(compareFile);
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
silent.forEach(({name, why}) => console.log(`- ${name}: ${why}`));
process.exit(rows.length === 0 || rows.some((row) => !row.good) ? 1 : 0);
