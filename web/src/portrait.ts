// One number over another on a canvas: phase portraits, paths, sections, maps.
import { curveColour, fitCanvas, type Theme } from './theme';

type Two = [number, number];
export interface Track {
  points: Two[]; // values that are not finite leave a gap
  recent?: number; // from here on it is stronger
  now?: Two | null;
  dots?: boolean; // points without lines between them
  shades?: { value: ArrayLike<number>; fields: Two }; // fields of a map, by a third number
}

// As short as it can be: 5e−16.
export const sayTick = (v: number) => { const w = Number(v.toPrecision(4)); return (w !== 0 && (Math.abs(w) < 1e-3 || Math.abs(w) >= 1e5) ? w.toExponential() : String(w)).replace(/-/g, '\u2212'); };

function ticks(low: number, high: number, about: number): number[] {
  const raw = (high - low || 1) / about, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw)!;
  const list: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-12 * step && list.length < 20; i++) list.push(i * step);
  return list;
}


// From dark to bright, as in the pictures (svg.c).
function shadeOf(part: number) {
  const [from, to] = part < 0.5 ? [[48, 18, 90], [0, 140, 140]] : [[0, 140, 140], [250, 225, 60]], way = part < 0.5 ? 2 * part : 2 * part - 1;
  return 'rgb(' + from.map((v, k) => Math.round(v + way * (to[k] - v))).join(',') + ')';
}

function rangeOf(list: Iterable<number>): Two {
  let low = Infinity, high = -Infinity;
  for (const v of list) { if (!Number.isFinite(v)) continue; if (v < low) low = v; if (v > high) high = v; }
  return low <= high ? [low, high] : [0, 1];
}

// `equal`: one scale along both axes. Answers where a point stands on the canvas.
export function paintPortrait(canvas: HTMLCanvasElement, theme: Theme, tracks: Track[], labels: { x?: string; y?: string; equal?: boolean } = {}) {
  const size = fitCanvas(canvas);
  if (!size) return null;
  const { pen, width, height } = size, left = labels.y ? 66 : 52, bottom = labels.x ? 36 : 22, top = 8, right = 10;
  const axis = (d: 0 | 1, room: number) => {
    const [low, high] = rangeOf((function* () { for (const t of tracks) for (const p of t.points) yield p[d]; })()), wide = high - low || Math.abs(high) || 1;
    return { middle: (low + high) / 2, unit: (1.12 * wide) / room };
  };
  const x = axis(0, width - left - right), y = axis(1, height - bottom - top);
  if (labels.equal) x.unit = y.unit = Math.max(x.unit, y.unit);
  const mx = (left + width - right) / 2, my = (top + height - bottom) / 2;
  const at = ([u, v]: Two): Two => [mx + (u - x.middle) / x.unit, my - (v - y.middle) / y.unit];
  pen.clearRect(0, 0, width, height);
  pen.font = '11px system-ui, sans-serif';
  pen.fillStyle = theme.soft;
  pen.strokeStyle = theme.grid;
  pen.lineWidth = 1;
  const half = [((width - left - right) / 2) * x.unit, ((height - bottom - top) / 2) * y.unit];
  for (const v of ticks(x.middle - half[0], x.middle + half[0], 6)) {
    const [px] = at([v, y.middle]);
    pen.beginPath(); pen.moveTo(px, top); pen.lineTo(px, height - bottom); pen.stroke();
    pen.textAlign = 'center';
    pen.fillText(sayTick(v), px, height - bottom + 15);
  }
  for (const v of ticks(y.middle - half[1], y.middle + half[1], 4)) {
    const [, py] = at([x.middle, v]);
    pen.beginPath(); pen.moveTo(left, py); pen.lineTo(width - right, py); pen.stroke();
    pen.textAlign = 'right';
    pen.fillText(sayTick(v), left - 6, py + 4);
  }
  pen.textAlign = 'center';
  if (labels.x) pen.fillText(labels.x, mx, height - 5);
  if (labels.y) { pen.save(); pen.translate(11, my); pen.rotate(-Math.PI / 2); pen.fillText(labels.y, 0, 0); pen.restore(); }
  tracks.forEach((track, i) => paintTrack(pen, theme, track, i, at));
  return at;
}

function paintTrack(pen: CanvasRenderingContext2D, theme: Theme, track: Track, i: number, at: (p: Two) => Two) {
  const { points, shades } = track, colour = curveColour(theme, i);
  if (track.dots) {
    const [low, high] = shades ? rangeOf(Array.from(shades.value)) : [0, 1];
    let [wide, tall] = points.length < 500 ? [4, 4] : [2.2, 2.2];
    if (shades) {
      const span = (d: 0 | 1) => { const [a, b] = rangeOf(points.map((p) => p[d])); const e = at([a, a]), f = at([b, b]); return Math.abs(f[d] - e[d]) / Math.max(1, shades.fields[d] - 1) + 0.7; };
      [wide, tall] = [span(0), span(1)];
    }
    pen.globalAlpha = shades ? 1 : 0.75;
    pen.fillStyle = colour;
    points.forEach((p, k) => {
      const [px, py] = at(p);
      if (!Number.isFinite(px + py) || (shades && !Number.isFinite(shades.value[k]))) return;
      if (shades) pen.fillStyle = shadeOf(high > low ? (shades.value[k] - low) / (high - low) : 0.5);
      pen.fillRect(px - wide / 2, py - tall / 2, wide, tall);
    });
    pen.globalAlpha = 1;
    return;
  }
  const path = (from: number, to: number, alpha: number, wide: number) => {
    pen.globalAlpha = alpha;
    pen.lineWidth = wide;
    pen.strokeStyle = colour;
    pen.beginPath();
    let before = false;
    for (let k = from; k < to; k++) {
      const [px, py] = at(points[k]), here = Number.isFinite(px + py);
      if (here) { if (before) pen.lineTo(px, py); else pen.moveTo(px, py); }
      before = here;
    }
    pen.stroke();
  };
  path(0, points.length, 0.45, 1.1);
  if (track.recent !== undefined) path(track.recent, points.length, 0.9, 2);
  pen.globalAlpha = 1;
  if (!track.now) return;
  const [px, py] = at(track.now);
  if (!Number.isFinite(px + py)) return;
  pen.beginPath(); pen.arc(px, py, 4.5, 0, 7);
  pen.fillStyle = curveColour(theme, i + 1); pen.fill();
  pen.lineWidth = 1.5; pen.strokeStyle = theme.card; pen.stroke();
}
