// Live plots: what the model asks for, a phase portrait, energy, violation. Over time by uPlot; portraits on a canvas.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { head, sayNumber, type About, type Places, type Sample } from './numbers';
import { curveColour, fitCanvas, type Theme } from './theme';

type Read = (sample: Sample) => number;
interface Series { name: string; read: Read }

export interface Chart {
  element: HTMLElement;
  paint(samples: Sample[], index: number): void;
  free(): void;
}

function frame(title: string) {
  const element = document.createElement('figure'), caption = document.createElement('figcaption');
  element.className = 'chart';
  caption.textContent = title;
  element.append(caption);
  return element;
}

class TimeChart implements Chart {
  readonly element: HTMLElement;
  private plot: uPlot;
  private legend: HTMLElement[] = [];
  private watch: ResizeObserver;

  constructor(title: string, private series: Series[], theme: Theme, private log: boolean, seek: (t: number) => void) {
    this.element = frame(title);
    const list = document.createElement('ul');
    list.className = 'legend';
    series.forEach((s, i) => {
      const item = document.createElement('li'), swatch = document.createElement('i'), value = document.createElement('b');
      swatch.style.background = curveColour(theme, i);
      item.append(swatch, s.name + ' ', value);
      list.append(item);
      this.legend.push(value);
    });
    const host = document.createElement('div');
    host.className = 'plot';
    this.element.append(list, host);
    const axis = { stroke: theme.soft, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    this.plot = new uPlot({
      width: 320, height: 150, legend: { show: false }, padding: [8, 10, 0, 0],
      scales: { x: { time: false }, y: log ? { distr: 3 } : { range: (_, low, high) => (low === high ? [low - 1, high + 1] : uPlot.rangeNum(low, high, 0.08, true)) } },
      axes: [{ ...axis, size: 24, gap: 2 }, { ...axis, size: 52, gap: 3, values: (_, ticks) => ticks.map((v) => (v === null ? '' : log ? v.toExponential(0).replace(/-/g, '\u2212') : sayTick(v))) }],
      series: [{}, ...series.map((_, i) => ({ stroke: curveColour(theme, i), width: 1.6, points: { show: false } }))],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    }, [[0], ...series.map(() => [0])] as uPlot.AlignedData, host);
    host.addEventListener('click', (event) => {
      const box = this.plot.over.getBoundingClientRect();
      if (event.clientX >= box.left) seek(this.plot.posToVal(event.clientX - box.left, 'x'));
    });
    this.watch = new ResizeObserver(() => { if (host.clientWidth > 0) this.plot.setSize({ width: host.clientWidth, height: 150 }); });
    this.watch.observe(host);
  }

  paint(samples: Sample[], index: number) {
    const step = Math.max(1, Math.ceil((index + 1) / 2500)), time: number[] = [], columns: (number | null)[][] = this.series.map(() => []);
    const take = (s: Sample) => {
      time.push(s[0]);
      this.series.forEach(({ read }, i) => {
        const v = this.log ? Math.max(1e-18, Math.abs(read(s))) : read(s);
        columns[i].push(Number.isFinite(v) ? v : null);
      });
    };
    for (let k = 0; k < index; k += step) take(samples[k]);
    take(samples[index]);
    this.plot.setData([time, ...columns] as uPlot.AlignedData);
    this.series.forEach(({ read }, i) => { this.legend[i].textContent = sayNumber(read(samples[index])); });
  }

  free() { this.watch.disconnect(); this.plot.destroy(); }
}

// One number over another, with a dot where it is now; the last part of the way is stronger.
class Portrait implements Chart {
  readonly element: HTMLElement;
  private canvas = document.createElement('canvas');
  constructor(private x: Series, private y: Series, private theme: Theme) {
    this.element = frame(y.name + ' over ' + x.name);
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'Phase portrait: ' + y.name + ' over ' + x.name);
    this.element.append(this.canvas);
  }

  paint(samples: Sample[], index: number) {
    const size = fitCanvas(this.canvas);
    if (!size) return;
    const { pen, width, height } = size, { theme } = this, step = Math.max(1, Math.ceil(index / 4000));
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    const list: [number, number][] = [];
    const take = (s: Sample) => {
      const x = this.x.read(s), y = this.y.read(s);
      if (!Number.isFinite(x + y)) return;
      [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
      list.push([x, y]);
    };
    for (let k = 0; k < index; k += step) take(samples[k]);
    take(samples[index]);
    pen.clearRect(0, 0, width, height);
    if (list.length === 0) return;
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

export function makeCharts(about: About, places: Places, theme: Theme, seek: (t: number) => void): Chart[] {
  const list: Chart[] = [], out = (i: number): Read => (s) => s[places.output + i];
  const groups = new Map<number, typeof about.curves>();
  for (const curve of about.curves) groups.set(curve.plot, [...(groups.get(curve.plot) ?? []), curve]);
  let portraits = 0;
  for (const curves of groups.values()) {
    if (curves[0].kind === 0) {
      const some = curves.slice(0, 7);
      list.push(new TimeChart(some.map((c) => c.y).join(', ').slice(0, 60), some.map((c) => ({ name: c.y, read: out(c.output + 1) })), theme, false, seek));
    } else for (const c of curves) {
      portraits++;
      list.push(new Portrait({ name: c.x, read: out(c.output) }, { name: c.y, read: out(c.output + 1) }, theme));
    }
  }
  if (about.curves.length === 0 && about.coords.length > 0) {
    list.push(new TimeChart('Coordinates', about.coords.slice(0, 7).map((name, i) => ({ name, read: (s) => s[places.q + i] })), theme, false, seek));
  }
  if (portraits === 0 && about.coords.length > 0 && about.coords.length === about.speeds.length) {
    list.push(new Portrait({ name: about.coords[0], read: (s) => s[places.q] }, { name: about.coords[0] + "'", read: (s) => s[places.v] }, theme));
  }
  list.push(new TimeChart('Energy', [{ name: 'sum', read: (s) => s[head.energy] }, { name: 'kinetic', read: (s) => s[head.kinetic] }, { name: 'potential', read: (s) => s[head.potential] }], theme, false, seek));
  list.push(new TimeChart('Violation and certificate', [{ name: 'positions', read: (s) => s[head.position] }, { name: 'speeds', read: (s) => s[head.velocity] }, { name: 'certificate', read: (s) => s[head.certificate] }], theme, true, seek));
  return list;
}
