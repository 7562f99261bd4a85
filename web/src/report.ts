// A report of `zwang --report`: one page, offline, by the views of the studio. src/record/html.c writes the page around
// it, with the summary and the text of the model; the recording is JSON in the element "recording".
import './style.css';
import './report.css';
import { make } from './dom';
import { sayNumber } from './numbers';
import { Plane } from './plane';
import { TimePlot } from './plots';
import { paintPortrait, type Track } from './portrait';
import { prime, Recorded, type RawChart } from './recorded';
import { savePng, Video } from './save';
import type { Space } from './space';
import { themeNow } from './theme';

const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const $ = (id: string) => document.getElementById(id)!;

interface Chart { paint(t: number, sample: number): void; free(): void }

class Report {
  private theme = themeNow();
  private t: number;
  private playing = false;
  private last = 0;
  private loop = false;
  private dirty = true;
  private solid: boolean;
  private plane: Plane | null = null;
  private space: Space | null = null;
  private charts: Chart[] = [];
  private video: Video | null = null;
  private canvas = make('canvas', { role: 'img', 'aria-label': 'Animation of the model' });
  private clock = make('div', { class: 'clock', id: 'clock' });
  private chartHost = make('section', { class: 'charts', 'aria-label': 'Charts' });
  private play = make('button', { class: 'main', id: 'play', title: 'Space', onclick: () => this.setPlaying(!this.playing) }, 'Play');
  private loopButton = make('button', { id: 'loop', title: 'L', 'aria-pressed': 'false', onclick: () => this.setLoop() }, 'Loop');
  private videoButton = make('button', { id: 'video', title: 'V', 'aria-pressed': 'false', hidden: !Video.possible, onclick: () => this.toggleVideo() }, 'Video');
  private bar = make('input', { type: 'range', id: 'seek', min: 0, max: 10000, value: 0, 'aria-label': 'Time', oninput: () => { this.setPlaying(false); this.seek(this.data.start + (this.length * Number(this.bar.value)) / 10000); } });
  private position = make('span', { class: 'bits', id: 'time' });
  private event = make('span', { class: 'bits', id: 'event', 'aria-live': 'polite' });
  private speed = make('select', { id: 'speed', 'aria-label': 'Speed' });
  private length: number;
  private decimals: number;

