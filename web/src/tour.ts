// Six stops that show what the principle does, for a lecture or a first look.
import { make } from './dom';

export interface Stop { path: string; title: string; text: string; principle?: boolean; whatif?: string; settings?: [string, number][] }

export const stops: Stop[] = [
  { path: 'pendulum.zw', title: 'a pendulum is a constraint', principle: true,
    text: 'The bob has two coordinates and one constraint: its distance from the axis. Free, it would fall straight down (grey). Of all accelerations that keep the ' +
      'length of the rod it takes the nearest (blue); the difference is the pull of the rod (red). Drag the bob; move the slider of g; under "What if" release the rod.' },
  { path: 'double_pendulum_redundant.zw', title: 'constraints may repeat each other',
    text: 'Two rods, held by six constraints where two are enough: the forces of the single rows are not unique then. The motion is, as there is one nearest acceleration. ' +
      'Delete the lines b, d, f and h, and nothing changes but the number of rows.' },
  { path: 'skate_laws.zw', title: 'one constraint, two laws', whatif: 'law:vakonomic', settings: [['a', 0]],
    text: 'An edge that does not slip sideways, on a slope, and two skates from one start. By the nonholonomic law, that of rolling and skating, it turns evenly and drifts across the ' +
      'slope. The pale one follows the vakonomic law, the limit of added masses: the same constraint, another motion. The sliders of a and b lead from one to the other.' },
  { path: 'contact/newtons_cradle.xml', title: 'contact',
    text: 'Contacts push and never pull, and they push only what touches. All impacts of an instant are solved together: one ball in, one ball out. Start from the ' +
      'keyframe "two", or pull at a ball.' },
  { path: 'contact/quadruped_walks.zw', title: 'a robot',
    text: 'Four legs with twelve motors, driven by the formulas of the text. Arrows are the forces on the feet: within the cone of friction where a foot stands, in another colour where it ' +
      'slides. Pull at the trunk; give it another stride; choose another law of contact.' },
  { path: 'double_pendulum.zw', title: 'the certificate', whatif: 'recording:tampered_swing.csv',
    text: 'Every answer is checked by the conditions of the principle, from the data of the problem and not by the solver: "Violation and certificate" among the charts. ' +
      'A recording can be checked as well. The pale one is this swing, but it was tampered with: the arrow is the force that no law of the model explains. Watch it near t = 3.' },
];

export function guideOf(index: number): HTMLElement {
  const stop = stops[index], link = (to: number, kind: string, words: string) => make('a', { class: kind, href: '#/tour/' + to }, make('button', { tabIndex: -1 }, words));
  const ways = make('nav', { 'aria-label': 'Tour' });
  if (index > 0) ways.append(link(index, 'back', '‹ Before'));
  if (index < stops.length - 1) ways.append(link(index + 2, 'on', 'Next ›'));
  return make('section', { class: 'guide panel card' }, make('h2', {}, `${index + 1} of ${stops.length}: ${stop.title}`), make('p', {}, stop.text), ways);
}
