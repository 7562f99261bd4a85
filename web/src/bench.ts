// The workbench: one model, its text, its motion, its numbers.
import { Comparison } from './compare';
import { make } from './dom';
import { Editor } from './editor';
import { files, titleOf } from './examples';
import { listenToPointer, type Pull, type Stage } from './pointer';
import { Inspector, treeOf } from './inspect';
import { contactLaws, contactOf, handlesOf, head, placeOf, placesOf, sayNumber, type About, type Fault, type Handle, type Meshes, type Places, type Sample } from './numbers';
import { Plane, type Arrows } from './plane';
import { makeCharts, makeForceChart, type Chart } from './plots';
import { makeSliders } from './sliders';
import { saveCsv, savePng, Video } from './save';
import { packText } from './share';
import type { Space } from './space';
import { themeNow } from './theme';
import type { News, Order, World } from './worker';

const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];
const shortcuts = 'Space: play and pause\n. and ,: a step on, a step back\n← →: ten steps\nL: loop what was seen\nR: back to the start\nP: the principle\nV: record a video';

export interface Model {
  path: string; text: string;
  files?: [string, string | Uint8Array][]; settings?: [string, number][]; key?: string; recording?: { name: string; text: string };
  guide?: HTMLElement; principle?: boolean; whatif?: string;
}

export function openBench(app: HTMLElement, model: Model): () => void {
  const bench = new Bench(model);
  app.replaceChildren(bench.element);
  bench.begin();
  bench.setPrinciple(model.principle ?? false);
  return () => bench.free();
}

export class Bench implements Stage {
  element: HTMLElement;
  private worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  theme = themeNow();
  world: About | null = null;
  places!: Places;
  private meshes!: Meshes;
  samples: Sample[] = [];
  index = 0;
  running = false;
  private wanted = true; // play as soon as it is open
  private looping = false;
  private lastFrame = 0;
  handles: Handle[] = [];
  private subject = -1; // a handle; of bodies: the body
  private principle = false;
  private charts: Chart[] = [];
  chartsDue = 0;
  bodies: Space | null = null;
  solid = false;
  private editor!: Editor;
  private listen = new AbortController();
  private frame = 0;
  dirty = true;
  private rate = 0;
  private key = 0; // the keyframe that it starts from, where there are some; -1: the reference pose
  private chunk = 1;
  text: string;
  private video: Video | null = null;
  pull: Pull | null = null;

