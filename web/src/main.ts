// The address decides: #/ the gallery, #/pendulum.zw an example, #/tour/1 a stop of the tour, #z=... a text that somebody shared.
import './style.css';
import { openBench } from './bench';
import { files } from './examples';
import { showGallery } from './gallery';
import { unpackText } from './share';
import { guideOf, stops } from './tour';

const app = document.getElementById('app')!;
let leave = () => {};

async function go() {
  leave();
  leave = () => {};
  const address = decodeURIComponent(location.hash.slice(1));
  const tour = /^\/tour\/(\d+)$/.exec(address);
  const shared = /^z=(zw|xml|urdf)\.(.+)$/.exec(address), text = shared ? await unpackText(shared[2]) : null;
  if (shared && text !== null) leave = openBench(app, 'shared.' + shared[1], text);
  else if (tour && stops[Number(tour[1]) - 1]) {
    const index = Number(tour[1]) - 1, stop = stops[index];
    leave = openBench(app, stop.path, files.get(stop.path)!, guideOf(index), stop.principle);
  } else if (address.startsWith('/') && files.has(address.slice(1))) leave = openBench(app, address.slice(1), files.get(address.slice(1))!);
  else leave = showGallery(app);
  document.title = (app.querySelector('h1')?.firstChild?.textContent ?? '') + (address.length > 1 ? ' · zwang studio' : '');
}
addEventListener('hashchange', go);
void go();
