// Live plots: those of the model, a phase portrait, energy, violation. uPlot draws curves over time; portraits are drawn on a canvas.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { head, sayNumber, type About, type Places, type Sample } from './numbers';
import type { Ghost } from './plane';
import { paintPortrait, sayTick } from './portrait';
import { curveColour, fitCanvas, type Theme } from './theme';

type Read = (sample: Sample) => number;
// A number of an instant; in another world it may stand elsewhere, or not at all.
interface Series { name: string; in: (about: About, places: Places) => Read | null }
interface Clear { name: string; read: Read }

export interface Chart {
  element: HTMLElement;
  paint(samples: Sample[], index: number, ghost: Ghost | null): void;
  free(): void;
}

function frame(title: string) {
  const element = document.createElement('figure'), caption = document.createElement('figcaption');
  element.className = 'chart';
  caption.textContent = title;
  element.append(caption);
  return element;
}

// Between the samples of another motion.
function readAt(samples: Sample[], read: Read, t: number): number | null {
  let low = 0, high = samples.length - 1;
  if (high < 0 || t < samples[0][0] - 1e-9 || t > samples[high][0] + 1e-9) return null;
  while (high - low > 1) { const middle = (low + high) >> 1; if (samples[middle][0] <= t) low = middle; else high = middle; }
  const a = samples[low], b = samples[high], part = b[0] > a[0] ? Math.min(1, Math.max(0, (t - a[0]) / (b[0] - a[0]))) : 0;
  const v = read(a) + part * (read(b) - read(a));
  return Number.isFinite(v) ? v : null;
}

// Curves over time by uPlot. Click: go there. Drag: zoom. Double click: all of it again. A click on a name hides its curve.
export class TimePlot {
  readonly element: HTMLElement;
  readonly plot: uPlot;
  zoomed = false;
  private legend: HTMLElement[] = [];
  private watch: ResizeObserver;

  // `ghosts`: as many curves again, dashed. `reach`: a range of y that is not to be left.
  constructor(title: string, private names: string[], theme: Theme, seek: (t: number) => void,
    private more: { log?: boolean; ghosts?: boolean; reach?: [number, number]; height?: number; xLabel?: string; paint?: (u: uPlot) => void } = {}) {
    this.element = frame(title);
    const list = document.createElement('ul'), host = document.createElement('div'), { log, ghosts, reach, height = 150 } = more;
    list.className = 'legend';
    host.className = 'plot';
    host.style.height = height + 'px';
    names.forEach((name, i) => list.append(this.key(name, curveColour(theme, i), i)));
    this.element.append(list, host);
    const axis = { stroke: theme.soft, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    // variations at the level of round-off are drawn as a flat line
    const flat = (low: number, high: number) => high - low <= 1e-13 * Math.max(1, Math.abs(low), Math.abs(high));
    const range = (_: uPlot, low: number, high: number): [number, number] => (reach ?? (low === null || flat(low, high) ? [low - 1, high + 1] : uPlot.rangeNum(low, high, 0.08, true) as [number, number]));
    this.plot = new uPlot({
      width: 320, height, pxAlign: 0, legend: { show: false }, padding: [8, 10, 0, 0],
      scales: { x: { time: false }, y: log ? { distr: 3 } : { range } },
      axes: [{ ...axis, size: 24, gap: 2 }, { ...axis, size: 52, gap: 3, values: (_, ticks) => ticks.map((v) => (v === null ? '' : log ? v.toExponential(0).replace(/-/g, '\u2212') : sayTick(v))) }],
      series: [{}, ...names.map((_, i) => ({ stroke: curveColour(theme, i), width: 1.6, points: { show: false }, dash: i >= theme.curves.length ? [6, 3] : undefined })),
        ...(ghosts ? names.map((_, i) => ({ stroke: curveColour(theme, i), width: 1.3, dash: [5, 4], points: { show: false } })) : [])],
      cursor: { drag: { x: true, y: false, dist: 6 }, points: { show: false }, y: false, bind: { dblclick: (u) => () => { this.zoomed = false; u.setData(u.data); return null; } } },
      hooks: { setSelect: [(u) => { if (u.select.width > 6) this.zoomed = true; }], draw: [(u) => this.more.paint?.(u)] },
    }, [[0], ...names.map(() => [0]), ...(ghosts ? names.map(() => [null]) : [])] as uPlot.AlignedData, host);
    this.plot.ctx.canvas.setAttribute('role', 'img');
    this.plot.ctx.canvas.setAttribute('aria-label', `Chart of ${title || names.join(', ')} over ${more.xLabel ?? 'time'}`);
    let down = 0;
    host.addEventListener('pointerdown', (event) => { down = event.clientX; });
    host.addEventListener('click', (event) => {
      const box = this.plot.over.getBoundingClientRect();
      if (event.clientX >= box.left && Math.abs(event.clientX - down) < 6) seek(this.plot.posToVal(event.clientX - box.left, 'x'));
    });
    this.watch = new ResizeObserver(() => { if (host.clientWidth > 0) this.plot.setSize({ width: host.clientWidth, height: host.clientHeight || height }); });
    this.watch.observe(host);
  }

  private key(name: string, colour: string, i: number) {
    const item = document.createElement('li'), button = document.createElement('button'), swatch = document.createElement('i'), value = document.createElement('b');
    swatch.style.background = colour;
    button.append(swatch, (name.length > 40 ? name.slice(0, 39) + '\u2026' : name) + ' ', value);
    button.setAttribute('aria-pressed', 'true');
    button.title = 'Show or hide';
    button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(on));
      this.plot.setSeries(1 + i, { show: on });
      if (this.more.ghosts) this.plot.setSeries(1 + this.names.length + i, { show: on });
    });
    this.legend.push(value);
    item.append(button);
    return item;
  }

  setData(data: uPlot.AlignedData) {
    this.plot.setData(data, !this.zoomed);
    if (this.zoomed) this.plot.redraw(true);
  }
  show(values: number[]) { values.forEach((v, i) => { this.legend[i].textContent = sayNumber(v); }); }
  free() { this.watch.disconnect(); this.plot.destroy(); }
}

