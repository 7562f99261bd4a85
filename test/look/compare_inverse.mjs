// Recordings of another engine: the current MuJoCo moves robots with motors that follow sines, writes
// coordinates and speeds, and `zwang inverse` is to find the forces that its motors had.
//
//     node compare_inverse.mjs ZWANG [FILE ...]
//
// Free flight, without contacts on their side; nothing of ours knows of the controls, which are small
// enough for joints to stay within their limits.
// Exit code 77: MuJoCo is not here.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {root, load, mujoco} from '../system/oracle.mjs';

const [zwang, ...given] = process.argv.slice(2);
const files = given.length ? given : ['arm.xml', 'cart_pole.xml', 'humanoid.xml']
    .map((name) => path.join(root, 'examples/bodies', name));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inverse-'));
const EVERY = 5, STEP = 2e-4, SAMPLES = 400;

function run(...words) {
  const said = spawnSync(zwang, words, {encoding: 'utf8', maxBuffer: 1 << 28});
  if (said.status !== 0) {
    throw new Error(`zwang ${words.join(' ')}: ${said.stderr}`);
  }
  return said.stdout;
}

function compareFile(file) {
  const model = load(file);
  if (typeof model === 'string') {
    return {name: path.basename(file), why: model};
  }
  const titles = run('run', file, '-q', '--plain', '--method', 'rk4', '-t', '1e-6', '--step', '1e-6', '-o', '-')
      .split('\n')[0].split(',').slice(0, 1 + model.nq + model.nv);
  const off = mujoco.mjtDisableBit;
  model.opt.disableflags |= off.mjDSBL_CONTACT.value | off.mjDSBL_LIMIT.value | off.mjDSBL_FRICTIONLOSS.value;
  model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4.value;
  model.opt.timestep = STEP;
  const data = new mujoco.MjData(model);
  if (model.jnt_type[0] === 0) {
    data.qpos[2] += 20; // above the floor
  }
  const rows = [];
  const theirs = [];
  for (let k = 0; k < SAMPLES * EVERY; k++) {
    const control = (time) => {
      for (let i = 0; i < model.nu; i++) {
        data.ctrl[i] = 0.02 * Math.sin((1 + 0.3 * i) * time + i);
      }
    };
    if (k % EVERY === 0) {
      control(data.time);
      mujoco.mj_forward(model, data);
      rows.push([data.time, ...data.qpos, ...data.qvel].join(','));
      theirs.push(Array.from(data.actuator_force));
    }
    control(data.time + STEP / 2); // constant over the step: as good as the sine to second order
    mujoco.mj_step(model, data);
  }
  const from = path.join(folder, 'recording.csv');
  const to = path.join(folder, 'forces.csv');
  fs.writeFileSync(from, [titles.join(','), ...rows].join('\n') + '\n');
  run('inverse', file, from, '-q', '-o', to);
  const lines = fs.readFileSync(to, 'utf8').split('\n').filter((line) => line && line[0] !== '#');
  const names = lines[0].split(',');
  const first = names.findIndex((name) => name.startsWith('force('));
  let far = 0;
  let size = 1e-6;
  lines.slice(1).forEach((line, k) => theirs[k].forEach((force, i) => {
    far = Math.max(far, Math.abs(Number(line.split(',')[first + i]) - force));
    size = Math.max(size, Math.abs(force));
  }));
  const answer = {name: path.basename(file), motors: model.nu, samples: lines.length - 1, far: far / size};
  data.delete();
  model.delete();
  return answer;
}

let bad = 0;
for (const file of files) {
  const it = compareFile(file);
  const good = !it.why && it.samples === SAMPLES && it.far <= 1e-6;
  bad += !good;
  console.log(it.why ? `${it.name}: ${it.why}`
                     : `${it.name}: ${it.motors} motors, ${it.samples} samples, forces off by ${it.far.toExponential(1)}${good ? '' : '  DIFFERS'}`);
}
fs.rmSync(folder, {recursive: true});
process.exit(bad ? 1 : 0);
