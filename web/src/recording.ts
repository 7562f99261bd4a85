// A recording (CSV) as instants of a model: columns by the names of coordinates and speeds; what is missing of speeds and
// accelerations is had by differences.
import type { About, Row } from './numbers';

// Weights w with sum w[j] f(x[j]) = the k-th derivative of f at z, exact for polynomials through all points: by Fornberg's
// recursion over the points (1988).
function weights(z: number, x: number[], k: number): number[] {
  const n = x.length, c = Array.from({ length: k + 1 }, () => new Array<number>(n).fill(0));
  let c1 = 1, c4 = x[0] - z;
  c[0][0] = 1;
  for (let i = 1; i < n; i++) {
    const most = Math.min(i, k), c5 = c4;
    let c2 = 1;
    c4 = x[i] - z;
    for (let j = 0; j < i; j++) {
      const c3 = x[i] - x[j];
      c2 *= c3;
      if (j === i - 1) {
        for (let s = most; s > 0; s--) c[s][i] = (c1 * (s * c[s - 1][i - 1] - c5 * c[s][i - 1])) / c2;
        c[0][i] = (-c1 * c5 * c[0][i - 1]) / c2;
      }
      for (let s = most; s > 0; s--) c[s][j] = (c4 * c[s][j] - s * c[s - 1][j]) / c3;
      c[0][j] = (c4 * c[0][j]) / c3;
    }
    c1 = c2;
  }
  return c[k];
}

// The k-th derivative of a column at each of its rows, from the five rows around it.
function derive(time: number[], column: number[], k: number): number[] {
  return time.map((t, i) => {
    const first = Math.max(0, Math.min(time.length - 5, i - 2)), last = Math.min(time.length, first + 5);
    return weights(t, time.slice(first, last), k).reduce((sum, w, j) => sum + w * column[first + j], 0);
  });
}

function cells(line: string): string[] {
  const list: string[] = [];
  for (const match of line.matchAll(/("(?:[^"]|"")*"|[^,]*)(,|$)/g)) {
    list.push(match[1].startsWith('"') ? match[1].slice(1, -1).replace(/""/g, '"') : match[1].trim());
    if (match[2] === '') break;
  }
  return list;
}

// The rows of a recording, or a sentence that says why it does not fit the model.
export function readRecording(text: string, about: About): Row[] | string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() && !line.startsWith('#'));
  if (lines.length < 7) return 'A recording has a line of titles and at least six rows; this one has less.';
  const titles = cells(lines[0]), at = (name: string) => titles.indexOf(name);
  const t = Math.max(at('t'), at('time'));
  if (t < 0) return `There is no column t; there are ${titles.slice(0, 8).join(', ')}.`;
  const missing = about.coords.find((name) => at(name) < 0);
  if (missing !== undefined) return `There is no column ${missing}; the coordinates of this model are ${about.coords.slice(0, 8).join(', ')}.`;
  const every = Math.ceil((lines.length - 1) / 4000), table: number[][] = [];
  for (let k = 1; k < lines.length; k += every) {
    const row = cells(lines[k]).map(Number);
    if (row.length < titles.length || ![t, ...about.coords.map(at)].every((c) => Number.isFinite(row[c]))) return `Row ${k} has something that is no number.`;
    if (table.length === 0 || row[t] > table[table.length - 1][t]) table.push(row);
  }
  if (table.length < 6) return 'Its time does not go on.';
  const column = (c: number) => table.map((row) => row[c]), time = column(t);
  const speedAt = about.speeds.map((name) => Math.max(at(name + "'"), at('v.' + name)));
  const known = speedAt.every((c) => c >= 0);
  if (!known && about.coords.length !== about.speeds.length) return 'Columns of speeds are missing; here they are not the derivatives of the coordinates.';
  const q = about.coords.map((name) => column(at(name)));
  const v = about.speeds.map((_, i) => (known ? column(speedAt[i]) : derive(time, q[i], 1)));
  const a = about.speeds.map((_, i) => (known ? derive(time, v[i], 1) : derive(time, q[i], 2)));
  // at its ends differences are one-sided and worse by orders: two rows less
  return time.slice(2, -2).map((now, j) => [now, j + 2] as const).map(([now, k]) => ({ t: now, q: q.map((c) => c[k]), v: v.map((c) => c[k]), a: a.map((c) => c[k]) }));
}
