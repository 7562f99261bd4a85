// Robots drawn at random (draw_mjcf.mjs) by the comparisons with MuJoCo: compare_numbers.mjs, compare_soft.mjs, and compare_export.mjs of test/record.
//
//     node compare_drawn.mjs NUMBERS SOFT ZWANG [COUNT [FIRST]]
//
// NUMBERS and SOFT are the programs made from compare_numbers.c and compare_soft.c, ZWANG is the program. The numbers of the robots are FIRST, FIRST + 1 ...; without them 24 from 1. What
// differs is printed, and its file kept. Exit code 77: MuJoCo is not here.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

const [numbers, soft, zwang, count = '24', first = '1'] = process.argv.slice(2);
const here = import.meta.dirname;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'zwang-drawn-'));
const files = Array.from({length: Number(count)}, (_, k) => {
  const file = path.join(folder, `${Number(first) + k}.xml`);
  fs.writeFileSync(file, spawnSync(process.execPath, [path.join(here, 'draw_mjcf.mjs'), String(Number(first) + k)]).stdout);
  return file;
});

function compare(script, ...more) {
  const said = spawnSync(process.execPath, [path.join(here, script), ...more, ...files], {encoding: 'utf8', maxBuffer: 1 << 28, env: {...process.env, ZW_DRAWS: '1'}});
  const lines = said.stdout.split('\n');
  console.log(lines.filter((line) => /DIFFERS|^WRONG|: zwang: |: we: |\| we: /.test(line) || line.startsWith('MuJoCo')).join('\n') + said.stderr);
  return said.status ?? 1;
}

const codes = [compare('compare_numbers.mjs', numbers, '10'), compare('compare_soft.mjs', soft), compare('../record/compare_export.mjs', zwang)];
if (codes.every((code) => code === 0 || code === 77)) {
  fs.rmSync(folder, {recursive: true});
} else {
  console.log(`the files are in ${folder}`);
}
process.exit(Math.max(...codes));
