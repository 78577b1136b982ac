// The page of a replay.

function nanos(value) {
  return value === null || value === undefined ? "-" : time(value * 1000);
}

function replayPage(data) {
  const { report } = data;
  const [off, cc] = report.runs;
  const times = (slowdown, name) => (typeof slowdown === "number" ? `${number(slowdown)} × ${name}` : "slow-down not known");
  document.getElementById("head").append(...(report.notices ?? []).map((text) => el("p", {}, text)));
  document.getElementById("head").append(el("div", { class: "tiles" }, report.runs.map((run) => tile(nanos(run.end_ns), run.name === off?.name ? `${run.name}, first to last operation` : `${run.name}: ${times(run.slowdown_over_off, off?.name)}`)), tile(number(report.events?.used), "events used")));
  section("timeline-part", "Timeline", (box) => {
    if (!data.timelines?.length) {
      box.append(el("p", { class: "soft" }, "The JSON of a replay has no dates: `sealsim replay TRACE --report FILE` makes this page with its timelines."));
      return;
    }
    const drawn = (into, all, id) => timelines(into, all.map((one) => ({ name: one.name, note: `${time(one.timeline.end_ps)}, ${times(one.slowdown, all[0].name)}`, timeline: one.timeline })), id);
    if (!data.step) {
      drawn(box, data.timelines, "timeline");
      return;
    }
    // The loop of most programs is too long to see a call in it.
    box.append(el("p", {}, `Step ${data.step.number} of ${data.step.of}, the one of median length with CC.`));
    drawn(box, data.step.timelines, "step");
    const whole = el("details", { id: "whole" }, el("summary", {}, "The whole replay"));
    whole.addEventListener("toggle", () => drawn(whole, data.timelines, "timeline"), { once: true });
    box.append(whole);
  });
  if (typeof off?.end_ns === "number" && typeof cc?.end_ns === "number") section("breakdown-part", "What the difference is made of", (box) => {
    const difference = cc.end_ns - off.end_ns;
    const drawing = el("figure", { class: "chart", id: "breakdown" });
    const shares = report.breakdown.filter((share) => share.ns !== 0);
    attach(box, {}, [el("p", {}, `${cc.name} ends ${nanos(Math.abs(difference))} ${difference < 0 ? "before" : "after"} ${off.name}. The causes are left out one after the other, in this order; they sum to the difference. One that gains time is to the left.`), drawing,
      report.breakdown.length > shares.length && el("p", { class: "soft" }, `Nothing: ${report.breakdown.filter((share) => share.ns === 0).map((share) => label(share.cause, "cause")).join(", ")}.`)]);
    if (shares.length > 0) amounts(drawing, () => shares.map((share) => ({ name: label(share.cause, "cause"), value: share.ns, text: nanos(share.ns), fill: colour(share.ns < 0 ? 2 : 4), label: `${label(share.cause, "cause")}: ${nanos(share.ns)}${difference ? `, ${percent(share.ns / difference)} of the difference` : ""}`, key: share.cause })), "parts of the difference");
  });
  section("runs-part", "Runs", () => table([
    { name: "run", text: (run) => run.name },
    { name: "end", text: (run) => nanos(run.end_ns), value: (run) => run.end_ns, number: true },
    { name: "times off", text: (run) => number(run.slowdown_over_off), value: (run) => run.slowdown_over_off, number: true },
    { name: "with calls before", text: (run) => nanos(run.total_ns), value: (run) => run.total_ns, number: true },
    ...["h2d", "d2h", "d2d"].map((way) => ({ name: `${way} on the device`, text: (run) => nanos(run.device_copy_ns?.[way]), value: (run) => run.device_copy_ns?.[way], number: true })),
    { name: "in calls", text: (run) => nanos(run.host_call_ns), value: (run) => run.host_call_ns, number: true },
    { name: "GPU idle", text: (run) => nanos(run.gpu_idle_ns), value: (run) => run.gpu_idle_ns, number: true },
  ], report.runs, { id: "runs", caption: "runs" }));
  if (report.advice?.length) section("advice-part", "What would give time back", () => table([{ name: "change", text: (one) => one.text, wide: true }, { name: "gain", text: (one) => gain(one.gain), value: (one) => one.gain, number: true }], report.advice, { id: "advice", caption: "advice" }));
  section("operations-part", "Calls that grow most", () => table([
    { name: "call", text: (one) => one.name }, { name: "operation", text: (one) => one.operation ?? "" }, { name: "size", text: (one) => bytes(one.bytes), value: (one) => one.bytes, number: true }, { name: "place", text: (one) => one.place },
    { name: "off", text: (one) => nanos(one.off_ns), value: (one) => one.off_ns, number: true }, { name: "cc", text: (one) => nanos(one.cc_ns), value: (one) => one.cc_ns, number: true }, { name: "more", text: (one) => nanos(one.cc_ns - one.off_ns), value: (one) => one.cc_ns - one.off_ns, number: true },
  ], report.operations ?? [], { id: "operations", caption: "calls that grow most" }));
  section("calls-part", "Time in calls", () => callsTable(report.runs));
  if (report.assumed?.length || report.events?.left_out?.length) section("assumed-part", "What the trace lacks", () => [el("ul", {}, report.assumed.map((text) => el("li", {}, text)), (report.events?.left_out ?? []).map((one) => el("li", {}, `${plural(one.count, "event")} left out: ${one.reason}`)))]);
  configurationSection(data.configuration);
}

function gain(value) {
  return typeof value === "number" ? percent(value) : String(value ?? "");
}

function callsTable(runs) {
  const names = unique(runs.flatMap((run) => (run.host_calls ?? []).map((call) => call.name)));
  const of = (run, name) => run.host_calls?.find((call) => call.name === name);
  return table([
    { name: "call", text: (name) => name },
    { name: "count", text: (name) => of(runs[0], name)?.count ?? "" },
    ...runs.flatMap((run) => [{ name: run.name, text: (name) => (of(run, name) ? nanos(of(run, name).total_ns) : ""), value: (name) => of(run, name)?.total_ns, number: true }, { name: `${run.name}, first`, text: (name) => (of(run, name) ? nanos(of(run, name).first_ns) : ""), value: (name) => of(run, name)?.first_ns, number: true }]),
  ], names, { id: "calls", caption: "time in calls" });
}
