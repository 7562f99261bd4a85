// The workbench: one model, its text, its motion, its numbers.
import { make, saveAs } from './dom';
import { Editor } from './editor';
import { files, titleOf } from './examples';
import { head, pairsOf, placesOf, sayNumber, type About, type Fault, type Pair, type Places, type Sample } from './numbers';
import { Plane, type Arrows } from './plane';
import { makeCharts, type Chart } from './plots';
import { packText } from './share';
import type { Space } from './space';
import { themeNow } from './theme';
import type { News, Order } from './worker';

const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export function openBench(app: HTMLElement, path: string, text: string, guide?: HTMLElement, principle = false): () => void {
  const bench = new Bench(path, text, guide);
  app.replaceChildren(bench.element);
  bench.begin();
  bench.setPrinciple(principle);
  return () => bench.free();
}

class Bench {
  element: HTMLElement;
  private worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  private theme = themeNow();
  private about: About | null = null;
  private places!: Places;
  private samples: Sample[] = [];
  private index = 0;
  private playing = false;
  private wanted = true; // play as soon as it is open
  private pairs: Pair[] = [];
  private subject = -1; // a pair of coordinates, or behind these a point; of bodies: the body
  private principle = false;
  private charts: Chart[] = [];
  private chartsDue = 0;
  private plane: Plane;
  private space: Space | null = null;
  private solid = false;
  private editor!: Editor;
  private listen = new AbortController();
  private frame = 0;
  private dirty = true;
  private pull: { body: number; local: number[]; pair: Pair | null; to: number[] } | null = null;
  private rate = 0;
  private key = 0; // the keyframe that it starts from, where there are some; -1: the pose as described
  private chunk = 1;

  private title = make('h1');
  private planeCanvas = make('canvas', { role: 'img', 'aria-label': 'The motion, in the plane' });
  private spaceCanvas = make('canvas', { role: 'img', 'aria-label': 'The motion, in space' });
  private clock = make('div', { class: 'clock', id: 'clock' });
  private hint = make('p', { class: 'hint' });
  private legend = make('ul', { class: 'key', hidden: true });
  private stage = make('section', { class: 'stage card', id: 'stage', 'aria-label': 'Motion' });
  private fault = make('div', { class: 'fault calm', id: 'fault', role: 'status' });
  private sliders = make('div', { class: 'sliders', id: 'params' });
  private keyList = make('select', { id: 'key', onchange: () => { this.key = Number(this.keyList.value); this.open(); } });
  private keyRow = make('p', { class: 'from', hidden: true }, make('label', { for: 'key' }, 'Start'), this.keyList);
  private heading = make('h2', {}, 'Parameters');
  private params = make('section', { class: 'panel card params' }, this.keyRow, this.heading, this.sliders);
  private words = make('section', { class: 'panel card principle', hidden: true, 'aria-label': 'The principle' });
  private side = make('div', { class: 'right' });
  private modelHost = make('div', { class: 'model card' });
  private playButton = make('button', { class: 'main', id: 'play', title: 'Space', onclick: () => this.setPlaying(!this.playing) }, 'Play');
  private seekBar = make('input', { type: 'range', id: 'seek', min: 0, max: 0, value: 0, 'aria-label': 'Time', oninput: () => this.seek(Number(this.seekBar.value)) });
  private time = make('span', { class: 'bits', id: 'time' });
  private bits = make('span', { class: 'bits', id: 'bits', title: "The state's hash: the same as the library's on any machine" });
  private speed = make('select', { id: 'speed', 'aria-label': 'Speed', onchange: () => this.send({ type: 'speed', value: Number(this.speed.value) }) });
  private principleButton = make('button', { id: 'principle', 'aria-pressed': 'false', onclick: () => this.setPrinciple(!this.principle) }, 'Principle');
  private forcesButton = make('button', { 'aria-pressed': 'true', hidden: true, onclick: () => this.setForces() }, 'Forces');
  private followButton = make('button', { 'aria-pressed': 'false', hidden: true, onclick: () => this.setFollow() }, 'Follow');