  private title = make('h1');
  planeCanvas = make('canvas', { role: 'img', 'aria-label': 'The motion, in the plane' });
  spaceCanvas = make('canvas', { role: 'img', 'aria-label': 'The motion, in space' });
  readonly plane = new Plane(this.planeCanvas);
  private clock = make('div', { class: 'clock', id: 'clock' });
  private hint = make('p', { class: 'hint' });
  private legend = make('ul', { class: 'key', hidden: true });
  stage = make('section', { class: 'stage card', id: 'stage', 'aria-label': 'Motion' });
  private fault = make('div', { class: 'fault calm', id: 'fault', role: 'status' });
  private sliders = make('div', { class: 'sliders', id: 'params' });
  private keyList = make('select', { id: 'key', onchange: () => { this.key = Number(this.keyList.value); this.open(); } });
  private keyRow = make('p', { class: 'from', hidden: true }, make('label', { for: 'key' }, 'Start'), this.keyList);
  private contact = ''; // the contact law that was chosen; '': that of the file
  private contactList = make('select', { id: 'contact', onchange: () => { this.contact = this.contactList.value; this.open(); } },
    ...contactLaws.map(([value, words]) => make('option', { value }, words)));
  private contactRow = make('p', { class: 'from', hidden: true }, make('label', { for: 'contact' }, 'Contact'), this.contactList);
  private heading = make('h2', {}, 'Parameters');
  private params = make('section', { class: 'panel card params', hidden: true }, this.keyRow, this.contactRow, this.heading, this.sliders);
  private inspector = new Inspector();
  private other: Comparison;
  private side = make('div', { class: 'right' });
  private tree = make('div');
  private modelHost = make('div', { class: 'model card' });
  private playButton = make('button', { class: 'main', id: 'play', title: 'Space', onclick: () => this.togglePlay() }, 'Play');
  private loopButton = make('button', { id: 'loop', title: 'L', 'aria-pressed': 'false', onclick: () => this.setLoop(!this.looping) }, 'Loop');
  private videoButton = make('button', { id: 'video', title: 'V', 'aria-pressed': 'false', hidden: !Video.possible, onclick: () => this.toggleVideo() }, 'Video');
  private seekBar = make('input', { type: 'range', id: 'seek', min: 0, max: 0, value: 0, 'aria-label': 'Time', oninput: () => this.seek(Number(this.seekBar.value)) });
  private time = make('span', { class: 'bits', id: 'time' });
  private bits = make('span', { class: 'bits', id: 'bits', title: "The state's hash: the same as the library's on any machine" });
  private speed = make('select', { id: 'speed', 'aria-label': 'Speed', onchange: () => this.send({ type: 'speed', value: Number(this.speed.value) }) });
  private principleButton = make('button', { id: 'principle', title: 'P', 'aria-pressed': 'false', onclick: () => this.setPrinciple(!this.principle) }, 'Principle');
  private forcesButton = this.toggle('Forces', true, (on) => { if (this.bodies) this.bodies.forces = on; });
  private jointsButton = this.toggle('Joints', false, (on) => { if (this.bodies) this.bodies.joints = on; });
  private followButton = this.toggle('Follow', false, (on) => { if (this.bodies) this.bodies.follow = on; });
  private viewList = make('select', { id: 'view', 'aria-label': 'View', hidden: true, onchange: () => { this.bodies?.look(this.viewList.value); this.dirty = true; } },
    ...['usual', 'front', 'side', 'top'].map((name) => make('option', { value: name }, name === 'usual' ? 'view' : name)));

  constructor(private model: Model) {
    this.text = model.text;
    this.other = new Comparison(this, model.path);
    for (const s of speeds) this.speed.append(make('option', { value: s, selected: s === 1 }, s + ' ×'));
    this.stage.append(this.planeCanvas, this.spaceCanvas, this.other.canvas, this.clock, this.legend, this.other.name, this.hint,
      make('div', { class: 'tools' }, this.principleButton, this.forcesButton, this.jointsButton, this.followButton, this.viewList, make('button', { onclick: () => this.resetView() }, 'Fit')));
    const button = (id: string, words: string, title: string, act: () => void) => make('button', { id, title, onclick: act }, words);
    this.element = make('main', { class: 'bench' },
      make('header', {}, make('a', { href: '#/', class: 'back' }, make('button', { tabIndex: -1 }, '‹ Gallery')), this.title,
        button('share', 'Share', 'A link that holds the whole text', () => void this.share()), button('csv', 'CSV', 'The numbers', () => { if (this.world) saveCsv(model.path, this.world, this.places, this.samples.slice(0, this.index + 1)); }),
        button('png', 'PNG', 'The picture', () => savePng(model.path, this.shown(), this.theme.card)), this.videoButton,
        button('help', '?', shortcuts, () => this.say('Keys. ' + shortcuts.replace(/\n/g, '; ') + '.'))),
      make('div', { class: 'left' }, ...(model.guide ? [model.guide] : []), this.modelHost, this.params, this.other.whatif.element, this.tree), this.stage, this.side,
      make('footer', { class: 'transport card' }, button('reset', 'Reset', 'To the start (R)', () => this.reset()), button('back', '‹', 'A step back (,)', () => this.seek(this.index - 1)), this.playButton,
        button('step', '›', 'A step (.)', () => this.step()), this.loopButton, this.seekBar, this.time, this.speed, this.bits));
    for (const [id, words] of [['back', 'A step back'], ['step', 'A step'], ['help', 'Keys']]) this.element.querySelector('#' + id)!.setAttribute('aria-label', words);
  }

