// The principle in numbers, for what is selected; and the tree of names from which to select.
import { paintAdmissible, sayAdmissible } from './admissible';
import { admissibleOf, ratesOf } from './metric';
import { make } from './dom';
import { contactSize, head, sayNumber, type About, type Places, type Problem, type Sample } from './numbers';
import type { Theme } from './theme';

type Three = [number, number, number];
type Two = [number, number];

export class Inspector {
  readonly element = make('section', { class: 'panel card principle', hidden: true, 'aria-label': 'The principle' });
  private words = make('p');
  private table = make('table');
  private picture = make('canvas', { role: 'img', 'aria-label': 'The admissible accelerations, those of equal Z, the free one and the actual one' });
  private caption = make('p', { class: 'under' });
  private body = make('table');
  private problem: Problem | null = null;

  constructor() {
    this.element.append(make('h2', {}, 'Least constraint'), this.words, this.picture, this.caption, this.table, this.body);
  }
  time = NaN; // of the problem
  take(problem: Problem | null, time: number) { this.problem = problem; this.time = time; }

  show(about: About, p: Places, sample: Sample, axes: number[], body: number, theme: Theme) {
    this.words.textContent = `Z = ½ (a − a_free)ᵀ M (a − a_free) = ${sayNumber(this.Z(p, sample))}, the least that the constraints admit; certificate ${sample[head.certificate].toExponential(1)}`;
    this.tellNumbers(about, p, sample, axes);
    this.tellBody(about, p, sample, body);
    this.paint(p, sample, axes, theme);
  }

