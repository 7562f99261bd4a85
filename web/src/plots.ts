// Live plots: what the model asks for, a phase portrait, energy, violation. Over time by uPlot; portraits on a canvas.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { head, sayNumber, type About, type Places, type Sample } from './numbers';
import type { Ghost } from './plane';
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

// Click: go there. Drag: zoom. Double click: all of it again. A click on a name hides its curve.
class TimeChart implements Chart {
  readonly element: HTMLElement;
  private plot: uPlot;
  private legend: HTMLElement[] = [];
  private watch: ResizeObserver;
  private own: Clear[];
  private zoomed = false;

  constructor(title: string, private series: Series[], about: About, places: Places, theme: Theme, private log: boolean, seek: (t: number) => void) {
    this.element = frame(title);
    this.own = series.map((s) => ({ name: s.name, read: s.in(about, places) ?? (() => NaN) }));
    const list = document.createElement('ul'), host = document.createElement('div');
    list.className = 'legend';
    host.className = 'plot';
    this.own.forEach((s, i) => list.append(this.key(s.name, curveColour(theme, i), i)));
    this.element.append(list, host);
    const axis = { stroke: theme.soft, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    this.plot = new uPlot({
      width: 320, height: 150, legend: { show: false }, padding: [8, 10, 0, 0],
      scales: { x: { time: false }, y: log ? { distr: 3 } : { range: (_, low, high) => (low === high ? [low - 1, high + 1] : uPlot.rangeNum(low, high, 0.08, true)) } },
      axes: [{ ...axis, size: 24, gap: 2 }, { ...axis, size: 52, gap: 3, values: (_, ticks) => ticks.map((v) => (v === null ? '' : log ? v.toExponential(0).replace(/-/g, '\u2212') : sayTick(v))) }],
      series: [{}, ...series.map((_, i) => ({ stroke: curveColour(theme, i), width: 1.6, points: { show: false } })),
        ...series.map((_, i) => ({ stroke: curveColour(theme, i), width: 1.3, dash: [5, 4], points: { show: false } }))],
      cursor: { drag: { x: true, y: false, dist: 6 }, points: { show: false }, y: false, bind: { dblclick: () => () => { this.zoomed = false; return null; } } },
      hooks: { setSelect: [(u) => { if (u.select.width > 6) this.zoomed = true; }] },
    }, [[0], ...series.map(() => [0]), ...series.map(() => [null])] as uPlot.AlignedData, host);
    let down = 0;
    host.addEventListener('pointerdown', (event) => { down = event.clientX; });
    host.addEventListener('click', (event) => {
      const box = this.plot.over.getBoundingClientRect();
      if (event.clientX >= box.left && Math.abs(event.clientX - down) < 6) seek(this.plot.posToVal(event.clientX - box.left, 'x'));
    });
    this.watch = new ResizeObserver(() => { if (host.clientWidth > 0) this.plot.setSize({ width: host.clientWidth, height: 150 }); });
    this.watch.observe(host);
  }

  private key(name: string, colour: string, i: number) {
    const item = document.createElement('li'), button = document.createElement('button'), swatch = document.createElement('i'), value = document.createElement('b');
    swatch.style.background = colour;
    button.append(swatch, name + ' ', value);
    button.setAttribute('aria-pressed', 'true');
    button.title = 'Show or hide';
    button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(on));
      this.plot.setSeries(1 + i, { show: on });
      this.plot.setSeries(1 + this.own.length + i, { show: on });
    });
    this.legend.push(value);
    item.append(button);
    return item;
  }

  paint(samples: Sample[], index: number, ghost: Ghost | null) {
    const step = Math.max(1, Math.ceil((index + 1) / 2500)), time: number[] = [], n = this.own.length, columns: (number | null)[][] = Array.from({ length: 2 * n }, () => []);
    const other = ghost ? this.series.map((s) => s.in(ghost.about, ghost.places)) : [];
    const tame = (v: number | null) => (v === null || !Number.isFinite(v) ? null : this.log ? Math.max(1e-18, Math.abs(v)) : v);
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
    this.plot.setData([time, ...columns] as uPlot.AlignedData, !this.zoomed);
    if (this.zoomed) this.plot.redraw(true);
    this.own.forEach(({ read }, i) => { this.legend[i].textContent = sayNumber(read(samples[index])); });
  }

  free() { this.watch.disconnect(); this.plot.destroy(); }
}

