// The address decides: #/ the gallery, #/pendulum.zw an example, #/tour/1 a stop of the tour, #/view what `zwang view` serves, #z=... a shared text.
import './style.css';
import { openBench } from './bench';
import { make } from './dom';
import { files } from './examples';
import { picturesMade, showGallery } from './gallery';
import { unpackText } from './share';
import { guideOf, stops } from './tour';

const app = document.getElementById('app')!;
let leave = () => {};

// What `zwang view` serves beside these pages: a model with its files, perhaps a recording.
async function openServed(): Promise<() => void> {
  try {
    const about = await (await fetch('view.json')).json() as { path: string; key: string; settings: Record<string, number>; files: string[]; recording: number };
    const bytes = await Promise.all(about.files.map(async (_, i) => new Uint8Array(await (await fetch('file/' + i)).arrayBuffer())));
    const read = (i: number) => new TextDecoder().decode(bytes[i]), recording = about.recording;
    const own = about.files.map((name, i): [string, Uint8Array] => [name, bytes[i]]).filter((_, i) => i !== recording);
    return openBench(app, { path: about.path, text: read(about.files.indexOf(about.path)), files: own, settings: Object.entries(about.settings), key: about.key,
      recording: recording >= 0 ? { name: about.files[recording], text: read(recording) } : undefined });
  } catch {
    app.replaceChildren(make('p', { class: 'gallery' }, 'No model is served here. `zwang view FILE` does that; or open the ', make('a', { href: '#/' }, 'gallery'), '.'));
    return () => {};
  }
}

async function go() {
  leave();
  leave = () => {};
  const address = decodeURIComponent(location.hash.slice(1));
  const tour = /^\/tour\/(\d+)$/.exec(address);
  const shared = /^z=(zw|xml|urdf)\.(.+)$/.exec(address), text = shared ? await unpackText(shared[2]) : null;
  if (shared && text !== null) leave = openBench(app, { path: 'shared.' + shared[1], text });
  else if (tour && stops[Number(tour[1]) - 1]) {
    const index = Number(tour[1]) - 1, stop = stops[index];
    leave = openBench(app, { path: stop.path, text: files.get(stop.path)!, guide: guideOf(index), principle: stop.principle, whatif: stop.whatif });
  } else if (address === '/view') leave = await openServed();
  else if (address.startsWith('/') && files.has(address.slice(1))) leave = openBench(app, { path: address.slice(1), text: files.get(address.slice(1))! });
  else leave = showGallery(app, await picturesMade());
  document.title = (app.querySelector('h1')?.firstChild?.textContent ?? '') + (address.length > 1 ? ' · zwang studio' : '');
}
addEventListener('hashchange', go);
void go();
