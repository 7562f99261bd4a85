// The animation: shapes in the plane, or in space seen by a camera that the mouse turns.

const isStill = (draw) => draw.points.every((p) => p.every((c) => typeof c !== "number"));

class Stage {
  constructor(draws) {
    this.draws = draws;
    this.canvas = $("scene");
    this.solid = draws.some((d) => d.dimension === 3);
    this.trailsOn = this.forcesOn = true;
    $("forces").hidden = !draws.some((d) => d.kind === "arrow");
    this.resetView();
    this.setBounds();
    this.listen();
    $("hint").textContent = this.solid ? "drag to turn \u00b7 wheel to zoom" : "drag to move \u00b7 wheel to zoom";
    this.canvas.setAttribute("aria-label", "Animation of the model, " + (this.solid ? "in space" : "in the plane"));
  }

  resetView() {
    this.view = { yaw: -0.65, pitch: 0.38, zoom: 1, x: 0, y: 0 };
  }

  // A point of a draw at a sample: a coordinate is a channel's number or [a fixed number].
  point(p, sample) {
    return p.map((c) => (typeof c === "number" ? valueAt(channels[c].value, sample) : c[0]));
  }

  radius(draw, sample) {
    return Math.abs(typeof draw.radius === "number" ? valueAt(channels[draw.radius].value, sample) : draw.radius[0]);
  }

