#!/usr/bin/env node
// Serves build/studio on loopback: tools/serve-studio.mjs [PORT]. Nothing else, and nothing outside that folder.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../build/studio');
const kinds = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.webp': 'image/webp'};

export function serve(port) {
  const files = new Map(fs.readdirSync(folder, {recursive: true}).map(String)
    .filter((name) => fs.statSync(path.join(folder, name)).isFile()).map((name) => ['/' + name, path.join(folder, name)]));
  files.set('/', files.get('/index.html'));
  const server = http.createServer((request, response) => {
    const file = files.get((request.url ?? '').split(/[?#]/)[0]);
    if (!file || request.method !== 'GET') {
      response.writeHead(file ? 405 : 404, {'content-type': 'text/plain'}).end(file ? 'only GET\n' : 'there is no such file\n');
      return;
    }
    response.writeHead(200, {'content-type': kinds[path.extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff'});
    fs.createReadStream(file).pipe(response);
  });
  return new Promise((done, fail) => server.on('error', fail).listen(port, '127.0.0.1', () => done({server, port: server.address().port})));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const {port} = await serve(Number(process.argv[2] ?? 8021)).catch((error) => { console.error('serve-studio: ' + error.message); process.exit(1); });
  console.log(`the studio is at http://127.0.0.1:${port}/ (Ctrl-C ends it)`);
}