// One number over another, with a dot where it is now; the last part of the way is stronger.
class Portrait implements Chart {
  readonly element: HTMLElement;
  private canvas = document.createElement('canvas');
  private section: { name: string; read: Read; level: number } | null = null;
  private last: Sample | null = null;
  // `others`: what a Poincare section can be taken by.
  constructor(private x: Clear, private y: Clear, private theme: Theme, others: Clear[], private again: () => void) {
    this.element = frame(y.name + ' over ' + x.name);
    if (others.length > 0) this.element.append(this.sectionList(others));
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'Phase portrait: ' + y.name + ' over ' + x.name);
    this.element.append(this.canvas);
  }

  // Dots where another number rises through the value that it has when it is chosen.
  private sectionList(others: Clear[]) {
    const list = document.createElement('select');
    list.setAttribute('aria-label', 'Poincare section');
    list.append(new Option('whole', ''), ...others.map((o, i) => new Option('as ' + o.name + ' rises through its value now', String(i))));
    list.addEventListener('change', () => {
      const other = list.value === '' ? null : others[Number(list.value)];
      this.section = other && this.last ? { ...other, level: other.read(this.last) } : null;
      this.again();
    });
    return list;
  }

  private points(samples: Sample[], index: number): [number, number][] {
    const list: [number, number][] = [], add = (x: number, y: number) => { if (Number.isFinite(x + y)) list.push([x, y]); }, cut = this.section;
    if (!cut) {
      const step = Math.max(1, Math.ceil(index / 4000));
      for (let k = 0; k < index; k += step) add(this.x.read(samples[k]), this.y.read(samples[k]));
      add(this.x.read(samples[index]), this.y.read(samples[index]));
      return list;
    }
    for (let k = 1; k <= index; k++) {
      const a = samples[k - 1], b = samples[k], u = cut.read(a) - cut.level, v = cut.read(b) - cut.level;
      if (!(u < 0 && v >= 0)) continue;
      const part = u / (u - v), between = (read: Read) => read(a) + part * (read(b) - read(a));
      add(between(this.x.read), between(this.y.read));
    }
    return list;
  }

  paint(samples: Sample[], index: number) {
    this.last = samples[index];
    const size = fitCanvas(this.canvas);
    if (!size) return;
    const { pen, width, height } = size, { theme } = this, list = this.points(samples, index);
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [x, y] of list) [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
    pen.clearRect(0, 0, width, height);
    if (list.length === 0) {
      pen.font = '12px system-ui, sans-serif';
      pen.fillStyle = theme.soft;
      pen.fillText('no passage yet', 12, 24);
      return;
    }
    const wx = x1 - x0 || 1, wy = y1 - y0 || 1, left = 52, bottom = 22, top = 8, right = 10;
    const at = ([x, y]: [number, number]): [number, number] => [left + ((x - x0 + 0.06 * wx) / (1.12 * wx)) * (width - left - right), height - bottom - ((y - y0 + 0.06 * wy) / (1.12 * wy)) * (height - bottom - top)];
    pen.font = '11px system-ui, sans-serif';
    pen.fillStyle = theme.soft;
    pen.strokeStyle = theme.grid;
    pen.lineWidth = 1;
    for (const v of ticks(x0, x1, 6)) {
      const [x] = at([v, y0]);
      pen.beginPath(); pen.moveTo(x, top); pen.lineTo(x, height - bottom); pen.stroke();
      pen.textAlign = 'center';
      pen.fillText(sayTick(v), x, height - 7);
    }
    for (const v of ticks(y0, y1, 4)) {
      const [, y] = at([x0, v]);
      pen.beginPath(); pen.moveTo(left, y); pen.lineTo(width - right, y); pen.stroke();
      pen.textAlign = 'right';
      pen.fillText(sayTick(v), left - 6, y + 4);
    }
    const colour = curveColour(theme, 0), recent = Math.max(0, list.length - 120);
    if (this.section) {
      pen.fillStyle = colour;
      for (const p of list) { const [x, y] = at(p); pen.beginPath(); pen.arc(x, y, 2.2, 0, 7); pen.fill(); }
      return;
    }
    const path = (from: number, to: number, alpha: number, wide: number) => {
      pen.globalAlpha = alpha;
      pen.lineWidth = wide;
      pen.strokeStyle = colour;
      pen.beginPath();
      for (let k = from; k < to; k++) { const [x, y] = at(list[k]); if (k === from) pen.moveTo(x, y); else pen.lineTo(x, y); }
      pen.stroke();
    };
    path(0, list.length, 0.45, 1.1);
    path(recent, list.length, 0.9, 2);
    pen.globalAlpha = 1;
    const [x, y] = at(list[list.length - 1]);
    pen.beginPath(); pen.arc(x, y, 4.5, 0, 7);
    pen.fillStyle = curveColour(theme, 1); pen.fill();
    pen.lineWidth = 1.5; pen.strokeStyle = theme.card; pen.stroke();
  }
  free() {}
}

// As short as it can be: 5e−16.
const sayTick = (v: number) => { const w = Number(v.toPrecision(4)); return (w !== 0 && (Math.abs(w) < 1e-3 || Math.abs(w) >= 1e5) ? w.toExponential() : String(w)).replace(/-/g, '\u2212'); };

function ticks(low: number, high: number, about: number): number[] {
  const raw = (high - low || 1) / about, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw)!;
  const list: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-12 * step && list.length < 20; i++) list.push(i * step);
  return list;
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
  const time = (title: string, series: Series[], log = false) => list.push(new TimeChart(title, series, about, places, theme, log, seek));
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

// What a recording needs beside the model, over its time.
export function makeForceChart(about: About, places: Places, theme: Theme, forces: (s: Sample) => Float64Array | null, seek: (t: number) => void): Chart {
  const series = about.speeds.slice(0, 7).map((name, i): Series => ({ name, in: (a) => (a === about ? (s) => forces(s)?.[i] ?? NaN : null) }));
  return new TimeChart('Force that the model does not explain', series, about, places, theme, false, seek);
}