  // The box that all shapes stay in, over the whole recording.
  setBounds() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const draw of this.draws) {
      if (draw.kind === "arrow" || draw.kind === "plane") continue;
      let room = 0;
      if (draw.radius !== undefined) room = typeof draw.radius === "number" ? Math.max(0, rangeOf(channels[draw.radius].value)[1]) : draw.radius[0];
      const include = (d, a, b) => {
        if (a - room < low[d]) low[d] = a - room;
        if (b + room > high[d]) high[d] = b + room;
      };
      if (draw.kind === "solid" && isStill(draw)) {
        for (const p of this.corners(draw, 0)) p.forEach((c, d) => include(d, c, c));
        continue;
      }
      // faces turn about the origin of their body
      if (draw.kind === "solid") room = Math.hypot(...this.point(draw.points[1], 0).map((c, d) => c - this.point(draw.points[0], 0)[d]));
      for (const p of draw.kind === "solid" ? [draw.points[0]] : draw.points) {
        p.forEach((c, d) => include(d, ...(typeof c === "number" ? rangeOf(channels[c].value) : [c[0], c[0]])));
      }
    }
    for (let d = 0; d < 3; d++) if (!(low[d] <= high[d])) low[d] = high[d] = 0;
    this.low = low;
    this.high = high;
    this.middle = low.map((v, d) => (v + high[d]) / 2);
    const [w, h, z] = high.map((v, d) => v - low[d]);
    this.spread = { w, h, ball: Math.hypot(w, h, z) };
    this.ground = low[2] <= 0 && high[2] >= 0 ? 0 : low[2];
  }

  listen() {
    const view = () => this.view, canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      if (this.solid && !event.shiftKey) {
        view().yaw -= event.movementX * 0.008;
        view().pitch = Math.max(-1.5, Math.min(1.5, view().pitch + event.movementY * 0.008));
      } else {
        view().x += event.movementX;
        view().y += event.movementY;
      }
      repaint();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      // What is under the mouse stays there.
      const box = canvas.getBoundingClientRect(), by = Math.exp(-event.deltaY * 0.0015), v = view();
      const mx = event.clientX - box.left - box.width / 2, my = event.clientY - box.top - box.height / 2;
      const zoom = Math.max(0.05, Math.min(200, v.zoom * by)), real = zoom / v.zoom;
      v.x = mx - (mx - v.x) * real;
      v.y = my - (my - v.y) * real;
      v.zoom = zoom;
      repaint();
    }, { passive: false });
    canvas.addEventListener("dblclick", () => { this.resetView(); repaint(); });
  }

  layout() {
    const size = fitCanvas(this.canvas);
    if (!size) return;
    this.size = size;
    const { w, h, ball } = this.spread, room = 56;
    const width = Math.max(40, size.width - 2 * room), height = Math.max(40, size.height - 2 * room);
    const fit = this.solid ? Math.min(width, height) / (0.74 * ball) : Math.min(width / w, height / h);
    this.fit = Number.isFinite(fit) && fit > 0 ? fit : Math.min(width, height) / 2;
  }

  // Where a point is on the canvas.
  project(p) {
    const { view, size, middle } = this, scale = this.fit * view.zoom;
    const x = p[0] - middle[0], y = p[1] - middle[1], z = (p.length > 2 ? p[2] : 0) - middle[2];
    const cx = size.width / 2 + view.x, cy = size.height / 2 + view.y;
    if (!this.solid) return [cx + scale * x, cy - scale * y];
    const c = Math.cos(view.yaw), s = Math.sin(view.yaw), cp = Math.cos(view.pitch), sp = Math.sin(view.pitch);
    const right = c * x + s * y, deep = -s * x + c * y;
    const depth = deep * cp - z * sp, up = z * cp + deep * sp;
    const near = 1 / (1 + 0.22 * depth / (this.spread.ball || 1)); // a mild perspective
    return [cx + scale * near * right, cy - scale * near * up];
  }

  // The vertices of a solid: parts of the ways from its origin to its three points.
  corners(draw, sample) {
    const [o, ...ends] = draw.points.map((p) => this.point(p, sample)), list = [];
    const ways = ends.map((e) => e.map((c, d) => c - o[d]));
    for (let i = 0; i < draw.vertices.length; i += 3) {
      const [a, b, c] = draw.vertices.slice(i, i + 3);
      list.push([0, 1, 2].map((d) => o[d] + a * ways[0][d] + b * ways[1][d] + c * ways[2][d]));
    }
    return list;
  }

  // Its faces that turn to us, each with its depth. What stands still is ground as a rule, and something may lie on it:
  // then the depth is that of the farthest corner.
  *faces(draw, i, sample, deep) {
    const corners = this.corners(draw, sample), places = corners.map((p) => this.project(p)), depth = corners.map(deep);
    if (places.some(([x, y]) => !Number.isFinite(x) || !Number.isFinite(y))) return;
    const still = isStill(draw);
    for (let at = 0; at < draw.faces.length; at += draw.faces[at] + 1) {
      const face = draw.faces.slice(at + 1, at + 1 + draw.faces[at]), seen = face.map((k) => places[k]);
      let area = 0;
      seen.forEach(([x, y], k) => { const [u, v] = seen[(k + 1) % seen.length]; area += x * v - u * y; });
      if (!(area < 0)) continue;
      const [p, q, r] = [0, 1, 2].map((k) => corners[face[Math.floor(k * face.length / 3)]]);
      const u = q.map((c, d) => c - p[d]), v = r.map((c, d) => c - p[d]);
      const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      const light = (0.4 * n[0] - 0.5 * n[1] + 0.77 * n[2]) / (Math.hypot(...n) || 1);
      const all = face.map((k) => depth[k]);
      yield { i, places: seen, light, corners: face.map((k) => corners[k]), depth: still ? Math.max(...all) : all.reduce((a, b) => a + b, 0) / all.length };
    }
  }

  // What is behind is painted first: by the depth of the middle of each shape; of solids, of each face.
  order(sample) {
    const all = this.draws.map((_, i) => ({ i })).filter(({ i }) => this.draws[i].kind !== "arrow" && this.draws[i].kind !== "plane");
    if (!this.solid) return all;
    const c = Math.cos(this.view.yaw), s = Math.sin(this.view.yaw), cp = Math.cos(this.view.pitch), sp = Math.sin(this.view.pitch);
    const deep = ([x, y, z]) => (c * y - s * x) * cp - (z || 0) * sp;
    const depth = (draw) => {
      const places = draw.points.map((p) => this.point(p, sample));
      // four points span a box: its middle is half way to the sum of its edges
      const weigh = draw.kind === "box" ? (k) => (k === 0 ? -0.5 : 0.5) : () => 1 / places.length;
      return places.reduce((sum, p, k) => sum + weigh(k) * deep(p), 0);
    };
    const items = all.flatMap(({ i }) => {
      const draw = this.draws[i];
      return draw.kind === "solid" ? [...this.faces(draw, i, sample, deep)] : [{ i, depth: depth(draw) }];
    });
    items.sort((a, b) => b.depth - a.depth || a.i - b.i);
    return this.draws.some((d) => d.kind === "box") ? this.putRight(items, sample, deep) : items;
  }

  // What lies on a long table may have its middle behind the table's: a thing on the outer side of a face of a box that we see is painted
  // after it, on that of a face that we do not see before it. Where these rules have no end, the depths decide.
  putRight(items, sample, deep) {
    const slack = 1e-4 * this.spread.ball, boxes = [];
    for (const item of items) {
      const draw = this.draws[item.i], points = item.corners || draw.points.map((p) => this.point(p, sample));
      item.after = new Set();
      item.room = draw.radius !== undefined && !item.corners ? this.radius(draw, sample) : 0;
      item.points = points;
      if (draw.kind !== "box") continue;
      const [o, ...ends] = points, edges = ends.map((e) => e.map((c, d) => c - o[d]));
      item.points = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => o.map((c, d) => c + edges.reduce((sum, e, j) => sum + (k >> j & 1) * e[d], 0)));
      item.planes = edges.flatMap((e, j) => {
        const n = e.map((c) => c / (Math.hypot(...e) || 1)), at = (p) => n.reduce((sum, c, d) => sum + c * p[d], 0), to = deep(n);
        return [{ n, from: at(ends[j]), seen: to < 0 }, { n: n.map((c) => -c), from: -at(o), seen: to > 0 }];
      });
      boxes.push(item);
    }
    for (const box of boxes) {
      for (const item of items) {
        if (item === box || item.i === box.i) continue;
        const outside = (f) => item.points.every((p) => f.n.reduce((sum, c, d) => sum + c * p[d], 0) - f.from >= item.room - slack);
        const front = box.planes.some((f) => f.seen && outside(f)), back = box.planes.some((f) => !f.seen && outside(f));
        if (front && !back) item.after.add(box);
        if (back && !front) box.after.add(item);
      }
    }
    const rest = new Set(items), list = [];
    while (rest.size) {
      let next = null;
      for (const item of rest) {
        next = next || item; // the farthest, if all wait for others
        for (const other of item.after) if (!rest.has(other)) item.after.delete(other);
        if (item.after.size === 0) { next = item; break; }
      }
      rest.delete(next);
      list.push(next);
    }
    return list;
  }

  paint(t, sample) {
    if (!this.size) return;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.size.ratio, 0, 0, this.size.ratio, 0, 0);
    pen.clearRect(0, 0, this.size.width, this.size.height);
    pen.lineJoin = pen.lineCap = "round";
    if (this.solid) this.paintFloor(pen, sample); else this.paintGrid(pen);
    this.draws.forEach((draw, i) => this.paintTrail(pen, draw, i, t, sample));
    for (const item of this.order(sample)) {
      if (item.places) this.paintFace(pen, this.draws[item.i], item);
      else this.paintShape(pen, this.draws[item.i], item.i, sample);
    }
    if (this.forcesOn) this.draws.forEach((draw) => { if (draw.kind === "arrow") this.paintArrow(pen, draw, Math.floor(sample)); });
    this.draws.forEach((draw) => { if (draw.text) this.paintText(pen, draw, sample); });
    $("clock").textContent = clock.name + " = " + sayTime(t);
  }

  // Square paper with the numbers at its edges.
  paintGrid(pen) {
    const { width, height } = this.size, { view, middle } = this, scale = this.fit * view.zoom;
    const step = niceStep(70 / scale), decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step * 1.000001))));
    const cx = width / 2 + view.x, cy = height / 2 + view.y;
    const label = (v) => (Math.abs(v) >= 1e5 ? v.toExponential(1) : v.toFixed(decimals)).replace(/-/g, "\u2212");
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    const line = (zero, x1, y1, x2, y2) => {
      pen.strokeStyle = zero ? theme.line : theme.grid;
      pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
    };
    const first = (from) => Math.ceil(from / step);
    pen.fillStyle = theme.soft;
    for (let i = first(middle[0] - cx / scale), x; (x = Math.round(cx + scale * (i * step - middle[0])) + 0.5) < width; i++) {
      line(i === 0, x, 0, x, height);
      pen.textAlign = "center";
      if (x > 40 && x < width - 24) pen.fillText(label(i * step), x, height - 8);
    }
    for (let i = first(middle[1] - (height - cy) / scale), y; (y = Math.round(cy - scale * (i * step - middle[1])) + 0.5) > 0; i++) {
      line(i === 0, 0, y, width, y);
      pen.textAlign = "left";
      if (y > 64 && y < height - 20) pen.fillText(label(i * step), 8, y - 4);
    }
  }

  // Planes of the model, or else the ground; and the three directions.
  paintFloor(pen, sample) {
    const reach = 0.5 * this.spread.ball || 1, step = niceStep(reach / 6), planes = this.draws.filter((d) => d.kind === "plane");
    pen.lineWidth = 1;
    for (const plane of planes) this.paintPlane(pen, plane.points.map((p) => this.point(p, sample)), reach, step);
    if (planes.length === 0) this.paintPlane(pen, [[0, 0, this.ground], [1, 0, this.ground], [0, 1, this.ground]], reach, step);
    this.paintAxes(pen, reach, step);
  }

  // Squares on a plane, as far as the scene goes; what is not level has a tint.
  paintPlane(pen, [origin, ...ends], reach, step) {
    const ways = ends.map((e) => e.map((c, d) => c - origin[d]));
    const ranges = ways.map((way) => {
      const middle = way.reduce((sum, c, d) => sum + c * (this.middle[d] - origin[d]), 0);
      return [Math.floor((middle - reach) / step), Math.ceil((middle + reach) / step)];
    });
    const at = (i, j) => this.project(origin.map((c, d) => c + step * (i * ways[0][d] + j * ways[1][d])));
    const [[x0, x1], [y0, y1]] = ranges;
    if (![x0, x1, y0, y1].every(Number.isFinite)) return;
    const line = (a, b, color) => { pen.strokeStyle = color; pen.beginPath(); pen.moveTo(...a); pen.lineTo(...b); pen.stroke(); };
    const level = Math.abs(ways[0][2]) + Math.abs(ways[1][2]) < 1e-9;
    if (!level) {
      pen.fillStyle = theme.grid;
      pen.globalAlpha = 0.5;
      pen.beginPath();
      [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].forEach(([i, j], k) => { if (k) pen.lineTo(...at(i, j)); else pen.moveTo(...at(i, j)); });
      pen.fill();
      pen.globalAlpha = 1;
    }
    const faint = level ? theme.grid : theme.line;
    for (let i = x0; i <= x1; i++) line(at(i, y0), at(i, y1), i === 0 && level ? theme.line : faint);
    for (let j = y0; j <= y1; j++) line(at(x0, j), at(x1, j), j === 0 && level ? theme.line : faint);
  }

  paintAxes(pen, reach, step) {
    const corner = [0, 1].map((d) => step * Math.floor((this.middle[d] - reach) / step)).concat(this.ground);
    const line = (a, b, color) => {
      pen.strokeStyle = color;
      pen.beginPath(); pen.moveTo(...this.project(a)); pen.lineTo(...this.project(b)); pen.stroke();
    };
    pen.fillStyle = theme.soft;
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "center";
    ["x", "y", "z"].forEach((name, d) => {
      const tip = corner.slice();
      tip[d] += 2 * step;
      line(corner, tip, theme.soft);
      const [x, y] = this.project(tip);
      pen.fillText(name, x + 8, y - 4);
    });
  }

  color(draw, i) {
    const strokes = draw.kind === "line" || draw.kind === "spring" || draw.kind === "text";
    const quiet = draw.kind === "spring" || isStill(draw);
    const many = this.draws.filter((d) => d.kind === draw.kind).length > 6; // a family is of one colour
    return namedColor(draw.color, strokes ? (quiet ? theme.soft : theme.ink) : curveColor(many ? 1 : i));
  }

  // Trails that were asked for; else a short one behind the free end of each line.
  paintTrail(pen, draw, i, t, sample) {
    const asked = draw.kind === "trail";
    const end = draw.points[draw.points.length - 1];
    const moves = end.some((c) => typeof c === "number");
    const own = draw.kind === "line" && draw.radius === undefined && draw.points.length <= 12 && moves && !this.draws.some((d) => d.kind === "trail");
    if (!this.trailsOn || !(asked || own)) return;
    const place = (s) => this.project(this.point(end, s));
    const color = namedColor(asked ? draw.color : null, curveColor(asked ? i : i + 1));
    if (asked && !draw.seconds) {
      pen.save();
      pen.globalAlpha = 0.55;
      pen.lineWidth = draw.width || 1.6;
      pen.strokeStyle = color;
      this.strokeThrough(pen, [...this.samples(0, sample)].map(place));
      pen.restore();
    } else {
      fadingPath(pen, sampleAt(t - (asked ? draw.seconds : Math.min(1.5 * Math.max(1, speedNow()), 0.25 * clock.length))), sample, place, color, draw.width && asked ? draw.width : 2.4);
    }
  }

  *samples(from, to) {
    for (let i = from; i < to; i++) yield i;
    yield to;
  }

  strokeThrough(pen, places, closed = false) {
    let before = false;
    pen.beginPath();
    for (const [x, y] of places) {
      const here = Number.isFinite(x) && Number.isFinite(y);
      if (here) { if (before) pen.lineTo(x, y); else pen.moveTo(x, y); }
      before = here;
    }
    if (closed) pen.closePath();
    pen.stroke();
  }

  paintShape(pen, draw, i, sample) {
    if (draw.kind === "text" || draw.kind === "trail") return;
    const places = draw.points.map((p) => this.project(this.point(p, sample)));
    const color = this.color(draw, i);
    pen.strokeStyle = pen.fillStyle = color;
    if (draw.kind === "line" && draw.radius !== undefined) this.paintRoundRod(pen, draw, places, sample);
    else if (draw.kind === "line") this.paintRods(pen, draw, places, i);
    else if (draw.kind === "point") places.forEach((at) => this.paintBall(pen, at, draw.width || (this.draws.length + places.length > 16 ? 5 : 7), color));
    else if (draw.kind === "circle") this.paintCircle(pen, draw, places[0], sample);
    else if (draw.kind === "spring") this.paintSpring(pen, draw, places[0], places[1]);
    else if (draw.kind === "box") this.paintBox(pen, draw, places, color);
    else if (draw.kind === "polygon") {
      pen.lineWidth = draw.width || 2;
      this.strokeThrough(pen, places, true);
      pen.globalAlpha = 0.22;
      pen.fill();
      pen.globalAlpha = 1;
    }
  }

  // Joints are dots, and what is fixed is a ring; a line that never moves is scenery.
  paintRods(pen, draw, places, i) {
    const still = isStill(draw);
    pen.lineWidth = draw.width || (still || places.length > 40 ? 2 : 3.5);
    this.strokeThrough(pen, places);
    if (still || places.length > 12) return;
    places.forEach((at, k) => {
      const fixed = draw.points[k].every((c) => typeof c !== "number");
      if (!fixed) this.paintBall(pen, at, Math.max(7, 1.5 * pen.lineWidth), namedColor(draw.color, curveColor(k === places.length - 1 ? i + 1 : i)));
      else if (Number.isFinite(at[0])) {
        pen.save();
        pen.beginPath(); pen.arc(at[0], at[1], 5, 0, 7);
        pen.fillStyle = theme.card; pen.fill();
        pen.lineWidth = 2.2; pen.stroke();
        pen.restore();
      }
    });
  }

  // Four corners span a box; of its faces, anticlockwise from outside, those that turn to us are painted.
  paintBox(pen, draw, [o, ...ends], color) {
    const [a, b, c] = ends.map(([x, y]) => [x - o[0], y - o[1]]);
    const at = (i, j, k) => [o[0] + i * a[0] + j * b[0] + k * c[0], o[1] + i * a[1] + j * b[1] + k * c[1]];
    const faces = [[[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]], [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
      [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]],
      [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]], [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]]];
    faces.forEach((face, i) => {
      const [p, q, r, s] = face.map((x) => at(...x));
      if (!((q[0] - p[0]) * (s[1] - p[1]) - (q[1] - p[1]) * (s[0] - p[0]) < 0)) return;
      pen.lineWidth = draw.width || 1.6;
      pen.fillStyle = theme.card;
      this.strokeThrough(pen, [p, q, r, s], true);
      pen.fill();
      pen.fillStyle = color;
      pen.globalAlpha = [0.3, 0.3, 0.42, 0.42, 0.54, 0.54][i];
      pen.fill();
      pen.globalAlpha = 1;
    });
  }

  // One face of a solid: the more light, the paler.
  paintFace(pen, draw, { i, places, light }) {
    const color = isStill(draw) ? theme.soft : this.color(draw, i);
    pen.beginPath();
    places.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.lineWidth = 0.8;
    pen.strokeStyle = pen.fillStyle = theme.card;
    pen.fill();
    pen.stroke();
    pen.strokeStyle = pen.fillStyle = color;
    pen.globalAlpha = (isStill(draw) ? 0.6 : 1) * (0.46 - 0.26 * light);
    pen.fill();
    pen.stroke();
    pen.globalAlpha = 1;
  }

  // A rod with a thickness, round at its ends: an outline, and inside it a paler tone.
  paintRoundRod(pen, draw, places, sample) {
    const wide = 2 * this.radius(draw, sample) * this.fit * this.view.zoom;
    if (!Number.isFinite(wide) || places.some(([x, y]) => !Number.isFinite(x) || !Number.isFinite(y))) return;
    const twice = places.length > 1 && places[0][0] === places[1][0] && places[0][1] === places[1][1];
    const through = twice ? [places[0], [places[0][0] + 0.01, places[0][1]]] : places;
    pen.lineWidth = Math.max(wide, 2);
    this.strokeThrough(pen, through);
    pen.strokeStyle = theme.card;
    pen.lineWidth = Math.max(wide - 4, 0.5);
    this.strokeThrough(pen, through);
    pen.globalAlpha = 0.3;
    pen.strokeStyle = this.color(draw, 0);
    this.strokeThrough(pen, through);
    pen.globalAlpha = 1;
  }

  // A force where it acts: a dot, a shaft and a head. Points come and go: there is nothing between two samples.
  paintArrow(pen, draw, sample) {
    const [a, b] = draw.points.map((p) => this.project(this.point(p, sample)));
    const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy);
    if (!Number.isFinite(length)) return;
    const head = Math.min(11, 0.5 * length), ux = length > 0 ? dx / length : 0, uy = length > 0 ? dy / length : 0;
    const back = [b[0] - ux * head, b[1] - uy * head], wide = 0.42 * head;
    const paint = (color, more) => {
      pen.strokeStyle = pen.fillStyle = color;
      pen.lineWidth = 2.4 + more;
      pen.beginPath(); pen.moveTo(...a); pen.lineTo(...back); pen.stroke();
      pen.lineWidth = 0.8 + more;
      pen.beginPath(); pen.moveTo(...b); pen.lineTo(back[0] - uy * wide, back[1] + ux * wide); pen.lineTo(back[0] + uy * wide, back[1] - ux * wide); pen.closePath();
      pen.fill(); pen.stroke();
      pen.beginPath(); pen.arc(a[0], a[1], 2.6 + more / 2, 0, 7); pen.fill();
    };
    paint(theme.card, 2.4); // a rim, so that it is seen on all colours
    paint(namedColor(draw.color, theme.force), 0);
  }

  paintBall(pen, [x, y], radius, color) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    pen.save();
    pen.beginPath(); pen.arc(x, y, radius, 0, 7);
    pen.fillStyle = color; pen.fill();
    pen.lineWidth = 1.5; pen.strokeStyle = theme.card; pen.stroke();
    pen.restore();
  }

  paintCircle(pen, draw, [x, y], sample) {
    const radius = this.radius(draw, sample) * this.fit * this.view.zoom;
    if (!Number.isFinite(x) || !Number.isFinite(y) || !Number.isFinite(radius)) return;
    pen.lineWidth = draw.width || 2.2;
    pen.beginPath(); pen.arc(x, y, radius, 0, 7); pen.stroke();
    if (this.solid) { // a ball, which hides what is behind it
      const color = pen.fillStyle;
      pen.fillStyle = theme.card; pen.fill();
      pen.fillStyle = color;
    }
    pen.globalAlpha = this.solid ? 0.3 : 0.18; pen.fill(); pen.globalAlpha = 1;
  }

  // A zigzag whose coils keep their number, as many as the first sample has room for, and within reason their width.
  paintSpring(pen, draw, a, b) {
    const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy);
    if (!(length > 0)) return;
    const [p, q] = draw.points.map((at) => this.project(this.point(at, 0)));
    const room = Math.hypot(q[0] - p[0], q[1] - p[1]) / 8;
    const coils = Math.max(2, Math.min(9, Math.round(room) || 2)), wide = Math.min(10, 0.3 * length), lead = Math.min(14, 0.15 * length);
    const ux = dx / length, uy = dy / length;
    const at = (along, side) => [a[0] + ux * along - uy * side, a[1] + uy * along + ux * side];
    const places = [a, at(lead, 0)];
    for (let k = 0; k < 2 * coils; k++) places.push(at(lead + (length - 2 * lead) * (k + 0.5) / (2 * coils), k % 2 ? wide : -wide));
    places.push(at(length - lead, 0), b);
    pen.lineWidth = draw.width || (coils < 5 ? 1.3 : 2);
    this.strokeThrough(pen, places);
  }

  paintText(pen, draw, sample) {
    const [x, y] = this.project(this.point(draw.points[0], sample));
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.lineWidth = 4;
    pen.strokeStyle = theme.card;
    pen.fillStyle = namedColor(draw.kind === "text" ? draw.color : null, theme.ink);
    pen.strokeText(prime(draw.text), x + 10, y - 9);
    pen.fillText(prime(draw.text), x + 10, y - 9);
  }
}