  private Z(p: Places, sample: Sample): number {
    const { n, numbers } = (this.time === sample[0] && this.problem) || { n: 0, numbers: sample };
    if (n === 0) return sample[head.Z];
    let sum = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) sum += 0.5 * (sample[p.a + i] - sample[p.free + i]) * numbers[i * n + j] * (sample[p.a + j] - sample[p.free + j]);
    return sum;
  }

  // F^N = M a_free, F^C and F^L = M a - F^N - F^C. The engine may have taken contacts of bodies as known forces, which then are within its F^N:
  // here friction is counted as F^C, and what presses as F^L.
  private forces(p: Places, sample: Sample, n: number): number[][] {
    const own = [p.FN, p.FL, p.FC].map((at) => Array.from(sample.slice(at, at + n))), { problem } = this;
    if (!problem || this.time !== sample[0] || sample[head.contacts] === 0) return own;
    const { m, numbers } = problem, times = (at: number) => own[0].map((_, i) => { let sum = 0; for (let j = 0; j < n; j++) sum += numbers[i * n + j] * sample[at + j]; return sum; });
    const FN = times(p.free), Ma = times(p.a), rubbed = own[2].some((v) => v !== 0), FC = own[2].map((v, i) => (rubbed ? v : numbers[n * n + m * n + m + 3 * n + i]));
    return [FN, Ma.map((v, i) => v - FN[i] - FC[i]), FC];
  }

  // Coordinates whose motion the constraints change most; those of a selected point come first.
  private tellNumbers(about: About, p: Places, sample: Sample, axes: number[]) {
    const list = about.speeds.map((name, i) => ({ name, i, change: Math.abs(sample[p.a + i] - sample[p.free + i]), first: axes.includes(i) }));
    list.sort((x, y) => Number(y.first) - Number(x.first) || y.change - x.change);
    const n = about.speeds.length, part = (at: number) => Array.from(sample.slice(at, at + n)), motions = [part(p.free), part(p.a)], forces = this.forces(p, sample, n);
    const largest = (columns: number[][]) => Math.max(...columns.flat().map(Math.abs)), fast = largest(motions), strong = largest(forces);
    const cell = (tag: 'td' | 'th', text: string) => make(tag, {}, text);
    const titles = ['', 'free', 'actual', 'Fᴺ', 'Fᴸ', 'Fᶜ'].map((t) => cell('th', t));
    this.table.replaceChildren(make('tr', {}, ...titles), ...list.slice(0, 8).map(({ name, i }) =>
      make('tr', {}, cell('th', name), ...[...motions, ...forces].map((column, k) => cell('td', tidy(column[i], k < 2 ? fast : strong))))));
    this.table.title = 'Accelerations; applied, ideal constraint and non-ideal constraint forces';
  }

  private tellBody(about: About, p: Places, sample: Sample, body: number) {
    this.body.hidden = body <= 0 || about.bodies.length === 0;
    if (this.body.hidden) return;
    const count = Math.round(sample[head.contacts]), push: Three = [0, 0, 0];
    let touches = 0;
    for (let k = 0; k < count; k++) {
      const at = p.contact + contactSize * k, second = sample[at + 10] === body, first = about.geoms[sample[at + 12]]?.body === body;
      if (!second && !first) continue;
      touches++;
      for (let d = 0; d < 3; d++) push[d] += (second ? 1 : -1) * sample[at + 3 + d];
    }
    const row = (name: string, at: ArrayLike<number>) => make('tr', {}, make('th', {}, name), ...[0, 1, 2].map((d) => make('td', {}, tidy(at[d], 1))));
    const s = p.subject;
    this.body.replaceChildren(make('tr', {}, make('th', {}, about.bodies[body]), ...['x', 'y', 'z'].map((d) => make('th', {}, d))),
      row('place', sample.slice(s, s + 3)), row('velocity', sample.slice(s + 3, s + 6)), row('free acceleration', sample.slice(s + 9, s + 12)), row('acceleration', sample.slice(s + 6, s + 9)),
      ...(about.contacts > 0 ? [row(touches + (touches === 1 ? ' contact' : ' contacts'), push)] : []));
  }

  private paint(p: Places, sample: Sample, axes: number[], theme: Theme) {
    const { problem } = this;
    this.picture.hidden = this.caption.hidden = !problem || problem.n > 80;
    if (!problem || problem.n > 80 || this.time !== sample[0]) return; // the problem of this instant has not arrived yet
    const rates = ratesOf(problem, axes), read = (at: number) => rates.map((_, k) => sample[axes.length > 0 ? (at > 6 ? p.free : p.a) + axes[k] : p.subject + at + k]);
    const w = read(6), f = read(9), plane = planeOf(rates, f, w), sum = (e: number[], v: (k: number) => number) => e.reduce((all, part, k) => all + part * v(k), 0);
    const rows = plane.map((e) => Array.from({ length: problem.n }, (_, i) => sum(e, (k) => rates[k][i])));
    const [free, actual] = [f, w].map((v) => plane.map((e) => sum(e, (k) => v[k])) as Two);
    const set = rows.every((row) => row.some((v) => v !== 0)) ? admissibleOf(problem, rows) : null;
    paintAdmissible(this.picture, theme, set, free, actual);
    this.caption.textContent = sayAdmissible(set) + '; ellipses: equal Z';
  }
}

// Shows values at the level of round-off, relative to `large`, as 0.
const tidy = (v: number, large: number) => sayNumber(Math.abs(v) < 1e-9 * large ? 0 : v, 3);

// For a point in the plane, that plane; otherwise the vertical plane in which the free and the actual acceleration differ most.
function planeOf(rates: number[][], free: number[], actual: number[]): number[][] {
  if (rates.length < 3 || rates[2].every((v) => v === 0)) return [[1, 0], [0, 1]];
  const d = actual.map((v, k) => v - free[k]), flat = Math.hypot(d[0], d[1]);
  return [flat > 1e-9 * Math.hypot(...d) ? [d[0] / flat, d[1] / flat, 0] : [1, 0, 0], [0, 0, 1]];
}

// Bodies by their place in the mechanism.
export function treeOf(about: About, select: (body: number) => void): HTMLElement {
  const depth = (body: number): number => (body <= 0 ? 0 : 1 + depth(about.parents[body]));
  const list = make('ul', { class: 'tree' });
  about.bodies.slice(0, 400).forEach((name, body) => {
    if (body === 0) return;
    const button = make('button', { onclick: () => select(body) }, name || 'body ' + body), item = make('li', {}, button);
    item.style.paddingLeft = 12 * (depth(body) - 1) + 'px';
    button.dataset.body = String(body);
    list.append(item);
  });
  return make('details', { class: 'panel card' }, make('summary', {}, about.bodies.length === 2 ? '1 body' : about.bodies.length - 1 + ' bodies'), list);
}
