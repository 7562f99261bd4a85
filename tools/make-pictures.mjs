#!/usr/bin/env node
// The pictures of the studio's gallery, build/studio/pictures: what the gallery draws of each example, light and dark, as Debian's
// Chromium sees it. tools/build-studio calls this behind Vite. A picture stays (in build/pictures) until its example or a source of the
// drawing is newer. Without a browser there are none, and the page draws them itself.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {serve} from './serve-studio.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..'), kept = path.join(root, 'build/pictures'), shown = path.join(root, 'build/studio/pictures');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
const age = (file) => fs.statSync(file, {throwIfNoEntry: false})?.mtimeMs ?? 0, shades = ['light', 'dark'];
const sources = Math.max(...['gallery.ts', 'plane.ts', 'portrait.ts', 'space.ts', 'surfaces.ts', 'theme.ts', 'style.css'].map((name) => age(path.join(root, 'web/src', name))));
const models = fs.readdirSync(path.join(root, 'examples'), {recursive: true}).map(String).filter((name) => /\.(zw|xml|urdf)$/.test(name));
const nameOf = (model) => model.replace(/\W/g, '_');
const staleIn = (shade) => models.filter((model) => age(path.join(kept, `${nameOf(model)}.${shade}.webp`)) < Math.max(sources, age(path.join(root, 'examples', model))));

fs.mkdirSync(kept, {recursive: true});
if (browserPath && shades.some((shade) => staleIn(shade).length > 0)) await draw();
const made = models.filter((model) => shades.every((shade) => fs.existsSync(path.join(kept, `${nameOf(model)}.${shade}.webp`)))).map(nameOf);
fs.mkdirSync(shown, {recursive: true});
for (const name of made) for (const shade of shades) fs.copyFileSync(path.join(kept, `${name}.${shade}.webp`), path.join(shown, `${name}.${shade}.webp`));
fs.writeFileSync(path.join(shown, 'list.json'), JSON.stringify(made));
if (!browserPath) console.log('make-pictures: there is no browser (Debian: chromium); the gallery draws its pictures itself');

// Light ones as the engine runs the examples; then the page, in the dark, paints the same motions again.
async function draw() {
  const {chromium} = createRequire(path.join(root, 'web/'))('playwright-core'), {server, port} = await serve(0);
  const browser = await chromium.launch({executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader']});
  const page = await browser.newPage({viewport: {width: 1280, height: 900}, deviceScaleFactor: 2, colorScheme: 'light'}), stale = new Set(shades.flatMap(staleIn));
  page.setDefaultTimeout(300000);
  await page.goto(`http://127.0.0.1:${port}/?draw#/`);
  await page.waitForSelector('.cards canvas');
  for (const shade of shades) {
    await page.emulateMedia({colorScheme: shade});
    for (const model of stale) {
      // one that cannot be drawn in time is left to the page
      const bytes = await page.evaluate(async ([model, shade]) => {
        const canvas = document.querySelector(`canvas[data-path="${model}"]`);
        canvas.scrollIntoView();
        for (let k = 0; k < 3000 && canvas.dataset.done !== shade; k++) await new Promise((done) => setTimeout(done, 20));
        const blob = canvas.dataset.done === shade ? await new Promise((done) => canvas.toBlob(done, 'image/webp', 0.85)) : null;
        return blob ? [...new Uint8Array(await blob.arrayBuffer())] : null;
      }, [model, shade]);
      if (bytes) fs.writeFileSync(path.join(kept, `${nameOf(model)}.${shade}.webp`), Uint8Array.from(bytes));
      else console.log(`make-pictures: ${model} could not be drawn`);
    }
  }
  await browser.close();
  server.close();
}
