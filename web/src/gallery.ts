// All examples, with a picture of each: that of the build (tools/make-pictures.mjs, from this very page with ?draw), or where it
// has none the engine runs the example for a moment here.
import { make } from './dom';
import { examples, files, type Example } from './examples';
import { placesOf, type About } from './numbers';
import { Plane } from './plane';
import { paintPortrait } from './portrait';
import type { Space } from './space';
import { themeNow, type Theme } from './theme';
import { stops } from './tour';
import type { News, Order } from './worker';

// The names of the pictures that the build has made; there are light and dark ones.
export const pictureName = (path: string) => path.replace(/\W/g, '_');
export async function picturesMade(): Promise<Set<string>> {
  const list = location.search === '?draw' ? [] : await fetch('pictures/list.json').then((answer) => answer.json()).catch(() => []);
  return new Set(list as string[]);
}
function pictureOf(path: string): HTMLElement {
  const name = (shade: string) => `pictures/${pictureName(path)}.${shade}.webp`;
  return make('picture', {}, make('source', { media: '(prefers-color-scheme: dark)', srcset: name('dark') }), make('img', { loading: 'lazy', alt: '', src: name('light') }));
}

const isSolid = (about: About) => about.bodies.length > 0 || about.draws.some((d) => d.dimension === 3);

function paintPicture(canvas: HTMLCanvasElement, space: Space | null, news: Extract<News, { type: 'opened' }>, theme: Theme) {
  const { about } = news, places = placesOf(about), samples = [...news.before, news.sample];
  if (isSolid(about)) {
    space!.setWorld(about, places, news.meshes, samples[0], theme);
    space!.picture(theme, samples, 400, 256);
    canvas.width = 400;
    canvas.height = 256;
    canvas.getContext('2d')?.drawImage(space!.canvas, 0, 0, 400, 256);
  } else if (about.draws.length === 0) { // its first chart
    const curves = about.curves.filter((c) => c.plot === about.curves[0].plot);
    paintPortrait(canvas, theme, curves.map((c) => ({ points: samples.map((s): [number, number] => [c.kind === 0 ? s[0] : s[places.output + c.output], s[places.output + c.output + 1]]) })));
  } else {
    const plane = new Plane(canvas);
    plane.quiet = true;
    plane.setWorld(about, places, samples[0]);
    for (const sample of samples) plane.include(sample);
    plane.paint(theme, samples, samples.length - 1, null, null);
  }
}

export function showGallery(app: HTMLElement, made: Set<string>): () => void {
  let worker: Worker | null = null; // there is one where pictures are drawn here
  const waiting: { example: Example; canvas: HTMLCanvasElement }[] = [], painters: (() => void)[] = [];
  let theme = themeNow();
  let busy: (typeof waiting)[number] | null = null, space: Space | null = null, gone = false;

  const next = () => {
    busy = waiting.shift() ?? null;
    if (busy) {
      const order: Order = { type: 'open', files: [...files], path: busy.example.path, settings: [], key: 0, ahead: busy.example.group === 'Contact' ? 0.15 : 1.2 };
      if (!worker) {
        worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
        worker.onmessage = draw;
      }
      worker.postMessage(order);
    }
  };
  const draw = async (event: MessageEvent<News>) => {
    const news = event.data, at = busy;
    if (news.type === 'opened' && at) {
      if (isSolid(news.about) && !space) {
        const { Space } = await import('./space');
        if (gone) return;
        space = new Space(make('canvas', { width: 400, height: 256 }));
        space.forces = false;
      }
      const paint = () => { paintPicture(at.canvas, space, news, theme); at.canvas.dataset.done = theme.dark ? 'dark' : 'light'; };
      painters.push(paint);
      paint();
    }
    next();
  };
  const light = matchMedia('(prefers-color-scheme: dark)'), recolour = () => { theme = themeNow(); for (const paint of painters) paint(); };
  light.addEventListener('change', recolour);

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      const example = examples.find((e) => e.path === (entry.target as HTMLElement).dataset.path);
      if (example) waiting.push({ example, canvas: entry.target as HTMLCanvasElement });
    }
    if (!busy) next();
  }, { rootMargin: '150px' });

  const find = make('input', { id: 'find', type: 'search', placeholder: 'Find an example', 'aria-label': 'Find an example' });
  const cards: { item: HTMLElement; text: string }[] = [], sections: HTMLElement[] = [];
  for (const group of ['Equations', 'Bodies', 'Contact']) {
    const list = make('ul', { class: 'cards' });
    for (const example of examples.filter((e) => e.group === group)) {
      const picture = made.has(pictureName(example.path)) ? pictureOf(example.path) : make('canvas', { 'aria-hidden': 'true' });
      picture.dataset.path = example.path;
      const item = make('li', {}, make('a', { class: 'card', href: '#/' + example.path }, picture, make('b', {}, example.name), make('span', {}, example.title)));
      cards.push({ item, text: (example.path + ' ' + example.title).toLowerCase().replace(/_/g, ' ') });
      list.append(item);
      if (picture instanceof HTMLCanvasElement) seen.observe(picture);
    }
    sections.push(make('section', {}, make('h2', {}, group), list));
  }
  find.addEventListener('input', () => {
    const wanted = find.value.toLowerCase().split(/\s+/);
    for (const { item, text } of cards) item.hidden = !wanted.every((w) => text.includes(w));
    for (const section of sections) section.hidden = [...section.querySelectorAll('li')].every((li) => li.hidden);
  });
  app.replaceChildren(make('div', { class: 'gallery' },
    make('header', {}, make('h1', {}, 'zwang studio'),
      make('p', {}, 'Of all accelerations that the constraints admit, nature takes the one nearest to the free one, in the metric of the masses: Gauss, 1829. ' +
        'Open an example, change it, pull at it. The engine runs in this page, with the bits of the library.'), find),
    make('section', { class: 'tour' }, make('h2', {}, make('a', { id: 'tour', href: '#/tour/1' }, 'A tour in six stops')),
      make('ol', { class: 'stops' }, ...stops.map((stop, k) => make('li', {}, make('a', { class: 'card', href: '#/tour/' + (k + 1) }, made.has(pictureName(stop.path)) ? pictureOf(stop.path) : '', make('b', {}, `${k + 1}  ${stop.title}`)))))),
    ...sections));
  return () => { gone = true; seen.disconnect(); light.removeEventListener('change', recolour); worker?.terminate(); space?.free(); };
}
