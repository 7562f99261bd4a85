// The engine (web/engine/engine.h) as a WebAssembly module: numbers, texts and bytes in and out. Used by the page's
// worker and, under node, by the tests.

/**
 * @param {WebAssembly.Module} module
 */
export async function startEngine(module) {
  /** @type {any} */
  let raw;
  // What the C library asks of a system. Nothing is printed and no file is read.
  const none = () => 0;
  const wasi = {
    clock_time_get: none,
    proc_exit: (/** @type {number} */ code) => { throw new Error('the engine stopped: ' + code); },
    fd_write: none, fd_read: none, fd_close: none, fd_seek: none,
    environ_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) => {
      const heap = new Uint32Array(raw.memory.buffer);
      heap[count >> 2] = heap[size >> 2] = 0;
      return 0;
    },
    environ_get: none,
  };
  const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: wasi, env: { emscripten_notify_memory_growth: none },
  });
  raw = instance.exports;
  raw._initialize();

  const coder = new TextEncoder(), decoder = new TextDecoder();
  const bytesAt = (/** @type {number} */ at, /** @type {number} */ size) => new Uint8Array(raw.memory.buffer, at, size);

  // Calls use(addresses) with copies of these bytes in the engine's memory, each with a zero behind it.
  /** @type {(list: Uint8Array[], use: (...at: number[]) => any) => any} */
  function lend(list, use) {
    const at = list.map((bytes) => {
      const place = raw.malloc(bytes.length + 1);
      if (!place) throw new Error('the engine has no memory left');
      bytesAt(place, bytes.length + 1)[bytes.length] = 0;
      bytesAt(place, bytes.length).set(bytes);
      return place;
    });
    try { return use(...at); } finally { for (const place of at) raw.free(place); }
  }
  const text = (/** @type {string} */ s) => coder.encode(s);
  const textAt = (/** @type {number} */ at) => {
    const heap = new Uint8Array(raw.memory.buffer);
    let end = at;
    while (heap[end]) end++;
    return decoder.decode(heap.subarray(at, end));
  };
  const bytesOf = (/** @type {ArrayLike<number>} */ values) => new Uint8Array(Float64Array.from(values).buffer);
  const ok = (/** @type {number} */ answer) => answer !== 0;

  return {
    raw,
    file: (/** @type {string} */ name, /** @type {Uint8Array} */ bytes) =>
      ok(lend([text(name), bytes], (a, b) => raw.studio_file(a, b, bytes.length))),
    forgetFiles: () => raw.studio_forget_files(),
    setting: (/** @type {string} */ name, /** @type {number} */ value) => ok(lend([text(name)], (a) => raw.studio_setting(a, value))),
    key: (/** @type {number} */ index) => raw.studio_key(index),
    law: (/** @type {string} */ name, alpha = 1, beta = 1) => ok(lend([text(name)], (a) => raw.studio_law(a, alpha, beta))),
    contact: (/** @type {string} */ name) => ok(lend([text(name)], (a) => raw.studio_contact(a))),
    leaveOut: (/** @type {number} */ equality) => ok(raw.studio_leave_out(equality)),
    open: (/** @type {string} */ path, more = '') => ok(lend([text(path), text(more)], (a, b) => raw.studio_open(a, b))),
    error: () => JSON.parse(textAt(raw.studio_error())),
    about: () => JSON.parse(textAt(raw.studio_about())),
    tick: () => /** @type {number} */ (raw.studio_tick()),
    setTick: (/** @type {number} */ seconds) => /** @type {number} */ (raw.studio_set_tick(seconds)),
    steps: (/** @type {number} */ count) => /** @type {number} */ (raw.studio_steps(count)),
    start: () => ok(raw.studio_start()),
    setParam: (/** @type {number} */ i, /** @type {number} */ value) => ok(raw.studio_set_param(i, value)),
    setCoord: (/** @type {number} */ i, /** @type {number} */ value) => ok(raw.studio_set_coord(i, value)),
    hash: () => textAt(raw.studio_hash()),
    select: (/** @type {number} */ subject) => raw.studio_select(subject),
    snapshot: () => ok(raw.studio_snapshot()),
    takeOver: () => ok(raw.studio_take_over()),
    // 0 time, 1 parameters, 2 activations, 3 coordinates, 4 speeds: for takeOver
    keep: (/** @type {number} */ which, /** @type {ArrayLike<number>} */ values) => ok(lend([bytesOf(values)], (a) => raw.studio_keep(which, a, values.length))),
    hideParams: (/** @type {number} */ count) => raw.studio_hide_params(count),
    grab: (/** @type {number} */ body, /** @type {number[]} */ at, /** @type {number} */ rate) => ok(raw.studio_grab(body, at[0], at[1], at[2], rate)),
    pull: (/** @type {number[]} */ to) => ok(raw.studio_pull(to[0], to[1], to[2])),
    release: () => ok(raw.studio_release()),
    // M, A, b, J of what is selected, friction: see engine.h
    problem() {
      const at = raw.studio_problem();
      if (!at) return null;
      const [n, m] = new Float64Array(raw.memory.buffer, at, 2);
      return { n, m, numbers: new Float64Array(raw.memory.buffer, at + 16, n * n + m * n + m + 4 * n).slice() };
    },
    unexplained: (/** @type {ArrayLike<number>} */ given) => lend([bytesOf(given)], (a) => {
      const at = raw.studio_unexplained(a);
      return at ? new Float64Array(raw.memory.buffer, at, given.length).slice() : null;
    }),
    // All numbers of the instant: a copy; null: see error().
    look() {
      const at = raw.studio_look();
      return at ? new Float64Array(raw.memory.buffer, at, raw.studio_look_count()).slice() : null;
    },
    save() {
      const size = raw.studio_save_size(), at = raw.malloc(size);
      const bytes = at && raw.studio_save(at) ? bytesAt(at, size).slice() : null;
      raw.free(at);
      return bytes;
    },
    restore: (/** @type {Uint8Array} */ bytes) => ok(lend([bytes], (a) => raw.studio_restore(a, bytes.length))),
    mesh: (/** @type {number} */ i, /** @type {number} */ vertices, /** @type {number} */ faces) => ({
      vertex: new Float64Array(raw.memory.buffer, raw.studio_mesh_vertices(i), 3 * vertices).slice(),
      face: faces > 0 ? new Int32Array(raw.memory.buffer, raw.studio_mesh_faces(i), 3 * faces).slice() : new Int32Array(0),
    }),
    heights: (/** @type {number} */ i, /** @type {number} */ count) => new Float64Array(raw.memory.buffer, raw.studio_heights(i), count).slice(),
    heap: () => /** @type {number} */ (raw.studio_heap()),
    memory: () => /** @type {number} */ (raw.memory.buffer.byteLength),
  };
}
