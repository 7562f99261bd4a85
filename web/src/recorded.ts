// A recording as `zwang --report` writes it (src/record/html.c): channels of numbers over one clock, and what is to be
// drawn. Between samples a motion is a cubic with the slopes of its neighbours (Hermite); over an event it is not.
import { drawKinds, type About, type Draw, type Places, type Sample } from './numbers';

type Source = number | [number | null]; // a channel's number, or a fixed one
export interface RawChart {
  kind: 'time' | 'phase' | 'xy' | 'dots'; title: string; xLabel: string; yLabel: string; color?: number; fields?: [number, number];
  log: boolean; drift: boolean; forces: boolean; leftOut: number; x: number; y: number[];
}
interface RawDraw {
  kind: string; dimension: number; width: number | null; seconds: number | null; radius?: Source; color?: string; text?: string; points: Source[][];
  vertices?: number[]; faces?: number[];
}
interface Raw {
  rows: number; samples: number; timeName: string; time: string; channels: { name: string; constant?: number | null; offset?: number; data?: string }[];
  charts: RawChart[]; draws: RawDraw[]; marks: { time: number | null; label: string }[];
}
export const prime = (name: string) => name.replace(/'/g, '\u2032');

function bytesOf(base64: string) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new DataView(bytes.buffer);
}

export class Recorded {
  readonly count: number;
  readonly rows: number;
  readonly channels: { name: string; value: Float64Array }[];
  readonly charts: RawChart[];
  readonly marks: { time: number; label: string }[];
  readonly time: Float64Array;
  readonly timeName: string;
  readonly good: boolean; // the recorded time goes forward; else the number of a sample takes its place
  readonly about: About;
  readonly places: Places;
  readonly samples: Sample[]; // created when needed
  private sources: Source[] = [];
  private broken: Set<number>; // intervals with an event in them
  private here: { index: number; sample: Sample } | null = null;

  constructor(raw: Raw) {
    const n = this.count = raw.samples, view = bytesOf(raw.time), time = Float64Array.from({ length: n }, (_, i) => view.getFloat64(8 * i, true));
    this.rows = raw.rows;
    this.good = time.every((t, i) => Number.isFinite(t) && (i === 0 || t >= time[i - 1]));
    this.time = this.good ? time : time.map((_, i) => i);
    this.timeName = this.good ? prime(raw.timeName) : 'sample';
    this.channels = raw.channels.map((c) => {
      const value = new Float64Array(n).fill(c.constant ?? NaN);
      if (c.data !== undefined) { const data = bytesOf(c.data); for (let i = 0; i < n; i++) value[i] = (c.offset ?? 0) + data.getFloat32(4 * i, true); }
      return { name: prime(c.name), value };
    });
    this.charts = raw.charts;
    this.marks = raw.marks.filter((m): m is { time: number; label: string } => m.time !== null).sort((a, b) => a.time - b.time);
    this.broken = new Set(this.marks.map((m) => Math.floor(this.sampleAt(m.time))));
    const draws = raw.draws.map((d) => this.takeDraw(d));
    this.about = {
      coords: [], speeds: [], params: [], constraints: [], rows: [], bodies: [], curves: [], draws, geoms: [], meshes: [], hfields: [], parents: [], points: [], keys: [],
      controls: [], joints: [], equalities: [], outputs: this.sources.length, frames: 0, contacts: 0, run: [], method: '', contact: '', linear: 0, law: '', version: '', recorded: true,
    };
    const output = 12, end = output + this.sources.length;
    this.places = { q: 12, v: 12, a: 12, free: 12, FN: 12, FL: 12, FC: 12, lambda: 12, param: 12, output, frame: end, subject: end, contact: end };
    this.samples = this.lazy();
  }

  get start() { return this.count > 0 ? this.time[0] : 0; }
  get end() { return this.count > 0 ? this.time[this.count - 1] : 0; }

  private takeDraw(d: RawDraw): Draw {
    const output = this.sources.length, flat = d.points.flat();
    this.sources.push(...flat);
    if (d.radius !== undefined) this.sources.push(d.radius);
    return {
      kind: drawKinds.indexOf(d.kind as (typeof drawKinds)[number]), dimension: d.dimension, points: d.points.length, output, radius: d.radius !== undefined ? 1 : 0,
      fixed: flat.map((s) => Number(typeof s !== 'number')), text: d.text ? prime(d.text) : '', colour: d.color ?? '', vertices: d.vertices, faces: d.faces,
    };
  }

  // The sample's number at a time, with a fraction between samples. Where two share a time the later one counts.
  sampleAt(t: number): number {
    let low = 0, high = this.count - 1;
    if (high < 1 || !(t > this.time[0])) return 0;
    if (t >= this.time[high]) return high;
    while (high - low > 1) { const middle = (low + high) >> 1; if (this.time[middle] <= t) low = middle; else high = middle; }
    return low + (t - this.time[low]) / (this.time[high] - this.time[low]);
  }

  private smooth(i: number) { return i >= 0 && i + 1 < this.count && this.time[i + 1] > this.time[i] && !this.broken.has(i); }

  // The slope at sample k as seen from interval i: of the parabola through it and its neighbours.
  private slope(v: Float64Array, k: number, i: number): number {
    const t = this.time, own = (v[i + 1] - v[i]) / (t[i + 1] - t[i]), j = k === i ? k - 1 : k; // the interval on its other side
    if (!this.smooth(j)) return own;
    const other = (v[j + 1] - v[j]) / (t[j + 1] - t[j]), h = t[i + 1] - t[i], g = t[j + 1] - t[j];
    return (own * g + other * h) / (g + h);
  }

  valueAt(v: Float64Array, sample: number): number {
    const i = Math.floor(sample), s = sample - i;
    if (s === 0) return v[i];
    if (!this.smooth(i)) return v[i] + s * (v[i + 1] - v[i]);
    const h = this.time[i + 1] - this.time[i], a = h * this.slope(v, i, i), b = h * this.slope(v, i + 1, i), d = v[i + 1] - v[i];
    const w = v[i] + s * (a + s * (3 * d - 2 * a - b + s * (a + b - 2 * d)));
    return Number.isFinite(w) ? w : v[i] + s * d;
  }

  // All numbers of the drawing at a place between samples.
  at(sample: number): Sample {
    const now = new Float64Array(this.places.frame).fill(0), i = Math.floor(sample);
    now[0] = this.time[i] + (sample > i ? (sample - i) * (this.time[i + 1] - this.time[i]) : 0);
    this.sources.forEach((s, k) => { now[this.places.output + k] = typeof s === 'number' ? this.valueAt(this.channels[s].value, sample) : s[0] ?? NaN; });
    return now;
  }
  // From now on samples[index] is the motion at this place, interpolated.
  put(sample: number): number {
    const index = Math.floor(sample);
    this.here = { index, sample: this.at(sample) };
    return index;
  }
  private lazy(): Sample[] {
    const kept = new Map<number, Sample>();
    return new Proxy([] as Sample[], { get: (list, key) => {
      const k = typeof key === 'string' ? Number(key) : NaN;
      if (!Number.isInteger(k)) return key === 'length' ? this.count : Reflect.get(list, key);
      if (this.here?.index === k) return this.here.sample;
      if (kept.size > 6000) kept.clear();
      const found = kept.get(k) ?? this.at(k);
      kept.set(k, found);
      return found;
    } });
  }
}
