// The page of a run.

function runPage(data) {
  const { report } = data;
  runHead(report);
  section("copies-part", "Copies", () => copiesTable(report.copies));
  if (data.timeline) section("timeline-part", "Timeline", (box) => timelines(box, [{ name: "", timeline: data.timeline }], "timeline"));
  section("units-part", "Where the time went", (box) => unitsPart(box, report.units));
  section("latency-part", "Latencies of messages", (box) => latencies(box, data.messages ?? []));
  section("binding-part", "What binds", (box) => binding(box, report.copies, data));
  if (report.collectives?.length) section("collectives-part", "Collectives", () => plainTable(report.collectives, "collectives"));
  section("link-part", "Link, tags and keys", () => linkPart(report));
  configurationSection(data.configuration);
}

function runHead(report) {
  const total = report.transfers ?? {};
  const failed = report.copies.filter((copy) => copy.delivered === false);
  const messages = report.copies.reduce((sum, copy) => sum + (copy.messages ?? 0), 0);
  const head = document.getElementById("head");
  head.append(el("div", { class: "tiles" },
    tile(time(report.simulated_ps), "simulated time"),
    tile(total.gb_per_s === null || total.gb_per_s === undefined ? "none" : `${number(total.gb_per_s)} GB/s`, "all copies together"),
    tile(bytes(report.copies.reduce((sum, copy) => sum + copy.bytes, 0)), plural(report.copies.length, "copy", "copies")),
    tile(number(messages), "messages"),
    tile(report.confidential_computing ? "on" : "off", "confidential computing"),
    tile(failed.length === 0 ? "✓ all" : `✗ ${report.copies.length - failed.length} of ${report.copies.length}`, "copies delivered", failed.length === 0 ? "good" : "bad")));
  const notices = failed.map((copy) => `Copy ${report.copies.indexOf(copy) + 1} was not delivered: ${copy.reason ?? "its bytes did not all arrive as they were sent"}`);
  if (report.rerun && !report.rerun.same) notices.push("The run differs from its manifest.");
  head.append(...notices.slice(0, 20).map((text) => el("p", { class: "notice bad" }, text)));
}

function copiesTable(copies) {
  const rows = copies.map((copy, place) => ({ ...copy, place: place + 1 }));
  const several = copies.some((copy) => copy.gpu > 0);
  return table([
    { name: "copy", text: (one) => one.place },
    several && { name: "GPU", text: (one) => one.gpu },
    { name: "direction", text: (one) => one.direction },
    { name: "memory", text: (one) => one.host_memory ?? "" },
    copies.some((copy) => copy.stream) && { name: "stream", text: (one) => one.stream ?? "" },
    { name: "size", text: (one) => bytes(one.bytes), value: (one) => one.bytes },
    { name: "start", text: (one) => time(one.start_ps), value: (one) => one.start_ps },
    { name: "time", text: (one) => time(one.end_ps - one.start_ps), value: (one) => one.end_ps - one.start_ps },
    { name: "GB/s", text: (one) => number(one.gb_per_s), value: (one) => one.gb_per_s, number: true },
    { name: "messages", text: (one) => one.messages },
    { name: "tags", text: (one) => (one.tags_failed ? `${one.tags_verified} good, ${one.tags_failed} bad` : `${one.tags_verified ?? 0} good`), value: (one) => one.tags_verified },
    { name: "delivered", text: (one) => (one.delivered ? "yes" : "no") },
    { name: "busiest", text: (one) => busy(one.busiest), wide: true },
    copies.some((copy) => copy.limited_by) && { name: "limited by", text: (one) => one.limited_by ?? "", wide: true },
  ].filter(Boolean), rows, { id: "copies", caption: "copies" });
}

function unitsPart(box, units) {
  const rows = Object.entries(units).map(([name, unit]) => {
    const stalls = Object.entries(unit.stalls).sort((a, b) => b[1] - a[1]);
    return { name, unit, stalls, parts: [["busy", unit.busy], ...stalls, ["idle", unit.idle]] };
  });
  const totals = new Map();
  rows.forEach((row) => row.stalls.forEach(([name, cycles]) => totals.set(name, (totals.get(name) ?? 0) + cycles / (row.unit.cycles || 1))));
  const names = ["busy", ...[...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a)), "idle"];
  names.forEach(category);
  let [quiet, order] = [true, "netlist"];
  const drawing = el("figure", { class: "chart", id: "units" });
  const idle = (row) => row.unit.idle >= 0.999 * row.unit.cycles;
  const shown = () => rows.filter((row) => !quiet || !idle(row)).sort((a, b) => (order === "busy" ? b.unit.busy / b.unit.cycles - a.unit.busy / a.unit.cycles : order === "idle" ? a.unit.idle / a.unit.cycles - b.unit.idle / b.unit.cycles : 0));
  let draw = null;
  const part = (row, name) => (row.parts.find(([one]) => one === name)?.[1] ?? 0) / (row.unit.cycles || 1);
  attach(box, {}, [
    el("p", {}, "Each bar is all cycles of a unit: at work, waiting for something that has a name, or idle. The parts of a bar sum to 100 %."),
    el("div", { class: "controls" }, tick("only units with work or waits", "units-quiet", true, (on) => { quiet = on; draw(); }), choice("order", "units-order", [["netlist", "as in the machine"], ["busy", "busiest first"], ["idle", "least idle first"]], order, (value) => { order = value; draw(); })),
    drawing, legend(names),
    el("details", {}, el("summary", {}, "The same as a table"), table([
      { name: "unit", text: (row) => row.name },
      ...names.map((name) => ({ name: stateLabel(name), text: (row) => (part(row, name) ? percent(part(row, name), 2) : ""), value: (row) => part(row, name), number: true })),
      { name: "sum", text: (row) => percent(names.reduce((sum, name) => sum + part(row, name), 0), 2), value: (row) => names.reduce((sum, name) => sum + part(row, name), 0), number: true },
    ], rows, { id: "unit-table", caption: "cycles of each unit" })),
  ]);
  draw = wholes(drawing, () => shown().map((row) => ({ name: row.name, note: `${percent(row.unit.busy / (row.unit.cycles || 1))} busy`, parts: row.parts })), "cycles of each unit");
}