  // For the pointer (pointer.ts).
  about = () => this.world;
  space = () => this.bodies;
  sample = () => this.samples[this.index];
  playing = () => this.running;
  touched = () => { this.dirty = true; };
  selectHandle = (handle: Handle) => this.select(this.handles.indexOf(handle));
  whereIs = (handle: Handle) => placeOf(handle, this.places, this.sample());
  // The nearest on the stage, within a finger's width.
  handleAt = (place: (p: number[]) => readonly [number, number], x: number, y: number): Handle | null => {
    const far = this.handles.map((handle) => { const [px, py] = place(this.whereIs(handle)); return Math.hypot(px - x, py - y); });
    const near = Math.min(...far);
    return near < 26 ? this.handles[far.indexOf(near)] : null;
  };
  selectBody = (body: number) => this.select(body);
  send = (order: Order) => this.worker.postMessage(order);

  begin() {
    this.editor = new Editor(this.modelHost, (text) => { this.text = text; this.open(); });
    this.editor.setText(this.text);
    this.modelHost.append(this.fault);
    this.worker.onmessage = (event: MessageEvent<News>) => this.hear(event.data);
    this.worker.onerror = () => this.say('The engine could not be started in this browser.');
    this.stage.addEventListener('pointerdown', () => { this.hint.hidden = true; }, { once: true }); // read by then
    listenToPointer(this, this.listen.signal);
    this.keys();
    this.drops();
    const light = matchMedia('(prefers-color-scheme: dark)');
    light.addEventListener('change', () => { this.theme = themeNow(); if (this.world) void this.show(this.world, true); }, { signal: this.listen.signal });
    window.addEventListener('resize', () => { this.dirty = true; }, { signal: this.listen.signal });
    (window as unknown as { studio: object }).studio = this.asked();
    const turn = (now: number) => { this.frame = requestAnimationFrame(turn); this.turnLoop(now); this.paint(); };
    this.frame = requestAnimationFrame(turn);
    this.open();
  }

  free() {
    cancelAnimationFrame(this.frame);
    this.listen.abort();
    this.video?.stop();
    this.worker.terminate();
    for (const chart of this.charts) chart.free();
    this.bodies?.free();
    this.other.free();
  }

  private toggle(words: string, on: boolean, act: (on: boolean) => void) {
    const button = make('button', { 'aria-pressed': String(on), hidden: true, onclick: () => {
      on = !on;
      button.setAttribute('aria-pressed', String(on));
      act(on);
      this.dirty = true;
    } }, words);
    return button;
  }

  // For tests: where things are on the stage.
  private asked() {
    const height = (body: number) => this.samples[this.index][this.places.frame + 7 * body + 2];
    return {
      ready: () => !this.solid || this.bodies !== null, // the motion does not wait until the scene in space has been loaded
      bob: () => (this.solid ? this.bodies!.place : this.plane.place)(this.whereIs(this.handles[0])),
      body: () => {
        const at = this.bodies?.somewhere(), hit = at && this.bodies?.pick(...at);
        return hit ? { x: at[0], y: at[1], body: hit.body, z: height(hit.body) } : null;
      },
      height,
      chunk: () => this.chunk,
      rate: () => this.rate,
      axis: () => this.plane.place([0, 0]),
      apart: () => this.other.apart(),
      pushes: () => this.other.pushes(this.other.ghostNow()),
      strongest: () => this.other.worst(),
      // how old the problem is whose admissible accelerations are drawn
      late: () => this.samples[this.index][0] - this.inspector.time,
    };
  }

  private say(text: string) {
    this.fault.className = 'fault calm';
    this.fault.textContent = text;
  }

  // ---- The world ---------------------------------------------------------------------------------

  worldOf(): World {
    const own = this.model.files ?? [...files], others = own.filter(([name]) => name !== this.model.path);
    return { files: [[this.model.path, this.text], ...others], path: this.model.path, settings: this.model.settings ?? [], key: this.key, contact: this.contact || undefined };
  }

