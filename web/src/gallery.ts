// All examples, with a picture of each: that of the build (tools/make-pictures.mjs, from this very page with ?draw), or where it
// has none the engine runs the example for a moment here.
import { make } from './dom';
import { examples, files, type Example } from './examples';
import { placesOf } from './numbers';
import { Plane } from './plane';
import type { Space } from './space';
import { themeNow } from './theme';
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

export function showGallery(app: HTMLElement, made: Set<string>): () => void {
  let worker: Worker | null = null; // there is one where pictures are drawn here
  const waiting: { example: Example; canvas: HTMLCanvasElement }[] = [], theme = themeNow();
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
      const places = placesOf(news.about), samples = [...news.before, news.sample], solid = news.about.bodies.length > 0 || news.about.draws.some((d) => d.dimension === 3);
      if (solid) {
        const { Space } = await import('./space');
        if (gone) return;
        space ??= new Space(make('canvas', { width: 400, height: 256 }));
        space.forces = false;
        space.setWorld(news.about, places, news.meshes, samples[0], theme);
        space.picture(theme, samples, 400, 256);
        at.canvas.width = 400;
        at.canvas.height = 256;
        at.canvas.getContext('2d')?.drawImage(space.canvas, 0, 0, 400, 256);
      } else {
        const plane = new Plane(at.canvas);
        plane.quiet = true;
        plane.setWorld(news.about, places, samples[0]);
        for (const sample of samples) plane.include(sample);
        plane.paint(theme, samples, samples.length - 1, [], null);
      }
      at.canvas.dataset.done = '1';
    }
    next();
  };

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
        'Open an example, change it, pull at it. The engine runs in this page, with the bits of the library.'), find, make('a', { id: 'tour', href: '#/tour/1' }, make('button', { tabIndex: -1 }, 'A tour in six stops'))),
    ...sections));
  return () => { gone = true; seen.disconnect(); worker?.terminate(); space?.free(); };
}
