// The studio's engine under node; null: it was not built.
import fs from 'node:fs';
import path from 'node:path';

import {startEngine} from '../../web/src/module.mjs';

export async function openEngine(root) {
  const file = path.join(root, 'build/wasm/engine.wasm');
  if (!fs.existsSync(file)) return null;
  return startEngine(await WebAssembly.compile(fs.readFileSync(file)));
}
