// A run that goes on: asks for its state while the page is visible, and sends what the buttons order.

const EVERY = 250;
const AGAIN = 1000;
const GIVE_UP_AFTER = 6000;
const AVERAGE = 2;

const status = document.getElementById("status");
const recordStatus = document.getElementById("record-status");
const known = { phase: "preparing", state: null, shown: null, over: false, lost: false };

const PHASES = {
  preparing: "The run has not begun yet.",
  running: "Running.",
  stepping: "Running to the next message.",
  paused: "Paused.",
  reporting: "The run has ended; its results are being made.",
  ended: "The run has ended.",
};

// Orders.

const buttons = {};

function button(id, label, key, action) {
  buttons[id] = el("button", { type: "button", id, disabled: true, "aria-keyshortcuts": key.name, click: action }, label, el("kbd", { "aria-hidden": "true" }, key.shown));
  document.getElementById("controls").append(buttons[id]);
}

async function order(what) {
  try {
    await fetch(what, { method: "POST", cache: "no-store" });
  } catch {
    lost();
  }
}

const stands = () => known.phase === "paused";
const goes = () => ["running", "stepping", "preparing"].includes(known.phase);
const lives = () => !known.lost && !known.over && (stands() || goes());

function close() {
  known.over = true;
  order("close").then(() => say("closed", "The page is closed. A run that has not ended goes on without it."));
  enable();
}

button("pause", "Pause", { name: "Space", shown: "space" }, () => order("pause"));
button("go", "Resume", { name: "Space", shown: "space" }, () => order("go"));
button("step", "Next message", { name: "n", shown: "n" }, () => order("step"));
// The lab, which holds the page in a frame, has no place for a recording.
if (window.parent === window) button("record", "Record from here", { name: "r", shown: "r" }, () => order("record"));
button("close", "Close", { name: "Shift+C", shown: "C" }, close);

function enable() {
  buttons.pause.disabled = !lives() || stands();
  buttons.go.disabled = !lives() || !stands();
  buttons.step.disabled = !lives();
  if (buttons.record) buttons.record.disabled = !lives() || known.state?.recording.is !== "none";
  buttons.close.disabled = known.lost || known.over;
}

const KEYS = { " ": () => (stands() ? "go" : "pause"), n: () => "step", r: () => "record", C: () => "close" };

document.addEventListener("keydown", (event) => {
  const control = event.target.closest?.("button, input, select, summary, a");
  if (event.ctrlKey || event.metaKey || event.altKey || (control && event.key === " ")) return;
  const pressed = KEYS[event.key] && buttons[KEYS[event.key]()];
  if (!pressed) return;
  event.preventDefault();
  if (!event.repeat) pressed.click();
});

// What is shown.

const shown = { progress: null, tiles: {}, copies: null, queues: null, units: null, gauges: null };
const wanted = { queues: true, units: true, gauges: true, stretch: "run" };

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function tileOf(id, label) {
  const box = tile("", label);
  shown.tiles[id] = box.firstChild;
  shown.tiles[id].id = id;
  return box;
}

