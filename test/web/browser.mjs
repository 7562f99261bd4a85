// The studio in a browser for tests: Debian's Chromium, driven by Playwright, and what tests ask of a page. The console must stay empty.
//
//     node TEST.mjs PROGRAM ZWANG [FOLDER FOR PICTURES [PART OF A TEST'S NAME]]
//
// PROGRAM is that of hashes.c, ZWANG the command line. Exit code 77: the pages were not built, or there is no browser.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const [program, zwang] = process.argv.slice(2, 4).map((p) => path.resolve(p)), [pictures, only] = process.argv.slice(4);
export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
function skip(why) {
  console.log('skipped: ' + why);
  process.exit(77);
}
if (!fs.existsSync(path.join(root, 'build/studio/index.html'))) skip('there is no build/studio; tools/build-studio makes it');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
if (!browserPath) skip('there is no browser (Debian: chromium)');
const {chromium} = createRequire(path.join(root, 'web/'))('playwright-core');
const {serve} = await import('../../tools/serve-studio.mjs');
export const {server, port} = await serve(0);
// Software draws: the page by its own painter, space by SwiftShader. (Both by SwiftShader: a frame takes seconds.)
export const browser = await chromium.launch({executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader']});
const complaints = [];

export async function visit(hash, options = {}, address = `http://127.0.0.1:${port}/#${hash}`) {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}, ...options});
  page.setDefaultTimeout(60000);
  page.on('console', (m) => {
    const driver = /GL Driver Message \(OpenGL, Performance/.test(m.text()); // about how this browser copies pictures
    if (!driver && (m.type() === 'error' || m.type() === 'warning')) complaints.push(`${hash}: ${m.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`${hash}: ${error.message}`));
  await page.goto(address);
  return page;
}
export const clock = async (page) => Number((await page.locator('#clock').textContent()).replace('t = ', '').replace('\u2212', '-'));
export const until = (page, condition, value) => page.waitForFunction(condition, value, {polling: 50});
// (The scene in space is loaded while the motion runs already.)
export const after = (page, t) => until(page, (t) => window.studio?.ready() && Number(document.querySelector('#clock')?.textContent?.slice(4)) > t, t);
export const text = (page, id) => page.locator(id).textContent();
export const see = async (page, name) => { if (pictures) await page.screenshot({path: path.join(pictures, name + '.png')}); };
export const set = (page, id, value) => page.locator(id).evaluate((input, value) => { input.value = String(value); input.dispatchEvent(new Event('input')); }, value);
export async function pause(page) {
  if ((await text(page, '#play')) === 'Pause') await page.click('#play');
  await page.waitForSelector('[data-state=paused]');
}

// A text that a link holds: opened in this page.
export const openText = (page, ending, text) => page.evaluate(async ([ending, text]) => {
  const bytes = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer());
  location.hash = `#z=${ending}.` + btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}, [ending, text]);

// Runs tests by name, one after the other, and ends the program.
export async function runTests(tests) {
  let failed = 0;
  for (const [name, run] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    const began = Date.now();
    try {
      await run();
      console.log(`ok      ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name} (${Date.now() - began} ms)\n${error.stack}`);
    }
  }
  for (const line of new Set(complaints)) console.log('console: ' + line);
  await browser.close();
  server.close();
  process.exit(failed > 0 || complaints.length > 0 ? 1 : 0);
}
