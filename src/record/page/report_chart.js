// Charts: what does not move is painted once; the cursor, dots and trails on top of it in each frame.

class Chart {
  constructor(spec, host) {
    this.spec = spec;
    this.overTime = spec.kind === "time";
    this.x = this.overTime ? clock.time : channels[spec.x].value;
    this.curves = spec.y.map((c) => channels[c]);
    this.base = document.createElement("canvas");
    this.build(host);
    this.setScales();
  }

  build(host) {
    const figure = document.createElement("figure");
    figure.className = "chart card" + (this.overTime ? " over-time" : "");
    this.caption = figure.appendChild(document.createElement("figcaption"));
    this.caption.textContent = prime(this.spec.title);
    const legend = figure.appendChild(document.createElement("ul"));
    legend.className = "legend";
    const names = this.overTime ? this.curves : [channels[this.spec.x], ...this.curves];
    this.readings = names.map((curve) => {
      const item = legend.appendChild(document.createElement("li"));
      const swatch = item.appendChild(document.createElement("i"));
      const name = item.appendChild(document.createElement("b"));
      name.textContent = curve.name.length > 40 ? curve.name.slice(0, 39) + "\u2026" : curve.name;
      return { swatch, value: item.appendChild(document.createElement("span")) };
    });
    if (this.spec.leftOut > 0) legend.appendChild(document.createElement("li")).textContent = "and " + this.spec.leftOut + " more";
    this.canvas = figure.appendChild(document.createElement("canvas"));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Chart: " + prime(this.spec.title) + ". " + this.curves.map((c) => {
      const [low, high] = rangeOf(c.value);
      return low <= high ? c.name + " from " + say(low) + " to " + say(high) : c.name + " without values";
    }).join("; "));
    host.appendChild(figure);
    if (this.overTime) this.listen();
  }

  // Press or drag to move the time.
  listen() {
    const go = (event) => {
      const box = this.canvas.getBoundingClientRect();
      if (this.frame) seek(clock.start + clock.length * (event.clientX - box.left - this.frame.left) / this.frame.width);
    };
    this.canvas.addEventListener("pointerdown", (event) => { this.canvas.setPointerCapture(event.pointerId); pause(); go(event); });
    this.canvas.addEventListener("pointermove", (event) => { if (event.buttons) go(event); });
  }

  setScales() {
    const log = this.spec.log;
    let low = Infinity, high = -Infinity;
    for (const curve of this.curves) {
      for (let v of curve.value) {
        if (log) v = Math.abs(v);
        if (!Number.isFinite(v)) continue;
        if (v < low && !(log && v === 0)) low = v;
        if (v > high) high = v;
      }
    }
    // An impact is a thousand times what else there is: forces are shown up to three times what is usual, and the caption has the peak.
    const usual = this.spec.forces ? usualSize(this.curves) : 0;
    this.cut = usual > 0 && high > 6 * usual;
    if (this.cut) {
      this.caption.textContent = prime(this.spec.title) + " (peak " + say(high) + " is cut off)";
      high = 3 * usual;
      low = Math.max(low, -high);
    }
    if (this.spec.forces) low = Math.min(low, 0);
    // What rests does so up to round-off; only drifts are looked at so closely.
    this.ay = new Axis(low, high, { log, margin: 0.06, least: this.overTime && !this.spec.drift ? 1e-13 : 0 });
    this.ax = new Axis(...rangeOf(this.x), { margin: this.overTime ? 0 : 0.06 });
  }

  // One scale along both axes, by widening the finer one.
  equalise(width, height) {
    const { ax, ay } = this, unit = Math.max((ax.high - ax.low) / width, (ay.high - ay.low) / height);
    for (const [axis, length] of [[ax, width], [ay, height]]) {
      const middle = (axis.low + axis.high) / 2;
      axis.low = middle - unit * length / 2;
      axis.high = middle + unit * length / 2;
    }
  }

  layout() {
    const size = fitCanvas(this.canvas);
    if (!size) return;
    const pen = this.canvas.getContext("2d");
    pen.font = "11px system-ui, sans-serif";
    this.rows = Math.max(2, Math.floor((size.height - 50) / 25));
    const rows = this.ay.ticks(this.rows);
    const widest = Math.max(...rows.list.map((t) => pen.measureText(t.label).width), 10);
    const left = Math.ceil(widest) + (this.spec.yLabel && !this.overTime ? 24 : 10);
    this.frame = { left, top: rows.factor ? 16 : 7, ...size };
    this.frame.width = size.width - left - 8;
    this.frame.height = size.height - this.frame.top - 32;
    if (this.spec.kind === "xy" && !this.spec.log) { this.setScales(); this.equalise(this.frame.width, this.frame.height); }
    this.ratio = size.ratio;
    this.paintBase();
  }

  px(v) { return this.frame.left + this.frame.width * this.ax.part(v); }
  py(v) { return this.frame.top + this.frame.height * (1 - this.ay.part(v)); }

  paintBase() {
    this.base.width = this.canvas.width;
    this.base.height = this.canvas.height;
    const pen = this.base.getContext("2d");
    pen.scale(this.ratio, this.ratio);
    this.paintGrid(pen);
    if (this.overTime) this.paintMarks(pen);
    pen.lineWidth = 1.6;
    pen.lineJoin = "round";
    pen.save();
    if (this.cut) { pen.beginPath(); pen.rect(this.frame.left - 2, this.frame.top, this.frame.width + 4, this.frame.height + 2); pen.clip(); }
    for (let i = this.curves.length - 1; i >= 0; i--) {
      pen.strokeStyle = curveColor(i);
      pen.globalAlpha = this.overTime ? 1 : 0.4;
      pen.setLineDash(i >= theme.curves.length ? [6, 3] : []);
      if (this.spec.kind === "dots") this.paintDots(pen, this.curves[i].value, curveColor(i));
      else this.paintCurve(pen, this.curves[i].value);
    }
    pen.restore();
    this.readings.forEach(({ swatch }, i) => {
      const curve = this.overTime ? i : i - 1;
      swatch.style.background = curve < 0 ? "transparent" : curveColor(curve);
      swatch.style.display = curve < 0 ? "none" : "";
    });
  }

  paintGrid(pen) {
    const { left, top, width, height } = this.frame, bottom = top + height;
    const columns = this.ax.ticks(Math.max(2, Math.floor(width / 55))), rows = this.ay.ticks(this.rows);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = theme.soft;
    pen.lineWidth = 1;
    const line = (x1, y1, x2, y2, color) => {
      pen.strokeStyle = color;
      pen.beginPath(); pen.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5); pen.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5); pen.stroke();
    };
    pen.textAlign = "center";
    for (const t of columns.list) {
      const x = left + width * t.part;
      line(x, top, x, bottom, t.zero && this.ax.low < 0 ? theme.line : theme.grid);
      pen.fillText(t.label, Math.min(x, left + width - pen.measureText(t.label).width / 2 + 6), bottom + 14);
    }
    pen.textAlign = "right";
    for (const t of rows.list) {
      const y = bottom - height * t.part;
      line(left, y, left + width, y, t.zero ? theme.soft + "88" : theme.grid);
      pen.fillText(t.label, left - 6, y + 4);
    }
    if (rows.factor) { pen.textAlign = "left"; pen.fillText(rows.factor, 2, 10); }
    pen.textAlign = "center";
    const label = prime(this.spec.xLabel);
    pen.fillText(columns.factor ? label + "  (" + columns.factor + ")" : label, left + width / 2, bottom + 29);
    if (!this.overTime && this.spec.yLabel) {
      pen.save();
      pen.translate(10, top + height / 2);
      pen.rotate(-Math.PI / 2);
      pen.fillText(prime(this.spec.yLabel), 0, 0);
      pen.restore();
    }
  }

  paintMarks(pen) {
    const few = recording.marks.length <= 12;
    pen.strokeStyle = theme.number;
    pen.globalAlpha = few ? 0.5 : 0.8;
    pen.setLineDash(few ? [3, 3] : []);
    let before = -9;
    for (const mark of recording.marks) {
      const x = Math.round(this.px(mark.time)) + 0.5;
      if (x - before < 3 || x < this.frame.left || x > this.frame.left + this.frame.width + 1) continue;
      before = x;
      pen.beginPath(); pen.moveTo(x, this.frame.top); pen.lineTo(x, this.frame.top + (few ? this.frame.height : 6)); pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  // What is not finite leaves a gap; a point alone is a dot.
  paintCurve(pen, values) {
    let before = false;
    pen.lineCap = "round";
    pen.beginPath();
    for (let i = 0; i < SAMPLES; i++) {
      const x = this.px(this.x[i]), y = this.py(values[i]);
      const here = Number.isFinite(x) && Number.isFinite(y);
      if (here) {
        if (before) pen.lineTo(x, y);
        else { pen.moveTo(x, y); pen.lineTo(x, y); }
      }
      before = here;
    }
    pen.stroke();
  }

  // Samples without lines between them; with a colour of their own they are the fields of a map.
  paintDots(pen, values, color) {
    const shade = this.spec.color === undefined ? null : channels[this.spec.color].value;
    const [low, high] = shade ? rangeOf(shade) : [0, 1];
    let width = 1.8, height = 1.8;
    if (shade) {
      const span = (place, list, count) => { const [a, b] = rangeOf(list); return Math.abs(place(b) - place(a)) / Math.max(1, count - 1) + 0.7; };
      width = span((v) => this.px(v), this.x, this.spec.fields[0]);
      height = span((v) => this.py(v), values, this.spec.fields[1]);
    }
    pen.globalAlpha = shade ? 1 : 0.7;
    pen.fillStyle = color;
    for (let i = 0; i < SAMPLES; i++) {
      const x = this.px(this.x[i]), y = this.py(values[i]);
      if (!Number.isFinite(x) || !Number.isFinite(y) || (shade && !Number.isFinite(shade[i]))) continue;
      if (shade) pen.fillStyle = shadeOf(high > low ? (shade[i] - low) / (high - low) : 0.5);
      pen.fillRect(x - width / 2, y - height / 2, width, height);
    }
  }

  // The frame at a moment.
  paint(t, sample) {
    if (!this.frame) return;
    const pen = this.canvas.getContext("2d"), { left, top, width, height } = this.frame;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.base, 0, 0);
    pen.scale(this.ratio, this.ratio);
    if (this.overTime) {
      const x = left + width * (clock.length > 0 ? (t - clock.start) / clock.length : 0.5);
      pen.fillStyle = theme.ink;
      pen.globalAlpha = 0.55;
      pen.fillRect(x - 0.6, top, 1.2, height);
      pen.globalAlpha = 1;
      this.curves.forEach((curve, i) => this.paintDot(pen, clock.length > 0 ? t : clock.start, valueAt(curve.value, sample), i));
    } else {
      const x = valueAt(this.x, sample);
      this.curves.forEach((curve, i) => {
        if (this.spec.kind === "dots") return;
        this.paintTrail(pen, curve.value, sample, i);
        this.paintDot(pen, x, valueAt(curve.value, sample), i);
      });
    }
    const shown = this.overTime ? this.curves.map((c) => c.value) : [this.x, ...this.curves.map((c) => c.value)];
    shown.forEach((values, i) => { this.readings[i].value.textContent = say(valueAt(values, sample)); });
  }

  paintDot(pen, vx, vy, i) {
    const x = this.px(vx), y = this.py(vy);
    if (!Number.isFinite(x) || !Number.isFinite(y) || (this.cut && (y < this.frame.top || y > this.frame.top + this.frame.height))) return;
    pen.beginPath();
    pen.arc(x, y, this.overTime ? 3.4 : 5, 0, 7);
    pen.fillStyle = curveColor(i);
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = theme.card;
    pen.stroke();
  }

  // The last stretch, fading into the past.
  paintTrail(pen, values, sample, i) {
    const first = sampleAt(clock.time[Math.floor(sample)] - Math.min(0.12 * clock.length, 2 * Math.max(1, speedNow())));
    fadingPath(pen, first, sample, (s) => [this.px(valueAt(this.x, s)), this.py(valueAt(values, s))], curveColor(i), 2.4);
  }
}

