// What if: a choice of one thing to change in the model, and the text without one constraint.
import { make } from './dom';
import { contactLaws, contactOf, type About } from './numbers';

export type Change =
  | { kind: 'release'; name: string } | { kind: 'leaveOut'; index: number } | { kind: 'law'; name: string } | { kind: 'contact'; name: string }
  | { kind: 'param'; index: number; value: number } | { kind: 'params' } | { kind: 'disable'; name: string } | { kind: 'recording'; name: string; text: string };

// A family rod[1], rod[2] ... is one statement.
const stem = (name: string) => name.replace(/\[.*$/, '');

// The text without the constraint of this name, and without statements that refer to its force. null: it is not found.
export function without(text: string, name: string): string | null {
  const escaped = stem(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const statement = new RegExp(`^\\s*constraint\\s+${escaped}\\s*(\\[[^\\]]*\\])?\\s*:`), asks = new RegExp(`\\blambda\\s*\\(\\s*${escaped}\\b`);
  let found = false;
  const lines = text.split('\n').map((line) => {
    const hit = statement.test(line);
    found ||= hit;
    return hit || (asks.test(line) && /^\s*(plot|check|draw|event|stop)\b/.test(line)) ? '# ' + line : line;
  });
  return found ? lines.join('\n') : null;
}

// The MJCF text with contacts or joint limits switched off. null: it is no MJCF file.
export function disabled(text: string, flag: string): string | null {
  const open = /<mujoco\b[^>]*[^/]>|<mujoco>/;
  return open.test(text) ? text.replace(open, `$&<option><flag ${flag}="disable"/></option>`) : null;
}

export function choicesOf(about: About, text: string, recordings: string[]): { label: string; list: [string, string][] }[] {
  const groups: { label: string; list: [string, string][] }[] = [], bodies = about.bodies.length > 0;
  const names = [...new Set(about.constraints.map(stem))].filter((name) => without(text, name) !== null);
  if (!bodies && names.length > 0) groups.push({ label: 'Release a constraint', list: names.map((name) => ['release:' + name, 'without ' + name]) });
  if (bodies && disabled(text, 'contact') !== null) {
    const kinds = [...(about.contacts > 0 ? ['contact'] : []), ...(about.constraints.length > about.equalities.length ? ['limit'] : [])];
    if (kinds.length > 0) groups.push({ label: 'Release constraints', list: kinds.map((kind) => ['disable:' + kind, kind === 'contact' ? 'without contacts' : 'without joint limits']) });
  }
  if (about.equalities.length > 0) groups.push({ label: 'Open a loop', list: about.equalities.map((name, i) => ['leaveOut:' + i, 'without ' + (name || 'equality ' + i)]) });
  if (!bodies && about.constraints.length > 0) {
    const laws = ['nonholonomic', 'vakonomic'].filter((law) => law !== about.law);
    groups.push({ label: 'Another law', list: laws.map((law) => ['law:' + law, 'by the ' + law + ' law']) });
  }
  if (about.contacts > 0) groups.push({ label: 'Another law of contact', list: contactLaws.filter(([law]) => law !== contactOf(about)).map(([law, words]) => ['contact:' + law, 'contact: ' + words]) });
  if (about.params.length > 0) groups.push({ label: 'Two sets of parameters', list: [['params:', 'with the parameters as they are now']] });
  if (about.params.length > 0) groups.push({ label: 'Another parameter', list: about.params.slice(0, 60).map((name, i) => ['param:' + i, 'with another ' + name]) });
  groups.push({ label: 'A recording', list: [...recordings.map((name): [string, string] => ['recording:' + name, 'beside ' + name]), ['recording:', 'beside a file (CSV) …']] });
  return groups;
}

// The panel: a list of choices, a number where one is needed, and how the two are shown.
export class WhatIf {
  readonly element: HTMLElement;
  side = false;
  private list = make('select', { id: 'whatif', 'aria-label': 'What if', onchange: () => this.choose() });
  private number = make('input', { type: 'number', id: 'whatif-value', step: 'any', 'aria-label': 'Its other value', hidden: true, onchange: () => this.choose() });
  private sideButton = make('button', { id: 'side', hidden: true, 'aria-pressed': 'false', onclick: () => this.setSide(!this.side) }, 'Side by side');
  private file = make('input', { type: 'file', accept: '.csv,text/csv', hidden: true, 'aria-label': 'A recording', onchange: () => this.readFile() });
  private words = make('p', { id: 'whatif-message', role: 'status' });
  private about: About | null = null;
  private values: number[] = [];
  private chosen = '';

  constructor(private changed: (change: Change | null) => void, private sideChanged: () => void, private recordings: Map<string, string>) {
    this.element = make('section', { class: 'panel card whatif' }, make('h2', {}, 'What if'),
      make('div', { class: 'row' }, this.list, this.number, this.sideButton, this.file), this.words);
  }

  show(about: About, text: string, values: number[]) {
    this.about = about;
    this.values = values;
    const groups = choicesOf(about, text, [...this.recordings.keys()]);
    this.list.replaceChildren(make('option', { value: '' }, 'nothing else'),
      ...groups.map((g) => { const group = document.createElement('optgroup'); group.label = g.label; group.append(...g.list.map(([value, label]) => make('option', { value }, label))); return group; }));
    this.list.value = this.chosen;
    if (this.list.value !== this.chosen) this.list.value = this.chosen = '';
  }
  report(text: string) { this.words.textContent = text; }
  now(): string { return this.list.selectedOptions[0]?.textContent ?? ''; }
  setSide(on: boolean) {
    this.side = on;
    this.sideButton.setAttribute('aria-pressed', String(on));
    this.sideChanged();
  }
  // By name, for links, tours and tests.
  pick(value: string) { this.list.value = value; this.choose(); }
  again() { this.choose(); }

  private choose() {
    const value = this.list.value, [kind, ...rest] = value.split(':'), name = rest.join(':'), param = kind === 'param' ? Number(name) : -1;
    if (value !== this.chosen && param >= 0) {
      const old = this.values[param] ?? 1;
      this.number.value = String(Number((old === 0 ? 1 : 1.5 * old).toPrecision(6)));
    }
    this.chosen = value;
    this.number.hidden = param < 0;
    this.sideButton.hidden = value === '';
    this.report('');
    if (value === 'recording:') { this.chosen = this.list.value = ''; this.file.click(); return; }
    this.changed(value === '' || !this.about ? null
      : kind === 'release' ? { kind, name } : kind === 'leaveOut' ? { kind, index: Number(name) } : kind === 'law' ? { kind, name }
        : kind === 'contact' || kind === 'disable' ? { kind, name } : kind === 'params' ? { kind } : kind === 'recording' ? { kind, name, text: this.recordings.get(name) ?? '' }
          : { kind: 'param', index: param, value: Number(this.number.value) });
  }

  private async readFile() {
    const file = this.file.files?.[0];
    if (file) this.take(file.name, await file.text());
    this.file.value = '';
  }
  // A recording that is dropped, chosen or served.
  take(name: string, text: string) {
    this.recordings.set(name, text);
    const group = this.list.querySelector('optgroup:last-child'), value = 'recording:' + name;
    if (![...this.list.options].some((o) => o.value === value)) group?.prepend(make('option', { value }, 'beside ' + name));
    this.pick(value);
  }
}
