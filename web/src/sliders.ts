// Parameters and controls as sliders, each with its number beside it.
import { make } from './dom';
import type { About, Places, Sample } from './numbers';

export function makeSliders(host: HTMLElement, about: About, places: Places, sample: Sample, changed: (index: number, value: number) => void) {
  host.replaceChildren();
  about.params.slice(0, 60).forEach((name, i) => {
    const value = sample[places.param + i], control = about.controls.find((c) => c.param === i);
    const reach = Math.abs(value) || 1, [low, high] = control?.limited ? control.range : value > 0 ? [0, 2 * value] : [-2 * reach, 2 * reach];
    const id = 'param-' + name, range = make('input', { type: 'range', id, min: low, max: high, step: 'any' });
    const number = make('input', { type: 'number', step: 'any', 'aria-label': name });
    range.value = String(value);
    number.value = String(Number(value.toPrecision(6)));
    const change = (v: number) => { if (Number.isFinite(v)) changed(i, v); };
    range.addEventListener('input', () => { number.value = String(Number(Number(range.value).toPrecision(4))); change(Number(range.value)); });
    number.addEventListener('change', () => { range.value = number.value; change(Number(number.value)); });
    host.append(make('label', { for: id, title: name }, name), range, number);
  });
}
