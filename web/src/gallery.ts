// All examples, with a picture of each: the engine runs it for a moment.
import { make } from './dom';
import { examples, files, type Example } from './examples';
import { placesOf } from './numbers';
import { Plane } from './plane';
import type { Space } from './space';
import { themeNow } from './theme';
import type { News, Order } from './worker';

export function showGallery(app: HTMLElement): () => void {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  const waiting: { example: Example; canvas: HTMLCanvasElement }[] = [], theme = themeNow();
  let busy: (typeof waiting)[number] | null = null, space: Space | null = null, gone = false;

  const next = () => {
    busy = waiting.shift() ?? null;
    if (busy) {
      const order: Order = { type: 'open', files: [...files], path: busy.example.path, settings: [], key: 0, ahead: busy.example.group === 'Contact' ? 0.15 : 1.2 };
      worker.postMessage(order);
    }
  };
  worker.onmessage = async (event: MessageEvent<News>) => {
    const news = event.data, at = busy;
    if (news.type === 'opened' && at) {
      const places = placesOf(news.about), solid = news.about.bodies.length > 0 || news.about.draws.some((d) => d.dimension === 3);
      if (solid) {
        const { Space } = await import('./space');
        if (gone) return;
        space ??= new Space(make('canvas', { width: 400, height: 256 }));
        space.forces = false;
        space.setWorld(news.about, places, news.meshes, news.sample, theme);
        space.picture(theme, news.sample, 400, 256);
        at.canvas.width = 400;
        at.canvas.height = 256;
        at.canvas.getContext('2d')?.drawImage(space.canvas, 0, 0, 400, 256);
      } else {
        const plane = new Plane(at.canvas);
        plane.quiet = true;
        const samples = [...news.before, news.sample];
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
      const canvas = make('canvas', { 'aria-hidden': 'true' });
      canvas.dataset.path = example.path;
      const item = make('li', {}, make('a', { class: 'card', href: '#/' + example.path }, canvas, make('b', {}, example.name), make('span', {}, example.title)));
      cards.push({ item, text: (example.path + ' ' + example.title).toLowerCase().replace(/_/g, ' ') });
      list.append(item);
      seen.observe(canvas);
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
  return () => { gone = true; seen.disconnect(); worker.terminate(); space?.free(); };
}
