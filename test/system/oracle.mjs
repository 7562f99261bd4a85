// MuJoCo's current release (npm's @mujoco/mujoco, WebAssembly) for the comparisons beside this file, and
// the files it reads. The package is looked for in $ZW_NODE_MODULES, then in build/npm/node_modules
// (tools/need puts it there); where it is not, the comparison ends with exit code 77.
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const shelf = process.env.ZW_NODE_MODULES ?? path.join(root, 'build/npm/node_modules');
const entry = path.join(shelf, '@mujoco/mujoco/mujoco.js');
if (!fs.existsSync(entry)) {
  console.log(`skipped: there is no @mujoco/mujoco in ${shelf} (tools/need test, or ZW_NODE_MODULES)`);
  process.exit(77);
}
export const mujoco = await (await import(pathToFileURL(entry).href)).default({print() {}, printErr() {}});

const stored = new Set();

// A folder into the file system of the module; pictures that are not there do not matter.
function store(folder) {
  if (stored.has(folder)) {
    return;
  }
  stored.add(folder);
  mujoco.FS.mkdirTree(folder);
  for (const item of fs.readdirSync(folder, {withFileTypes: true})) {
    const place = path.join(folder, item.name);
    if (item.isDirectory()) {
      store(place);
    } else if (/\.(xml|urdf|stl|obj|mjcf|msh|png)$/i.test(item.name)) {
      mujoco.FS.writeFile(place, fs.readFileSync(place));
    }
  }
}

// The smallest picture: one grey pixel.
const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
    'base64');

// The model, or a string that says why there is none.
export function load(file) {
  store(path.dirname(file));
  for (let pictures = 0;; pictures++) {
    try {
      return mujoco.MjModel.from_xml_path(file);
    } catch (problem) {
      const message = String(problem.message ?? problem);
      const missing = message.match(/opening file '([^']*\.png)'/);
      if (!missing || pictures >= 20) {
        return message.replace(/^MuJoCo Error: Loading error: (Error: )?/, '').split('\n')[0];
      }
      const place = path.resolve(path.dirname(file), missing[1]);
      mujoco.FS.mkdirTree(path.dirname(place));
      mujoco.FS.writeFile(place, pixel);
    }
  }
}

// Our coordinates: those of MuJoCo, and behind them the poses of mocap bodies.
export function coordinates(model, data) {
  const q = Array.from(data.qpos);
  for (let i = 0; i < model.nmocap; i++) {
    q.push(...data.mocap_pos.subarray(3 * i, 3 * i + 3), ...data.mocap_quat.subarray(4 * i, 4 * i + 4));
  }
  return q;
}

export function setCoordinates(model, data, q) {
  data.qpos.set(q.slice(0, model.nq));
  for (let i = 0; i < model.nmocap; i++) {
    const at = model.nq + 7 * i;
    data.mocap_pos.set(q.slice(at, at + 3), 3 * i);
    data.mocap_quat.set(q.slice(at + 3, at + 7), 4 * i);
  }
}
