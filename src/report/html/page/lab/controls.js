// What is chosen on a side: machine, designs, copy.

const LEAST = 12;
const MOST = 40;
const CC = [["", "Machine default"], ["on", "on"], ["off", "off"]];

// The controls of a state, which they change in place before they call `changed`.
function controls(name, { shipped, offered }, state, changed) {
  const of = (kind) => [...new Set([...shipped.filter((one) => one.kind === kind).map((one) => one.name), ...offered.filter((one) => !shipped.some((known) => known.name === one))])];
  const summary = new Map(shipped.map((one) => [one.name, one.summary]));
  const said = el("p", { class: "soft" });
  const machine = choice("", `machine-${name}`, of("machine").map((one) => [one, one]), state.machine, (value) => {
    state.machine = value;
    draw();
    changed();
  });
  machine.querySelector("select").setAttribute("aria-label", `machine of ${name}`);

  const gains = new Map();
  const known = of("design").map((one) => ({ name: one, summary: summary.get(one) ?? "" }));
  const chips = designChips(`designs of ${name}`, { id: `design-${name}`, gains }, known, () => state.designs, changed);

  const radio = (group, [value, label], now, set) => {
    const button = el("button", { type: "button", class: "chip", "aria-pressed": String(now() === value), "data-value": value, click: () => { set(value); draw(); changed(); } }, label);
    button.update = () => button.setAttribute("aria-pressed", String(now() === value));
    return button;
  };
  const direction = [["h2d", "host to GPU"], ["d2h", "GPU to host"]].map((one) => radio("direction", one, () => state.direction, (value) => { state.direction = value; }));
  const memory = [["pinned", "pinned"], ["pageable", "pageable"]].map((one) => radio("memory", one, () => state.memory, (value) => { state.memory = value; }));
  const cc = choice("", `cc-${name}`, CC, state.cc, (value) => { state.cc = value; changed(); });
  cc.querySelector("select").setAttribute("aria-label", `confidential computing of ${name}`);

  const wrong = el("small", { class: "notice bad", role: "alert", hidden: true }, "A size is a number with B, KiB, MiB, GiB or TiB: 64MiB.");
  const size = el("input", { type: "text", class: "value", id: `size-${name}`, "aria-label": `size of the copy of ${name}`, change: () => {
    const bytes = readSize(size.value);
    size.setAttribute("aria-invalid", String(bytes === null));
    wrong.hidden = bytes !== null;
    if (bytes === null) return;
    state.bytes = bytes;
    draw();
    changed();
  } });
  const slide = el("input", { type: "range", min: LEAST, max: MOST, step: 1, id: `slide-${name}`, "aria-label": `size of the copy of ${name}, slider`, input: () => { state.bytes = 2 ** Number(slide.value); draw(); changed(); } });

  const draw = () => {
    said.textContent = summary.get(state.machine) ?? "";
    machine.querySelector("select").value = state.machine;
    cc.querySelector("select").value = state.cc;
    chips.draw();
    [...direction, ...memory].forEach((one) => one.update());
    size.value = sizeText(state.bytes);
    size.setAttribute("aria-invalid", "false");
    wrong.hidden = true;
    slide.value = Math.round(Math.log2(state.bytes));
    slide.setAttribute("aria-valuetext", size.value);
  };
  draw();
  return {
    draw,
    // How many times as fast as today's path each design is.
    gains(all) {
      gains.clear();
      all.forEach(([name, gain]) => gains.set(name, gain));
      if (document.activeElement?.id !== `design-${name}`) chips.draw();
    },
    box: [
      part("Machine", machine, said),
      part("Designs", chips.box),
      part("Confidential computing", cc),
      part("Copy", el("div", { class: "row" }, direction, memory), el("div", { class: "row" }, slide, size), wrong),
    ],
  };
}