  constructor(private data: Recorded, private name: string) {
    this.t = data.start;
    this.length = data.end - data.start;
    this.decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10((this.length || 1) / 2000))));
    this.solid = data.about.draws.some((d) => d.dimension === 3);
    $('extent').textContent = data.rows.toLocaleString('en') + (data.rows === 1 ? ' sample' : ' samples') +
      (data.count > 1 ? `, ${data.timeName} from ${this.say(data.start)} to ${this.say(data.end)}` : '') + (data.count < data.rows ? `; ${data.count.toLocaleString('en')} shown` : '');
    this.build();
    this.keys();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.theme = themeNow(); this.setViews(); });
    addEventListener('resize', () => { this.dirty = true; });
    const wanted = /#t=([-+.\deE]+)/.exec(location.hash);
    if (wanted) this.seek(Number(wanted[1]) || data.start);
    else if (data.about.draws.length > 0 && !matchMedia('(prefers-reduced-motion: reduce)').matches) this.setPlaying(true);
    const turn = (now: number) => { requestAnimationFrame(turn); this.turn(now); };
    requestAnimationFrame(turn);
  }

  private say(t: number) { return (Math.abs(t) >= 1e7 ? t.toExponential(4) : t.toFixed(this.decimals)).replace(/-/g, '\u2212'); }

  private build() {
    const main = $('main'), drawn = this.data.about.draws.length > 0, robot = this.data.about.draws.some((d) => d.kind === 10);
    const forces = make('button', { 'aria-pressed': 'true', hidden: !robot || !this.solid, onclick: () => {
      if (!this.space) return;
      this.space.forces = !this.space.forces;
      forces.setAttribute('aria-pressed', String(this.space.forces));
      this.dirty = true;
    } }, 'Forces');
    const button = (id: string, words: string, title: string, act: () => void) => make('button', { id, title, onclick: act }, words);
    if (drawn) {
      main.classList.add('staged');
      main.append(make('section', { class: 'stage card', id: 'stage', 'aria-label': 'Animation' }, this.canvas, this.clock,
        make('p', { class: 'hint' }, this.solid ? 'drag to turn \u00b7 wheel to zoom' : 'drag to move \u00b7 wheel to zoom'),
        make('div', { class: 'tools' }, forces, button('fit', 'Fit', 'All of it', () => { this.plane?.resetView(); this.space?.setCamera(); this.dirty = true; }),
          button('png', 'PNG', 'The picture', () => savePng(this.name, [this.canvas], this.theme.card)), this.videoButton)));
      this.pointers();
    }
    main.append(this.chartHost);
    const best = !this.data.good ? 10 ** Math.round(Math.log10(Math.max(1, this.length / 15))) : this.length >= 1.5 && this.length <= 180 ? 1
      : speeds.reduce((a, b) => (Math.abs(Math.log((b * 15) / (this.length || 1))) < Math.abs(Math.log((a * 15) / (this.length || 1))) ? b : a));
    for (const s of [...new Set([...speeds, best])].sort((a, b) => a - b)) this.speed.append(make('option', { value: s, selected: s === best }, s + ' \u00d7'));
    if (this.length > 0) {
      document.body.append(make('footer', { class: 'transport card' }, button('reset', 'Reset', 'To the start (Home)', () => this.seek(this.data.start)), this.play, this.loopButton,
        make('div', { class: 'track' }, this.marks(), this.bar), this.position, this.event, this.speed));
    }
    this.setViews();
  }

  // Events above the bar; those that would hide each other are left out.
  private marks() {
    const host = make('div', { class: 'marks' });
    let before = -1;
    for (const mark of this.data.marks) {
      const part = (mark.time - this.data.start) / this.length;
      if (!(part >= 0 && part <= 1) || part - before < 0.006) continue;
      before = part;
      const words = prime(mark.label) + ' at ' + this.say(mark.time);
      const button = make('button', { tabIndex: -1, title: words, 'aria-label': words, onclick: () => { this.setPlaying(false); this.seek(mark.time); } });
      button.style.left = 100 * part + '%';
      host.append(button);
    }
    return host;
  }

  // Creates stage and charts, also after a change of colours.
  private setViews() {
    const { data } = this;
    if (data.about.draws.length > 0) {
      const every = Math.max(1, Math.floor(data.count / 300));
      if (!this.solid) {
        this.plane = new Plane(this.canvas);
        this.plane.setWorld(data.about, data.places, data.at(0));
        for (let k = 0; k < data.count; k += every) this.plane.include(data.at(k));
      } else if (window.zwangSpace) {
        this.space ??= new window.zwangSpace(this.canvas);
        this.space.moved = () => { this.dirty = true; };
        this.space.setWorld(data.about, data.places, { mesh: [], height: [] }, data.at(0), this.theme);
        for (let k = 0; k < data.count; k += every) this.space.include(data.at(k));
        this.space.fitted();
        this.paint(); // its size is known only now
        this.space.setCamera();
      }
    }
    for (const chart of this.charts) chart.free();
    this.chartHost.replaceChildren();
    this.charts = data.charts.map((raw) => (raw.kind === 'time' ? this.timeChart(raw) : this.portrait(raw)));
    this.dirty = true;
  }

  private timeChart(raw: RawChart): Chart {
    const { data, theme } = this, curves = raw.y.map((c) => data.channels[c]);
    const cut = raw.forces ? usualSize(curves.map((c) => c.value)) : null;
    const marked = (u: import('uplot')) => {
      const pen = u.ctx, ratio = devicePixelRatio || 1, { left, top, width, height } = u.bbox, few = data.marks.length <= 12;
      pen.save();
      pen.strokeStyle = theme.curves[4];
      pen.lineWidth = ratio;
      let before = -9;
      for (const mark of data.marks) {
        const x = u.valToPos(mark.time, 'x', true);
        if (x - before < 3 * ratio || x < left || x > left + width) continue;
        before = x;
        pen.globalAlpha = few ? 0.6 : 0.9;
        pen.beginPath(); pen.moveTo(x, top); pen.lineTo(x, few ? top + height : top + 6 * ratio); pen.stroke();
      }
      pen.restore();
    };
    const title = prime(raw.title) + (cut ? ` (peak ${sayNumber(cut[1])} is cut off)` : '') + (raw.leftOut > 0 ? ` and ${raw.leftOut} more` : '');
    const plot = new TimePlot(title, curves.map((c) => c.name), theme, (t) => { this.setPlaying(false); this.seek(t); },
      { log: raw.log, height: 190, paint: marked, reach: cut ? [Math.min(0, Math.max(cut[2], -3 * cut[0])), 3 * cut[0]] : undefined });
    const line = make('div', { class: 'now' });
    plot.element.classList.add('card');
    plot.plot.over.append(line);
    this.chartHost.append(plot.element);
    const tame = (v: number) => (!Number.isFinite(v) || (raw.log && v === 0) ? null : raw.log ? Math.max(1e-18, Math.abs(v)) : v);
    plot.setData([Array.from(data.time), ...curves.map((c) => Array.from(c.value, tame))] as import('uplot').AlignedData);
    return {
      paint: (t, sample) => { line.style.left = plot.plot.valToPos(t, 'x') + 'px'; plot.show(curves.map((c) => data.valueAt(c.value, sample))); },
      free: () => plot.free(),
    };
  }

  private portrait(raw: RawChart): Chart {
    const { data } = this, x = data.channels[raw.x].value, canvas = make('canvas', { role: 'img', 'aria-label': 'Chart: ' + prime(raw.title) });
    const element = make('figure', { class: 'chart card' }, make('figcaption', {}, prime(raw.title)), canvas), dots = raw.kind === 'dots', every = dots ? 1 : Math.max(1, Math.floor(data.count / 6000));
    const shades = raw.color === undefined || !raw.fields ? undefined : { value: data.channels[raw.color].value, fields: raw.fields };
    const tracks: Track[] = raw.y.map((c) => ({ points: Array.from({ length: Math.ceil(data.count / every) }, (_, k): [number, number] => [x[k * every], data.channels[c].value[k * every]]), dots, shades }));
    this.chartHost.append(element);
    return {
      paint: (_, sample) => {
        if (!dots) tracks.forEach((track, k) => { track.now = [data.valueAt(x, sample), data.valueAt(data.channels[raw.y[k]].value, sample)]; });
        else if (canvas.dataset.done === canvas.clientWidth + this.theme.card) return;
        canvas.dataset.done = canvas.clientWidth + this.theme.card;
        paintPortrait(canvas, this.theme, tracks, { x: prime(raw.xLabel), y: prime(raw.yLabel), equal: raw.kind === 'xy' });
      },
      free: () => {},
    };
  }

  // ---- Time --------------------------------------------------------------------------------------

  private seek(t: number) { this.t = Math.max(this.data.start, Math.min(this.data.end, t)); this.dirty = true; }
  private setPlaying(on: boolean) {
    this.playing = on && this.length > 0;
    if (this.playing && this.t >= this.data.end) this.t = this.data.start;
    this.last = 0;
    this.play.textContent = this.playing ? 'Pause' : 'Play';
    document.body.dataset.state = this.playing ? 'playing' : 'paused';
  }
  private setLoop() { this.loop = !this.loop; this.loopButton.setAttribute('aria-pressed', String(this.loop)); if (this.loop) this.setPlaying(true); }

  private turn(now: number) {
    if (this.playing) {
      // after a pause of the browser the motion goes on from where it was
      if (this.last > 0) this.t += Math.min(0.1, (now - this.last) / 1000) * Number(this.speed.value);
      this.last = now;
      if (this.t >= this.data.end) { if (this.loop) this.t = this.data.start; else { this.t = this.data.end; this.setPlaying(false); } }
      this.dirty = true;
    }
    if (this.dirty) this.paint();
  }

  private paint() {
    this.dirty = false;
    const { data, t } = this, sample = data.sampleAt(t), index = data.put(sample);
    if (this.plane) this.plane.paint(this.theme, data.samples, index, null, null);
    else if (this.space && !this.space.paint(this.theme, data.samples, index, null, null, -1, !this.playing)) this.dirty = true;
    this.video?.frame();
    for (const chart of this.charts) chart.paint(t, sample);
    this.clock.textContent = data.timeName + ' = ' + this.say(t);
    this.bar.value = String(this.length > 0 ? Math.round((10000 * (t - data.start)) / this.length) : 0);
    this.bar.setAttribute('aria-valuetext', data.timeName + ' = ' + this.say(t));
    this.position.textContent = this.say(t) + ' / ' + this.say(data.end);
    const mark = data.marks.findLast((m) => m.time <= t + 1e-12 * this.length), words = mark ? prime(mark.label) + ' at ' + this.say(mark.time) : '';
    if (this.event.textContent !== words) this.event.textContent = words;
  }

  // ---- The pointer ----------------------------------------------------------------------------------

  private pointers() {
    const { canvas } = this, fingers = new Map<number, [number, number]>();
    const place = (event: PointerEvent | WheelEvent): [number, number] => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener('pointerdown', (event) => { if (!this.solid) { fingers.set(event.pointerId, place(event)); canvas.setPointerCapture(event.pointerId); } });
    canvas.addEventListener('pointermove', (event) => {
      const before = fingers.get(event.pointerId), [x, y] = place(event), other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (!before || !this.plane) return;
      this.plane.pan((x - before[0]) / fingers.size, (y - before[1]) / fingers.size);
      if (other) this.plane.zoom(Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1])), (x + other[0]) / 2, (y + other[1]) / 2);
      fingers.set(event.pointerId, [x, y]);
      this.dirty = true;
    });
    for (const end of ['pointerup', 'pointercancel'] as const) canvas.addEventListener(end, (event) => { fingers.delete(event.pointerId); });
    canvas.addEventListener('wheel', (event) => { if (this.plane) { event.preventDefault(); this.plane.zoom(Math.exp(-event.deltaY * 0.0015), ...place(event)); this.dirty = true; } }, { passive: false });
  }

  private keys() {
    const step = (event: KeyboardEvent) => (event.shiftKey ? 0.05 : 0.005) * this.length;
    const acts: Record<string, (event: KeyboardEvent) => void> = {
      ' ': () => this.setPlaying(!this.playing), ArrowLeft: (e) => { this.setPlaying(false); this.seek(this.t - step(e)); }, ArrowRight: (e) => { this.setPlaying(false); this.seek(this.t + step(e)); },
      Home: () => this.seek(this.data.start), End: () => { this.setPlaying(false); this.seek(this.data.end); }, l: () => this.setLoop(), v: () => this.toggleVideo(),
      '[': () => this.shift(-1), ']': () => this.shift(1),
    };
    document.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('select, pre') || !acts[event.key] || (event.key === ' ' && target.closest('button'))) return;
      event.preventDefault();
      acts[event.key](event);
    });
  }
  private shift(by: number) { this.speed.selectedIndex = Math.max(0, Math.min(this.speed.options.length - 1, this.speed.selectedIndex + by)); }

  private toggleVideo() {
    if (this.video) { this.video.stop(); this.video = null; } else if (Video.possible && this.data.about.draws.length > 0) this.video = new Video(this.name, [this.canvas], this.theme.card);
    this.videoButton.textContent = this.video ? 'Stop' : 'Video';
    this.videoButton.setAttribute('aria-pressed', String(this.video !== null));
  }
}

