// A small picture of the principle for one point: the accelerations that it can take, those that cost the same Z, and
// the nearest of the admissible ones (metric.ts).
import { eigen, type Admissible } from './metric';
import { paintArrow } from './plane';
import { fitCanvas, type Theme } from './theme';

type Two = [number, number];
// The picture, about the two heads of the arrows.
export function paintAdmissible(canvas: HTMLCanvasElement, theme: Theme, set: Admissible | null, free: Two, actual: Two) {
  const size = fitCanvas(canvas);
  if (!size) return;
  const { pen, width, height } = size, apart = Math.hypot(free[0] - actual[0], free[1] - actual[1]);
  const reach = Math.max(apart, 0.6 * Math.hypot(...free), 0.6 * Math.hypot(...actual), 1e-9), scale = (0.36 * Math.min(width, height)) / reach;
  const middle: Two = [(free[0] + actual[0]) / 2, (free[1] + actual[1]) / 2];
  const place = ([x, y]: Two): Two => [width / 2 + scale * (x - middle[0]), height / 2 - scale * (y - middle[1])];
  pen.clearRect(0, 0, width, height);
  const origin = place([0, 0]);
  pen.strokeStyle = theme.grid;
  pen.lineWidth = 1;
  pen.beginPath(); pen.moveTo(0, origin[1]); pen.lineTo(width, origin[1]); pen.moveTo(origin[0], 0); pen.lineTo(origin[0], height); pen.stroke();
  if (set) {
    const { values, axis } = eigen(set.W0), d: Two = [actual[0] - free[0], actual[1] - free[1]];
    const along = d[0] * axis[0] + d[1] * axis[1], across = -d[0] * axis[1] + d[1] * axis[0];
    const far = Math.sqrt(along ** 2 / values[0] + across ** 2 / Math.max(values[1], 1e-12 * values[0])) || 0.5 * reach / Math.sqrt(values[0]);
    for (const part of [0.5, 1, 1.5, 2]) { // equal Z: the ellipse through the actual one touches the admissible set
      const [x, y] = place(free);
      pen.strokeStyle = theme.free;
      pen.globalAlpha = part === 1 ? 1 : 0.35;
      pen.beginPath();
      pen.ellipse(x, y, scale * part * far * Math.sqrt(values[0]), scale * part * far * Math.sqrt(Math.max(values[1], 1e-6 * values[0])), -Math.atan2(axis[1], axis[0]), 0, 7);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    if (set.rank === 1) {
      const { axis: way } = eigen(set.W), long = 3 * Math.hypot(width, height) / scale;
      pen.strokeStyle = theme.accent;
      pen.lineWidth = 2.5;
      pen.beginPath(); pen.moveTo(...place([actual[0] - long * way[0], actual[1] - long * way[1]])); pen.lineTo(...place([actual[0] + long * way[0], actual[1] + long * way[1]])); pen.stroke();
    } else if (set.rank === 2) {
      pen.fillStyle = theme.accent;
      pen.globalAlpha = 0.07;
      pen.fillRect(0, 0, width, height);
      pen.globalAlpha = 1;
    }
  }
  paintArrow(pen, place(free), place(actual), theme.force, theme.card);
  for (const [at, colour] of [[free, theme.free], [actual, theme.actual]] as const) {
    pen.beginPath(); pen.arc(...place(at), 5, 0, 7);
    pen.fillStyle = colour; pen.fill();
    pen.lineWidth = 1.5; pen.strokeStyle = theme.card; pen.stroke();
  }
}
export const sayAdmissible = (set: Admissible | null) => !set ? 'the masses alone give no metric here'
  : set.rank === 2 ? 'this point can take every acceleration; the others pay for it' : set.rank === 1 ? 'the line: what the constraints admit' : 'one acceleration is admitted';
