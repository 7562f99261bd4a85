// The drawing of a model in the plane: its `draw` lines on square paper, with arrows of the principle.
import { drawKinds, type About, type Draw, type Places, type Sample } from './numbers';
import { curveColour, fitCanvas, ghostOf, namedColour, type Theme } from './theme';

type Place = [number, number];
export interface Arrows { at: number[]; free: number[]; actual: number[] } // of as many components as the point has
// Another motion, drawn pale behind this one.
export interface Ghost { about: About; places: Places; samples: Sample[]; index: number }
export interface Push { at: number[]; force: number[]; turns: boolean; share: number } // turns: a torque; share: of the longest of all

export class Plane {
  private about!: About;
  private places!: Places;
  private low = [0, 0];
  private high = [0, 0];
  private own: [number[], number[]] = [[0, 0], [0, 0]]; // of this motion alone
  private view = { zoom: 1, x: 0, y: 0 };
  private scale = 1;
  private size = { width: 1, height: 1 };
  private longest = 0;
  quiet = false; // a small picture: no paper

  constructor(readonly canvas: HTMLCanvasElement) {}

  setWorld(about: About, places: Places, first: Sample) {
    this.about = about;
    this.places = places;
    this.view = { zoom: 1, x: 0, y: 0 };
    this.longest = 0;
    this.low = [Infinity, Infinity];
    this.high = [-Infinity, -Infinity];
    this.include(first, true);
  }

  // Draws with the data of another world in place of this one's.
  private as(about: About, places: Places, draw: () => void) {
    const own = [this.about, this.places] as const;
    [this.about, this.places] = [about, places];
    draw();
    [this.about, this.places] = own;
  }
  // The window shows another motion as well, while that stays near: within a few times the size of this one.
  includeGhost(ghost: Ghost) {
    const before = [0, 1].map((d) => [this.low[d], this.high[d]]);
    this.as(ghost.about, ghost.places, () => this.include(ghost.samples[ghost.index]));
    const far = Math.max(...[0, 1].map((d) => this.own[1][d] - this.own[0][d])) || 1;
    for (let d = 0; d < 2; d++) {
      this.low[d] = Math.min(before[d][0], Math.max(this.low[d], this.own[0][d] - 0.8 * far));
      this.high[d] = Math.max(before[d][1], Math.min(this.high[d], this.own[1][d] + 0.8 * far));
    }
  }

  // The window grows with the motion. What swings about a fixed point stays within its length from there.
  include(sample: Sample, swings = false) {
    const grow = (d: number, low: number, high: number) => {
      if (low < this.low[d]) this.low[d] = low;
      if (high > this.high[d]) this.high[d] = high;
    };
    for (const draw of this.about.draws) {
      if (drawKinds[draw.kind] === 'text' || drawKinds[draw.kind] === 'arrow') continue;
      const room = draw.radius ? Math.abs(this.radius(draw, sample)) : 0, list = this.points(draw, sample);
      list.forEach((p) => { for (let d = 0; d < 2; d++) if (Number.isFinite(p[d])) grow(d, p[d] - room, p[d] + room); });
      if (!swings || list.length > 4) continue;
      const fixed = list.findIndex((_, k) => draw.fixed[2 * k] && draw.fixed[2 * k + 1]);
      const moves = draw.fixed.some((f) => !f);
      if (fixed < 0 || !moves || drawKinds[draw.kind] !== 'line') continue;
      let reach = 0;
      for (let k = 1; k < list.length; k++) reach += Math.hypot(list[k][0] - list[k - 1][0], list[k][1] - list[k - 1][1]);
      for (let d = 0; d < 2; d++) grow(d, list[fixed][d] - reach, list[fixed][d] + reach);
    }
    if (swings) this.own = [[...this.low], [...this.high]];
  }

  sameWindow(other: Plane) {
    [this.low, this.high, this.view] = [[...other.low], [...other.high], { ...other.view }];
  }
  pan(dx: number, dy: number) { this.view.x += dx; this.view.y += dy; }
  resetView() { this.view = { zoom: 1, x: 0, y: 0 }; }
  zoom(by: number, x: number, y: number) { // the point under the mouse stays there
    const v = this.view, zoom = Math.max(0.05, Math.min(200, v.zoom * by)), real = zoom / v.zoom;
    const mx = x - this.size.width / 2, my = y - this.size.height / 2;
    v.x = mx - (mx - v.x) * real;
    v.y = my - (my - v.y) * real;
    v.zoom = zoom;
  }

