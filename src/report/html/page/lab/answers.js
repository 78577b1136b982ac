// What is answered on a side: figures, where the time goes, what limits, costs, the curve, and the commands that say the same.

// The question that fills each part.
const ANSWERED_BY = { levers: "levers", limit: "run", path: "path", cost: "describe", curve: "curve" };

const CLOCK = {
  closes: "The clock closes, with wires",
  marginal: "The clock is marginal: the slowest stage fits its period without wires, not with them",
};

// A part of the answers: a heading, and what is filled in when it is known.
function answerPart(heading) {
  const body = el("div", { class: "fresh" });
  return { body, box: el("div", { hidden: true }, el("h3", {}, heading), body) };
}

// `relax(path, value)` sets a parameter, `use(options)` makes a change that was tried. Smaller gains than `least`, in percent, are none.
function answers(name, least, relax, use) {
  const parts = { levers: answerPart("What to change"), limit: answerPart("Who is busiest, and what limits it"), path: answerPart("Where the time of a message goes"), cost: answerPart("Area, energy, clock"), curve: answerPart("Rate by the size of a copy"), command: answerPart("The same on the command line") };
  const tiles = el("div", { class: "tiles fresh" });
  const said = el("p", { class: "state", role: "status", "aria-live": "polite" });
  const failed = el("p", { class: "notice bad", role: "alert", hidden: true });
  const box = el("div", { class: "answers", "aria-busy": "false" }, said, failed, tiles, Object.values(parts).map((one) => one.box));
  const commands = new Map();
  let shown = {};

  const fill = (one, ...children) => {
    one.body.replaceChildren(...children.flat().filter(Boolean));
    one.body.setAttribute("aria-busy", "false");
    one.box.hidden = false;
  };
  const figure = (value, label, main = false) => el("div", { class: "tile" }, el("b", { class: main ? "main" : null, "data-figure": label }, value), el("span", {}, label));

  function drawTiles({ copies, tag_queue: tags, sampled }) {
    const copy = copies[0];
    const within = sampled?.confidence ? ` (±${number((50 * (sampled.high - sampled.low)) / sampled.high, 2)} %)` : "";
    shown = { ...shown, rate: copy.gb_per_s, time: copy.end_ps - copy.start_ps, first: copy.first_verified_at_ps, exposure: tags.exposure_ps };
    tiles.replaceChildren(
      figure("…", "cost of CC", true),
      figure(`${copy.gb_per_s.toFixed(3)} GB/s${within}`, "rate", true),
      figure(time(shown.time), "time of the copy"),
      figure(copy.first_verified_at_ps === null ? "no tags" : time(copy.first_verified_at_ps), "first message verified"),
      figure(tags.exposure_ps === 0 ? "none" : time(tags.exposure_ps), "longest exposure of unverified plaintext"),
      figure(String(copy.messages), copy.messages === 1 ? "message" : "messages"),
    );
    if (shown.off) drawOff(shown.off);
    if (!copy.delivered) tiles.append(figure("not delivered", copy.reason ?? "the copy"));
  }

  // What CC costs this copy: `off` is its rate without, null where it runs without.
  function drawOff(off) {
    shown.off = off;
    const tile = tiles.querySelector('[data-figure="cost of CC"]');
    if (!tile) return;
    const factor = off / shown.rate;
    tile.textContent = off === null ? "CC is off" : factor > 2 ? `${number(factor, 3)} ×` : percent(Math.max(0, factor - 1));
    tile.nextSibling.textContent = off === null ? "this copy is not sealed" : `slower with CC: ${number(off, 3)} GB/s without`;
  }

  // What was tried, the best first, of a copy of so many bytes, and what may be there instead.
  function drawLevers({ levers = [], earlier_library: earlier, copies: [{ bytes: tried }] }) {
    const [gain, none] = [true, false].map((gains) => levers.filter((one) => (one.gain_percent >= least) === gains));
    const choose = ({ how, what }) => el("button", { type: "button", class: "link", title: how, click: () => use(how) }, shortened(what));
    const line = (one) => [one.name, choose(one), `${number(one.gb_per_s, 3)} GB/s`, `+${Math.round(one.gain_percent)} %`];
    fill(parts.levers,
      gain.length > 0 && table("what to change", ["", "works on today's GPU", "rate", "gain"], gain.map(line), { id: `levers-${name}`, text: [0, 1] }),
      none.length > 0 && el("p", { class: "soft" }, `No gain: ${none.map((one) => one.name).join(", ")}.`),
      el("p", { class: "soft" }, `Each was simulated by itself${tried < shown.bytes ? `, for a copy of ${bytes(tried)}` : ""}: choose one to make it.`),
      earlier && el("p", {}, "Which OpenSSL the guest has is not known. ", choose(earlier), `: ${number(earlier.gb_per_s, 3)} GB/s.`));
    parts.levers.box.hidden = levers.length === 0;
  }

  function drawLimit({ copies: [{ busiest, limited_by: words, limited_by_parts: found }] }) {
    const best = found?.best[0];
    fill(parts.limit, words && el("p", {}, words), el("p", { class: words ? "soft" : null }, busy(busiest)), best && el("p", {}, el("button", { type: "button", click: () => relax(best.parameter, best.relaxed_to) }, `Set ${best.parameter} to ${best.relaxed_to}`)));
  }

  // Of a large copy the path is that of a smaller one, which the command names.
  function drawPath({ message, freed }, command) {
    if (!message) return fill(parts.path, el("p", { class: "soft" }, "Nothing is sealed here."));
    const whole = message.end_ps - message.start_ps;
    const steps = message.stages.map(({ stage, start_ps: from, end_ps: to }) => ({ stage, from: from - message.start_ps, long: to - from }));
    const rects = steps.map(({ stage, from, long }) => sv("rect", { x: (1000 * from) / whole, y: 0, width: Math.max((1000 * long) / whole, 1), height: 20, fill: category(stage) }, sv("title", {}, `${label(stage, "stage")}: ${time(long)}`)));
    const swatch = (stage) => sv("svg", { width: 12, height: 12, "aria-hidden": "true" }, sv("rect", { width: 12, height: 12, fill: category(stage) }));
    const [, size] = /--copy \w+:([^:\s]+)/.exec(command) ?? [];
    const next = freed && readSize(size ?? "") === shown.bytes && `With ${freed.parameter} as good as free this copy would take ${time(freed.simulated_ps)}.`;
    fill(parts.path,
      sv("svg", { class: "stages", viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img", "aria-label": `stages of a message of ${bytes(message.bytes)}` }, rects),
      table(`stages of a message of ${bytes(message.bytes)}`, ["stage", "time", "of the message"], steps.map(({ stage, long }) => [[swatch(stage), ` ${label(stage, "stage")}`], time(long), percent(long / whole)])),
      el("p", { class: "soft" }, `First message, ${bytes(message.bytes)}, of a copy of ${size ?? "this size"}. ${next || ""}`));
  }

  function drawCost({ cost, clock_stages: stages }, compared) {
    const range = (low, high) => (low === null || low === undefined ? "not known" : `${number(low, 3)} to ${number(high, 3)} kGE`);
    const lines = [
      [plural(cost.engines, "engine"), range(cost.area_kge_low, cost.area_kge_high)],
      ["tag queue and quarantine, as SRAM", range(cost.storage_sram_kge_low, cost.storage_sram_kge_high)],
      ["all", range(cost.area_total_kge_low, cost.area_total_kge_high)],
    ];
    const energies = compared && [["engines", compared.engines_pj], ["buffers", compared.buffers_pj], ["link", compared.link_pj], ["memory", compared.memory_pj], ["all", compared.energy_pj]].filter(([, value]) => value !== null && value !== undefined);
    const closes = cost.does_not_close ? `The clock does not close: ${cost.does_not_close}` : `${CLOCK[cost.clock] ?? "The clock is not known"}${stages?.length ? `; slowest stage ${Math.max(...stages.map((one) => one.ps_wired))} ps with wires` : ""}.`;
    fill(parts.cost, el("p", {}, closes), cost.missing && el("p", { class: "notice" }, cost.missing), table("area", ["area", ""], lines),
      energies?.length > 0 && table("energy of the copy", ["energy of the copy", ""], energies.map(([what, pj]) => [what, `${number(pj / 1e6, 4)} µJ`])));
  }

  function drawCurve(compared, state) {
    const at = (design) => design.copies.find((copy) => copy.bytes === state.bytes);
    const lines = compared.designs.map((design) => [design.name, at(design)]).filter(([, copy]) => copy).map(([design, copy]) => [design, `${copy.gb_per_s.toFixed(3)}`, `${number(copy.speedup_over_h100_cc, 3)}`, copy.exposure_ps ? time(copy.exposure_ps) : "none", copy.energy_pj ? `${number(copy.energy_pj / state.bytes, 3)}` : ""]);
    const drawing = el("figure", { class: "chart", id: `curve-${name}` });
    const files = filesOf("plot", write(state));
    fill(parts.curve, drawing, el("ul", { class: "legend" }, compared.designs.map((design, place) => el("li", {}, shapeSwatch(look(place)), design.name))), el("p", {}, files),
      el("p", {}, `At ${bytes(state.bytes)}:`),
      table("designs at the chosen size", ["design", "GB/s", "over h100-cc", "exposure", "pJ/B"], lines),
      compared.skipped.length > 0 && el("p", { class: "soft" }, `Not compared: ${compared.skipped.map((one) => `${one.name}: ${one.reason}`).join("; ")}`));
    const sizes = unique(compared.designs.flatMap((design) => design.copies.map((copy) => copy.bytes)));
    const point = (design) => (copy) => ({ x: copy.bytes, y: copy.gb_per_s, label: `${design.name}, ${bytes(copy.bytes)}: ${number(copy.gb_per_s, 3)} GB/s`, key: `${design.name} ${copy.bytes}` });
    chart(drawing, () => ({
      label: "rate by the size of a copy", xLabel: "size of a copy", yLabel: labelled("gb_per_s"), height: 320,
      series: compared.designs.map((design, place) => ({ name: design.name, look: look(place), line: true, points: design.copies.map(point(design)) })),
      x: (from, to) => logarithmic(sizes, from, to, { base: 2, show: bytes }), y: (from, to) => logarithmic(compared.designs.flatMap((design) => design.copies.map((copy) => copy.gb_per_s)), from, to),
      under: ({ svg, x }) => svg.append(sv("line", { class: "rule chosen-size", x1: x.place(state.bytes), x2: x.place(state.bytes), y1: MARGIN.top, y2: 320 - MARGIN.bottom })),
    }));
  }

  function drawCommands(state) {
    const names = { run: "these figures", levers: "what to change", path: "the path of a message", curve: "the curve", describe: "all parameters" };
    const lines = Object.entries(names).filter(([question]) => commands.has(question) && (question !== "levers" || commands.get(question) !== commands.get("run"))).map(([question, label]) => el("div", {}, el("p", { class: "soft" }, label), commandOf(question, commands.get(question))));
    fill(parts.command, lines, el("p", {}, fileLink("run.html", write(state), "Report of this run (HTML)"), " ", fileLink("machine.toml", write(state), "This machine as a TOML file")));
  }

  return {
    box,
    figures: () => shown,
    // What answers the questions of `todo` is of the state before, until they are answered anew.
    busy(words, todo) {
      box.setAttribute("aria-busy", "true");
      Object.entries(ANSWERED_BY).filter(([, question]) => todo.has(question)).forEach(([name]) => parts[name].body.setAttribute("aria-busy", "true"));
      todo.forEach((question) => commands.delete(question));
      if (words) said.textContent = words;
    },
    ready(words) {
      box.setAttribute("aria-busy", "false");
      said.textContent = words;
    },
    // What was answered stays, and is said to be of the state before.
    fail(words) {
      box.setAttribute("aria-busy", "false");
      box.classList.add("stale");
      said.textContent = tiles.childElementCount > 0 ? "The answers below are those from before this change." : "";
      failed.textContent = words;
      failed.hidden = false;
    },
    // Says why the curve of a state is not known.
    noCurve(words) {
      commands.delete("curve");
      fill(parts.curve, el("p", { class: "soft", "data-curve": "none" }, words));
    },
    uncovered: () => drawOff(null),
    // An answer to a question on a state.
    show(question, { command, answer }, state) {
      failed.hidden = true;
      box.classList.remove("stale");
      shown.bytes = state.bytes;
      if (question !== "off") commands.set(question === "quick" ? "run" : question, command);
      if (question === "quick" || question === "run") drawTiles(answer);
      if (question === "levers") drawLevers(answer);
      if (question === "run") drawLimit(answer);
      if (question === "path") drawPath(answer, command);
      if (question === "describe") drawCost(answer, null);
      if (question === "curve") drawCurve(answer, state);
      if (question === "off") drawOff(answer.copies[0].gb_per_s);
      drawCommands(state);
    },
    cost: drawCost,
  };
}
