// The page: one time, which the clock, the slider, the charts and the keys move.

const now = { t: clock.start, playing: false, speed: 1 };
const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const speedNow = () => now.speed;
let stage = null, charts = [];

// ---- Words -----------------------------------------------------------------------------------------

// As many decimals as tell samples apart.
const timeDecimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10((clock.length || 1) / 2000))));
const sayTime = (t) => (Math.abs(t) >= 1e7 ? t.toExponential(4) : t.toFixed(timeDecimals)).replace(/-/g, "\u2212");

// Light colours for a model: comments, words that start a statement, names before a colon, numbers; or tags of XML.
function colorSource(code) {
  const text = code.textContent;
  const xml = /^\s*</.test(text);
  const pattern = xml
    ? /(<!-{2}[\s\S]*?-->)|(<\/?[\w:.-]+|\/?>)|("[^"]*"|'[^']*')|([\w:-]+)(?==)/g
    : /(#[^\n]*)|(\b(?:param|coord|speed|let|point|mass|gravity|kinetic|potential|lagrangian|rayleigh|force|constraint|friction|nonideal|imbed|metric|law|relation|prefer|free|event|stop|plot|draw|import|spring|damper|check|body|joint|for|in|at|when|if|and|or|not)\b)|(\b\d+\.?\d*(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*(?:\[[^\]]*\])?)(?=\s*:)/g;
  const parts = document.createDocumentFragment();
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    const kind = match[1] ? "c" : match[2] ? "w" : match[3] ? "n" : "l";
    parts.append(text.slice(done, match.index));
    const span = parts.appendChild(document.createElement("span"));
    span.className = kind;
    span.textContent = match[0];
    done = match.index + match[0].length;
  }
  parts.append(text.slice(done));
  code.replaceChildren(parts);
}

// ---- Time ------------------------------------------------------------------------------------------

let asked = false;
function repaint() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; paint(); });
}

function lastMark(t) {
  let found = null;
  for (const mark of recording.marks) if (mark.time <= t + 1e-12 * clock.length) found = mark; else break;
  return found;
}

function paint() {
  const sample = sampleAt(now.t);
  if (stage) stage.paint(now.t, sample);
  for (const chart of charts) chart.paint(now.t, sample);
  const slider = $("slider");
  slider.value = clock.length > 0 ? Math.round(10000 * (now.t - clock.start) / clock.length) : 0;
  slider.setAttribute("aria-valuetext", clock.name + " = " + sayTime(now.t));
  $("time").textContent = sayTime(now.t) + " / " + sayTime(clock.end);
  const mark = lastMark(now.t), event = mark ? prime(mark.label) + " at " + sayTime(mark.time) : "";
  if ($("event").textContent !== event) $("event").textContent = event;
}

function seek(t) {
  now.t = Math.max(clock.start, Math.min(clock.end, t));
  repaint();
}

function setPlaying(playing) {
  now.playing = playing && clock.length > 0;
  $("play").classList.toggle("playing", now.playing);
  $("play").setAttribute("aria-label", now.playing ? "Pause" : "Play");
}
const pause = () => setPlaying(false);

function play() {
  if (now.t >= clock.end) now.t = clock.start;
  setPlaying(true);
  let before = null;
  const tick = (wall) => {
    if (!now.playing) return;
    // After a pause of the browser the motion goes on from where it was.
    if (before !== null) now.t += Math.min(0.1, (wall - before) / 1000) * now.speed;
    before = wall;
    if (now.t >= clock.end) { now.t = clock.end; setPlaying(false); }
    paint();
    if (now.playing) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}
const toggle = () => (now.playing ? pause() : play());

// ---- Controls --------------------------------------------------------------------------------------

// Real time, unless that would be over at once or last for hours.
function firstSpeed() {
  if (!clock.good) return 10 ** Math.round(Math.log10(Math.max(1, clock.length / 15)));
  if (clock.length >= 1.5 && clock.length <= 180) return 1;
  const best = (clock.length || 1) / 15;
  return speeds.reduce((a, b) => (Math.abs(Math.log(b / best)) < Math.abs(Math.log(a / best)) ? b : a));
}

function setSpeed(speed) {
  now.speed = speed;
  $("speed").value = String(speed);
}

function buildSpeeds() {
  now.speed = firstSpeed();
  if (!speeds.includes(now.speed)) speeds.push(now.speed);
  for (const speed of speeds.sort((a, b) => a - b)) {
    const option = $("speed").appendChild(document.createElement("option"));
    option.value = String(speed);
    option.textContent = "\u00d7" + speed;
  }
  setSpeed(now.speed);
}

// Events above the slider; those that would hide each other are left out.
function buildMarks() {
  let before = -1;
  for (const mark of recording.marks) {
    const part = (mark.time - clock.start) / clock.length;
    if (!(part >= 0 && part <= 1) || part - before < 0.006) continue;
    before = part;
    const button = $("marks").appendChild(document.createElement("button"));
    button.type = "button";
    button.tabIndex = -1;
    button.style.left = 100 * part + "%";
    button.title = prime(mark.label) + " at " + sayTime(mark.time);
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => { pause(); seek(mark.time); });
  }
}

