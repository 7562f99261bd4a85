// Another motion beside the first: over it and pale, or side by side. It differs in a constraint, a law or parameters, or it is a recording, with the
// force that the model does not explain.
import type { Bench } from './bench';
import { make } from './dom';
import { recordingsOf } from './examples';
import { placeOf, sayNumber } from './numbers';
import { jointPushes } from './joints';
import { Plane, type Ghost, type Push } from './plane';
import { readRecording } from './recording';
import type { Space } from './space';
import { Twin } from './twin';
import { WhatIf, disabled, without, type Change } from './whatif';

const size = (force: Float64Array) => Math.hypot(...force);

export class Comparison {
  twin: Twin | null = null;
  readonly whatif: WhatIf;
  canvas = make('canvas', { role: 'img', 'aria-label': 'The other motion', class: 'twin', hidden: true });
  name = make('div', { class: 'twin-name', hidden: true });
  private plane: Plane | null = null;
  private space: Space | null = null;
  private change: Change | null = null;
  private strongest = 0; // of a recording: the largest unexplained force

  constructor(private bench: Bench, private path: string) {
    this.whatif = new WhatIf((change) => this.set(change), () => this.lay(), recordingsOf(path));
  }

  free() {
    this.twin?.free();
    this.space?.free();
  }
  isRecording() { return this.change?.kind === 'recording'; }
  // A slider of the first motion also sets the second, unless the two differ in this parameter.
  param(index: number, value: number) {
    if (this.change?.kind === 'params') return;
    if (this.change?.kind !== 'param' || this.change.index !== index) this.twin?.send({ type: 'param', index, value });
  }
  worst() { return [this.strongest, this.twin ? this.twin.samples[this.twin.forces.findIndex((f) => size(f) === this.strongest)]?.[0] : NaN]; }

  private set(change: Change | null) {
    const about = this.bench.world, had = this.twin !== null;
    this.twin?.free();
    this.twin = null;
    this.change = change;
    this.strongest = 0;
    if (!about || !change) { if (had) this.lay(); return; }
    const world = this.bench.worldOf(), s = this.bench.samples[this.bench.index], p = this.bench.places;
    if (this.bench.index > 0) { // from now on
      world.from = { t: s[0], q: Array.from(s.slice(p.q, p.v)), v: Array.from(s.slice(p.v, p.a)), params: Array.from(s.slice(p.param, p.param + about.params.length)) };
    }
    let rows = null;
    if (change.kind === 'release') world.files[0] = [this.path, without(this.bench.text, change.name) ?? this.bench.text];
    else if (change.kind === 'disable') world.files[0] = [this.path, disabled(this.bench.text, change.name) ?? this.bench.text];
    else if (change.kind === 'leaveOut') world.leaveOut = [change.index];
    else if (change.kind === 'law') world.law = change.name;
    else if (change.kind === 'contact') world.contact = change.name;
    else if (change.kind === 'params') world.settings = about.params.map((name, i): [string, number] => [name, s[p.param + i]]);
    else if (change.kind === 'param') {
      world.settings = [...world.settings.filter(([name]) => name !== about.params[change.index]), [about.params[change.index], change.value]];
      if (world.from) world.from.params[change.index] = change.value;
    } else if (change.kind === 'recording') {
      const read = readRecording(change.text, about);
      if (typeof read === 'string') { this.whatif.report(read); this.lay(); return; }
      rows = read;
      delete world.from;
    }
    this.twin = new Twin(world, rows, this.bench.handles.slice(0, 24), () => this.opened(), (why) => this.whatif.report(why));
    if (rows && this.bench.index > 0) this.bench.reset(); // both from the beginning
  }

  private opened() {
    const { twin } = this;
    if (!twin) return;
    this.strongest = Math.max(0, ...twin.forces.map(size));
    const worst = twin.forces.findIndex((f) => size(f) === this.strongest);
    if (twin.forces.length > 0) this.measure();
    this.whatif.report(twin.forces.length > 0
      ? `Pale: the recording. Its largest unexplained force is ${sayNumber(this.strongest, 3)} at t = ${sayNumber(twin.samples[worst][0], 4)}${Math.max(...this.hardest) > 0 ? '; arrows show where and when' : ''}.`
      : this.change?.kind === 'params' ? 'Pale and dashed: the motion with the parameters as they are now. Move the sliders: they change the other one.'
        : `Pale and dashed: the motion from here on, ${this.whatif.now()}.`);
    if (!this.bench.solid) for (let k = 0; k < twin.samples.length; k += 5) this.bench.plane.includeGhost({ about: twin.about!, places: twin.places, samples: twin.samples, index: k });
    this.lay();
  }

