// The address decides: #/ the gallery, #/pendulum.zw an example, #/tour/1 a stop of the tour, #/view what `zwang view` serves, #z=... a shared text.
import './style.css';
import { openBench, type Model } from './bench';
import { make } from './dom';
import { files } from './examples';
import { picturesMade, showGallery } from './gallery';
import { unpackText } from './share';
import { guideOf, stops } from './tour';

const app = document.getElementById('app')!;
let leave = () => {};

// What `zwang view` serves beside these pages: a model with its files, perhaps a recording.
async function servedModel(): Promise<Model | string> {
  try {
    const about = await (await fetch('view.json')).json() as { path: string; key: string; settings: Record<string, number>; files: string[]; recording: number };
    const bytes = await Promise.all(about.files.map(async (_, i) => new Uint8Array(await (await fetch('file/' + i)).arrayBuffer())));
    const read = (i: number) => new TextDecoder().decode(bytes[i]), recording = about.recording;
    const own = about.files.map((name, i): [string, Uint8Array] => [name, bytes[i]]).filter((_, i) => i !== recording);
    return { path: about.path, text: read(about.files.indexOf(about.path)), files: own, settings: Object.entries(about.settings), key: about.key,
      recording: recording >= 0 ? { name: about.files[recording], text: read(recording) } : undefined };
  } catch {
    return 'No model is served here. `zwang view FILE` does that.';
  }
}

// The model that an address means; a sentence: there is none; null: the gallery.
async function modelOf(address: string): Promise<Model | string | null> {
  const tour = /^\/tour\/([1-9])$/.exec(address), shared = /^z=(zw|xml|urdf)\.(.+)$/.exec(address), stop = tour ? stops[Number(tour[1]) - 1] : undefined;
  if (shared) {
    const text = await unpackText(shared[2]);
    return text === null ? 'The text in this link is not complete: part of the address may be missing.' : { path: 'shared.' + shared[1], text };
  }
  if (stop) return { path: stop.path, text: files.get(stop.path)!, guide: guideOf(stops.indexOf(stop)), principle: stop.principle, whatif: stop.whatif, settings: stop.settings };
  if (address === '/view') return servedModel();
  const path = address.slice(1);
  return files.has(path) ? { path, text: files.get(path)! } : path === '' ? null : `There is no example ${path}.`;
}

function addressNow(): string {
  const raw = location.hash.slice(1);
  try { return decodeURIComponent(raw); } catch { return raw; }
}

let visits = 0;
async function go() {
  const visit = ++visits, address = addressNow(), model = await modelOf(address), made = model === null ? await picturesMade() : null;
  if (visit !== visits) return; // the address has changed meanwhile
  leave();
  leave = () => {};
  if (typeof model === 'string') app.replaceChildren(make('p', { class: 'gallery' }, model + ' Here is the ', make('a', { href: '#/' }, make('u', {}, 'gallery')), '.'));
  else leave = model ? openBench(app, model) : showGallery(app, made!);
  document.title = (app.querySelector('h1')?.firstChild?.textContent ?? '') + (address.length > 1 ? ' · zwang studio' : '');
}
addEventListener('hashchange', go);
void go();
