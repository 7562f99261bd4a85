// Which robot files does the current MuJoCo load?
//
//     node tools/robots-mujoco.mjs NPM OUT FILE ...
//
// NPM is a folder with node_modules/@mujoco/mujoco (tools/need makes build/npm). One line of JSON a file is appended to
// OUT: {file, ok, flex, plugin, why}. Pictures that a checkout lacks are replaced by one white point: they do not move
// anything. tools/robots --loaded OUT counts only what is loaded here, without flex bodies and plugins.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [npm, out, ...files] = process.argv.slice(2);
const module = path.resolve(npm, 'node_modules/@mujoco/mujoco/mujoco.js');
const load = (await import(pathToFileURL(module))).default;
const WHITE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==', 'base64');
const MOST = 1.2e9; // bytes in its memory: then it begins anew
const TRIES = 60;   // files of other folders that one model may ask for

let mujoco, stored, bytes;
async function begin() {
  mujoco = await load({ print() {}, printErr() {} });
  stored = new Set();
  bytes = 0;
}

/* A folder, and all below it, as MuJoCo sees it. false: it was there. */
function store(folder, deep) {
  if (stored.has(folder)) {
    return false;
  }
  stored.add(folder);
  mujoco.FS.mkdirTree(folder);
  for (const it of fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : []) {
    const place = path.join(folder, it.name);
    if (it.isDirectory() && deep) {
      store(place, deep);
    } else if (it.isFile() && /\.(xml|urdf|stl|obj|mjcf|msh|png|bin|skn)$/i.test(it.name)) {
      const data = fs.readFileSync(place);
      bytes += data.length;
      mujoco.FS.writeFile(place, data);
    }
  }
  return true;
}

/* The file that a message says is missing: has it been found elsewhere, or been replaced? */
function supply(file, message) {
  const said = message.match(/opening file '([^']*)'|[cC]ould not open file '([^']*)'|file '([^']*)' not found|resource '([^']*)'/);
  if (!said) {
    return false;
  }
  const place = path.resolve(path.dirname(file), said.slice(1).find((word) => word));
  if (fs.existsSync(place)) {
    return store(path.dirname(place), false);
  }
  if (!/\.png$/i.test(place)) {
    return false;
  }
  mujoco.FS.mkdirTree(path.dirname(place));
  mujoco.FS.writeFile(place, WHITE);
  return true;
}

async function look(file) {
  store(path.dirname(file), true);
  for (let tries = 0; ; tries++) {
    try {
      const model = mujoco.MjModel.from_xml_path(file);
      const answer = { ok: true, flex: model.nflex, plugin: model.nplugin };
      model.delete();
      return answer;
    } catch (thrown) {
      const message = String(thrown.message ?? thrown);
      if (tries < TRIES && supply(file, message)) {
        continue;
      }
      if (!/Error/.test(message) || /unreachable|memory|abort/i.test(message)) {
        await begin(); // it is broken
      }
      return { ok: false, why: message.replace(/^MuJoCo Error: Loading error: (Error: )?/, '').split('\n')[0] };
    }
  }
}

await begin();
for (const file of files.map((name) => path.resolve(name))) {
  if (bytes > MOST) {
    await begin();
  }
  fs.appendFileSync(out, JSON.stringify({ file, ...(await look(file)) }) + '\n');
}
