// Export: numbers as CSV, the picture as PNG, the motion as WebM.
import { make, saveAs } from './dom';
import { head, type About, type Places, type Sample } from './numbers';

export const stemOf = (path: string) => path.replace(/^.*\/|\.\w+$/g, '');

export function saveCsv(path: string, about: About, p: Places, samples: Sample[]) {
  const curves = about.curves.filter((c) => c.kind === 0 && !about.coords.includes(c.y)), quote = (s: string) => (/[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s);
  const titles = ['t', ...about.coords, ...about.speeds.map((s) => (about.coords.includes(s) ? s + "'" : 'v.' + s)), 'energy', 'violation', ...curves.map((c) => c.y)];
  const line = (s: Sample) => [s[0], ...s.slice(p.q, p.v), ...s.slice(p.v, p.a), s[head.energy], s[head.position], ...curves.map((c) => s[p.output + c.output + 1])].join(',');
  saveAs(stemOf(path) + '.csv', new Blob([titles.map(quote).join(','), '\n', samples.map(line).join('\n'), '\n'], { type: 'text/csv' }));
}

// What is on the stage, on a card of its colour.
function compose(sheet: HTMLCanvasElement, from: HTMLCanvasElement[], card: string) {
  const pen = sheet.getContext('2d')!, wide = sheet.width / from.length;
  pen.fillStyle = card;
  pen.fillRect(0, 0, sheet.width, sheet.height);
  from.forEach((canvas, k) => { if (canvas.width > 0 && canvas.height > 0) pen.drawImage(canvas, k * wide, 0, wide, sheet.height); });
}
const sheetFor = (from: HTMLCanvasElement[]) => make('canvas', { width: from.reduce((sum, c) => sum + c.width, 0), height: from[0].height });

export function savePng(path: string, from: HTMLCanvasElement[], card: string) {
  const sheet = sheetFor(from);
  compose(sheet, from, card);
  sheet.toBlob((blob) => { if (blob) saveAs(stemOf(path) + '.png', blob); });
}

// Frames as they are painted, until stop().
export class Video {
  private sheet: HTMLCanvasElement;
  private recorder: MediaRecorder;
  private parts: Blob[] = [];
  static possible = typeof MediaRecorder !== 'undefined' && MediaRecorder.isTypeSupported('video/webm');

  constructor(path: string, private from: HTMLCanvasElement[], private card: string) {
    this.sheet = sheetFor(from);
    compose(this.sheet, from, card);
    this.recorder = new MediaRecorder(this.sheet.captureStream(30), { mimeType: 'video/webm', videoBitsPerSecond: 8e6 });
    this.recorder.ondataavailable = (event) => { if (event.data.size > 0) this.parts.push(event.data); };
    this.recorder.onstop = () => saveAs(stemOf(path) + '.webm', new Blob(this.parts, { type: 'video/webm' }));
    this.recorder.start(500);
  }
  frame() { compose(this.sheet, this.from, this.card); }
  stop() { this.recorder.stop(); }
}