  constructor(private path: string, private text: string, guide?: HTMLElement) {
    this.plane = new Plane(this.planeCanvas);
    for (const s of speeds) this.speed.append(make('option', { value: s, selected: s === 1 }, s + ' ×'));
    this.stage.append(this.planeCanvas, this.spaceCanvas, this.clock, this.legend, this.hint,
      make('div', { class: 'tools' }, this.principleButton, this.forcesButton, this.followButton, make('button', { onclick: () => this.resetView() }, 'View')));
    this.side.append(this.words);
    this.element = make('main', { class: 'bench' },
      make('header', {}, make('a', { href: '#/', class: 'back' }, make('button', { tabIndex: -1 }, '‹ Gallery')), this.title,
        make('button', { id: 'share', onclick: () => this.share() }, 'Share'),
        make('button', { id: 'csv', onclick: () => this.saveCsv() }, 'CSV'),
        make('button', { id: 'png', onclick: () => this.savePng() }, 'PNG')),
      make('div', { class: 'left' }, ...(guide ? [guide] : []), this.modelHost, this.params), this.stage, this.side,
      make('footer', { class: 'transport card' }, this.playButton,
        make('button', { id: 'step', title: '. (point)', onclick: () => this.step() }, 'Step'),
        make('button', { id: 'reset', title: 'R', onclick: () => this.reset() }, 'Reset'), this.seekBar, this.time, this.speed, this.bits));
  }

  begin() {
    this.editor = new Editor(this.modelHost, (text) => { this.text = text; this.open(); });
    this.editor.setText(this.text);
    this.modelHost.append(this.fault);
    this.worker.onmessage = (event: MessageEvent<News>) => this.hear(event.data);
    this.worker.onerror = () => { this.fault.textContent = 'The engine could not be started in this browser.'; };
    this.pointers();
    this.keys();
    const light = matchMedia('(prefers-color-scheme: dark)');
    light.addEventListener('change', () => { this.theme = themeNow(); if (this.about) this.show(this.about, null); }, { signal: this.listen.signal });
    window.addEventListener('resize', () => { this.dirty = true; }, { signal: this.listen.signal });
    (window as unknown as { studio: object }).studio = this.asked();
    const turn = () => { this.frame = requestAnimationFrame(turn); this.paint(); };
    turn();
    this.open();
  }

  free() {
    cancelAnimationFrame(this.frame);
    this.listen.abort();
    this.worker.terminate();
    for (const chart of this.charts) chart.free();
    this.space?.free();
  }

  // For tests: where things are on the stage.
  private asked() {
    return {
      bob: () => this.plane.place([this.samples[this.index][this.places.q + this.pairs[0].x], this.samples[this.index][this.places.q + this.pairs[0].y]]),
      body: () => {
        const at = this.space?.somewhere(), hit = at && this.space?.pick(...at);
        return hit ? { x: at[0], y: at[1], body: hit.body, z: this.height(hit.body) } : null;
      },
      height: (body: number) => this.height(body),
      chunk: () => this.chunk,
      axis: () => this.plane.place([0, 0]),
    };
  }
  private height(body: number) { return this.samples[this.index][this.places.frame + 7 * body + 2]; }

  private send(order: Order) { this.worker.postMessage(order); }

  // ---- The world ---------------------------------------------------------------------------------

  private open() {
    const title = titleOf(this.text);
    this.title.replaceChildren(make('span', { title }, title || this.path), make('small', {}, this.path));
    const others = [...files].filter(([name]) => name !== this.path);
    this.wanted ||= this.playing;
    this.setPlaying(false, true);
    this.send({ type: 'open', files: [[this.path, this.text], ...others], path: this.path, settings: [], key: this.key });
  }

  private hear(news: News) {
    if (news.type === 'opened') this.opened(news);
    else if (news.type === 'failed') this.failed(news.error, news.running);
    else if (news.type === 'samples') {
      this.samples.length = Math.min(this.samples.length, news.from);
      this.samples.push(...news.list);
      this.index = this.samples.length - 1;
      this.rate = news.rate;
      for (const sample of news.list) { if (this.solid) this.space?.include(sample); else this.plane.include(sample); }
      this.bits.textContent = news.bits;
      this.dirty = true;
    } else if (news.type === 'at') {
      this.samples[news.index] = news.sample;
      this.samples.length = Math.min(this.samples.length, news.count);
      this.index = news.index;
      this.bits.textContent = news.bits;
      this.dirty = true;
    } else if (news.type === 'paused') this.element.dataset.state = 'paused';
    else if (news.type === 'thin') {
      this.samples = this.samples.filter((_, i) => i % 2 === 0);
      this.index = this.samples.length - 1;
    } else {
      this.setPlaying(false, true);
      this.fault.textContent = 'The motion ends here, as the model says.';
    }
  }

