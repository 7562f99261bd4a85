// Colours: those of style.css, for canvases.
export interface Theme {
  card: string; ink: string; soft: string; line: string; grid: string; accent: string; force: string;
  free: string; actual: string; curves: string[]; dark: boolean;
}
export function themeNow(): Theme {
  const style = getComputedStyle(document.documentElement), get = (key: string) => style.getPropertyValue('--' + key).trim();
  return {
    card: get('card'), ink: get('ink'), soft: get('soft'), line: get('line'), grid: get('grid'), accent: get('accent'),
    force: get('force'), free: get('free'), actual: get('actual'), curves: get('curves').split(/\s+/), dark: get('dark') === '1',
  };
}
export const curveColour = (theme: Theme, i: number) => theme.curves[i % theme.curves.length];
// Pale: half way to the card.
export function ghostOf(theme: Theme): Theme {
  const pale = (colour: string) => mix(colour, theme.card, 0.5);
  return { ...theme, ink: pale(theme.ink), soft: pale(theme.soft), curves: theme.curves.map(pale) };
}
// Colours #abc (as the build shortens #aabbcc) and #aabbcc.
function mix(a: string, b: string, part: number): string {
  const wide = (c: string) => (c.length === 4 ? c.replace(/[^#]/g, '$&$&') : c), rgb = (c: string) => [1, 3, 5].map((k) => parseInt(wide(c).slice(k, k + 2), 16)), [x, y] = [rgb(a), rgb(b)];
  return '#' + x.map((v, k) => Math.round(v + part * (y[k] - v)).toString(16).padStart(2, '0')).join('');
}
export function namedColour(theme: Theme, name: string, otherwise: string): string {
  const c = theme.curves;
  const known: Record<string, string> = { blue: c[0], red: c[1], orange: c[1], green: c[2], purple: c[3], magenta: c[3], pink: c[3], yellow: c[4], cyan: c[5], gray: c[6], grey: c[6], black: theme.ink, white: theme.card };
  return !name ? otherwise : known[name.toLowerCase()] ?? (CSS.supports('color', name) ? name : otherwise);
}
// Width and height in points, with the canvas at the screen's resolution.
export function fitCanvas(canvas: HTMLCanvasElement): { width: number; height: number; pen: CanvasRenderingContext2D } | null {
  const width = canvas.clientWidth, height = canvas.clientHeight, pen = canvas.getContext('2d');
  if (!(width > 0) || !(height > 0) || !pen) return null;
  const ratio = Math.min(3, devicePixelRatio || 1);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { width, height, pen };
}
