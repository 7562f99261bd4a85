// A second world beside the first: one constraint less, another law, another parameter; or a recording. It follows the
// clock of the first.
import type { About, Handle, Meshes, Places, Row, Sample } from './numbers';
import { placesOf } from './numbers';
import type { News, Order, World } from './worker';

export class Twin {
  about: About | null = null;
  places!: Places;
  meshes!: Meshes;
  samples: Sample[] = [];
  forces: Float64Array[] = []; // of a recording: what the model does not explain, by speeds
  pushes: number[][][] = []; // and of equations at each handle
  private worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });

  // `opened` is called when it can be drawn, `failed` with the reason when it cannot.
  constructor(world: World, private rows: Row[] | null, private handles: Handle[], private opened: () => void, private failed: (why: string) => void) {
    this.worker.onmessage = (event: MessageEvent<News>) => this.hear(event.data);
    this.send({ type: 'open', ...world });
  }
  free() { this.worker.terminate(); }
  send(order: Order) { this.worker.postMessage(order); }

  private hear(news: News) {
    if (news.type === 'opened') {
      const first = this.about === null;
      this.about = news.about;
      this.places = placesOf(news.about);
      this.meshes = news.meshes;
      this.samples = [news.sample];
      if (this.rows) this.send({ type: 'replay', rows: this.rows, handles: this.handles });
      else if (first) this.opened();
    } else if (news.type === 'replayed') {
      this.samples = news.list;
      this.forces = news.forces;
      this.pushes = news.pushes;
      this.opened();
    } else if (news.type === 'samples') {
      this.samples.length = Math.min(this.samples.length, news.from);
      this.samples.push(...news.list);
    } else if (news.type === 'at') {
      this.samples[news.index] = news.sample;
      this.samples.length = Math.min(this.samples.length, news.count);
    } else if (news.type === 'thin') this.samples = this.samples.filter((_, i) => i % 2 === 0);
    else if (news.type === 'failed') this.failed(news.error.text.split('\n')[0]);
  }

  // The clock of the first world has reached t, or was set back to it.
  goTo(t: number) { if (!this.rows && this.about) this.send({ type: 'until', t }); }
  seek(t: number) { if (!this.rows && this.about) this.send({ type: 'seek', index: this.indexAt(t) }); }
  restart() { if (!this.rows && this.about) { this.samples.length = 1; this.send({ type: 'start' }); } }

  // The last sample at or before t.
  indexAt(t: number): number {
    let low = 0, high = this.samples.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.samples[middle][0] <= t + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }
}