  // Shows the two over each other, or side by side.
  lay() {
    const on = this.twin !== null && this.twin.about !== null, side = on && this.whatif.side;
    this.bench.stage.classList.toggle('two', side);
    this.canvas.hidden = this.name.hidden = !side;
    this.name.textContent = this.whatif.now();
    this.plane = null;
    this.space?.free();
    this.space = null;
    if (side) { // another canvas: one that has drawn in the plane cannot draw in space
      const canvas = make('canvas', { role: 'img', 'aria-label': 'The other motion', class: 'twin' });
      this.canvas.replaceWith(canvas);
      this.canvas = canvas;
      if (!this.bench.solid) { this.plane = new Plane(canvas); this.plane.setWorld(this.twin!.about!, this.twin!.places, this.twin!.samples[0]); }
      else void import('./space').then(({ Space }) => {
        if (!this.twin?.about || !this.whatif.side || canvas !== this.canvas) return;
        this.space = new Space(canvas);
        this.space.setWorld(this.twin.about, this.twin.places, this.twin.meshes, this.twin.samples[0], this.bench.theme);
        this.bench.dirty = true;
      });
    }
    if (this.bench.solid) this.bench.bodies?.setGhost(on && !side ? this.ghostNow() : null, on ? this.twin!.meshes : null, this.bench.theme);
    if (this.bench.world) this.bench.makeCharts();
    this.bench.dirty = true;
    this.bench.chartsDue = 0;
  }

  ghostNow(): Ghost | null {
    const { twin } = this;
    if (!twin?.about || twin.samples.length === 0) return null;
    const index = twin.indexAt(this.bench.samples[this.bench.index][0]);
    return { about: twin.about, places: twin.places, samples: twin.samples, index };
  }

  // The distance between the coordinates of the two.
  apart(): number {
    const ghost = this.ghostNow(), s = this.bench.samples[this.bench.index];
    if (!ghost) return NaN;
    const g = ghost.samples[ghost.index];
    return Math.max(0, ...this.bench.world!.coords.map((_, i) => Math.abs(s[this.bench.places.q + i] - g[ghost.places.q + i])));
  }

  forceAt(t: number): Float64Array | null {
    const { twin } = this;
    if (!twin || twin.samples.length === 0) return null;
    const last = twin.samples[twin.samples.length - 1][0];
    return t > last + 1e-9 ? null : twin.forces[twin.indexAt(t)] ?? null;
  }

  // For a recording: the force that the model does not explain, drawn at points of equations or at the joints of bodies.
  pushes(ghost: Ghost | null): Push[] {
    const { twin } = this, force = ghost && twin && twin.forces.length > 0 ? this.forceAt(this.bench.samples[this.bench.index][0]) : null;
    if (!force || !ghost || !twin) return [];
    const g = ghost.samples[ghost.index], at = twin.pushes[twin.indexAt(this.bench.samples[this.bench.index][0])] ?? [];
    const list = twin.about!.bodies.length > 0 ? jointPushes(twin.about!, twin.places, g, force)
      : this.bench.handles.slice(0, at.length).map((handle, k) => ({ at: placeOf(handle, ghost.places, g), force: at[k], turns: false, share: 0 }));
    for (const push of list) push.share = Math.hypot(...push.force) / (push.turns ? this.hardest[1] : this.hardest[0]) || 0;
    return list;
  }

  // The largest push of a recording, and of bodies the largest torque.
  private hardest: [number, number] = [0, 0];
  private measure() {
    const twin = this.twin!;
    this.hardest = [0, 0];
    twin.forces.forEach((force, k) => {
      const list = twin.about!.bodies.length > 0 ? jointPushes(twin.about!, twin.places, twin.samples[k], force) : (twin.pushes[k] ?? []).map((f) => ({ force: f, turns: false }));
      for (const push of list) this.hardest[Number(push.turns)] = Math.max(this.hardest[Number(push.turns)], Math.hypot(...push.force));
    });
  }

  paint(ghost: Ghost) {
    if (this.plane) {
      this.plane.sameWindow(this.bench.plane);
      this.plane.paint(this.bench.theme, ghost.samples, ghost.index, null, null, null, this.pushes(ghost));
    } else if (this.space && this.bench.bodies) {
      this.space.sameView(this.bench.bodies);
      if (!this.space.paint(this.bench.theme, ghost.samples, ghost.index, null, null, -1, !this.bench.running, null, this.pushes(ghost))) this.bench.dirty = true;
    }
  }
}
