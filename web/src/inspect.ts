// The principle in numbers, for what is selected; and the tree of names from which to select.
import { admissibleOf, paintAdmissible, sayAdmissible } from './admissible';
import { make } from './dom';
import { contactSize, head, sayNumber, type About, type Pair, type Places, type Problem, type Sample } from './numbers';
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

  show(about: About, p: Places, sample: Sample, pair: Pair | null, body: number, theme: Theme) {
    this.words.textContent = `Z = ½ (a − a_free)ᵀ M (a − a_free) = ${sayNumber(this.Z(p, sample))}, the least that the constraints admit; certificate ${sample[head.certificate].toExponential(1)}`;
    this.tellNumbers(about, p, sample, pair);
    this.tellBody(about, p, sample, body);
    this.paint(p, sample, pair, theme);
  }

  private Z(p: Places, sample: Sample): number {
    const { n, numbers } = (this.time === sample[0] && this.problem) || { n: 0, numbers: sample };
    if (n === 0) return sample[head.Z];
    let sum = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) sum += 0.5 * (sample[p.a + i] - sample[p.free + i]) * numbers[i * n + j] * (sample[p.a + j] - sample[p.free + j]);
    return sum;
  }

  // Coordinates whose motion the constraints change most; those of a selected point come first.
  private tellNumbers(about: About, p: Places, sample: Sample, pair: Pair | null) {
    const list = about.speeds.map((name, i) => ({ name, i, change: Math.abs(sample[p.a + i] - sample[p.free + i]), first: pair !== null && (i === pair.x || i === pair.y) }));
    list.sort((x, y) => Number(y.first) - Number(x.first) || y.change - x.change);
    const largest = (at: number[]) => Math.max(...at.map((k) => Math.max(...sample.slice(k, k + about.speeds.length).map(Math.abs)))), fast = largest([p.free, p.a]), strong = largest([p.FN, p.FL, p.FC]);
    const cell = (tag: 'td' | 'th', text: string) => make(tag, {}, text);
    const titles = ['', 'free', 'actual', 'Fᴺ', 'Fᴸ', 'Fᶜ'].map((t) => cell('th', t));
    this.table.replaceChildren(make('tr', {}, ...titles), ...list.slice(0, 8).map(({ name, i }) =>
      make('tr', {}, cell('th', name), ...[p.free, p.a, p.FN, p.FL, p.FC].map((at) => cell('td', tidy(sample[at + i], at < p.FN ? fast : strong))))));
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

  private paint(p: Places, sample: Sample, pair: Pair | null, theme: Theme) {
    const { problem } = this;
    this.picture.hidden = this.caption.hidden = !problem || problem.n > 80;
    if (!problem || problem.n > 80 || this.time !== sample[0]) return; // what belongs to this instant is under way
    const { n, m, numbers } = problem, J = numbers.subarray(n * n + m * n + m), unit = (i: number) => Array.from({ length: n }, (_, k) => Number(k === i));
    let rows: number[][], free: Two, actual: Two;
    if (pair) {
      rows = [unit(pair.x), unit(pair.y)];
      free = [sample[p.free + pair.x], sample[p.free + pair.y]];
      actual = [sample[p.a + pair.x], sample[p.a + pair.y]];
    } else {
      const w = Array.from(sample.slice(p.subject + 6, p.subject + 9)), f = Array.from(sample.slice(p.subject + 9, p.subject + 12)), axes = planeOf(f, w);
      rows = axes.map((e) => Array.from({ length: n }, (_, k) => e[0] * J[k] + e[1] * J[n + k] + e[2] * J[2 * n + k]));
      [free, actual] = [f, w].map((v) => axes.map((e) => e[0] * v[0] + e[1] * v[1] + e[2] * v[2]) as Two);
    }
    const set = rows.every((row) => row.some((v) => v !== 0)) ? admissibleOf(problem, rows) : null;
    paintAdmissible(this.picture, theme, set, free, actual);
    this.caption.textContent = sayAdmissible(set) + '; ellipses: equal Z';
  }
}

// Beside what is large, round-off is nothing.
const tidy = (v: number, large: number) => sayNumber(Math.abs(v) < 1e-9 * large ? 0 : v, 3);

// The upright plane in which the free and the actual acceleration differ most.
function planeOf(free: number[], actual: number[]): [Three, Three] {
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
