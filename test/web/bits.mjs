// The same bits in WebAssembly as on this machine: the states of all examples after ten thousand steps, or at the end of
// the run that an example asks for, by their hashes; of what takes longer than a moment, after as many steps as there is time for.
//
//     node bits.mjs PROGRAM [SECONDS [NAME]]     SECONDS for each example (0.2; 0: as long as it takes)
//
// PROGRAM is that of hashes.c, which prints the native ones. Exit code 77: the engine was not built.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {openEngine} from './wasm.mjs';

const [program, seconds, only] = process.argv.slice(2), budget = 1000 * (Number(seconds ?? 0.2) || Infinity), most = 10000;
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const examples = path.join(root, 'examples');
const engine = await openEngine(root);
if (!engine) {
  console.log('skipped: there is no build/wasm/engine.wasm; tools/build-wasm makes it');
  process.exit(77);
}

const files = fs.readdirSync(examples, {recursive: true}).map(String).sort();
for (const name of files.filter((f) => /\.(zw|xml|urdf|obj|stl|png)$/.test(f))) {
  engine.file(name, fs.readFileSync(path.join(examples, name)));
}

// As far as time allows, in parts that grow: [steps asked for, what hashes.c would print].
function far(name, contact = '') {
  if (contact) engine.contact(contact);
  if (!engine.open(name)) return [1, JSON.stringify(engine.error())];
  const end = Math.min(most, Math.ceil(engine.about().run[0] / engine.tick()));
  const clock = () => process.cpuUsage().user / 1000, began = clock();
  let done = 0, part = 1;
  while (done < end && clock() - began < budget) {
    const taken = engine.steps(part), passed = clock() - began;
    done += taken;
    if (taken < part) return [done + 1, `${done} ${engine.hash()}`, true]; // a stop of the model, or an error: there too
    part = Math.max(1, Math.min(2 * part, end - done, Math.floor((done * (budget - passed)) / Math.max(passed, 0.1))));
  }
  return [done, `${done} ${engine.hash()}`, done === end];
}

const models = files.filter((f) => /\.(zw|xml|urdf)$/.test(f) && (!only || f === only)), began = Date.now();
// contact also by one linearisation a step
const list = [...models.map((name) => [name]), ...models.filter((name) => name.startsWith('contact/')).map((name) => [name, 'linear'])];
const ours = list.map(([name, contact]) => {
  const before = Date.now(), answer = far(name, contact);
  if (process.env.SHOW) console.log(name, contact ?? '', ...answer, `${Date.now() - before} ms`);
  return answer;
});
const middle = Date.now();
const native = spawnSync(program, [examples], {input: list.map(([name, contact], i) => `${name} ${ours[i][0]} ${contact ?? ''}\n`).join(''), encoding: 'utf8', maxBuffer: 1 << 26});
const theirs = native.stdout.trim().split('\n');
let apart = 0, opened = 0, whole = 0;
list.forEach(([name, contact], i) => {
  const [, got, ended] = ours[i], said = (theirs[i] ?? '').slice(name.length + 1), wanted = said.startsWith('{') ? JSON.stringify(JSON.parse(said)) : said;
  opened += got.startsWith('{') ? 0 : 1;
  whole += ended ? 1 : 0;
  if (got === wanted) return;
  apart++;
  console.log(`differs: ${name} ${contact ?? ''}\n  native ${wanted}\n  wasm   ${got}`);
});
console.log(`${models.length} files, ${list.length} runs, ${opened} opened, ${whole} to ${most} steps or to their end, ${apart} differ; wasm ${middle - began} ms, native ${Date.now() - middle} ms`);
process.exit(apart > 0 || theirs.length !== list.length || opened < (only ? 1 : 90) ? 1 : 0);