  private open() {
    const title = titleOf(this.text);
    this.title.replaceChildren(make('span', { title }, title || this.model.path.replace(/^.*\//, '')), make('small', {}, this.model.path));
    this.wanted ||= this.running;
    this.setPlaying(false, true);
    this.send({ type: 'open', ...this.worldOf() });
  }

  private hear(news: News) {
    if (news.type === 'opened') this.opened(news);
    else if (news.type === 'failed') this.failed(news.error, news.running);
    else if (news.type === 'samples') {
      this.samples.length = Math.min(this.samples.length, news.from);
      this.samples.push(...news.list);
      this.index = this.samples.length - 1;
      this.rate = news.rate;
      for (const sample of news.list) { if (this.solid) this.bodies?.include(sample); else this.plane.include(sample); }
      this.bits.textContent = news.bits;
      this.other.twin?.goTo(this.samples[this.index][0]);
      this.dirty = true;
    } else if (news.type === 'at') {
      this.samples[news.index] = news.sample;
      this.samples.length = Math.min(this.samples.length, news.count);
      this.index = Math.min(news.index, this.samples.length - 1);
      this.askedFor = NaN;
      this.bits.textContent = news.bits;
      this.dirty = true;
    } else if (news.type === 'problem') {
      this.inspector.take(news.problem, news.t);
      this.dirty = true;
    } else if (news.type === 'paused') this.element.dataset.state = 'paused';
    else if (news.type === 'thin') {
      this.samples = this.samples.filter((_, i) => i % 2 === 0);
      this.index = this.samples.length - 1;
    } else if (news.type === 'ended') {
      this.setPlaying(false, true);
      this.say('The motion ends here, as the model says.');
    }
  }

  private opened(news: Extract<News, { type: 'opened' }>) {
    const same = this.world !== null && news.kept, { about } = news;
    const named = this.world === null && this.model.key ? about.keys.indexOf(this.model.key) : -1;
    this.world = about;
    this.places = placesOf(about);
    this.meshes = news.meshes;
    if (named > 0) { this.key = named; this.open(); return; } // asked for by name: now its number is known
    this.samples = [news.sample];
    this.index = 0;
    this.chunk = news.chunk;
    this.bits.textContent = news.bits;
    this.handles = handlesOf(about, this.text);
    this.editor.show(null, this.model.path);
    this.stage.classList.remove('stale');
    const law = about.law === 'nonholonomic' ? '' : ', law ' + about.law;
    this.say(`${about.speeds.length} ${about.speeds.length === 1 ? 'speed' : 'speeds'}, ${about.rows.length} ${about.rows.length === 1 ? 'row' : 'rows'} of constraints, ${about.method}${about.linear ? ', one linearisation a step' : ''}${law}`);
    if (!same) this.subject = about.bodies.length > 0 ? Math.min(1, about.bodies.length - 1) : this.handles.length - 1;
    this.select(this.subject);
    this.inspector.take(null, NaN);
    this.other.whatif.show(about, this.text, Array.from(news.sample.slice(this.places.param, this.places.param + about.params.length)));
    void this.show(about, false);
    if (this.other.twin) this.other.whatif.again();
    else if (this.model.recording) { this.other.whatif.take(this.model.recording.name, this.model.recording.text); this.model.recording = undefined; }
    else if (this.model.whatif) { this.other.whatif.pick(this.model.whatif); this.model.whatif = undefined; }
    if (this.wanted) {
      this.wanted = false;
      this.setPlaying(true);
    }
  }

  private failed(error: Fault, running: boolean) {
    this.wanted ||= this.running && !running;
    this.setPlaying(false, true);
    const where = error.line > 0 ? `${error.file}:${error.line}:${error.column}: ` : '';
    this.fault.className = 'fault';
    const [first, ...lines] = error.text.split('\n');
    this.fault.replaceChildren(where + first + '\n', make('code', {}, lines.join('\n')));
    this.editor.show(error, this.model.path);
    if (!running) this.stage.classList.add('stale');
  }

  // Views, sliders and charts of a new world, or the same in new colours.
  private async show(about: About, recoloured: boolean) {
    const sample = this.samples[0], robot = about.bodies.length > 0;
    this.solid = robot || about.draws.some((d) => d.dimension === 3);
    this.planeCanvas.hidden = this.solid;
    this.spaceCanvas.hidden = !this.solid;
    this.followButton.hidden = this.jointsButton.hidden = !robot;
    this.viewList.hidden = !this.solid;
    this.forcesButton.hidden = about.contacts === 0;
    this.hint.textContent = robot ? 'drag a body to pull it · drag beside it to turn · click to select'
      : about.draws.length === 0 ? 'this model has no draw lines'
        : (this.handles.length > 0 ? 'drag a point to pull it, paused to place it · drag beside it to ' : 'drag to ') + (this.solid ? 'turn' : 'move');
    this.makeCharts();
    if (!recoloured) {
      this.makeParams(about, sample);
      this.tree.replaceChildren(...(robot ? [treeOf(about, (body) => { this.select(body); this.setPrinciple(true); })] : []));
    }
    const colours = ['free', 'actual', 'force'].map((k) => make('i', { style: `background: var(--${k})` }));
    this.legend.replaceChildren(...['free acceleration', 'actual acceleration', 'difference: the constraint'].map((word, k) => make('li', {}, colours[k], word)));
    if (!this.solid && !recoloured) this.plane.setWorld(about, this.places, sample);
    if (this.solid) {
      const { Space } = await import('./space');
      if (this.listen.signal.aborted) return;
      if (!this.bodies) {
        this.bodies = new Space(this.spaceCanvas);
        this.bodies.moved = () => { this.dirty = true; };
      }
      this.bodies.setWorld(about, this.places, this.meshes, sample, this.theme);
      this.dirty = true;
      this.paint();
      this.bodies.setCamera();
      if (this.other.twin?.about) this.other.lay();
    }
    this.dirty = true;
    this.chartsDue = 0;
  }

  makeCharts() {
    const about = this.world!, again = () => { this.dirty = true; this.chartsDue = 0; };
    for (const chart of this.charts) chart.free();
    this.charts = makeCharts(about, this.places, this.theme, (t) => this.seekTime(t), again);
    const { other } = this;
    if (other.twin && other.twin.forces.length > 0) this.charts.unshift(makeForceChart(about, this.places, this.theme, (s) => other.forceAt(s[0]), (t) => this.seekTime(t)));
    this.side.replaceChildren(this.inspector.element, ...this.charts.map((c) => { c.element.classList.add('card'); return c.element; }));
  }

  private makeParams(about: About, sample: Sample) {
    const focus = document.activeElement?.id;
    makeSliders(this.sliders, about, this.places, sample, (index, value) => {
      this.send({ type: 'param', index, value });
      this.other.param(index, value);
    });
    this.keyRow.hidden = about.keys.length === 0;
    this.keyList.replaceChildren(...['the reference pose', ...about.keys.map((name, i) => name || 'keyframe ' + i)].map((name, i) => make('option', { value: i - 1, selected: i - 1 === this.key }, name)));
    this.contactRow.hidden = about.bodies.length === 0 || about.contacts === 0;
    this.contactList.value = contactOf(about);
    this.heading.hidden = about.params.length === 0;
    this.params.hidden = about.params.length === 0 && about.keys.length === 0 && this.contactRow.hidden;
    if (focus) document.getElementById(focus)?.focus();
  }

  // ---- Time --------------------------------------------------------------------------------------

  private togglePlay() {
    if (this.looping) { this.setLoop(false); this.seek(this.samples.length - 1); this.setPlaying(true); } else this.setPlaying(!this.running);
  }
  private setPlaying(on: boolean, heard = false) {
    if (on && !this.running && this.index < this.samples.length - 1) this.other.twin?.seek(this.samples[this.index][0]);
    this.running = on;
    if (on) this.element.dataset.state = 'playing';
    this.playButton.textContent = on ? 'Pause' : 'Play';
    if (!heard || !on) this.send({ type: on ? 'play' : 'pause' });
    this.dirty = true;
  }
  private step() { this.setLoop(false); this.setPlaying(false); this.send({ type: 'step' }); }
  reset() {
    this.setLoop(false);
    this.samples.length = Math.min(1, this.samples.length);
    this.index = 0;
    this.send({ type: 'start' });
    this.other.twin?.restart();
    this.fault.className = 'fault calm';
  }
  private askedFor = NaN; // the sample whose problem (M, A, b) was asked for last
  private seek(index: number) {
    const i = Math.max(0, Math.min(this.samples.length - 1, index));
    this.setLoop(false);
    this.setPlaying(false);
    this.index = i;
    this.dirty = true;
    this.send({ type: 'seek', index: i });
  }
  private seekTime(t: number) {
    const i = this.samples.findIndex((s) => s[0] >= t);
    this.seek(i < 0 ? this.samples.length - 1 : i);
  }

  // Plays the motion computed so far in a loop.
  private setLoop(on: boolean) {
    if (this.looping === on) return;
    if (on) this.setPlaying(false);
    this.looping = on;
    this.lastFrame = 0;
    this.loopButton.setAttribute('aria-pressed', String(on));
  }
  private turnLoop(now: number) {
    if (!this.looping || this.samples.length < 2) return;
    const last = this.samples.length - 1, passed = this.lastFrame > 0 ? Math.min(0.1, (now - this.lastFrame) / 1000) : 0;
    const t = this.samples[this.index][0] + Number(this.speed.value) * passed;
    if (passed === 0) this.lastFrame = now;
    let i = this.index;
    while (i < last && this.samples[i + 1][0] <= t) i++;
    if (i > this.index || passed >= 0.1) this.lastFrame = now; // otherwise less than one sample interval has passed
    if (this.index === last) i = 0;
    if (i !== this.index) { this.index = i; this.dirty = true; }
  }

  private keys() {
    // A button that was clicked does not keep the focus, so that the space bar still plays and pauses.
    this.element.addEventListener('click', (event) => { if (event.detail > 0) (event.target as HTMLElement).closest('button')?.blur(); });
    const acts: Record<string, () => void> = {
      ' ': () => this.togglePlay(), '.': () => this.step(), ',': () => this.seek(this.index - 1), r: () => this.reset(), l: () => this.setLoop(!this.looping),
      ArrowLeft: () => this.seek(this.index - 10), ArrowRight: () => this.seek(this.index + 10), p: () => this.setPrinciple(!this.principle), v: () => this.toggleVideo(),
    };
    window.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('.cm-editor, input, select')) return;
      if (!acts[event.key] || (event.key === ' ' && target.closest('button, a, summary'))) return;
      event.preventDefault();
      acts[event.key]();
    }, { signal: this.listen.signal });
  }