  private middle(d: number) { return (this.low[d] + this.high[d]) / 2 || 0; }
  place = (p: number[]): Place => [
    this.size.width / 2 + this.view.x + this.scale * (p[0] - this.middle(0)),
    this.size.height / 2 + this.view.y - this.scale * (p[1] - this.middle(1)),
  ];
  unplace = (x: number, y: number): Place => [
    this.middle(0) + (x - this.size.width / 2 - this.view.x) / this.scale,
    this.middle(1) - (y - this.size.height / 2 - this.view.y) / this.scale,
  ];

  private points(draw: Draw, sample: Sample): Place[] {
    const at = this.places.output + draw.output;
    return Array.from({ length: draw.points }, (_, k) => [sample[at + draw.dimension * k], sample[at + draw.dimension * k + 1]]);
  }
  private radius(draw: Draw, sample: Sample) { return sample[this.places.output + draw.output + draw.points * draw.dimension]; }

  paint(theme: Theme, samples: Sample[], index: number, arrows: Arrows | null, pull: [Place, Place] | null, ghost: Ghost | null = null, pushes: Push[] = []) {
    const size = fitCanvas(this.canvas);
    if (!size) return;
    this.size = size;
    const { pen, width, height } = size, sample = samples[index];
    const room = this.quiet ? 14 : 44, w = this.high[0] - this.low[0], h = this.high[1] - this.low[1];
    const fit = Math.min((width - 2 * room) / w, (height - 2 * room) / h);
    this.scale = (Number.isFinite(fit) && fit > 0 ? fit : Math.min(width, height) / 4) * this.view.zoom;
    pen.clearRect(0, 0, width, height);
    if (!this.quiet) this.paintGrid(pen, theme);
    pen.lineCap = pen.lineJoin = 'round';
    if (ghost) {
      this.as(ghost.about, ghost.places, () => {
        const pale = ghostOf(theme);
        this.about.draws.forEach((draw, i) => this.paintTrail(pen, pale, draw, i, ghost.samples, ghost.index));
        this.about.draws.forEach((draw, i) => this.paintShape(pen, pale, draw, i, ghost.samples[ghost.index]));
      });
    }
    this.about.draws.forEach((draw, i) => this.paintTrail(pen, theme, draw, i, samples, index));
    this.about.draws.forEach((draw, i) => this.paintShape(pen, theme, draw, i, sample));
    if (arrows) this.paintArrows(pen, theme, arrows);
    for (const push of pushes) {
      const at = this.place(push.at), size = Math.hypot(...push.force), long = (0.3 * Math.min(width, height) * push.share) / (size || 1);
      paintArrow(pen, at, [at[0] + long * push.force[0], at[1] - long * push.force[1]], theme.force, theme.card);
    }
    if (pull) this.paintSpring(pen, this.place(pull[0]), this.place(pull[1]), theme.accent);
    this.about.draws.forEach((draw) => this.paintText(pen, theme, draw, sample));
  }