  private opened(news: Extract<News, { type: 'opened' }>) {
    const before = this.about, same = before !== null && news.kept;
    this.about = news.about;
    this.places = placesOf(news.about);
    this.samples = [news.sample];
    this.index = 0;
    this.chunk = news.chunk;
    this.bits.textContent = news.bits;
    this.pairs = news.about.draws.some((d) => d.dimension === 3) ? [] : pairsOf(news.about);
    this.editor.show(null, this.path);
    this.stage.classList.remove('stale');
    const law = news.about.law === 'nonholonomic' ? '' : ', law ' + news.about.law;
    this.fault.className = 'fault calm';
    this.fault.textContent = `${news.about.speeds.length} speeds, ${news.about.rows.length} rows of constraints, ${news.about.method}${law}`;
    if (!same) this.subject = news.about.bodies.length > 0 ? Math.min(1, news.about.bodies.length - 1) : this.pairs.length > 0 ? this.pairs.length - 1 : Math.min(0, news.about.points.length - 1);
    this.select(this.subject);
    this.show(news.about, news);
    if (this.wanted) {
      this.wanted = false;
      this.setPlaying(true);
    }
  }

  private failed(error: Fault, running: boolean) {
    this.wanted ||= this.playing && !running;
    this.setPlaying(false, true);
    const where = error.line > 0 ? `${error.file}:${error.line}:${error.column}: ` : '';
    this.fault.className = 'fault';
    const [first, ...lines] = error.text.split('\n');
    this.fault.replaceChildren(where + first + '\n', make('code', {}, lines.join('\n')));
    this.editor.show(error, this.path);
    if (!running) this.stage.classList.add('stale');
  }

  // Views, sliders and charts of a new world, or in new colours.
  private async show(about: About, news: Extract<News, { type: 'opened' }> | null) {
    this.solid = about.bodies.length > 0 || about.draws.some((d) => d.dimension === 3);
    this.planeCanvas.hidden = this.solid;
    this.spaceCanvas.hidden = !this.solid;
    this.followButton.hidden = about.bodies.length === 0;
    this.forcesButton.hidden = about.contacts === 0;
    this.hint.textContent = about.bodies.length > 0 ? 'drag a body to pull it · drag beside it to turn · click to select'
      : this.solid ? 'drag to turn · wheel to zoom'
        : about.draws.length === 0 ? 'this model has no draw lines' : this.pairs.length > 0 ? 'drag a point to pull it · drag beside it to move · wheel to zoom' : 'drag to move · wheel to zoom';
    for (const chart of this.charts) chart.free();
    this.charts = makeCharts(about, this.places, this.theme, (t) => this.seekTime(t));
    this.side.replaceChildren(this.words, ...this.charts.map((c) => { c.element.classList.add('card'); return c.element; }));
    if (news) this.makeSliders(about, news.sample);
    const colours = ['free', 'actual', 'force'].map((k) => make('i', { style: `background: var(--${k})` }));
    this.legend.replaceChildren(...['free acceleration', 'actual acceleration', 'difference: the constraint'].map((word, k) => make('li', {}, colours[k], word)));
    if (!this.solid && news) this.plane.setWorld(about, this.places, news.sample);
    if (this.solid && news) {
      const { Space } = await import('./space');
      if (this.listen.signal.aborted) return;
      if (!this.space) {
        this.space = new Space(this.spaceCanvas);
        this.space.moved = () => { this.dirty = true; };
      }
      this.space.setWorld(about, this.places, news.meshes, news.sample, this.theme);
      this.dirty = true;
      this.paint();
      this.space.setCamera();
    }
    this.dirty = true;
    this.chartsDue = 0;
  }