// A table whose rows are kept: { name, number, bar } by column.
function rows(id, caption, columns) {
  const body = el("tbody");
  const head = columns.map((column) => el("th", { scope: "col", class: column.number ? "number" : null }, column.name));
  const framed = el("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption }, el("table", { id }, el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, head)), body));
  const lines = [];
  const line = () => el("tr", {}, columns.map((column) => el("td", { class: column.number ? "number" : column.bar ? "bar" : column.wide ? "wide" : null })));
  framed.fill = (items) => {
    while (lines.length < items.length) {
      lines.push(line());
      body.append(lines.at(-1));
    }
    lines.splice(items.length).forEach((one) => one.remove());
    items.forEach((item, at) => columns.forEach((column, place) => {
      const cell = lines[at].children[place];
      if (column.bar) bar(cell, column.bar(item));
      else put(cell, column.text(item));
    }));
  };
  return framed;
}

// Parts of a whole: [category, amount]; what is left is empty.
function bar(cell, { whole, parts, label }) {
  const key = JSON.stringify([whole, parts]);
  if (cell.dataset.key === key) return;
  cell.dataset.key = key;
  let begin = 0;
  const marks = parts.filter(([, amount]) => amount > 0).map(([part, amount]) => {
    const wide = (100 * amount) / (whole || 1);
    const rect = sv("rect", { x: begin, y: 0, width: wide, height: 10, fill: part === "fill" ? colour(0) : category(part) }, sv("title", {}, `${part === "fill" ? "full" : stateLabel(part)} ${percent(amount / (whole || 1))}`));
    begin += wide;
    return rect;
  });
  cell.replaceChildren(sv("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label }, sv("rect", { x: 0, y: 0, width: 100, height: 10, fill: "var(--idle)" }), marks));
}

function build() {
  shown.progress = el("progress", { id: "progress", max: 1, "aria-label": "bytes that have arrived" });
  section("progress-part", "Progress", () => [
    shown.progress,
    el("div", { class: "tiles" }, tileOf("arrived", "arrived"), tileOf("time", "simulated time"), tileOf("rate", "arrived over simulated time"), tileOf("done", "messages done"), tileOf("host", "host time, without pauses"), tileOf("speed", "simulated in a second of host time")),
  ]);
  shown.copies = rows("copies", "copies", [
    { name: "copy", number: true, text: (copy) => String(copy.number) },
    { name: "direction", text: (copy) => copy.direction },
    { name: "stream", text: (copy) => copy.stream ?? "" },
    { name: "bytes", number: true, text: (copy) => bytes(copy.bytes) },
    { name: "arrived", bar: (copy) => ({ whole: copy.bytes, parts: [["fill", copy.reached]], label: copy.text }) },
    { name: "state", text: (copy) => copy.text },
    { name: "GB/s so far", number: true, text: (copy) => (copy.rate === null ? "" : copy.rate.toFixed(3)) },
  ]);
  section("copies-part", "Copies", () => shown.copies);
  shown.queues = rows("queues", "queues, the fullest first", [
    { name: "fill", bar: (queue) => ({ whole: queue.depth, parts: [["fill", queue.count]], label: `${queue.path}: ${queue.count} of ${queue.depth}` }) },
    { name: "items", number: true, text: (queue) => `${queue.count}/${queue.depth}` },
    { name: "queue", text: (queue) => queue.path },
    { name: "carries", text: (queue) => queue.item },
    { name: "pushed", number: true, text: (queue) => queue.pushed.toLocaleString("en-US") },
    { name: "from", text: (queue) => queue.from },
    { name: "to", text: (queue) => queue.to },
  ]);
  section("queues-part", "Queues", () => [el("div", { class: "controls" }, tick("only queues that were used", "queues-used", true, (on) => { wanted.queues = on; draw(); })), shown.queues]);
  shown.units = rows("units", "units, the busiest first", [
    { name: "unit", text: (unit) => unit.path },
    { name: "cycles", bar: (unit) => ({ whole: unit.cycles, parts: unit.parts, label: unit.text }) },
    { name: "busy", number: true, text: (unit) => percent(unit.busy / (unit.cycles || 1)) },
    { name: "now", text: (unit) => stateLabel(unit.now) },
    { name: "waits most for", text: (unit) => unit.most },
  ]);
  shown.legend = el("div", { id: "legend" });
  section("units-part", "Units", () => [
    el("div", { class: "controls" }, tick("only units with work or waits", "units-used", true, (on) => { wanted.units = on; draw(); }), choice("cycles of", "units-stretch", [["run", "the run so far"], ["last", `the last ${AVERAGE} s`]], "run", (value) => { wanted.stretch = value; draw(); })),
    shown.legend,
    shown.units,
  ]);
  shown.gauges = rows("gauges", "gauges", [
    { name: "gauge", text: (gauge) => gauge.path },
    { name: "value", number: true, text: (gauge) => gauge.value.toLocaleString("en-US") },
  ]);
  section("gauges-part", "Gauges", () => [el("div", { class: "controls" }, tick("only those that are not 0", "gauges-used", true, (on) => { wanted.gauges = on; draw(); })), shown.gauges]);
}

// Snapshots of the last seconds in which the run went on, the oldest first.
const past = [];

function remember(snapshot) {
  if (past.at(-1)?.time_ps === snapshot.time_ps) return;
  past.push(snapshot);
  while (past.length > 2 && past[1].host_seconds < snapshot.host_seconds - AVERAGE) past.shift();
}

function drawCopies(snapshot) {
  shown.copies.fill(snapshot.copies.map((copy) => {
    const over = copy.end_ps !== null;
    const reached = copy.arrived ?? (over ? copy.bytes : 0);
    const until = over ? copy.end_ps : snapshot.time_ps;
    const rate = copy.start_ps !== null && (copy.arrived !== null || over) && until > copy.start_ps ? reached / (until - copy.start_ps) * 1000 : null;
    const text = over ? `ended at ${time(copy.end_ps)}` : copy.start_ps === null ? "to come" : copy.arrived === null ? "under way" : `${percent(reached / (copy.bytes || 1))} arrived`;
    return { ...copy, reached, rate, text };
  }));
}

function drawProgress(snapshot) {
  const { copies, copies_ended: over, bytes: all, arrived, carries_bytes: exact } = snapshot.total;
  shown.progress.max = (exact ? all : copies) || 1;
  shown.progress.value = exact ? arrived : over;
  put(shown.tiles.arrived, exact ? `${bytes(arrived)} of ${bytes(all)}` : `${over} of ${plural(copies, "copy", "copies")}`);
  put(shown.tiles.time, time(snapshot.time_ps, 7));
  put(shown.tiles.rate, snapshot.time_ps > 0 && (exact || over > 0) ? `${(arrived / snapshot.time_ps * 1000).toFixed(3)} GB/s` : "");
  put(shown.tiles.done, snapshot.messages_done.toLocaleString("en-US"));
  put(shown.tiles.host, `${snapshot.host_seconds.toFixed(1)} s`);
  const [first, last] = [past[0], past.at(-1)];
  const seconds = last.host_seconds - first.host_seconds;
  const speed = seconds > 0 ? (last.time_ps - first.time_ps) / seconds : snapshot.time_ps / (snapshot.host_seconds || 1);
  put(shown.tiles.speed, time(speed));
}

function drawUnits(snapshot) {
  const before = wanted.stretch === "last" && past.length > 1 ? new Map(past[0].units.map((unit) => [unit.path, unit])) : new Map();
  const units = snapshot.units.map((unit) => {
    const then = before.get(unit.path);
    const stalled = new Map(then?.stalls ?? []);
    const stalls = unit.stalls.map(([name, cycles]) => [name, cycles - (stalled.get(name) ?? 0)]).filter(([, cycles]) => cycles > 0);
    const [busy, idle] = [unit.busy - (then?.busy ?? 0), unit.idle - (then?.idle ?? 0)];
    const cycles = busy + idle + stalls.reduce((sum, [, one]) => sum + one, 0);
    const most = stalls.reduce((best, one) => (one[1] > best[1] ? one : best), ["", 0]);
    const text = `${unit.path}: busy ${percent(busy / (cycles || 1))}${most[0] && `, ${stateLabel(most[0])} ${percent(most[1] / cycles)}`}`;
    return { ...unit, busy, idle, cycles, text, most: most[0] && label(most[0], "stall"), parts: [["busy", busy], ...stalls, ["idle", idle]] };
  });
  const used = units.filter((unit) => !wanted.units || unit.cycles > unit.idle);
  const share = (unit) => unit.busy / (unit.cycles || 1);
  used.sort((a, b) => share(b) - share(a) || a.path.localeCompare(b.path, "en", { numeric: true }));
  shown.units.fill(used);
  const seen = unique(used.flatMap((unit) => unit.parts.filter(([, cycles]) => cycles > 0).map(([name]) => name)));
  if (shown.legend.dataset.key !== seen.join()) {
    shown.legend.dataset.key = seen.join();
    shown.legend.replaceChildren(legend(seen));
  }
}

function draw() {
  const snapshot = known.state?.snapshot;
  if (!snapshot) return;
  remember(snapshot);
  drawProgress(snapshot);
  drawCopies(snapshot);
  const fill = (queue) => queue.count / queue.depth;
  const queues = snapshot.queues.filter((queue) => !wanted.queues || queue.pushed > 0);
  shown.queues.fill(queues.sort((a, b) => fill(b) - fill(a) || a.path.localeCompare(b.path, "en", { numeric: true })));
  drawUnits(snapshot);
  shown.gauges.fill(snapshot.gauges.filter((gauge) => !wanted.gauges || gauge.value > 0));
}

function say(state, text) {
  status.dataset.state = state;
  put(status, text);
}

function drawRecording({ is, path, from_ps: from, why }) {
  recordStatus.hidden = is === "none";
  recordStatus.classList.toggle("bad", is === "failed");
  if (is === "under_way") put(recordStatus, `Recording from ${time(from, 7)} on to ${path}, until the run ends.`);
  if (is === "written") put(recordStatus, `Recorded from ${time(from, 7)} on in ${path}: open it at ui.perfetto.dev.`);
  if (is === "failed") put(recordStatus, `Nothing is recorded: ${why}`);
}

function tell(state) {
  known.state = state;
  known.phase = state.phase;
  known.lost = false;
  const stays = state.hold ? "The program stays until it is closed here." : "The program ends with it.";
  const text = state.phase !== "ended" ? PHASES[state.phase] : state.failure ? `${PHASES.ended} ${state.failure}. ${stays}` : `${PHASES.ended} ${stays}`;
  say(state.failure ? "failed" : state.phase, state.late ? `${text} It has not answered for a while.` : text);
  drawRecording(state.recording);
  known.over = known.over || (state.phase === "ended" && !state.hold);
  draw();
  enable();
  document.documentElement.dataset.ready = "yes";
}

function lost() {
  if (known.over) return;
  known.lost = true;
  if (known.phase === "ended") say("closed", "The run has ended, and so has the program.");
  else say("lost", "The connection is lost: the program has ended, or does not answer. What is shown is the last that is known.");
  enable();
}

// Questions, one at a time.

const pause = (long) => new Promise((done) => setTimeout(done, long));
const seen = () => new Promise((done) => {
  if (document.visibilityState === "visible") done();
  else document.addEventListener("visibilitychange", done, { once: true });
});

async function ask() {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), GIVE_UP_AFTER);
  try {
    const reply = await fetch("state", { cache: "no-store", signal: limit.signal });
    if (!reply.ok) throw new Error(reply.statusText);
    tell(await reply.json());
  } catch {
    lost();
  } finally {
    clearTimeout(timer);
  }
}

async function follow() {
  while (!known.over) {
    await seen();
    if (known.over) return;
    await ask();
    await pause(known.lost ? AGAIN : EVERY);
  }
}

hatching();
build();
follow();