// The motion so far; another motion is dashed.
class LiveChart implements Chart {
  readonly element: HTMLElement;
  private plot: TimePlot;
  private own: Clear[];

  constructor(title: string, private series: Series[], about: About, places: Places, theme: Theme, private log: boolean, seek: (t: number) => void) {
    this.own = series.map((s) => ({ name: s.name, read: s.in(about, places) ?? (() => NaN) }));
    this.plot = new TimePlot(title, this.own.map((s) => s.name), theme, seek, { log, ghosts: true });
    this.element = this.plot.element;
  }

  paint(samples: Sample[], index: number, ghost: Ghost | null) {
    const step = Math.max(1, Math.ceil((index + 1) / 2500)), time: number[] = [], n = this.own.length, columns: (number | null)[][] = Array.from({ length: 2 * n }, () => []);
    const other = ghost ? this.series.map((s) => s.in(ghost.about, ghost.places)) : [];
    let largest = 1;
    const tame = (v: number | null) => {
      if (v === null || !Number.isFinite(v)) return null;
      largest = Math.max(largest, Math.abs(v));
      return this.log ? Math.max(1e-18, Math.abs(v)) : v;
    };
    const take = (s: Sample) => {
      time.push(s[0]);
      for (let i = 0; i < n; i++) {
        const read = other[i];
        columns[i].push(tame(this.own[i].read(s)));
        columns[n + i].push(ghost && read ? tame(readAt(ghost.samples, read, s[0])) : null);
      }
    };
    for (let k = 0; k < index; k += step) take(samples[k]);
    take(samples[index]);
    this.plot.setData([time, ...columns] as uPlot.AlignedData);
    this.plot.show(this.own.map(({ read }) => read(samples[index])).map((v) => (!this.log && Math.abs(v) < 1e-13 * largest ? 0 : v))); // not the digits of round-off
  }

  free() { this.plot.free(); }
}

