// A shipped workload, such as a training iteration on several GPUs: its parameters, and designs beside each other.

import { choice, el, number, percent, time } from "./base.js";
import { fetched } from "./state.js";

// The view. `kept.W` is its state as a query, and `keep` is told of each change.
export function workloads({ choices, kept, keep }) {
  const known = new Map(choices.workloads.map((one) => [one.name, one]));
  const designs = choices.shipped.filter((one) => one.kind === "design");
  const first = new URLSearchParams(kept.W ?? "workload=ddp-bert-large&design=staged&design=direct&design=link");
  const state = {
    workload: known.has(first.get("workload")) ? first.get("workload") : "ddp-bert-large",
    params: new Map(first.getAll("param").map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])),
    designs: first.getAll("design"),
  };
  let stop = null;

  const said = el("p", { class: "soft" });
  const params = el("div", { class: "row" });
  const chips = el("div", { class: "row", role: "group", "aria-label": "designs beside each other" });
  const status = el("p", { class: "state", role: "status", "aria-live": "polite" });
  const failed = el("p", { class: "notice bad", role: "alert", hidden: true });
  const found = el("div", { class: "fresh" });
  const go = el("button", { type: "button", id: "simulate", click: () => (stop ? leave() : ask()) }, "Simulate");

  function write() {
    const parts = new URLSearchParams({ workload: state.workload });
    state.params.forEach((value, name) => parts.append("param", `${name}=${value}`));
    state.designs.forEach((design) => parts.append("design", design));
    return parts.toString();
  }

  function draw() {
    const { summary, machine, parameters } = known.get(state.workload);
    said.textContent = `${summary}, on ${machine}.`;
    params.replaceChildren(...Object.entries(parameters ?? {}).map(([name, value]) => {
      const field = el("input", { type: "text", class: "value", value: state.params.get(name) ?? value, change: () => { state.params.set(name, field.value.trim()); changed(); } });
      return el("label", {}, name, field);
    }));
    const chip = (design, at) => el("button", { type: "button", class: "chip laid", "aria-pressed": "true", "aria-label": `take away ${design}`, click: () => { state.designs.splice(at, 1); draw(); changed(); } }, design);
    const more = el("select", { "aria-label": "put a design beside the others", change: () => { state.designs.push(more.value); draw(); changed(); } },
      el("option", { value: "" }, "a design beside the others…"),
      designs.filter((one) => !state.designs.includes(one.name)).map((one) => el("option", { value: one.name }, `${one.name}: ${one.summary.slice(0, 70)}`)));
    chips.replaceChildren(...state.designs.map(chip), more);
  }

  function changed() {
    keep({ W: write() });
    if (stop) leave();
    found.replaceChildren();
    status.textContent = "";
  }

  function leave() {
    stop?.abort();
    stop = null;
    go.textContent = "Simulate";
    status.textContent = "Stopped.";
  }

  async function ask() {
    const mine = new AbortController();
    const query = write();
    stop = mine;
    go.textContent = "Stop";
    failed.hidden = true;
    status.textContent = "Each design is simulated; this takes seconds.";
    const begun = performance.now();
    try {
      const { command, answer } = await fetched(`workload?${query}`, "json", mine.signal);
      show(command, answer, await fetched(`workload.svg?${query}`, "text", mine.signal), query);
      status.textContent = `All of it simulated in ${((performance.now() - begun) / 1000).toFixed(1)} s.`;
    } catch (error) {
      if (mine.signal.aborted) return;
      failed.textContent = error.message;
      failed.hidden = false;
      status.textContent = "";
    }
    stop = null;
    go.textContent = "Simulate";
  }

  function show(command, answer, svg, query) {
    const head = ["design", "end of the run", "over off", "collectives", "exposed", "GPU idle", "longest exposure of plaintext", "limited by"];
    const line = (one) => [one.name, time(one.time_ps), number(one.slowdown_over_off, 4), time(one.collectives_ps ?? 0), time(one.collectives_exposed_ps ?? 0), percent(one.gpu_idle), one.exposure_ps ? time(one.exposure_ps) : "none", one.limited_by];
    const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", "runs by design; the table gives the same");
    found.replaceChildren(
      el("div", { class: "table", tabindex: 0, role: "region", "aria-label": "designs" }, el("table", { id: "runs" }, el("thead", {}, el("tr", {}, head.map((name, at) => el("th", { scope: "col", class: at > 0 && at < 7 ? "number" : null }, name)))), el("tbody", {}, answer.designs.map((one) => el("tr", {}, line(one).map((cell, at) => el("td", { class: at > 0 && at < 7 ? "number" : null }, cell))))))),
      el("div", { class: "plot", tabindex: 0, role: "region", "aria-label": "plot of the runs" }, document.adoptNode(picture)),
      el("p", {}, el("a", { href: `workload.svg?${query}`, download: "runs.svg" }, "SVG"), " ", el("a", { href: `workload.pdf?${query}`, download: "runs.pdf" }, "PDF")),
      ...(answer.cautions.length > 0 ? [el("p", { class: "soft" }, `Errors are large or not known for: ${answer.cautions.join("; ")}`)] : []),
      el("p", { class: "soft" }, "The same on the command line"),
      el("pre", { "data-command": "workload" }, command),
    );
  }

  const select = choice("", "workload", [...known.keys()].map((name) => [name, name]), state.workload, (value) => {
    state.workload = value;
    state.params.clear();
    draw();
    changed();
  });
  select.querySelector("select").setAttribute("aria-label", "workload");
  const part = (legend, ...children) => el("fieldset", {}, el("legend", {}, legend), children);
  draw();
  return {
    box: el("section", { id: "workload-view", "aria-label": "workload" }, part("Workload", select, said), part("Its parameters", params), part("Designs beside each other", chips), go, status, failed, found),
    begin() {},
    leave() { if (stop) leave(); },
  };
}
