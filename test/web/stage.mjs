// What is seen on the stage: points that are dragged, forces that are split, sections, arrows of recordings, what stays in sight.
// browser.mjs says how it is called.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {after, openText, pause, root, runTests, see, text, until, visit, zwang} from './browser.mjs';

const small = {viewport: {width: 900, height: 560}}, minus = (s) => Number(s.replace('\u2212', '-'));
const bob = (page) => page.evaluate(() => window.studio.bob());
// From a point of the model to a place on the stage.
async function drag(page, to) {
  const box = await page.locator('#stage').boundingBox(), [x, y] = await bob(page);
  await page.mouse.move(box.x + x, box.y + y);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0], box.y + to[1], {steps: 6});
}
// The problem of an instant arrives between two frames, and the table shows it in the next.
const painted = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const table = async (page, k) => {
  await painted(page);
  return page.locator('.principle table').nth(k).evaluate((t) => [...t.rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
};

await runTests({
  async 'a point of a model in angles is placed while it is paused, and pulled while it runs'() {
    const page = await visit('/pendulum_imbedded.zw', small), radius = 60;
    await after(page, 0.1);
    await pause(page);
    const axis = await page.evaluate(() => window.studio.axis()), near = ([x, y], [u, v]) => Math.hypot(x - u, y - v);
    const length = near(await bob(page), axis), below = [axis[0] + 0.6 * length, axis[1] + 0.8 * length];
    await drag(page, below);
    await until(page, ([x, y]) => { const [u, v] = window.studio.bob(); return Math.hypot(x - u, y - v) < 3; }, below);
    await page.mouse.up();
    assert.ok(Math.abs(near(await bob(page), axis) - length) < 1, 'it is on its circle');
    await page.click('#play');
    await drag(page, [axis[0] - radius, axis[1]]);
    await until(page, ([x, y]) => { const [u, v] = window.studio.bob(); return u < x - 40 && Math.abs(v - y) < 40; }, axis);
    assert.match(await text(page, '#fault'), /^1 speeds?/);
    await page.mouse.up();
    await page.close();
  },

  async 'a point in space is placed on its sphere'() {
    const page = await visit('/spherical_pendulum.zw', small);
    await after(page, 0.05);
    await pause(page);
    await page.click('#reset'); // it starts near the sphere's right rim
    await until(page, () => Number(document.querySelector('#clock').textContent.slice(4)) === 0);
    const [x, y] = await bob(page);
    await drag(page, [x - 60, y - 30]);
    await until(page, ([x, y]) => { const [u, v] = window.studio.bob(); return u < x - 20 && v < y; }, [x, y]);
    await page.mouse.up();
    await page.click('#play'); // and it moves on from there
    await after(page, 0.2);
    assert.match(await text(page, '#fault'), /^3 speeds/);
    await page.close();
  },

  async 'two sets of parameters: the other motion keeps its own while sliders move'() {
    const page = await visit('/pendulum.zw', small);
    await after(page, 0.2);
    await pause(page);
    await page.selectOption('#whatif', 'params:');
    await until(page, () => window.studio.apart() === 0);
    await page.click('#play');
    await after(page, 0.5);
    await pause(page);
    await until(page, () => window.studio.apart() < 1e-6); // the same while the parameters are
    await page.click('#play');
    await page.locator('#param-g').evaluate((range) => { range.value = '2'; range.dispatchEvent(new Event('input')); });
    await until(page, () => window.studio.apart() > 0.3);
    assert.match(await text(page, '#whatif-message'), /Move the sliders/);
    await page.close();
  },

  async 'a robot without its contacts falls through the floor, pale'() {
    const page = await visit('/bodies/humanoid.xml', small);
    await after(page, 0.05);
    await pause(page);
    await page.selectOption('#whatif', 'disable:contact');
    await until(page, () => window.studio.apart() === 0);
    await page.click('#play');
    await until(page, () => window.studio.apart() > 0.3);
    await page.selectOption('#whatif', 'disable:limit');
    await until(page, () => window.studio.apart() < 0.3);
    await page.close();
  },

  async 'standing: the weight is applied, the floor presses with as much'() {
    const page = await visit('/bodies/humanoid.xml', small);
    await after(page, 0.05);
    await pause(page);
    await page.click('#principle');
    await until(page, () => document.querySelectorAll('.principle td').length > 20 && window.studio.late() === 0);
    const lift = (await table(page, 0)).find((row) => row[0] === 'base.vz').slice(1).map(minus), [free, actual, FN, FL, FC] = lift;
    assert.ok(Math.abs(free + 9.81) < 0.01 && Math.abs(actual) < 0.5, lift.join(' '));
    assert.ok(FN < -300 && Math.abs(FN + FL) < 0.05 * FL && Math.abs(FC) < 1, lift.join(' '));
    await see(page, 'standing');
    await page.close();
  },

  async 'sliding: friction is not an ideal constraint'() {
    const page = await visit('/', small);
    await openText(page, 'xml', `<mujoco><worldbody><geom type="plane" size="5 5 1" friction="0.3"/><body pos="0 0 .1"><freejoint name="b"/>
      <geom type="box" size=".1 .1 .1" mass="2" friction="0.3"/></body></worldbody><keyframe><key qvel="3 0 0 0 0 0" qpos="0 0 .1 1 0 0 0"/></keyframe></mujoco>`);
    await page.waitForSelector('#speed');
    await page.selectOption('#speed', '0.05');
    await page.click('#reset');
    await until(page, () => Number(document.querySelector('#clock')?.textContent?.slice(4)) > 0);
    await pause(page);
    await page.click('#principle');
    await until(page, () => document.querySelectorAll('.principle td').length > 20 && window.studio.late() === 0);
    const rows = Object.fromEntries((await table(page, 0)).map(([name, ...list]) => [name, list.map(minus)])), weight = 2 * 9.81;
    assert.ok(Math.abs(rows['b.vx'][4] + 0.3 * weight) < 0.1, `F^C along the slip: ${rows['b.vx']}`);
    assert.ok(Math.abs(rows['b.vz'][3] - weight) < 0.2 && Math.abs(rows['b.vx'][3]) < 0.1, `F^L: ${rows['b.vz']}`);
    await page.close();
  },

  async 'a click on a phase portrait takes a Poincare section there; another shows the curve'() {
    const page = await visit('/double_pendulum.zw', small);
    await page.selectOption('#speed', '10');
    await after(page, 20);
    await pause(page);
    const canvas = page.locator('.chart > canvas').first();
    await canvas.scrollIntoViewIfNeeded();
    const {width, height} = await canvas.boundingBox();
    await canvas.click({position: {x: 0.6 * width, y: 0.45 * height}}); // within reach of a curve that has filled its window
    const words = page.locator('.section').first();
    await until(page, () => / passages? of y1 up through /.test([...document.querySelectorAll('.section')].map((p) => p.textContent).join()));
    const count = Number((await words.textContent()).split(' ')[0]);
    assert.ok(count >= 3, await words.textContent());
    await see(page, 'section');
    await page.selectOption('#speed', '5');
    await page.click('#play');
    await until(page, (count) => Number(document.querySelector('.section').textContent.split(' ')[0]) > count, count); // it goes on
    await canvas.click();
    await until(page, () => document.querySelector('.section').hidden);
    await page.close();
  },

  async 'the force that a recording needs is drawn where it acts: at a point of a model in angles, in the joint of a robot'() {
    const page = await visit('/rubbing_pendulum.zw', small);
    await after(page, 0.05);
    await page.selectOption('#whatif', 'recording:rubbing_pendulum.csv');
    await until(page, () => /arrows show where/.test(document.querySelector('#whatif-message').textContent));
    // a torque Q about the axis is a force Q / l at the bob, across the rod
    await after(page, 0.5);
    await pause(page);
    const [push] = await page.evaluate(() => window.studio.pushes()), along = push.at[0] * push.force[0] + push.at[1] * push.force[1], size = Math.hypot(...push.force);
    assert.ok(size > 0 && Math.abs(along) < 1e-6 * size, JSON.stringify(push));
    await page.close();
    // a robot: its own motion as CSV, with another weight
    const robot = await visit('/bodies/double_pendulum.xml', small);
    await after(robot, 1);
    await pause(robot);
    const [csv] = await Promise.all([robot.waitForEvent('download'), robot.click('#csv')]);
    const [titles, ...rows] = fs.readFileSync(await csv.path(), 'utf8').trim().split('\n').map((line) => line.split(',')), q = titles.findIndex((name, k) => k > 0 && !name.includes("'"));
    rows.forEach((row) => { row[q] = String(Number(row[q]) + 0.01 * Math.exp(-(((Number(row[0]) - 0.5) / 0.05) ** 2))); });
    const kept = titles.map((name, k) => [name, k]).filter(([name]) => !name.includes("'")); // speeds and accelerations by differences
    const table = [kept.map(([name]) => name), ...rows.map((row) => kept.map(([, k]) => row[k]))].map((row) => row.join(',')).join('\n');
    await robot.locator('input[type=file]').setInputFiles({name: 'touched.csv', mimeType: 'text/csv', buffer: Buffer.from(table)});
    await until(robot, () => /arrows show where/.test(document.querySelector('#whatif-message').textContent));
    await robot.selectOption('#speed', '0.2');
    await robot.click('#play');
    await until(robot, () => window.studio.pushes().some((push) => push.turns && push.share > 0.3));
    await pause(robot);
    await see(robot, 'unexplained');
    await robot.close();
  },

  async 'zwang view of a URDF: visual shapes stand for the collision ones, in the colours of their materials, with meshes'() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'urdf-')), visual = (shape, material) => `<visual><origin xyz="0 0 0.1"/><geometry>${shape}</geometry>${material}</visual>`;
    fs.writeFileSync(path.join(folder, 'wedge.obj'), 'v 0 -.5 0\nv .5 -.5 0\nv 0 -.5 .5\nv 0 .5 0\nv .5 .5 0\nv 0 .5 .5\nf 1 2 3\nf 4 6 5\nf 1 4 5 2\nf 1 3 6 4\nf 2 5 6 3\n');
    fs.writeFileSync(path.join(folder, 'two.urdf'), `<robot name="two"><material name="leaf"><color rgba="0 0.8 0 1"/></material>
      <link name="base">${visual('<box size="1 1 0.1"/>', '<material name="leaf"/>')}</link>
      <link name="arm"><inertial><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
      ${visual('<mesh filename="wedge.obj"/>', '<material name="own"><color rgba="0.9 0 0 1"/></material>')}<collision><geometry><sphere radius="2"/></geometry></collision></link>
      <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>`);
    const server = spawn(zwang, ['view', '-q', 'two.urdf'], {cwd: folder, env: {...process.env, ZWANG_STUDIO: path.join(root, 'build/studio')}});
    const address = await new Promise((done) => { for (const stream of [server.stdout, server.stderr]) stream.once('data', (line) => done(String(line).trim())); });
    if (address.includes('libmicrohttpd')) { console.log('skipped: ' + address); return; }
    const page = await visit('', small, address);
    await after(page, 0.05);
    await pause(page);
    await see(page, 'urdf');
    const [png] = await Promise.all([page.waitForEvent('download'), page.click('#png')]);
    const parts = await page.evaluate(async (bytes) => { // how much is green, and how much red
      const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)])), canvas = new OffscreenCanvas(picture.width, picture.height), pen = canvas.getContext('2d');
      pen.drawImage(picture, 0, 0);
      const {data} = pen.getImageData(0, 0, picture.width, picture.height), count = [0, 0];
      for (let i = 0; i < data.length; i += 4) for (const k of [0, 1]) if (data[i + 1 - k] > 60 && data[i + k] < 0.4 * data[i + 1 - k] && data[i + 2] < 0.4 * data[i + 1 - k]) count[k]++;
      return count.map((c) => c / (data.length / 4));
    }, [...fs.readFileSync(await png.path())]);
    assert.ok(parts.every((part) => part > 0.01), `green and red: ${parts}`);
    const code = new Promise((done) => server.once('exit', done));
    server.kill('SIGINT');
    assert.equal(await code, 0);
    await page.close();
    fs.rmSync(folder, {recursive: true});
  },

  async 'what falls stays in sight, until the view is turned'() {
    const page = await visit('/bodies/brick.urdf', small), box = await page.locator('#stage').boundingBox();
    await after(page, 1.2); // it has fallen seven metres
    await pause(page);
    await until(page, () => window.studio.body() !== null);
    const at = await page.evaluate(() => window.studio.body());
    assert.ok(at.x > 0 && at.x < box.width && at.y > 0 && at.y < box.height, JSON.stringify(at));
    await page.close();
  },

  async 'addresses that are cut off or unknown say so; who goes on at once is not called back'() {
    const page = await visit('z=zw.7VbB'), says = (words) => until(page, (words) => document.body.textContent.includes(words), words);
    await says('not complete');
    for (const [hash, words] of [['/none.zw', 'no example none.zw'], ['%E0%A4%A', 'no example'], ['/tour/9', 'no example']]) {
      await page.evaluate((hash) => { location.hash = hash; }, hash);
      await says(words);
    }
    await page.evaluate(() => { location.hash = '#/'; location.hash = '#/pendulum.zw'; });
    await after(page, 0.1);
    await page.waitForTimeout(300);
    assert.equal(await page.locator('#play').count(), 1);
    await page.close();
  },

  async 'no picture of the gallery is blank'() {
    const page = await visit('/', small), folder = path.join(root, 'build/studio/pictures');
    const sizes = fs.readdirSync(folder).filter((name) => name.endsWith('.light.webp')).map((name) => [fs.statSync(path.join(folder, name)).size, name]).sort((a, b) => a[0] - b[0]);
    const colours = await page.evaluate(async (names) => Promise.all(names.map(async (name) => { // how many dots are not like their neighbour above
      const picture = await createImageBitmap(await (await fetch('pictures/' + name)).blob()), canvas = new OffscreenCanvas(picture.width, picture.height), pen = canvas.getContext('2d');
      pen.drawImage(picture, 0, 0);
      const {data} = pen.getImageData(0, 0, picture.width, picture.height), row = 4 * picture.width;
      let count = 0;
      for (let i = row; i < data.length; i += 4) if (Math.abs(data[i] - data[i - row]) + Math.abs(data[i + 1] - data[i + 1 - row]) + Math.abs(data[i + 2] - data[i + 2 - row]) > 60) count++;
      return [name, count];
    })), sizes.slice(0, 40).map(([, name]) => name));
    assert.deepEqual(colours.filter(([, count]) => count < 30), []);
    await page.close();
  },

  async 'on a phone: what is moved by hand is near the motion; two fingers zoom, one moves'() {
    const page = await visit('/tour/1', {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true}), top = async (selector) => (await page.locator(selector).boundingBox()).y;
    await after(page, 0.2);
    const order = [await top('.guide'), await top('#stage'), await top('.params'), await top('.whatif'), await top('.chart >> nth=0'), await top('.model')];
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
    await pause(page);
    const session = await page.context().newCDPSession(page), box = await page.locator('#stage').boundingBox(), axis = () => page.evaluate(() => window.studio.axis());
    const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x: box.x + x, y: box.y + y, id}))});
    const spread = async () => { const [[x, y], [u, v]] = [await axis(), await bob(page)]; return Math.hypot(x - u, y - v); };
    const [before, was] = [await axis(), await spread()], x = (await bob(page))[0] > box.width / 2 ? 60 : box.width - 130; // not on the bob
    await touch('touchStart', [x, 300]);
    await touch('touchMove', [x + 30, 320]);
    await touch('touchEnd');
    await until(page, ([x, y]) => { const [u, v] = window.studio.axis(); return Math.hypot(u - x - 30, v - y - 20) < 2; }, before);
    await touch('touchStart', [x, 300], [x + 60, 300]);
    await touch('touchMove', [x - 30, 300], [x + 90, 300]);
    await touch('touchEnd');
    await until(page, (least) => { const [[x, y], [u, v]] = [window.studio.axis(), window.studio.bob()]; return Math.hypot(x - u, y - v) > least; }, 1.6 * was);
    await page.close();
  },
});