// One number over another, with a dot where it is now; the last part of the way is stronger. A click on the curve takes a Poincare section there: dots
// where another number rises through the value that it had at this point.
class Portrait implements Chart {
  readonly element: HTMLElement;
  private canvas = document.createElement('canvas');
  private list = document.createElement('select');
  private words = document.createElement('p');
  private section: { name: string; read: Read; level: number; passes: [number, number, number][]; seen: Sample | null } | null = null; // passes: t, x, y
  private shown: { samples: Sample[]; index: number } | null = null;
  private at: ((p: [number, number]) => [number, number]) | null = null;
  // `others`: what a section can be taken by; the first that is not drawn here comes first.
  constructor(private x: Clear, private y: Clear, private theme: Theme, private others: Clear[], private again: () => void) {
    this.element = frame(y.name + ' over ' + x.name);
    const { canvas, list } = this;
    if (others.length > 0) {
      list.setAttribute('aria-label', 'Poincare section');
      list.append(new Option('whole', ''), ...others.map((o, i) => new Option('as ' + o.name + ' rises through its value now', String(i))));
      list.addEventListener('change', () => this.cut(list.value === '' ? null : others[Number(list.value)], this.shown?.samples[this.shown.index]));
      canvas.addEventListener('click', (event) => this.click(event.offsetX, event.offsetY));
      canvas.title = 'Click on the curve: a Poincare section through this point';
      this.element.append(list);
    }
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', 'Phase portrait: ' + y.name + ' over ' + x.name);
    this.words.className = 'section';
    this.words.hidden = true;
    this.element.append(canvas, this.words);
  }

  // Through the point of the curve that is nearest to a place of the canvas; by the number that was chosen, or one that is not drawn here.
  private click(px: number, py: number) {
    if (!this.shown || !this.at || this.section) { this.cut(null); return; }
    const { samples, index } = this.shown, drawn = [this.x.name, this.y.name];
    let near = 30, best: Sample | null = null;
    for (let k = 0; k <= index; k++) {
      const [u, v] = this.at([this.x.read(samples[k]), this.y.read(samples[k])]), far = Math.hypot(u - px, v - py);
      if (far < near) [near, best] = [far, samples[k]];
    }
    if (best) this.cut(this.others.find((o) => !drawn.includes(o.name) && !drawn.includes(o.name + "'")) ?? this.others[0], best);
  }

  private cut(by: Clear | null, through?: Sample) {
    this.section = by && through ? { ...by, level: by.read(through), passes: [], seen: null } : null;
    this.list.value = this.section ? String(this.others.indexOf(by!)) : '';
    this.again();
  }

  private curve(samples: Sample[], index: number): [number, number][] {
    const list: [number, number][] = [], step = Math.max(1, Math.ceil(index / 4000)), add = (s: Sample) => { const x = this.x.read(s), y = this.y.read(s); if (Number.isFinite(x + y)) list.push([x, y]); };
    for (let k = 0; k < index; k += step) add(samples[k]);
    add(samples[index]);
    return list;
  }

  // What has passed since the last look, before samples are thinned out; what lies behind the end of the motion is forgotten.
  private passages(cut: NonNullable<typeof this.section>, samples: Sample[], index: number): [number, number][] {
    const end = samples[samples.length - 1][0], from = cut.seen && cut.seen[0] <= end ? samples.findLastIndex((s) => s[0] <= cut.seen![0]) : 0;
    if (cut.seen && cut.seen[0] > end) cut.passes = cut.passes.filter(([t]) => t <= end);
    for (let k = Math.max(1, from + 1); k < samples.length; k++) {
      const a = samples[k - 1], b = samples[k], u = cut.read(a) - cut.level, v = cut.read(b) - cut.level;
      if (!(u < 0 && v >= 0)) continue;
      const part = u / (u - v), between = (read: Read) => read(a) + part * (read(b) - read(a));
      cut.passes.push([between((s) => s[0]), between(this.x.read), between(this.y.read)]);
    }
    cut.seen = samples[samples.length - 1];
    if (cut.passes.length > 20000) cut.passes.splice(0, 1000);
    return cut.passes.filter(([t, x, y]) => t <= samples[index][0] && Number.isFinite(x + y)).map(([, x, y]) => [x, y]);
  }