  private makeSliders(about: About, sample: Sample) {
    const focus = document.activeElement?.id;
    this.sliders.replaceChildren();
    about.params.slice(0, 60).forEach((name, i) => {
      const value = sample[this.places.param + i], control = about.controls.find((c) => c.param === i);
      const reach = Math.abs(value) || 1, [low, high] = control?.limited ? control.range : value > 0 ? [0, 2 * value] : [-2 * reach, 2 * reach];
      const id = 'param-' + name, range = make('input', { type: 'range', id, min: low, max: high, step: 'any' });
      const number = make('input', { type: 'number', step: 'any', 'aria-label': name });
      range.value = String(value);
      number.value = String(Number(value.toPrecision(6)));
      const change = (v: number) => { if (Number.isFinite(v)) this.send({ type: 'param', index: i, value: v }); };
      range.addEventListener('input', () => { number.value = String(Number(Number(range.value).toPrecision(4))); change(Number(range.value)); });
      number.addEventListener('change', () => { range.value = number.value; change(Number(number.value)); });
      this.sliders.append(make('label', { for: id, title: name }, name), range, number);
    });
    this.keyRow.hidden = about.keys.length === 0;
    this.keyList.replaceChildren(...['the pose as described', ...about.keys.map((name, i) => name || 'keyframe ' + i)].map((name, i) => make('option', { value: i - 1, selected: i - 1 === this.key }, name)));
    this.heading.hidden = about.params.length === 0;
    this.params.hidden = about.params.length === 0 && about.keys.length === 0;
    if (focus) document.getElementById(focus)?.focus();
  }

  // ---- Time --------------------------------------------------------------------------------------

  private setPlaying(on: boolean, heard = false) {
    this.playing = on;
    if (on) this.element.dataset.state = 'playing';
    this.playButton.textContent = on ? 'Pause' : 'Play';
    if (!heard || !on) this.send({ type: on ? 'play' : 'pause' });
    this.dirty = true;
  }
  private step() { this.setPlaying(false); this.send({ type: 'step' }); }
  private reset() {
    this.samples.length = Math.min(1, this.samples.length);
    this.index = 0;
    this.send({ type: 'start' });
    this.fault.className = 'fault calm';
  }
  private seek(index: number) {
    const i = Math.max(0, Math.min(this.samples.length - 1, index));
    this.setPlaying(false);
    this.index = i;
    this.dirty = true;
    this.send({ type: 'seek', index: i });
  }
  private seekTime(t: number) {
    let i = this.samples.findIndex((s) => s[0] >= t);
    if (i < 0) i = this.samples.length - 1;
    this.seek(i);
  }