  private paintGrid(pen: CanvasRenderingContext2D, theme: Theme) {
    const { width, height } = this.size, raw = 70 / this.scale, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw)!, [left, top] = this.unplace(0, 0), [right, bottom] = this.unplace(width, height);
    const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * 1.000001))));
    const label = (v: number) => (Math.abs(v) >= 1e5 ? v.toExponential(1) : v.toFixed(decimals)).replace(/-/g, '\u2212');
    pen.font = '11px system-ui, sans-serif';
    pen.lineWidth = 1;
    const line = (zero: boolean, x1: number, y1: number, x2: number, y2: number) => {
      pen.strokeStyle = zero ? theme.line : theme.grid;
      pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
    };
    pen.fillStyle = theme.soft;
    for (let i = Math.ceil(left / step); i * step < right; i++) {
      const x = Math.round(this.place([i * step, 0])[0]) + 0.5;
      line(i === 0, x, 0, x, height);
      pen.textAlign = 'center';
      if (x > 40 && x < width - 24) pen.fillText(label(i * step), x, height - 8);
    }
    for (let i = Math.ceil(bottom / step); i * step < top; i++) {
      const y = Math.round(this.place([0, i * step])[1]) + 0.5;
      line(i === 0, 0, y, width, y);
      pen.textAlign = 'left';
      if (y > 40 && y < height - 20) pen.fillText(label(i * step), 8, y - 4);
    }
  }

  private through(pen: CanvasRenderingContext2D, list: Place[], closed = false) {
    let before = false;
    pen.beginPath();
    for (const [x, y] of list) {
      const here = Number.isFinite(x) && Number.isFinite(y);
      if (here) { if (before) pen.lineTo(x, y); else pen.moveTo(x, y); }
      before = here;
    }
    if (closed) pen.closePath();
    pen.stroke();
  }

  private colour(theme: Theme, draw: Draw, i: number) {
    const kind = drawKinds[draw.kind], strokes = kind === 'line' || kind === 'spring' || kind === 'text';
    const quiet = kind === 'spring' || draw.fixed.every((f) => f);
    const many = this.about.draws.filter((d) => d.kind === draw.kind).length > 6; // many of one kind share a colour
    return namedColour(theme, draw.colour, strokes ? (quiet ? theme.soft : theme.ink) : curveColour(theme, many ? 1 : i));
  }

  // The trails that the model requests; otherwise a short one behind the free end of each line.
  private paintTrail(pen: CanvasRenderingContext2D, theme: Theme, draw: Draw, i: number, samples: Sample[], index: number) {
    const kind = drawKinds[draw.kind], asked = kind === 'trail', last = draw.points - 1;
    const moves = !(draw.fixed[2 * last] && draw.fixed[2 * last + 1]);
    const own = kind === 'line' && !draw.radius && draw.points <= 12 && moves && !this.about.draws.some((d) => drawKinds[d.kind] === 'trail');
    if (!asked && !own) return;
    const count = asked ? index : Math.min(index, 60), colour = namedColour(theme, asked ? draw.colour : '', curveColour(theme, i + 1));
    const step = Math.max(1, Math.floor(count / 1500)), list: Place[] = [];
    for (let k = index - count; k < index; k += step) list.push(this.place(this.points(draw, samples[k])[last]));
    list.push(this.place(this.points(draw, samples[index])[last]));
    pen.save();
    pen.strokeStyle = colour;
    pen.lineWidth = asked ? 1.6 : 2.4;
    if (asked) {
      pen.globalAlpha = 0.6;
      this.through(pen, list);
    } else {
      for (let k = 1; k < list.length; k++) {
        pen.globalAlpha = 0.5 * (k / list.length) ** 2;
        this.through(pen, [list[k - 1], list[k]]);
      }
    }
    pen.restore();
  }

  private paintShape(pen: CanvasRenderingContext2D, theme: Theme, draw: Draw, i: number, sample: Sample) {
    const kind = drawKinds[draw.kind], list = this.points(draw, sample).map(this.place), colour = this.colour(theme, draw, i);
    const ball = (at: Place, radius: number, fill: string) => {
      if (!Number.isFinite(at[0] + at[1])) return;
      pen.beginPath(); pen.arc(at[0], at[1], radius, 0, 7);
      pen.fillStyle = fill; pen.fill();
      pen.lineWidth = 1.5; pen.strokeStyle = theme.card; pen.stroke();
    };
    const small = this.quiet ? 0.6 : 1;
    pen.strokeStyle = pen.fillStyle = colour;
    if (kind === 'line') {
      const still = draw.fixed.every((f) => f);
      pen.lineWidth = small * (still || list.length > 40 ? 2 : 3.5);
      this.through(pen, list);
      if (still || list.length > 12) return;
      list.forEach((at, k) => {
        if (!(draw.fixed[2 * k] && draw.fixed[2 * k + 1])) ball(at, small * 7, namedColour(theme, draw.colour, curveColour(theme, k === list.length - 1 ? i + 1 : i)));
        else if (Number.isFinite(at[0])) {
          pen.beginPath(); pen.arc(at[0], at[1], small * 5, 0, 7);
          pen.fillStyle = theme.card; pen.fill();
          pen.lineWidth = small * 2.2; pen.strokeStyle = colour; pen.stroke();
        }
      });
    } else if (kind === 'point') list.forEach((at) => ball(at, small * (this.about.draws.length + list.length > 16 ? 5 : 7), colour));
    else if (kind === 'circle') {
      const radius = Math.abs(this.radius(draw, sample)) * this.scale;
      if (!Number.isFinite(list[0][0] + list[0][1] + radius)) return;
      pen.lineWidth = small * 2.2;
      pen.beginPath(); pen.arc(list[0][0], list[0][1], radius, 0, 7); pen.stroke();
      pen.globalAlpha = 0.16; pen.fill(); pen.globalAlpha = 1;
    } else if (kind === 'arrow') paintArrow(pen, list[0], list[1], namedColour(theme, draw.colour, theme.force), theme.card);
    else if (kind === 'spring') this.paintSpring(pen, list[0], list[1], colour);
    else if (kind === 'polygon') {
      pen.lineWidth = small * 2;
      this.through(pen, list, true);
      pen.globalAlpha = 0.2; pen.fill(); pen.globalAlpha = 1;
    }
  }

  private paintSpring(pen: CanvasRenderingContext2D, a: Place, b: Place, colour: string) {
    const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy);
    if (!(length > 2)) return;
    const ux = dx / length, uy = dy / length, coils = 7, wide = Math.min(9, 0.25 * length), lead = Math.min(12, 0.15 * length);
    const at = (along: number, side: number): Place => [a[0] + ux * along - uy * side, a[1] + uy * along + ux * side];
    const list = [a, at(lead, 0)];
    for (let k = 0; k < 2 * coils; k++) list.push(at(lead + ((length - 2 * lead) * (k + 0.5)) / (2 * coils), k % 2 ? wide : -wide));
    list.push(at(length - lead, 0), b);
    pen.lineWidth = 1.8;
    pen.strokeStyle = colour;
    this.through(pen, list);
  }

  // Free and actual acceleration from one point, and between their heads the difference: the constraint.
  private paintArrows(pen: CanvasRenderingContext2D, theme: Theme, set: Arrows) {
    const size = Math.max(Math.hypot(...set.free), Math.hypot(...set.actual));
    if (!(size > 0)) return;
    this.longest = Math.max(size, 0.995 * this.longest);
    const scale = (0.24 * Math.min(this.size.width, this.size.height)) / this.longest, at = this.place(set.at);
    const tip = (v: number[]): Place => [at[0] + scale * v[0], at[1] - scale * v[1]];
    paintArrow(pen, tip(set.free), tip(set.actual), theme.force, theme.card);
    paintArrow(pen, at, tip(set.free), theme.free, theme.card);
    paintArrow(pen, at, tip(set.actual), theme.actual, theme.card);
  }

  private paintText(pen: CanvasRenderingContext2D, theme: Theme, draw: Draw, sample: Sample) {
    if (!draw.text || this.quiet) return;
    const [x, y] = this.place(this.points(draw, sample)[0]);
    if (!Number.isFinite(x + y)) return;
    pen.font = '600 13px system-ui, sans-serif';
    pen.textAlign = 'left';
    pen.lineWidth = 4;
    pen.strokeStyle = theme.card;
    pen.fillStyle = namedColour(theme, drawKinds[draw.kind] === 'text' ? draw.colour : '', theme.ink);
    pen.strokeText(draw.text, x + 10, y - 9);
    pen.fillText(draw.text, x + 10, y - 9);
  }
}

export function paintArrow(pen: CanvasRenderingContext2D, a: Place, b: Place, colour: string, rim: string) {
  const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy);
  if (!(length > 1)) return;
  const headSize = Math.min(11, 0.5 * length), ux = dx / length, uy = dy / length, wide = 0.42 * headSize;
  const back: Place = [b[0] - ux * headSize, b[1] - uy * headSize];
  for (const [style, more] of [[rim, 2.4], [colour, 0]] as const) {
    pen.strokeStyle = pen.fillStyle = style;
    pen.lineWidth = 2.4 + more;
    pen.beginPath(); pen.moveTo(...a); pen.lineTo(...back); pen.stroke();
    pen.lineWidth = 0.8 + more;
    pen.beginPath(); pen.moveTo(...b); pen.lineTo(back[0] - uy * wide, back[1] + ux * wide); pen.lineTo(back[0] + uy * wide, back[1] - ux * wide);
    pen.closePath(); pen.fill(); pen.stroke();
  }
}