function onKey(event) {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(target.tagName)) return;
  if (target.tagName === "PRE" && event.key !== " ") return;
  const step = (event.shiftKey ? 0.05 : 0.005) * clock.length;
  const at = speeds.indexOf(now.speed);
  const actions = {
    " ": () => (target.tagName === "BUTTON" && target.id !== "play" ? target.click() : toggle()),
    ArrowLeft: () => { pause(); seek(now.t - step); },
    ArrowRight: () => { pause(); seek(now.t + step); },
    Home: () => seek(clock.start),
    End: () => { pause(); seek(clock.end); },
    "[": () => setSpeed(speeds[Math.max(0, at - 1)]),
    "]": () => setSpeed(speeds[Math.min(speeds.length - 1, at + 1)]),
    t: () => $("trails").click(),
    f: () => $("forces").click(),
    r: () => $("reset").click(),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function listen() {
  $("play").addEventListener("click", toggle);
  $("start").addEventListener("click", () => seek(clock.start));
  $("slider").addEventListener("input", () => { pause(); seek(clock.start + clock.length * $("slider").value / 10000); });
  $("speed").addEventListener("change", () => { now.speed = Number($("speed").value); });
  $("trails").addEventListener("click", () => {
    if (!stage) return;
    stage.trailsOn = !stage.trailsOn;
    $("trails").setAttribute("aria-pressed", String(stage.trailsOn));
    repaint();
  });
  $("forces").addEventListener("click", () => {
    if (!stage) return;
    stage.forcesOn = !stage.forcesOn;
    $("forces").setAttribute("aria-pressed", String(stage.forcesOn));
    repaint();
  });
  $("reset").addEventListener("click", () => { if (stage) { stage.resetView(); repaint(); } });
  document.addEventListener("keydown", onKey);
  const again = () => { readTheme(); layout(); };
  const observer = new ResizeObserver(again);
  observer.observe($("main"));
  observer.observe($("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}

function layout() {
  if (stage) stage.layout();
  for (const chart of charts) chart.layout();
  paint();
}

// ---- Start -----------------------------------------------------------------------------------------

function start() {
  readTheme();
  recording.marks.sort((a, b) => a.time - b.time);
  $("extent").textContent = recording.rows.toLocaleString("en") + (recording.rows === 1 ? " sample" : " samples") +
    (SAMPLES > 1 ? ", " + clock.name + " from " + sayTime(clock.start) + " to " + sayTime(clock.end) : "") +
    (SAMPLES < recording.rows ? "; " + SAMPLES.toLocaleString("en") + " shown" : "");
  if (!$("summary").querySelector("tr")) $("summary").remove();
  if (!$("source").querySelector("code").textContent.trim()) $("source").remove();
  else colorSource($("source").querySelector("code"));
  if (SAMPLES === 0) {
    const note = $("charts").appendChild(document.createElement("p"));
    note.className = "card note";
    note.textContent = "This recording is empty.";
    return;
  }
  if (recording.draws.length > 0) {
    $("stage").hidden = false;
    $("main").classList.add("staged");
    stage = new Stage(recording.draws);
  }
  charts = recording.charts.map((spec) => new Chart(spec, $("charts")));
  $("charts").classList.toggle("few", charts.length <= 3);
  $("transport").hidden = clock.length <= 0;
  buildSpeeds();
  buildMarks();
  listen();
  layout();

  // page.html#t=2.5 shows that moment; else it plays, unless the reader prefers stillness.
  const wanted = /#t=([-+.\deE]+)/.exec(location.hash);
  if (wanted) seek(Number(wanted[1]) || clock.start);
  else if (stage && !matchMedia("(prefers-reduced-motion: reduce)").matches) play();
}

start();
