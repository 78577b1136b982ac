// A shipped workload, such as a training iteration on several GPUs: its parameters, and designs beside each other.

// The view. `kept.W` is its state as a query, and `keep` is told of each change.
function workloads({ choices, kept, keep }) {
  const known = new Map(choices.workloads.map((one) => [one.name, one]));
  const first = new URLSearchParams(kept.W ?? "workload=ddp-bert-large&design=staged&design=direct&design=link");
  const state = {
    workload: known.has(first.get("workload")) ? first.get("workload") : "ddp-bert-large",
    params: new Map(first.getAll("param").map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])),
    designs: first.getAll("design"),
  };
  const offered = choices.shipped.filter((one) => one.kind === "design");
  const said = el("p", { class: "soft" });
  const params = el("div", { class: "row" });
  const others = el("div", {});
  const found = el("div", { class: "fresh" });
  const go = el("button", { type: "button", id: "simulate", click: () => (asking.asks() ? asking.leave() : asking.begin()) }, "Simulate");
  const asking = asker(found, {
    ask: async (signal) => {
      const query = write();
      const { command, answer } = await fetched(`workload?${query}`, "json", signal);
      return shown(command, answer, query);
    },
    say: (asks) => { go.textContent = asks ? "Stop" : "Simulate"; },
    waits: "Each design is simulated; this takes seconds.",
    done: (seconds) => `All of it simulated in ${seconds} s.`,
  });

  function write() {
    const parts = new URLSearchParams({ workload: state.workload });
    state.params.forEach((value, name) => parts.append("param", `${name}=${value}`));
    state.designs.forEach((design) => parts.append("design", design));
    return parts.toString();
  }

  function draw() {
    const { summary, machine, parameters, published } = known.get(state.workload);
    said.textContent = `${summary}, on ${machine}.`;
    others.replaceChildren(...(published.length > 0 ? [el("h3", {}, "Published figures"), table("published figures", ["figure", "of", "source"], published, { id: "published", text: [0, 1, 2] })] : []));
    params.replaceChildren(...Object.entries(parameters ?? {}).map(([name, value]) => {
      const field = el("input", { type: "text", class: "value", value: state.params.get(name) ?? value, change: () => { state.params.set(name, field.value.trim()); changed(); } });
      return el("label", {}, name, field);
    }));
  }

  function changed() {
    keep({ W: write() });
    asking.leave();
    found.replaceChildren();
  }

  function shown(command, answer, query) {
    const idle = answer.designs.some((one) => typeof one.gpu_idle === "number");
    const head = ["design", "end of the run", "over off", "collectives", "exposed", ...(idle ? ["GPU idle"] : []), "longest exposure of plaintext", "limited by"];
    const drawing = el("figure", { class: "chart" });
    amounts(drawing, () => answer.designs.map((one, place) => ({ name: one.name, value: one.time_ps, text: time(one.time_ps), fill: look(place).colour })), "end of the workload by design");
    const line = (one) => [one.name, time(one.time_ps), number(one.slowdown_over_off, 4), time(one.collectives_ps ?? 0), time(one.collectives_exposed_ps ?? 0), ...(idle ? [typeof one.gpu_idle === "number" ? percent(one.gpu_idle) : "no kernels"] : []), one.exposure_ps ? time(one.exposure_ps) : "none", one.limited_by];
    return [
      table("designs", head, answer.designs.map(line), { id: "runs", text: [0, head.length - 1] }),
      state.designs.map((name) => el("p", { class: "soft" }, el("b", {}, name), `: ${offered.find((one) => one.name === name)?.summary ?? ""}`)),
      drawing, el("p", {}, filesOf("workload", query)),
      answer.cautions.length > 0 && el("p", { class: "soft" }, `Errors are large or not known for: ${answer.cautions.join("; ")}`),
      el("p", { class: "soft" }, "The same on the command line"),
      commandOf("workload", command),
    ];
  }

  const select = choice("", "workload", [...known.keys()].map((name) => [name, name]), state.workload, (value) => {
    state.workload = value;
    state.params.clear();
    draw();
    changed();
  });
  select.querySelector("select").setAttribute("aria-label", "workload");
  const chips = designChips("designs beside each other", {}, offered, () => state.designs, changed);
  draw();
  return {
    box: el("section", { id: "workload-view", "aria-label": "workload" }, part("Workload", select, said), part("Its parameters", params), part("Designs beside each other", chips.box), go, asking.parts, found, others),
    begin() {},
    leave: () => asking.leave(),
  };
}
