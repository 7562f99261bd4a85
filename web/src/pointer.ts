// Mouse and touch on the stage: pulling points and bodies, moving, turning and zooming the view.
import type { About, Handle, Sample } from './numbers';
import type { Plane } from './plane';
import type { Space } from './space';
import type { Order } from './worker';

// A body at a point of its own, or (body -1) a point of equations.
export interface Pull { body: number; local: number[]; handle: Handle | null; to: number[] }
export interface Stage {
  stage: HTMLElement; planeCanvas: HTMLCanvasElement; spaceCanvas: HTMLCanvasElement;
  plane: Plane; about(): About | null; space(): Space | null; sample(): Sample; playing(): boolean;
  pull: Pull | null; // the body or point that is being dragged
  handleAt(place: (p: number[]) => readonly [number, number], x: number, y: number): Handle | null; whereIs(handle: Handle): number[];
  selectHandle(handle: Handle): void; selectBody(body: number): void; send(order: Order): void; touched(): void;
}

export function listenToPointer(on: Stage, signal: AbortSignal) {
  const place = (event: PointerEvent | WheelEvent) => {
    const box = on.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top] as const;
  };
  const fingers = new Map<number, readonly [number, number]>();
  let pan = false, held = false;

  on.planeCanvas.addEventListener('pointerdown', (event) => {
    const [x, y] = place(event);
    fingers.set(event.pointerId, [x, y]);
    on.planeCanvas.setPointerCapture(event.pointerId);
    if (fingers.size > 1) { letGo(); pan = true; return; } // two fingers move and zoom
    const handle = on.about() ? on.handleAt(on.plane.place, x, y) : null;
    pan = !handle;
    if (handle) take(handle, on.plane.unplace(x, y));
  }, { signal });

  on.planeCanvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const [x, y] = place(event);
    if (on.pull?.handle) lead(on.plane.unplace(x, y));
    else if (pan) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1], share = 1 / fingers.size;
      on.plane.pan(share * (x - before[0]), share * (y - before[1]));
      if (other) on.plane.zoom(Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1])), (x + other[0]) / 2, (y + other[1]) / 2);
    }
    fingers.set(event.pointerId, [x, y]);
    on.touched();
  }, { signal });

  // A point of equations: a spring pulls it while the motion runs; otherwise it is moved directly.
  function take(handle: Handle, to: number[]) {
    on.selectHandle(handle);
    on.pull = { body: -1, local: [], handle, to };
    if (on.playing()) on.send({ type: 'hold', handle, to });
  }
  function lead(to: number[]) {
    on.pull!.to = to;
    on.send(on.playing() ? { type: 'pull', to } : { type: 'place', handle: on.pull!.handle!, to });
  }

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
    const handle = space && event.isPrimary && on.about() ? on.handleAt(space.place, ...place(event)) : null;
    if (!space || (!hit && !handle)) return;
    space.controls.enabled = false;
    on.spaceCanvas.setPointerCapture(event.pointerId);
    if (handle) { take(handle, on.whereIs(handle)); return; }
    on.selectBody(hit!.body);
    on.pull = { body: hit!.body, local: hit!.local, handle: null, to: hit!.world };
  }, { signal, capture: true });
  on.spaceCanvas.addEventListener('pointermove', (event) => {
    const space = on.space();
    if (!on.pull || !space) return;
    const { handle } = on.pull, to = space.at(...place(event), handle ? on.whereIs(handle) : space.pointOf(on.pull.body, on.pull.local));
    if (!to) return;
    on.touched();
    if (handle) { lead(to); return; }
    on.pull.to = to;
    if (!held) on.send({ type: 'grab', body: on.pull.body, at: on.pull.local, rate: space.springRate() });
    held = true;
    on.send({ type: 'pull', to });
  }, { signal });
}
