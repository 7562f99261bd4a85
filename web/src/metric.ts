// The metric of the masses at a point, and what constraints leave of it.
//
// With J a row of its velocity along two directions, L L' = M and y = L \ J', the least Z that gives the point the
// acceleration w is (w - w_free)' W0^-1 (w - w_free) / 2, W0 = y'y. Constraints A a = b take Q (an orthonormal basis of
// the columns of L \ A') away from y: what is left, W = W0 - (Q'y)'(Q'y), spans the accelerations that remain possible.
import type { Problem } from './numbers';

type Two = [number, number];
export interface Admissible { W0: [number, number, number]; W: [number, number, number]; rank: number } // xx, xy, yy

const dot = (x: number[], y: number[]) => x.reduce((sum, v, i) => sum + v * y[i], 0);

// L, and the basis Q. null: the masses give no metric.
function factor({ n, m, numbers }: Problem) {
  const L = numbers.slice(0, n * n);
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = L[i * n + j];
      for (let k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      if (i === j && !(sum > 1e-13 * Math.abs(numbers[j * n + j]))) return null;
      L[i * n + j] = i === j ? Math.sqrt(sum) : sum / L[j * n + j];
    }
  }
  const solve = (given: ArrayLike<number>) => { // L \ x
    const x = Array.from(given);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
      x[i] /= L[i * n + i];
    }
    return x;
  };
  const back = (given: ArrayLike<number>) => { // L' \ x
    const x = Array.from(given);
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
      x[i] /= L[i * n + i];
    }
    return x;
  };
  const basis: number[][] = [];
  for (let r = 0; r < m && basis.length < n; r++) {
    const row = solve(numbers.subarray(n * n + r * n, n * n + (r + 1) * n)), size = Math.sqrt(dot(row, row));
    for (let pass = 0; pass < 2; pass++) for (const b of basis) { const c = dot(row, b); row.forEach((_, i) => { row[i] -= c * b[i]; }); }
    const left = Math.sqrt(dot(row, row));
    if (left > 1e-8 * size && size > 0) basis.push(row.map((v) => v / left));
  }
  return { solve, back, basis };
}

export function admissibleOf(problem: Problem, rows: number[][]): Admissible | null {
  const f = factor(problem);
  if (!f) return null;
  const y = rows.map(f.solve), c = y.map((v) => f.basis.map((b) => dot(v, b)));
  const W0: Admissible['W0'] = [dot(y[0], y[0]), dot(y[0], y[1]), dot(y[1], y[1])];
  const W = W0.map((v, k) => v - dot(c[k >> 1], c[(k + 1) >> 1])) as Admissible['W'];
  const [large, small] = eigen(W).values, least = 1e-9 * (W0[0] + W0[2]);
  return { W0, W, rank: small > least ? 2 : large > least ? 1 : 0 };
}

export function eigen([a, b, c]: [number, number, number]): { values: Two; axis: Two } {
  const middle = (a + c) / 2, reach = Math.hypot((a - c) / 2, b), angle = 0.5 * Math.atan2(2 * b, a - c);
  return { values: [middle + reach, middle - reach], axis: [Math.cos(angle), Math.sin(angle)] };
}

// The rows of a point's velocity in the speeds: of coordinates each its own, else those of what is selected.
export function ratesOf({ n, m, numbers }: Problem, axes: number[]): number[][] {
  const J = n * n + m * n + m;
  return axes.length > 0 ? axes.map((i) => Array.from({ length: n }, (_, k) => Number(k === i)))
    : [0, 1, 2].map((d) => Array.from(numbers.subarray(J + d * n, J + (d + 1) * n)));
}

// The effective mass of a point, from the mean of 1 / mass = W0 over its directions; 0: it cannot move.
export function massOf(problem: Problem, rates: number[][]): number {
  const f = factor(problem), moves = f ? rates.map((row) => { const y = f.solve(row); return dot(y, y); }).filter((w) => w > 0) : [];
  return moves.length > 0 ? moves.length / moves.reduce((sum, w) => sum + w, 0) : 0;
}

// The change of coordinates along the constraints, the least in the metric, that moves a point by `way`:
// dq = L' \ Y c with (Y'Y + e) c = way, Y being L \ J' without its part along Q. What it cannot reach it nears (e > 0).
export function moveBy(problem: Problem, rates: number[][], way: number[]): number[] | null {
  const f = factor(problem);
  if (!f) return null;
  const Y = rates.map((row) => { const y = f.solve(row); for (const b of f.basis) { const c = dot(y, b); y.forEach((_, i) => { y[i] -= c * b[i]; }); } return y; });
  const W = Y.map((u) => Y.map((v) => dot(u, v))), c = solveNear(W, way, 1e-3);
  if (!c) return null;
  return f.back(Array.from({ length: problem.n }, (_, i) => Y.reduce((sum, y, k) => sum + y[i] * c[k], 0)));
}

// The smallest forces f at points that do the work of a force on the coordinates: J'f = force, with rows J; f = J x, (J'J) x = force.
export function spread(rates: number[][], force: ArrayLike<number>): number[] {
  const n = force.length, S = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => rates.reduce((sum, row) => sum + row[i] * row[j], 0)));
  const x = solveNear(S, Array.from(force), 1e-9);
  return rates.map((row) => (x ? dot(row, x) : 0));
}

// x with (W + e max W) x = y, W symmetric and positive semidefinite; e keeps x small where W is singular. null: W is 0.
function solveNear(W: number[][], y: number[], e: number): number[] | null {
  const n = y.length, most = Math.max(0, ...W.map((row, k) => row[k])), x = [...y];
  if (!(most > 0)) return null;
  W.forEach((row, k) => { row[k] += e * most; });
  for (let k = 0; k < n; k++) for (let i = k + 1; i < n; i++) {
    const part = W[i][k] / W[k][k];
    for (let j = k; j < n; j++) W[i][j] -= part * W[k][j];
    x[i] -= part * x[k];
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let j = k + 1; j < n; j++) x[k] -= W[k][j] * x[j];
    x[k] /= W[k][k];
  }
  return x;
}