function latencies(box, messages) {
  if (messages.length === 0) {
    box.append(el("p", { class: "soft" }, "This page has no dates of single messages."));
    return;
  }
  const drawing = el("figure", { class: "chart", id: "latencies" });
  box.append(drawing);
  const marked = histogram(drawing, messages.map((one) => one.end_ps - one.start_ps), { what: "message" });
  box.append(el("p", {}, `${plural(messages.length, "message")}: ${marked.map(([name, value]) => `${name} ${time(value)}`).join(", ")}.`));
}

// Parameters that limit copies, as far as that was measured.
function binders(copies) {
  const found = [];
  copies.forEach((copy, place) => {
    const { best, next } = copy.limited_by_parts ?? { best: [] };
    best.forEach((one, rank) => found.push({ ...one, next: rank === 0 ? next : null, copy: place + 1 }));
  });
  return found;
}

function binding(box, copies, data) {
  const rows = binders(copies);
  if (rows.length > 0) {
    const drawing = el("figure", { class: "chart", id: "binding" });
    box.append(el("p", {}, "How much faster the copy is when one parameter is relaxed: twice the rate or depth, or half the latency. The run was repeated to measure it."), drawing);
    amounts(drawing, () => rows.map((row) => ({ name: row.parameter, value: row.gain_percent, text: `${signed(row.gain_percent)} %`, label: `${row.parameter} = ${row.value}: ${row.relaxed_to} gives ${signed(row.gain_percent)} %` })), "gain of relaxing a parameter");
  }
  box.append(rows.length === 0 ? el("p", { class: "soft" }, "No parameter was measured to bind alone.") : table([
    { name: "parameter", text: (row) => parameterLink(row.parameter, data), value: (row) => row.parameter },
    { name: "value", text: (row) => row.value },
    { name: "relaxed to", text: (row) => row.relaxed_to },
    { name: "gain", text: (row) => `${signed(row.gain_percent)} %`, value: (row) => row.gain_percent, number: true },
    { name: "binds then", text: (row) => row.next ?? "" },
    { name: "copy", text: (row) => row.copy, value: (row) => row.copy },
  ], rows, { id: "binders", caption: "parameters that bind" }));
  for (const { together } of copies.map((copy) => copy.limited_by_parts ?? {}).filter((parts) => parts.together).slice(0, 5)) {
    box.append(el("p", {}, `${together.map((one) => one.parameter).join(" and ")} bind together: ${together.map((one) => one.relaxed_to).join(" and ")} give ${signed(together[0].gain_percent)} %.`));
  }
}

function plainTable(rows, caption) {
  const names = unique(rows.flatMap((row) => Object.keys(row))).filter((name) => rows.some((row) => typeof row[name] !== "object"));
  return table(names.map((name) => ({ name: labelled(name), text: (row) => columnFigure(name, row[name]), value: (row) => row[name] })), rows, { id: caption, caption });
}

function linkPart(report) {
  const pairs = (of, kind) => Object.entries(of ?? {}).filter(([, value]) => typeof value !== "object").map(([name, value]) => [NAMES.words[`${kind}.${name}`] ?? labelled(name), columnFigure(name, value)]);
  const part = (name, of, kind) => of && el("div", {}, el("h3", {}, name), listed(pairs(of, kind)));
  const told = (signal) => signal && `${signal.unit}: ${signal.text}, ${signal.count} x`;
  const faults = ({ signal, signals, ...rest }) => ({ ...rest, signal: told(signal) ?? null });
  const lists = [["Incidents", report.incidents], ["Errors that units signalled", report.faults?.signals?.map(told)], ["Faults that cancelled each other", report.faults?.cancelled?.map((pair) => pair.join(" and "))]];
  return [
    el("div", { class: "grid2" }, part("Link, host to GPU", report.link?.h2d), part("Link, GPU to host", report.link?.d2h), part("Tag queue", report.tag_queue), part("Key of h2d", report.keys?.h2d, "keys"), part("Key of d2h", report.keys?.d2h, "keys"), report.faults?.injected > 0 && part("Faults", faults(report.faults)), part("Cost of the run on its host", report.host)),
    lists.map(([name, items]) => items?.length > 0 && [el("h3", {}, name), el("ul", {}, items.slice(0, 200).map((one) => el("li", {}, one)))]),
    listed([["configuration", el("code", {}, report.config_digest)], ["events", el("code", {}, report.event_digest ?? "none: sampled")]]),
  ];
}