  paint(samples: Sample[], index: number) {
    const now = samples[index], size = fitCanvas(this.canvas), cut = this.section;
    this.shown = { samples, index };
    if (!size) return;
    const list = cut ? this.passages(cut, samples, index) : this.curve(samples, index);
    this.words.hidden = !cut;
    if (cut) this.words.textContent = `${list.length} ${list.length === 1 ? 'passage' : 'passages'} of ${cut.name} up through ${sayNumber(cut.level)}; a click shows the whole curve`;
    if (list.length === 0) size.pen.clearRect(0, 0, size.width, size.height);
    else this.at = paintPortrait(this.canvas, this.theme, [{ points: list, recent: Math.max(0, list.length - 120), now: cut ? null : [this.x.read(now), this.y.read(now)], dots: cut !== null }]);
  }
  free() {}
}

const by = (name: string, kind: 'q' | 'v'): Series => ({
  name: kind === 'q' || name.endsWith("'") ? name : name + "'",
  in: (about, places) => { const i = (kind === 'q' ? about.coords : about.speeds).indexOf(name); return i < 0 ? null : (s) => s[places[kind] + i]; },
});
// A curve of a plot line, found in other worlds by its words.
const curveIn = (kind: number, x: string, y: string, of: 0 | 1): Series => ({
  name: of === 1 ? y : x,
  in: (about, places) => { const c = about.curves.find((c) => c.kind === kind && c.x === x && c.y === y); return c ? (s) => s[places.output + c.output + of] : null; },
});
const ofHead = (name: string, at: number): Series => ({ name, in: () => (s) => s[at] });
const rowOf = (name: string): Series => ({ name, in: (about, places) => { const i = about.rows.indexOf(name); return i < 0 ? null : (s) => s[places.lambda + i]; } });

export function makeCharts(about: About, places: Places, theme: Theme, seek: (t: number) => void, again: () => void): Chart[] {
  const list: Chart[] = [], groups = new Map<number, typeof about.curves>();
  const time = (title: string, series: Series[], log = false) => list.push(new LiveChart(title, series, about, places, theme, log, seek));
  const clear = (s: Series): Clear => ({ name: s.name, read: s.in(about, places)! });
  const others = [...about.coords.map((c) => by(c, 'q')), ...about.speeds.map((c) => by(c, 'v'))].slice(0, 12).map(clear);
  for (const curve of about.curves) groups.set(curve.plot, [...(groups.get(curve.plot) ?? []), curve]);
  let portraits = 0;
  for (const curves of groups.values()) {
    if (curves[0].kind === 0) {
      const some = curves.slice(0, 7);
      time(some.map((c) => c.y).join(', ').slice(0, 60), some.map((c) => curveIn(c.kind, c.x, c.y, 1)));
    } else for (const c of curves) {
      portraits++;
      list.push(new Portrait(clear(curveIn(c.kind, c.x, c.y, 0)), clear(curveIn(c.kind, c.x, c.y, 1)), theme, others, again));
    }
  }
  if (about.curves.length === 0 && about.coords.length > 0) time('Coordinates', about.coords.slice(0, 7).map((name) => by(name, 'q')));
  if (portraits === 0 && about.coords.length > 0 && about.coords.length === about.speeds.length) {
    list.push(new Portrait(clear(by(about.coords[0], 'q')), clear(by(about.speeds[0], 'v')), theme, others, again));
  }
  time('Energy', [ofHead('sum', head.energy), ofHead('kinetic', head.kinetic), ofHead('potential', head.potential)]);
  if (about.rows.length > 0) time('Forces of constraints (multipliers)', about.rows.slice(0, 7).map(rowOf));
  time('Violation and certificate', [ofHead('positions', head.position), ofHead('speeds', head.velocity), ofHead('certificate', head.certificate)], true);
  return list;
}

// The force that a recording needs beyond the model, over time.
export function makeForceChart(about: About, places: Places, theme: Theme, forces: (s: Sample) => Float64Array | null, seek: (t: number) => void): Chart {
  const series = about.speeds.slice(0, 7).map((name, i): Series => ({ name, in: (a) => (a === about ? (s) => forces(s)?.[i] ?? NaN : null) }));
  return new LiveChart('Force that the model does not explain', series, about, places, theme, false, seek);
}