  // Accepts a recording that is dropped on the page.
  private drops() {
    const { signal } = this.listen;
    this.element.addEventListener('dragover', (event) => { if (event.dataTransfer?.types.includes('Files')) event.preventDefault(); }, { signal });
    this.element.addEventListener('drop', async (event) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.other.whatif.take(file.name, await file.text());
    }, { signal });
  }

  // ---- The view ----------------------------------------------------------------------------------

  private select(subject: number) {
    this.subject = subject;
    this.send({ type: 'select', subject: this.handles[subject]?.point ?? subject });
    for (const button of this.tree.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.body === String(subject)));
    if (this.principle) this.send({ type: 'problem' });
  }
  setPrinciple(on: boolean) {
    this.principle = on;
    this.principleButton.setAttribute('aria-pressed', String(on));
    this.legend.hidden = this.inspector.element.hidden = !on;
    if (on) this.send({ type: 'problem' });
    this.dirty = true;
    this.chartsDue = 0;
  }
  private resetView() { this.plane.resetView(); this.bodies?.setCamera(); this.viewList.value = 'usual'; this.dirty = true; }

  // ---- Painting ----------------------------------------------------------------------------------

  private arrows(sample: Sample): Arrows | null {
    if (!this.principle || this.subject < 0) return null;
    const p = this.places, axes = this.handles[this.subject]?.axes ?? [];
    if (axes.length > 0) {
      const read = (at: number) => axes.map((i) => sample[at + i]);
      return { at: read(p.q), free: read(p.free), actual: read(p.a) };
    }
    const three = (at: number) => Array.from(sample.slice(p.subject + at, p.subject + at + 3));
    return sample[head.selected] === 0 ? null : { at: three(0), actual: three(6), free: three(9) };
  }

  private paint() {
    if (!this.dirty || !this.world || this.samples.length === 0) return;
    this.dirty = false;
    const sample = this.samples[this.index], { pull } = this, { other } = this, ghost = other.ghostNow(), over = other.whatif.side ? null : ghost;
    if (this.solid && this.bodies) {
      const done = this.bodies.paint(this.theme, this.samples, this.index, this.arrows(sample), pull && (pull.body > 0 || this.running) ? [pull.handle ? this.whereIs(pull.handle) : this.bodies.pointOf(pull.body, pull.local), pull.to] : null, this.subject, !this.running, over, over ? other.pushes(ghost) : []);
      if (!done) this.dirty = true;
    } else if (!this.solid) {
      const hand = pull?.handle && this.running ? [this.whereIs(pull.handle), pull.to] as [[number, number], [number, number]] : null;
      if (over && !this.looping && !other.isRecording()) this.plane.includeGhost(over);
      this.plane.paint(this.theme, this.samples, this.index, this.arrows(sample), hand, over, other.whatif.side ? [] : other.pushes(ghost));
    }
    if (ghost && other.whatif.side) other.paint(ghost);
    this.video?.frame();
    this.paintTime(sample);
    const now = performance.now();
    if (now < this.chartsDue && (this.running || this.looping)) return;
    this.chartsDue = now + 90;
    for (const chart of this.charts) chart.paint(this.samples, this.index, ghost);
    if (!this.principle) return;
    if (this.looping) this.inspector.take(null, NaN); // the engine is at another time
    else if (this.running || this.askedFor !== sample[0]) this.send({ type: 'problem' });
    this.askedFor = sample[0];
    // While it runs the answer is a little older than the last sample: the panel shows the instant of the answer.
    let at = this.index;
    while (this.running && at > 0 && this.samples[at][0] > this.inspector.time) at--;
    this.inspector.show(this.world, this.places, this.samples[at], this.handles[this.subject]?.axes ?? [], this.world.bodies.length > 0 ? this.subject : -1, this.theme);
  }

  private paintTime(sample: Sample) {
    this.clock.textContent = 't = ' + sample[0].toFixed(2).replace('-', '\u2212');
    this.seekBar.max = String(this.samples.length - 1);
    this.seekBar.value = String(this.index);
    this.seekBar.setAttribute('aria-valuetext', 't = ' + sample[0].toFixed(2));
    this.time.textContent = this.running && this.rate > 0 ? sayNumber(this.rate, 3) + ' × real time possible' + (this.rate < 0.8 && !this.contactRow.hidden && this.world?.contact !== 'soft' ? '; another law of contact is faster' : '') : sample[0].toFixed(3) + ' s';
  }

  // ---- Export ------------------------------------------------------------------------------------

  private shown() { return [this.solid ? this.spaceCanvas : this.planeCanvas, ...(this.other.canvas.hidden ? [] : [this.other.canvas])]; }

  private async share() {
    const ending = /\.(\w+)$/.exec(this.model.path)?.[1] ?? 'zw', link = location.href.replace(/#.*/, '') + '#z=' + ending + '.' + (await packText(this.text));
    history.replaceState(null, '', link);
    let message = 'The link in the address bar holds the whole text';
    try { await navigator.clipboard.writeText(link); message += '; it is copied'; } catch { /* no clipboard here */ }
    this.say(message + ` (${link.length} characters).`);
  }

  private toggleVideo() {
    if (this.video) { this.video.stop(); this.video = null; } else if (Video.possible) this.video = new Video(this.model.path, this.shown(), this.theme.card);
    this.videoButton.textContent = this.video ? 'Stop' : 'Video';
    this.videoButton.setAttribute('aria-pressed', String(this.video !== null));
  }
}
