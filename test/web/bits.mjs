// The same bits in WebAssembly as on this machine: states of all examples after some steps, and of a few after ten
// thousand, by their hashes.
//
//     node bits.mjs PROGRAM [NAME STEPS]
//
// PROGRAM is that of hashes.c, which prints the native ones. Exit code 77: the engine was not built.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {openEngine} from './wasm.mjs';

const [program, only, onlySteps] = process.argv.slice(2);
const house = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const examples = path.join(house, 'examples');
const engine = await openEngine(house);
if (!engine) {
  console.log('skipped: there is no build/wasm/engine.wasm; tools/build-wasm makes it');
  process.exit(77);
}

const files = fs.readdirSync(examples, {recursive: true}).map(String).sort();
for (const name of files.filter((f) => /\.(zw|xml|urdf|obj|stl|png)$/.test(f))) {
  engine.file(name, fs.readFileSync(path.join(examples, name)));
}

const long = ['pendulum.zw', 'double_pendulum.zw', 'rolling_disk.zw', 'bodies/double_pendulum.xml', 'bodies/humanoid.xml'];
const short = ['contact/spheres.xml', 'bodies/gymnast.xml']; // a step of these takes its time
const stepsOf = (f) => (long.includes(f) ? 10000 : short.includes(f) ? 4 : 60);
const list = only ? [[only, Number(onlySteps ?? 60)]] : files.filter((f) => /\.(zw|xml|urdf)$/.test(f)).map((f) => [f, stepsOf(f)]);

const began = Date.now();
const native = spawnSync(program, [examples], {
  input: list.map(([name, steps]) => `${name} ${steps}\n`).join(''), encoding: 'utf8', maxBuffer: 1 << 26,
});
const middle = Date.now();
const theirs = native.stdout.trim().split('\n');
let apart = 0;
let opened = 0;
list.forEach(([name, steps], i) => {
  const began = Date.now();
  let ours;
  if (engine.open(name)) {
    ours = `${name} ${engine.steps(steps)} ${engine.hash()}`;
    opened++;
  } else {
    const told = JSON.parse(theirs[i].slice(name.length + 1));
    const error = engine.error();
    ours = told.text === error.text && told.line === error.line ? theirs[i] : `${name} ${JSON.stringify(error)}`;
  }
  if (process.env.SHOW) console.log(ours, `${Date.now() - began} ms`);
  if (ours !== theirs[i]) {
    apart++;
    console.log(`differs:\n  native ${theirs[i]}\n  wasm   ${ours}`);
  }
});
console.log(`${list.length} files, ${opened} opened, ${apart} differ; native ${middle - began} ms, wasm ${Date.now() - middle} ms`);
process.exit(apart > 0 || theirs.length !== list.length || opened < (only ? 1 : 90) ? 1 : 0);
