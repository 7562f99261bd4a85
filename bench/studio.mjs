#!/usr/bin/env node
// The engine in a browser, beside MuJoCo's WebAssembly (npm's @mujoco/mujoco) in the same page: steps a second, times
// real time, megabytes; and how long the studio takes from a cold start until it can be played with.
//
//     bench/studio.mjs [ROUNDS]     0: only the processor time of 200 bodies under node, which other programs do not lengthen
//
// Short rounds of both engines alternate on one thread, and of each the best counts: other programs only make rounds slower. 200 bodies
// fall and come to rest in 3 s, in frames of three steps: of each frame the best of a few passes counts, and their sum. Needs
// build/studio (tools/build-studio), Debian's Chromium, and build/npm (tools/need test) for the other engine.
import fs from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..'), rounds = Number(process.argv[2] ?? 100);
const {chromium} = createRequire(path.join(root, 'web/'))('playwright-core');
const {serve} = await import('../tools/serve-studio.mjs');
const kinds = {html: 'text/html', js: 'text/javascript', mjs: 'text/javascript', wasm: 'application/wasm', xml: 'text/xml', zw: 'text/plain'};
const peer = path.join(root, 'build/npm/node_modules/@mujoco/mujoco');

// 200 balls and boxes that lie on a floor and fall onto each other.
function heapOf(count) {
  const list = Array.from({length: count}, (_, i) => {
    const x = 0.23 * (i % 10) + 0.01 * (i % 3), y = 0.23 * (Math.floor(i / 10) % 5) + 0.01 * (i % 2), z = 0.12 + 0.22 * Math.floor(i / 50);
    const shape = i % 2 ? '<geom type="box" size="0.1 0.1 0.1"/>' : '<geom type="sphere" size="0.1"/>';
    return `<body pos="${x} ${y} ${z}"><freejoint/>${shape}</body>`;
  });
  return `<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="10 10 1"/>${list.join('')}</worldbody></mujoco>`;
}
const files = new Map([
  ['/', ['html', '<!doctype html><title>bench</title>']], ['/heap.xml', ['xml', heapOf(200)]],
  ['/module.mjs', ['mjs', fs.readFileSync(path.join(root, 'web/src/module.mjs'))]], ['/engine.wasm', ['wasm', fs.readFileSync(path.join(root, 'build/wasm/engine.wasm'))]],
  ['/humanoid.xml', ['xml', fs.readFileSync(path.join(root, 'examples/bodies/humanoid.xml'))]], ['/humanoid_falls.xml', ['xml', fs.readFileSync(path.join(root, 'examples/contact/humanoid_falls.xml'), 'utf8').replaceAll('../bodies/', '')]],
  ['/double_pendulum.zw', ['zw', fs.readFileSync(path.join(root, 'examples/double_pendulum.zw'))]],
]);
for (const name of ['mujoco.js', 'mujoco.wasm']) if (fs.existsSync(path.join(peer, name))) files.set('/' + name, [name.split('.')[1], fs.readFileSync(path.join(peer, name))]);
// 3 s of 200 bodies, in frames of three steps and a look.
{
  const {startEngine} = await import('../web/src/module.mjs'), engine = await startEngine(await WebAssembly.compile(files.get('/engine.wasm')[1])), clock = () => process.cpuUsage().user / 1e6;
  engine.file('heap.xml', new TextEncoder().encode(files.get('/heap.xml')[1]));
  engine.contact('soft');
  if (!engine.open('heap.xml')) throw new Error(engine.error().text);
  let steps = 0, looks = 0;
  for (let k = 0; k < 200; k++) {
    const began = clock();
    engine.steps(3);
    const middle = clock();
    engine.look();
    steps += middle - began;
    looks += clock() - middle;
  }
  console.log(`200 bodies, soft, 3 s, under node: ${steps.toFixed(2)} s of processor time for the steps, ${looks.toFixed(2)} s for what a page looks at\n`);
  if (rounds === 0) process.exit(0);
}
// the two policies: its clock is finer then
const server = http.createServer((request, response) => {
  const file = files.get(request.url);
  response.writeHead(file ? 200 : 404, {'content-type': file ? kinds[file[0]] : 'text/plain',
    'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp'}).end(file ? file[1] : '');
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader']});
const page = await browser.newPage();
page.on('pageerror', (error) => console.log(error.message));
await page.goto(`http://127.0.0.1:${server.address().port}/`);
const table = await page.evaluate(async ([rounds, withPeer]) => {
  const {startEngine} = await import('/module.mjs'), text = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const began = performance.now(), engine = await startEngine(await WebAssembly.compile(await (await fetch('/engine.wasm')).arrayBuffer())), start = performance.now() - began;
  for (const name of ['humanoid.xml', 'humanoid_falls.xml', 'double_pendulum.zw', 'heap.xml']) engine.file(name, await text('/' + name));
  const open = (name, law) => { engine.key(0); if (law) engine.contact(law); if (!engine.open(name, '')) throw new Error(engine.error().text); };
  const rows = [];
  // [name, prepare, steps of a round, seconds of a step]
  const ours = (label, name, law, steps, tick = 0) => {
    const ready = () => { open(name, law); return tick > 0 ? engine.setTick(tick) : engine.tick(); };
    let state = null;
    return {label, tick: ready(), steps, prepare: () => { ready(); if (state) engine.restore(state); else { engine.steps(150); state = engine.save(); } }, run: () => { if (engine.steps(steps) < steps) throw new Error(engine.error().text); }};
  };
  const cases = [ours('humanoid, soft', 'humanoid.xml', 'soft', 60), ours('humanoid falling, soft', 'humanoid_falls.xml', 'soft', 60), ours('humanoid, Coulomb', 'humanoid.xml', 'coulomb', 16), ours('double pendulum (equations)', 'double_pendulum.zw', '', 3, 0.3),
    ours('200 bodies, Coulomb', 'heap.xml', 'coulomb', 2)];
  const heap = [{...ours('200 bodies, soft', 'heap.xml', 'soft', 3), begin: () => open('heap.xml', 'soft')},
    {...ours('200 bodies, soft, with what a page looks at', 'heap.xml', 'soft', 3), begin: () => open('heap.xml', 'soft')}];
  const plain = heap[1].run;
  heap[1].run = () => { plain(); engine.look(); };
  let peerStart = 0;
  if (withPeer) {
    const before = performance.now(), mujoco = await (await import('/mujoco.js')).default();
    peerStart = performance.now() - before;
    const theirs = async (label, name, steps) => {
      mujoco.FS.writeFile('/' + name, await text('/' + name));
      const model = mujoco.MjModel.from_xml_path ? mujoco.MjModel.from_xml_path('/' + name) : mujoco.MjModel.loadFromXML('/' + name), data = new mujoco.MjData(model);
      const begin = () => { if (model.nkey > 0) mujoco.mj_resetDataKeyframe(model, data, 0); else mujoco.mj_resetData(model, data); };
      return {label, tick: model.opt.timestep, steps, begin, prepare: () => { begin(); for (let k = 0; k < 150; k++) mujoco.mj_step(model, data); }, run: () => { for (let k = 0; k < steps; k++) mujoco.mj_step(model, data); }};
    };
    cases.push(await theirs('humanoid, MuJoCo', 'humanoid.xml', 30), await theirs('humanoid falling, MuJoCo', 'humanoid_falls.xml', 30));
    heap.push(await theirs('200 bodies, MuJoCo', 'heap.xml', 3));
  }
  const best = cases.map(() => Infinity);
  for (let r = 0; r < rounds; r++) {
    cases.forEach((c, i) => {
      if (r > 2 && c.label.startsWith('200')) return; // a round of these is long enough
      c.prepare();
      const before = performance.now();
      c.run();
      best[i] = Math.min(best[i], (performance.now() - before) / 1000 / c.steps);
    });
  }
  cases.forEach((c, i) => rows.push([c.label, 1 / best[i], c.tick / best[i]]));
  for (const c of heap) {
    const least = Array(200).fill(Infinity);
    for (let pass = 0; pass < Math.min(6, rounds); pass++) {
      c.begin();
      for (let k = 0; k < least.length; k++) {
        const before = performance.now();
        c.run();
        least[k] = Math.min(least[k], (performance.now() - before) / 1000);
      }
    }
    const each = least.reduce((a, b) => a + b) / least.length / c.steps;
    rows.push([c.label, 1 / each, c.tick / each]);
  }
  return {rows, start, peerStart, memory: engine.memory()};
}, [rounds, files.has('/mujoco.wasm')]);
const megabytes = (name) => (files.get(name)[1].length / 1e6).toFixed(2);
console.log('| | steps/s | times real time |\n|---|---|---|');
for (const [label, rate, real] of table.rows) console.log(`| ${label} | ${Number(rate.toPrecision(3))} | ${Number(real.toPrecision(3))} |`);
console.log(`engine: ${megabytes('/engine.wasm')} MB, starts in ${table.start.toFixed(0)} ms` + (files.has('/mujoco.wasm') ? `; MuJoCo: ${megabytes('/mujoco.wasm')} MB, ${table.peerStart.toFixed(0)} ms` : ''));
await page.close();

// From nothing to a pendulum that swings: a new browser context has no cache.
const studio = await serve(0), times = [];
for (let k = 0; k < 3; k++) {
  const context = await browser.newContext(), fresh = await context.newPage(), began = Date.now();
  await fresh.goto(`http://127.0.0.1:${studio.port}/#/pendulum.zw`);
  await fresh.waitForFunction(() => Number(document.querySelector('#clock')?.textContent?.slice(4)) > 0, undefined, {polling: 20});
  times.push(Date.now() - began);
  await context.close();
}
console.log(`studio: from a cold start to a motion in ${Math.min(...times)} ms`);
await browser.close();
server.close();
studio.server.close();