// Of forces: an impact is a thousand times what else there is. The size that 97 of 100 do not reach, where the largest is
// far above it; with the largest and the least.
function usualSize(columns: Float64Array[]): [number, number, number] | null {
  const all = columns.flatMap((c) => Array.from(c)).filter(Number.isFinite), most = all.reduce((m, v) => Math.max(m, Math.abs(v)), 0), high = all.reduce((m, v) => Math.max(m, v), 0);
  const sizes = all.map(Math.abs).filter((v) => v > 1e-6 * most).sort((a, b) => a - b), usual = sizes.length > 0 ? sizes[Math.floor(0.97 * (sizes.length - 1))] : 0;
  return usual > 0 && high > 6 * usual ? [usual, high, all.reduce((m, v) => Math.min(m, v), 0)] : null;
}

// Light colours for a model: comments, words that begin a statement, names before a colon, numbers; or tags of XML.
function colourSource(code: HTMLElement) {
  const text = code.textContent ?? '', parts = document.createDocumentFragment();
  const pattern = /^\s*</.test(text)
    ? /(<!-{2}[\s\S]*?-->)|(<\/?[\w:.-]+|\/?>)|("[^"]*"|'[^']*')|([\w:-]+)(?==)/g
    : /(#[^\n]*)|(\b(?:param|coord|speed|let|point|mass|gravity|kinetic|potential|lagrangian|rayleigh|force|constraint|friction|nonideal|imbed|metric|law|relation|prefer|free|event|stop|plot|draw|import|spring|damper|check|body|joint|for|in|at|when|if|and|or|not)\b)|(\b\d+\.?\d*(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*(?:\[[^\]]*\])?)(?=\s*:)/g;
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    parts.append(text.slice(done, match.index), make('span', { class: match[1] ? 'c' : match[2] ? 'w' : match[3] ? 'n' : 'l' }, match[0]));
    done = match.index + match[0].length;
  }
  parts.append(text.slice(done));
  code.replaceChildren(parts);
}

declare global { interface Window { zwangSpace?: typeof Space } }

const source = $('source').querySelector('code')!;
if (!$('summary').querySelector('tr')) $('summary').remove();
if (!source.textContent?.trim()) $('source').remove(); else colourSource(source);
const data = new Recorded(JSON.parse($('recording').textContent ?? ''));
if (data.count === 0) $('main').append(make('p', { class: 'card note' }, 'This recording is empty.'));
else new Report(data, document.querySelector('.file')?.textContent || 'recording');
(window as unknown as { report: object }).report = { at: (t: number) => Array.from(data.at(data.sampleAt(t)).slice(data.places.output)) }; // for tests
