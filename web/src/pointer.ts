// Mouse and touch on the stage: pulling points and bodies, moving, turning and zooming the view.
import type { About, Pair, Sample } from './numbers';
import type { Plane } from './plane';
import type { Space } from './space';
import type { Order } from './worker';

export interface Pull { body: number; local: number[]; pair: Pair | null; to: number[] }
export interface Stage {
  stage: HTMLElement; planeCanvas: HTMLCanvasElement; spaceCanvas: HTMLCanvasElement;
  plane: Plane; about(): About | null; space(): Space | null; pairs(): Pair[]; sample(): Sample; playing(): boolean;
  pull: Pull | null; // what is held now
  massAt(pair: Pair): number; selectPair(pair: Pair): void; selectBody(body: number): void; send(order: Order): void; touched(): void;
}

export function listenToPointer(on: Stage, signal: AbortSignal) {
  const place = (event: PointerEvent | WheelEvent) => {
    const box = on.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top] as const;
  };
  const fingers = new Map<number, readonly [number, number]>();
  let pan = false, held = false;

  on.planeCanvas.addEventListener('pointerdown', (event) => {
    const [x, y] = place(event), about = on.about();
    fingers.set(event.pointerId, [x, y]);
    on.planeCanvas.setPointerCapture(event.pointerId);
    if (fingers.size > 1) { letGo(); pan = true; return; } // two fingers move and zoom
    const pair = about ? on.plane.pairAt(on.pairs(), on.sample(), x, y) : null;
    pan = !pair;
    if (!pair || !about) return;
    on.selectPair(pair);
    on.pull = { body: -1, local: [], pair, to: on.plane.unplace(x, y) };
    if (on.playing()) on.send({ type: 'hold', x: about.coords[pair.x], y: about.coords[pair.y], mass: on.massAt(pair), to: on.pull.to });
  }, { signal });

  on.planeCanvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const [x, y] = place(event);
    if (on.pull?.pair) {
      on.pull.to = on.plane.unplace(x, y);
      if (on.playing()) on.send({ type: 'pull', to: on.pull.to });
      else on.send({ type: 'coords', list: [[on.pull.pair.x, on.pull.to[0]], [on.pull.pair.y, on.pull.to[1]]] });
    } else if (pan) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1], share = 1 / fingers.size;
      on.plane.pan(share * (x - before[0]), share * (y - before[1]));
      if (other) on.plane.zoom(Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1])), (x + other[0]) / 2, (y + other[1]) / 2);
    }
    fingers.set(event.pointerId, [x, y]);
    on.touched();
  }, { signal });

  function letGo() {
    if (on.pull) on.send({ type: 'release' });
    on.pull = null;
    held = false;
  }
  const up = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    letGo();
    const space = on.space();
    if (space) space.controls.enabled = true;
    on.touched();
  };
  for (const canvas of [on.planeCanvas, on.spaceCanvas]) {
    canvas.addEventListener('pointerup', up, { signal });
    canvas.addEventListener('pointercancel', up, { signal });
  }
  on.planeCanvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    on.plane.zoom(Math.exp(-event.deltaY * 0.0015), ...place(event));
    on.touched();
  }, { passive: false, signal });

  on.spaceCanvas.addEventListener('pointerdown', (event) => {
    const space = on.space(), hit = event.isPrimary ? space?.pick(...place(event)) : null;
    if (!hit || !space) return;
    space.controls.enabled = false;
    on.selectBody(hit.body);
    on.spaceCanvas.setPointerCapture(event.pointerId);
    on.pull = { body: hit.body, local: hit.local, pair: null, to: hit.world };
  }, { signal, capture: true });
  on.spaceCanvas.addEventListener('pointermove', (event) => {
    const space = on.space();
    if (!on.pull || on.pull.body < 0 || !space) return;
    const to = space.at(...place(event), space.pointOf(on.pull.body, on.pull.local));
    if (!to) return;
    on.pull.to = to;
    if (!held) on.send({ type: 'grab', body: on.pull.body, at: on.pull.local, rate: space.handRate() });
    held = true;
    on.send({ type: 'pull', to });
    on.touched();
  }, { signal });
}
