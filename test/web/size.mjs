// The engine stays small: at most 1.2 MB, and 420 KB as brotli sends it.
//
//     node size.mjs
//
// Exit code 77: the engine was not built.
import fs from 'node:fs';
import zlib from 'node:zlib';

const file = new URL('../../build/wasm/engine.wasm', import.meta.url);
if (!fs.existsSync(file)) {
  console.log('skipped: there is no build/wasm/engine.wasm; tools/build-wasm makes it');
  process.exit(77);
}
const bytes = fs.readFileSync(file), {BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT} = zlib.constants;
const sent = zlib.brotliCompressSync(bytes, {params: {[BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: bytes.length}}).length;
console.log(`engine.wasm: ${(bytes.length / 1000).toFixed(1)} KB, ${(sent / 1000).toFixed(1)} KB by brotli (at most 1200 and 420)`);
process.exit(bytes.length <= 1200e3 && sent <= 420e3 ? 0 : 1);
