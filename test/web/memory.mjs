// Memory of the studio's engine stays what it is: an hour of a motion with all that a page asks for, models that are opened, pulled at and left again and again; and
// a reset takes no time.
//
//     node memory.mjs
//
// What is compared is the end of the heap (sbrk): it moves where something is kept. Exit code 77: the engine was not built.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {openEngine} from './wasm.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..'), examples = path.join(root, 'examples');
const engine = await openEngine(root);
if (!engine) {
  console.log('skipped: there is no build/wasm/engine.wasm; tools/build-wasm makes it');
  process.exit(77);
}
const use = (name) => { engine.file(name, fs.readFileSync(path.join(examples, name))); };
for (const name of ['double_pendulum.zw', 'bouncing_ball.zw', 'bodies/humanoid.xml', 'contact/rattleback.xml']) use(name);
const open = (name, law) => { if (law) engine.contact(law); engine.key(0); assert.ok(engine.open(name), engine.error().text); };

// What a page does with one sample: look, keep the state, go back now and then.
function watch(samples, steps) {
  let before = 0, kept = null;
  for (let k = 0; k < samples; k++) {
    assert.equal(engine.steps(steps), steps, engine.error().text);
    assert.ok(engine.look());
    if (k % 500 === 0) kept = engine.save();
    if (k % 500 === 1) assert.ok(engine.restore(kept));
    engine.hash();
    if (k === Math.floor(samples / 10)) before = engine.heap();
  }
  return [before, engine.heap()];
}
function flat(what, [before, after]) {
  console.log(`${what}: ${(before / 1e6).toFixed(2)} MB at first, ${(after / 1e6).toFixed(2)} MB at the end`);
  assert.equal(after, before, what);
}

open('double_pendulum.zw');
engine.setTick(0.3);
flat('double pendulum, an hour and more', watch(12100, 1)); // of 500 samples one is taken again
assert.ok(engine.look()[0] > 3600, `t = ${engine.look()[0]}`);
open('bodies/humanoid.xml', 'soft');
flat('humanoid, soft contact', watch(1500, 8));

// Opened, pulled, left.
function visit(name, law) {
  open(name, law);
  engine.about();
  engine.select(1);
  engine.steps(5);
  engine.look();
  engine.problem();
  if (name.endsWith('.xml')) { assert.ok(engine.grab(1, [0, 0, 0], 9)); engine.pull([0, 0, 1]); engine.steps(3); assert.ok(engine.release()); }
  engine.steps(3);
  assert.ok(engine.start());
  assert.equal(engine.open('missing.zw'), false);
}
const visits = [['double_pendulum.zw'], ['bouncing_ball.zw'], ['bodies/humanoid.xml', 'soft'], ['contact/rattleback.xml']];
let before = 0;
for (let k = 0; k < 150; k++) { // in the first 25 free pieces of memory find their places: 0.1 MB once, and no more in 300
  for (const v of visits) visit(...v);
  if (k === 50) before = engine.heap();
}
flat('150 visits of four models', [before, engine.heap()]);

open('bodies/humanoid.xml', 'soft');
const first = engine.hash(), clock = () => process.cpuUsage().user / 1000;
let least = Infinity;
for (let k = 0; k < 5; k++) {
  engine.steps(100);
  const began = clock();
  assert.ok(engine.start());
  least = Math.min(least, clock() - began);
  assert.equal(engine.hash(), first);
}
console.log(`reset: ${least.toFixed(2)} ms of processor time`);
assert.ok(least < 5);
