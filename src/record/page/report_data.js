// The recording: channels of numbers over one clock. A channel is a function of a sample's number.

const $ = (id) => document.getElementById(id);
const recording = JSON.parse($("recording").textContent);
const prime = (name) => name.replace(/'/g, "\u2032");

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new DataView(bytes.buffer);
}

const SAMPLES = recording.samples;

// Numbers are little-endian; a channel that never changes is one number.
const channels = recording.channels.map((c) => {
  const value = new Float64Array(SAMPLES);
  if (c.data === undefined) {
    value.fill(c.constant === null ? NaN : c.constant);
  } else {
    const view = bytesOf(c.data);
    for (let i = 0; i < SAMPLES; i++) value[i] = c.offset + view.getFloat32(4 * i, true);
  }
  return { name: prime(c.name), value };
});

// The clock only goes forward. If the recorded time does not, the number of the sample takes its place.
const clock = (() => {
  const view = bytesOf(recording.time);
  const time = new Float64Array(SAMPLES);
  let good = true;
  for (let i = 0; i < SAMPLES; i++) {
    time[i] = view.getFloat64(8 * i, true);
    good = good && Number.isFinite(time[i]) && (i === 0 || time[i] >= time[i - 1]);
  }
  if (!good) for (let i = 0; i < SAMPLES; i++) time[i] = i;
  return {
    time, good,
    name: good ? prime(recording.timeName) : "sample",
    start: SAMPLES ? time[0] : 0,
    end: SAMPLES ? time[SAMPLES - 1] : 0,
  };
})();
clock.length = clock.end - clock.start;

// The sample's number at a time, with a fraction between samples. At a jump, where two samples share a time, the later one counts.
function sampleAt(t) {
  let low = 0, high = SAMPLES - 1;
  if (high < 1 || t <= clock.time[0]) return 0;
  if (t >= clock.time[high]) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (clock.time[middle] <= t) low = middle; else high = middle;
  }
  return low + (t - clock.time[low]) / (clock.time[high] - clock.time[low]);
}

function valueAt(values, sample) {
  const i = Math.floor(sample), part = sample - i;
  return part === 0 ? values[i] : values[i] + part * (values[i + 1] - values[i]);
}

function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (!Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

const superscript = (n) => String(n).replace(/-/g, "\u207b").replace(/\d/g, (d) => "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[d]);

// A number as one would say it: four digits, and powers of ten only for the large and the small.
function say(v) {
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "\u2013" : v > 0 ? "\u221e" : "\u2212\u221e";
  const size = Math.abs(v);
  let text;
  if (v === 0) text = "0";
  else if (size >= 1e5 || size < 1e-3) {
    const [digits, exponent] = v.toExponential(2).split("e");
    text = digits + "\u00d710" + superscript(Number(exponent));
  } else text = v.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size))));
  return text.replace(/-/g, "\u2212");
}

// 1, 2 or 5 times a power of ten, at least as large.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least)), digit = least / power;
  return power * (digit <= 1.000001 ? 1 : digit <= 2.000001 ? 2 : digit <= 5.000001 ? 5 : 10);
}

// A scale from data to pixels, with ticks.
class Axis {
  constructor(low, high, { log = false, margin = 0, least = 0 } = {}) {
    this.log = log;
    const zeros = log && high === 0; // there are data, but none with a logarithm
    if (!(low <= high) && !zeros) [low, high] = log ? [1e-16, 1] : [0, 1];
    const tame = (v) => Math.max(-1e300, Math.min(1e300, Math.abs(v) < 1e-290 ? 0 : v));
    [low, high] = [tame(low), tame(high)];
    if (log) {
      this.zero = !(high > 0);
      high = this.zero ? 1e-16 : high;
      low = low > 0 && low < high ? low : high;
      this.high = Math.ceil(Math.log10(high) - 1e-9);
      this.low = Math.max(Math.floor(Math.log10(low) + 1e-9), this.high - 20);
      if (this.high - this.low < 2) this.low = this.high - 2;
    } else {
      // What differs by round-off only is constant, and looks so.
      const size = Math.max(Math.abs(low), Math.abs(high));
      if (high - low <= 1e-12 * size || size < least) {
        const room = size > least ? 0.1 * size : 1;
        low -= room; high += room;
      }
      this.low = low - margin * (high - low);
      this.high = high + margin * (high - low);
    }
  }

  // 0 at the low end, 1 at the high end; NaN for what has no place, as 0 among sizes on a log axis.
  part(v) {
    if (this.log) v = v === 0 ? (this.zero ? this.low : NaN) : Math.max(Math.log10(Math.abs(v)), this.low);
    return (v - this.low) / (this.high - this.low);
  }

  // Places and labels of about so many ticks; `factor` divides all labels.
  ticks(wanted) {
    let step = niceStep((this.high - this.low) / wanted);
    if (this.log) step = Math.max(1, Math.round(step));
    const size = Math.max(Math.abs(this.low), Math.abs(this.high));
    const exponent = Math.floor(Math.log10(size));
    const factor = !this.log && (exponent >= 5 || exponent < -2) ? exponent : 0;
    const decimals = Math.max(0, Math.min(15, factor - Math.floor(Math.log10(step * 1.000001))));
    const list = [];
    for (let i = Math.ceil(this.low / step - 1e-9); i * step <= this.high + 1e-9 * (this.high - this.low) && list.length < 24; i++) {
      const at = i * step;
      const label = this.log ? "10" + superscript(at) : (at / 10 ** factor).toFixed(decimals).replace(/-/g, "\u2212");
      list.push({ part: (at - this.low) / (this.high - this.low), label, zero: i === 0 && !this.log });
    }
    return { list, factor: factor ? "\u00d710" + superscript(factor) : "" };
  }
}

// Colours follow the light or dark scheme of the page.
const theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const key of ["page", "card", "ink", "soft", "line", "grid", "accent", "number", "force"]) theme[key] = style.getPropertyValue("--" + key).trim();
  theme.curves = style.getPropertyValue("--curves").trim().split(/\s+/);
  const c = theme.curves;
  theme.named = { blue: c[0], red: c[1], orange: c[1], green: c[2], purple: c[3], magenta: c[3], pink: c[3], yellow: c[4], cyan: c[5], gray: c[6], grey: c[6], black: theme.ink, white: theme.card };
}
const curveColor = (i) => theme.curves[i % theme.curves.length];
const namedColor = (name, otherwise) => (!name ? otherwise : theme.named[name.toLowerCase()] || (CSS.supports("color", name) ? name : otherwise));

// A canvas as sharp as the screen; false when it has no size yet.
function fitCanvas(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  if (box.width < 2 || box.height < 2) return false;
  const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  return { width: box.width, height: box.height, ratio };
}