// From dark to bright, as in the pictures (svg.c).
function shadeOf(part) {
  const [from, to] = part < 0.5 ? [[48, 18, 90], [0, 140, 140]] : [[0, 140, 140], [250, 225, 60]];
  const way = part < 0.5 ? 2 * part : 2 * part - 1;
  return "rgb(" + from.map((v, k) => Math.round(v + way * (to[k] - v))).join(",") + ")";
}

// The size that 97 of 100 numbers do not reach, but for those that are nothing beside the largest.
function usualSize(curves) {
  const most = curves.reduce((m, c) => rangeOf(c.value).reduce((n, v) => (Number.isFinite(v) ? Math.max(n, Math.abs(v)) : n), m), 0);
  const sizes = curves.flatMap((c) => Array.from(c.value, Math.abs)).filter((v) => v > 1e-6 * most && Number.isFinite(v)).sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor(0.97 * (sizes.length - 1))] : 0;
}

// A path from one sample to another that is faint at its start; place(sample) gives pixels.
function fadingPath(pen, first, last, place, color, width) {
  const pieces = 28;
  pen.save();
  pen.lineWidth = width;
  pen.lineCap = "butt";
  pen.lineJoin = "round";
  pen.strokeStyle = color;
  for (let k = 0; k < pieces; k++) {
    const from = first + (last - first) * k / pieces, to = first + (last - first) * (k + 1) / pieces;
    if (!(to > from)) continue;
    pen.globalAlpha = 0.9 * ((k + 1) / pieces) ** 1.5;
    pen.beginPath();
    let before = false;
    const go = (s) => {
      const [x, y] = place(s), here = Number.isFinite(x) && Number.isFinite(y);
      if (here) { if (before) pen.lineTo(x, y); else pen.moveTo(x, y); }
      before = here;
    };
    go(from);
    for (let i = Math.floor(from) + 1; i < to; i++) go(i);
    go(to);
    pen.stroke();
  }
  pen.restore();
}
