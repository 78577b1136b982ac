// A program: its profile, played with confidential computing, and what of it to change.

const nanos = (value) => (value === null || value === undefined ? "not known" : time(value * 1000));

// The view. `kept.P` is its state as a query, and `keep` is told of each change.
function programs({ choices, kept, keep }) {
  const of = (kind) => choices.shipped.filter((one) => one.kind === kind);
  const first = new URLSearchParams(kept.P ?? choices.program ?? "program=decode-loop");
  const state = { programs: first.getAll("program"), api: first.get("api"), hw: first.get("hw") ?? "", designs: first.getAll("design"), expand: first.get("expand") ?? "", step_time: first.get("step_time") ?? "", changes: new Set(first.getAll("change")) };
  // Names of files that were dropped have their digest before them.
  const known = [...new Set([...choices.programs, ...state.programs, ...choices.workloads.map((one) => one.name)])];
  const shipped = new Set(choices.workloads.map((one) => one.name));
  const chosen = el("span", { id: "given" });
  const own = (name) => name.replace(/^[0-9a-f]{8}\//, "");
  const found = el("div", { class: "fresh" });

  function write() {
    const parts = new URLSearchParams();
    const add = (name, values) => values.filter(Boolean).forEach((value) => parts.append(name, value));
    add("program", state.programs);
    for (const name of ["api", "hw", "expand", "step_time"]) add(name, [state[name]]);
    add("design", state.designs);
    add("change", [...state.changes]);
    return parts.toString();
  }

  const asking = asker(found, {
    ask: async (signal) => {
      const query = write();
      const { command, answer } = await fetched(`program?${query}`, "json", signal);
      return shown(command, answer, await fetched(`program.svg?${query}`, "text", signal), query);
    },
    waits: "The program is played again; with large copies this takes seconds.",
    done: (seconds) => `Played in ${seconds} s.`,
  });

  function changed() {
    keep({ P: write() });
    asking.begin();
  }

  function switches(rows, step) {
    const can = new Map(rows.map((row) => [row.name, row]));
    const lines = choices.changes.filter(({ name }) => can.has(name)).map(({ name, what }) => {
      const row = can.get(name);
      const box = el("input", { type: "checkbox", id: `change-${name}`, checked: state.changes.has(name), change: () => { if (box.checked) state.changes.add(name); else state.changes.delete(name); changed(); } });
      return [row.gain, [el("label", { title: row.how }, box, " ", what), nanos(row.step_ns ?? row.ns), percent(row.gain), row.calls]];
    });
    const none = choices.changes.filter(({ name }) => !can.has(name)).map(({ what }) => what);
    return [el("h3", {}, "What to change"), el("p", { class: "soft" }, "What each change gives back by itself. Switch some on, and the program is played with all of them."),
      table("what to change", ["change", step ? "step with CC" : "run with CC", "shorter by", "calls changed"], lines.sort((a, b) => b[0] - a[0]).map(([, line]) => line), { id: "changes" }),
      none.length > 0 && el("p", { class: "soft" }, `No call of the program can be changed by: ${none.join("; ")}.`)];
  }

  function shown(command, answer, svg, query) {
    const rows = answer.what_if ?? [];
    const looped = answer.steps?.runs;
    // A mean that a few steps decide is no step that the picture could show.
    const uneven = looped?.some((run) => run.mean_ns >= 4 * run.median_ns);
    const runs = (looped ?? answer.runs).map((run) => ({ name: run.name, ns: (uneven ? run.median_ns : run.mean_ns) ?? run.end_ns, over: uneven ? run.median_ns / looped[0].median_ns : run.slowdown_over_off, idle: run.gpu_idle_ns, bound: run.host_bound }));
    const off = runs[0];
    const together = rows.find((row) => row.name === [...choices.changes].map((one) => one.name).filter((name) => state.changes.has(name)).join("+"));
    if (together && off.ns && !uneven) runs.push({ name: `cc, ${together.name}`, ns: together.step_ns ?? together.ns, over: (together.step_ns ?? together.ns) / off.ns, same: together.off_step_ns });
    const says = (value, show) => (value === null || value === undefined ? "not known" : show(value));
    const which = looped ? (uneven ? "median step" : `mean of ${plural(answer.steps.count, "step")}`) : "the run";
    const costs = (ns, off) => (ns >= 2 * off ? `${number(ns / off, 3)} × as long` : `${percent(ns / off - 1)} longer`);
    const card = (run) => {
      if (run === off) return tile(nanos(run.ns), `${which}, without CC`, "main");
      if (run.same) return tile(nanos(run.ns), `${which}, with CC and ${together.name.replaceAll("+", ", ")}; without CC ${nanos(run.same)}: CC costs ${percent(run.ns / run.same - 1)}`, "main");
      if (together && run === runs.at(-1)) return tile(nanos(run.ns), `${which}, with CC and ${together.name.replaceAll("+", ", ")}: ${percent(together.gain)} shorter than with CC alone${looped ? "; no profile says what copies so changed take without CC" : ""}`, "main");
      return tile(nanos(run.ns), `${which}, ${run.name === "cc" ? "with CC" : run.name}${off.ns ? `: ${costs(run.ns, off.ns)}` : ""}`, "main");
    };
    const tiles = runs.map(card);
    const idle = runs.some((run) => typeof run.idle === "number");
    const loss = answer.breakdown.filter((share) => (share.per_step_ns ?? share.ns) > 0).sort((a, b) => (b.per_step_ns ?? b.ns) - (a.per_step_ns ?? a.ns))[0];
    return [
      answer.notices.map((text) => el("p", { class: "notice" }, text)),
      el("div", { class: "tiles" }, tiles),
      el("p", { class: "soft" }, `${answer.steps ? `${answer.steps.found}. ` : ""}${loss ? `Most of what CC takes: ${label(loss.cause, "cause")}, ${nanos(loss.per_step_ns ?? loss.ns)}.` : ""}`),
      switches(rows, Boolean(looped)),
      el("h3", {}, looped ? `The step of median length, ${nanos(looped.at(-1).median_ns)} with CC` : "The run"),
      picture(svg, "what threads and GPUs do; copies that hold the host are black", "program", query),
      table("runs", ["run", which, "over off", ...(idle ? ["GPU idle"] : []), "bound by"], runs.map((run) => [run.name, nanos(run.ns), says(run.over, times), ...(idle ? [says(run.idle, nanos)] : []), says(run.bound, (host) => (host ? "host" : "GPU"))]), { id: "program-runs", text: [0, idle ? 4 : 3] }),
      el("details", {}, el("summary", {}, "What the profile lacks"), el("ul", {}, answer.assumed.map((text) => el("li", {}, text)), answer.events.left_out.map((one) => el("li", {}, `${one.count} left out: ${one.reason}`)))),
      el("p", { class: "soft" }, "The same on the command line"), commandOf("program", command),
    ];
  }

  // Tables of Nsight Systems come in pairs.
  async function take(files) {
    const list = [...files];
    if (list.length === 0) return;
    try {
      const names = await Promise.all(list.map(async (file) => (await sent(`drop?${new URLSearchParams({ name: file.name })}`, file)).program));
      const calls = names.length === 2 ? names.find((name) => name.includes("api_trace")) : null;
      state.api = calls ?? null;
      state.programs = names.filter((name) => name !== calls);
      names.filter((name) => !known.includes(name)).forEach((name) => known.unshift(name));
      state.changes.clear();
      draw();
      changed();
    } catch (error) {
      asking.refuse(error.message);
    }
  }

  const select = el("select", { id: "program", "aria-label": "program", change: () => { state.programs = [select.value]; state.api = null; state.changes.clear(); draw(); changed(); } });
  const draw = () => {
    const several = state.programs.length > 1 ? [[state.programs[0], `${state.programs.length} ranks: ${state.programs.map(own).join(", ")}`]] : [];
    const option = ([value, text]) => el("option", { value, selected: value === state.programs[0] }, text);
    const groups = [["Your own", [...several, ...known.filter((name) => !shipped.has(name)).map((name) => [name, own(name)])]], ["Shipped", [...shipped].map((name) => [name, name])]];
    select.replaceChildren(...groups.filter(([, all]) => all.length > 0).map(([heading, all]) => el("optgroup", { label: heading }, all.map(option))));
    const given = [...state.programs, state.api].filter((name) => name && !shipped.has(name)).map(own);
    chosen.textContent = given.join(", ") || "none chosen";
  };
  draw();
  const file = el("input", { type: "file", id: "profile", multiple: true, class: "hidden", "aria-label": "choose profiles", change: () => take(file.files) });
  const over = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
  const zone = el("div", { class: "drop", id: "drop", dragover: over, dragleave: over, drop: (event) => { over(event); file.files = event.dataTransfer.files; take(file.files); } },
    el("p", {}, "Drop a profile here that was taken without CC (PyTorch profiler, Nsight Systems, Chakra), or choose one. Several files are ranks of one job. They stay on this computer."), el("p", {}, el("label", { class: "file" }, "Choose profiles", file), " ", chosen));
  const field = (label, name, hint) => {
    const input = el("input", { type: "text", class: "value", id: `program-${name}`, placeholder: hint, value: state[name], change: () => { state[name] = input.value.trim(); changed(); } });
    return el("label", {}, label, input);
  };
  const machine = choice("machine ", "hw", [["", "that of the program, or h100-nvl-tdx"], ...of("machine").map((one) => [one.name, one.name])], state.hw, (value) => { state.hw = value; changed(); });
  return {
    box: el("section", { id: "program-view", "aria-label": "program" },
      part("Program", zone, el("div", { class: "row" }, el("label", {}, "or choose a program", select))),
      part("Played on", el("div", { class: "row" }, machine, field("Replicate to N ranks", "expand", "1"), field("a step takes, measured without a profiler", "step_time", "11.2ms"))),
      part("Designs beside it", designChips("designs beside it", {}, of("design"), () => state.designs, changed).box),
      asking.parts, found),
    begin: () => asking.begin(),
    leave: () => asking.leave(),
  };
}