  private keys() {
    // A button that the mouse has pressed keeps no hold of the space bar.
    this.element.addEventListener('click', (event) => { if (event.detail > 0) (event.target as HTMLElement).closest('button')?.blur(); });
    window.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('.cm-editor, input, select')) return;
      const acts: Record<string, () => void> = {
        ' ': () => this.setPlaying(!this.playing), '.': () => this.step(), ',': () => this.seek(this.index - 1), r: () => this.reset(),
        ArrowLeft: () => this.seek(this.index - 10), ArrowRight: () => this.seek(this.index + 10), p: () => this.setPrinciple(!this.principle),
      };
      if (!acts[event.key] || (event.key === ' ' && target.closest('button, a'))) return;
      event.preventDefault();
      acts[event.key]();
    }, { signal: this.listen.signal });
  }

  // ---- The hand, the view ------------------------------------------------------------------------

  private select(subject: number) {
    this.subject = subject;
    const point = this.about && this.about.bodies.length === 0 ? subject - this.pairs.length : subject;
    this.send({ type: 'select', subject: point >= 0 ? point : -1 });
  }

  setPrinciple(on: boolean) {
    this.principle = on;
    this.principleButton.setAttribute('aria-pressed', String(on));
    this.legend.hidden = this.words.hidden = !on;
    this.dirty = true;
    this.chartsDue = 0;
  }
  private setForces() { if (this.space) { this.space.forces = !this.space.forces; this.forcesButton.setAttribute('aria-pressed', String(this.space.forces)); this.dirty = true; } }
  private setFollow() { if (this.space) { this.space.follow = !this.space.follow; this.followButton.setAttribute('aria-pressed', String(this.space.follow)); this.dirty = true; } }
  private resetView() { this.plane.resetView(); this.space?.setCamera(); this.dirty = true; }

  private pointers() {
    const place = (event: PointerEvent | WheelEvent) => {
      const box = this.stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top] as const;
    };
    let down: readonly [number, number] | null = null, pan = false;
    const signal = this.listen.signal;
    this.planeCanvas.addEventListener('pointerdown', (event) => {
      const [x, y] = down = place(event), pair = this.about ? this.plane.pairAt(this.pairs, this.samples[this.index], x, y) : null;
      this.planeCanvas.setPointerCapture(event.pointerId);
      pan = !pair;
      if (!pair) return;
      this.select(this.pairs.indexOf(pair));
      this.pull = { body: -1, local: [], pair, to: this.plane.unplace(x, y) };
      if (this.playing) this.send({ type: 'hold', x: this.about!.coords[pair.x], y: this.about!.coords[pair.y], mass: this.massAt(pair), to: this.pull.to });
    }, { signal });
    this.planeCanvas.addEventListener('pointermove', (event) => {
      if (!down) return;
      const [x, y] = place(event);
      if (this.pull?.pair) {
        this.pull.to = this.plane.unplace(x, y);
        if (this.playing) this.send({ type: 'pull', to: this.pull.to });
        else this.send({ type: 'coords', list: [[this.pull.pair.x, this.pull.to[0]], [this.pull.pair.y, this.pull.to[1]]] });
      } else if (pan) {
        this.plane.pan(x - down[0], y - down[1]);
        down = [x, y];
      }
      this.dirty = true;
    }, { signal });
    const up = () => {
      if (this.pull) this.send({ type: 'release' });
      this.pull = null;
      down = null;
      if (this.space) this.space.controls.enabled = true;
      this.dirty = true;
    };
    for (const canvas of [this.planeCanvas, this.spaceCanvas]) {
      canvas.addEventListener('pointerup', up, { signal });
      canvas.addEventListener('pointercancel', up, { signal });
    }
    this.planeCanvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.plane.zoom(Math.exp(-event.deltaY * 0.0015), ...place(event));
      this.dirty = true;
    }, { passive: false, signal });
    this.spaceCanvas.addEventListener('pointerdown', (event) => {
      const [x, y] = down = place(event), hit = this.space?.pick(x, y);
      if (!hit || !this.space) return;
      this.space.controls.enabled = false;
      this.select(hit.body);
      this.spaceCanvas.setPointerCapture(event.pointerId);
      this.pull = { body: hit.body, local: hit.local, pair: null, to: hit.world };
    }, { signal, capture: true });
    let held = false;
    this.spaceCanvas.addEventListener('pointermove', (event) => {
      if (!down || !this.pull || !this.space) return;
      const [x, y] = place(event), to = this.space.at(x, y, this.space.pointOf(this.pull.body, this.pull.local));
      if (!to) return;
      this.pull.to = to;
      if (!held) this.send({ type: 'grab', body: this.pull.body, at: this.pull.local, rate: this.space.handRate() });
      held = true;
      this.send({ type: 'pull', to });
      this.dirty = true;
    }, { signal });
    this.spaceCanvas.addEventListener('pointerup', () => { held = false; }, { signal });
  }

  // The mass that a pair of coordinates feels, from M a_free = F_N.
  private massAt(pair: Pair) {
    const s = this.samples[this.index], p = this.places;
    const force = Math.hypot(s[p.FN + pair.x], s[p.FN + pair.y]), free = Math.hypot(s[p.free + pair.x], s[p.free + pair.y]);
    return free > 1e-9 && force > 1e-9 ? force / free : 1;
  }

  // ---- Painting ----------------------------------------------------------------------------------

  private arrows(sample: Sample): Arrows[] {
    if (!this.principle || this.subject < 0) return [];
    const p = this.places, pair = this.pairs[this.subject];
    if (pair) {
      const two = (at: number): [number, number] => [sample[at + pair.x], sample[at + pair.y]];
      return [{ at: two(p.q), free: two(p.free), actual: two(p.a) }];
    }
    const two = (at: number): [number, number] => [sample[p.subject + at], sample[p.subject + at + 1]];
    return [{ at: two(0), actual: two(6), free: two(9) }];
  }

  private paint() {
    if (!this.dirty || !this.about || this.samples.length === 0) return;
    this.dirty = false;
    const sample = this.samples[this.index], { pull } = this;
    if (this.solid && this.space) {
      const done = this.space.paint(this.theme, this.samples, this.index, this.principle, pull && pull.body > 0 ? [this.space.pointOf(pull.body, pull.local), pull.to] : null, this.subject, !this.playing);
      if (!done) this.dirty = true;
    } else if (!this.solid) {
      const hand: [[number, number], [number, number]] | null = pull?.pair && this.playing
        ? [[sample[this.places.q + pull.pair.x], sample[this.places.q + pull.pair.y]], pull.to as [number, number]] : null;
      this.plane.paint(this.theme, this.samples, this.index, this.arrows(sample), hand);
    }
    this.clock.textContent = 't = ' + sample[0].toFixed(2).replace('-', '\u2212');
    this.seekBar.max = String(this.samples.length - 1);
    this.seekBar.value = String(this.index);
    this.seekBar.setAttribute('aria-valuetext', 't = ' + sample[0].toFixed(2));
    this.time.textContent = this.playing && this.rate > 0 ? sayNumber(this.rate, 3) + ' × real time possible' : sample[0].toFixed(3) + ' s';
    const now = performance.now();
    if (now < this.chartsDue && this.playing) { this.dirty ||= !this.playing; return; }
    this.chartsDue = now + 90;
    for (const chart of this.charts) chart.paint(this.samples, this.index);
    if (this.principle) this.tellPrinciple(sample);
  }

  // Coordinates whose motion the constraints change most.
  private tellPrinciple(sample: Sample) {
    const p = this.places, names = this.about!.speeds, list = names.map((name, i) => ({ name, free: sample[p.free + i], a: sample[p.a + i] }));
    list.sort((x, y) => Math.abs(y.a - y.free) - Math.abs(x.a - x.free));
    const rows = list.slice(0, 8).map(({ name, free, a }) => make('tr', {}, make('th', {}, name), make('td', {}, sayNumber(free)), make('td', {}, sayNumber(a)), make('td', {}, sayNumber(a - free))));
    this.words.replaceChildren(make('h2', {}, 'Least constraint'),
      make('p', {}, `Z = ½ (a − a_free)ᵀ M (a − a_free) = ${sayNumber(sample[head.Z])}, the least that the constraints admit; certificate ${sample[head.certificate].toExponential(1)}`),
      make('table', {}, make('tr', {}, make('th', {}, 'coordinate'), make('th', {}, 'free'), make('th', {}, 'actual'), make('th', {}, 'difference')), ...rows));
  }

  // ---- Taking along ------------------------------------------------------------------------------

  private async share() {
    const ending = /\.(\w+)$/.exec(this.path)?.[1] ?? 'zw', link = location.href.replace(/#.*/, '') + '#z=' + ending + '.' + (await packText(this.text));
    history.replaceState(null, '', link);
    let told = 'The link in the address bar holds the whole text';
    try { await navigator.clipboard.writeText(link); told += '; it is copied'; } catch { /* no clipboard here */ }
    this.fault.className = 'fault calm';
    this.fault.textContent = told + ` (${link.length} characters).`;
  }

  private saveCsv() {
    const about = this.about, p = this.places;
    if (!about) return;
    const curves = about.curves.filter((c) => c.kind === 0 && !about.coords.includes(c.y)), quote = (s: string) => (/[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s);
    const titles = ['t', ...about.coords, ...about.speeds.map((s) => (about.coords.includes(s) ? s + "'" : 'v.' + s)), 'energy', 'violation', ...curves.map((c) => c.y)];
    const line = (s: Sample) => [s[0], ...s.slice(p.q, p.v), ...s.slice(p.v, p.a), s[head.energy], s[head.position], ...curves.map((c) => s[p.output + c.output + 1])].join(',');
    saveAs(this.path.replace(/^.*\/|\.\w+$/g, '') + '.csv', new Blob([titles.map(quote).join(','), '\n', this.samples.slice(0, this.index + 1).map(line).join('\n'), '\n'], { type: 'text/csv' }));
  }

  private savePng() {
    const from = this.solid ? this.spaceCanvas : this.planeCanvas, sheet = make('canvas', { width: from.width, height: from.height }), pen = sheet.getContext('2d')!;
    pen.fillStyle = this.theme.card;
    pen.fillRect(0, 0, sheet.width, sheet.height);
    pen.drawImage(from, 0, 0);
    sheet.toBlob((blob) => { if (blob) saveAs(this.path.replace(/^.*\/|\.\w+$/g, '') + '.png', blob); });
  }
}
