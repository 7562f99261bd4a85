// The address decides: #/ the gallery, #/pendulum.zw an example, #z=... a text that somebody shared.
import './style.css';
import { openBench } from './bench';
import { files } from './examples';
import { showGallery } from './gallery';
import { unpackText } from './share';

const app = document.getElementById('app')!;
let leave = () => {};

async function go() {
  leave();
  leave = () => {};
  const address = decodeURIComponent(location.hash.slice(1));
  const shared = /^z=(zw|xml|urdf)\.(.+)$/.exec(address), text = shared ? await unpackText(shared[2]) : null;
  if (shared && text !== null) leave = openBench(app, 'shared.' + shared[1], text);
  else if (address.startsWith('/') && files.has(address.slice(1))) leave = openBench(app, address.slice(1), files.get(address.slice(1))!);
  else leave = showGallery(app);
  document.title = (app.querySelector('h1')?.firstChild?.textContent ?? '') + (address.length > 1 ? ' · zwang studio' : '');
}
addEventListener('hashchange', go);
void go();
