// The path of a copy: one or two states, which are asked for one question after the other, the quick ones first.

const SETTLE = 40;
const QUESTIONS = ["quick", "off", "describe", "levers", "run", "path", "curve", "designs"];

// The view. `kept` holds the states of its sides as queries, and `keep` is told of each change.
function paths({ choices, fields, kept, keep }) {
  const sides = [];
  const frame = el("div", { class: "sides" });
  const between = el("section", { id: "between", hidden: true, "aria-label": "A beside B" });
  let stop = new AbortController();
  let timer = null;

  function side(name, state) {
    const one = { name, state, todo: new Set(QUESTIONS), described: null, sealed: true };
    const set = (path, value) => {
      if (value === null) state.set.delete(path);
      else state.set.set(path, value);
      changed(one);
    };
    one.answers = answers(name, choices.least_gain, (path, value) => { set(path, value); one.parameters.refill(state); }, (options) => { adopt(state, options); one.parameters.refill(state); one.controls.draw(); changed(one); });
    one.parameters = parameters(name, fields, choices.libraries, set);
    one.parameters.refill(state);
    one.controls = controls(name, choices, state, () => changed(one));
    one.heading = el("small", {});
    one.box = el("section", { class: "side", id: `side-${name}`, "aria-label": `state ${name}` }, el("h2", {}, name, one.heading), el("div", { class: "chosen" }, one.controls.box, one.parameters.box), one.answers.box);
    return one;
  }

  function changed(one) {
    QUESTIONS.forEach((question) => one.todo.add(question));
    keep(Object.fromEntries(["A", "B"].map((name) => [name, sides.find((each) => each.name === name)]).map(([name, each]) => [name, each && write(each.state)])));
    stop.abort();
    stop = new AbortController();
    sides.filter((each) => each.todo.size > 0).forEach((each) => each.answers.busy("asking…", each.todo));
    clearTimeout(timer);
    timer = setTimeout(work, SETTLE);
  }

  // Asks what is open, one question at a time: the program simulates in one thread.
  async function work() {
    const { signal } = stop;
    for (const question of QUESTIONS) {
      for (const one of sides.filter((each) => each.todo.has(question))) {
        try {
          await ask(one, question, signal);
        } catch (error) {
          if (signal.aborted) return;
          one.todo.delete(question);
          if (question === "curve") one.answers.noCurve(error.message);
          else if (!["off", "designs"].includes(question)) refuse(one, error);
        }
        if (signal.aborted) return;
        compare();
      }
    }
    document.documentElement.dataset.ready = "yes";
  }

  async function ask(one, question, signal) {
    const asked = { off: { ...one.state, cc: "off" }, designs: { ...one.state, designs: [] } }[question] ?? one.state;
    const query = write(asked);
    if (["off", "designs"].includes(question) && !one.sealed) {
      one.todo.delete(question);
      return one.answers.uncovered();
    }
    const found = await fetched(`${{ off: "quick" }[question] ?? question}?${query}`, "json", signal);
    if (signal.aborted) return;
    one.todo.delete(question);
    if (question === "quick") one.sealed = found.answer.confidential_computing;
    if (question === "designs") return one.controls.gains(found.answer.designs.map((design) => [design.name, design.copies[0].speedup_over_h100_cc]));
    one.answers.show(question, found, one.state);
    const sampled = found.command.includes("--sample") ? "sampled" : "all of it simulated";
    if (question === "quick") one.answers.ready(`A first answer, ${sampled}; what limits it is being measured.`);
    if (question === "run") one.parameters.moving(found.answer.copies[0].limited_by_parts?.best.map((best) => best.parameter) ?? []);
    if (question === "run") one.answers.ready(`Refined: ${sampled}, limits measured.`);
    if (question === "describe") describe(one, found.answer);
    if (question === "curve") one.answers.cost(one.described, found.answer.designs.find((design) => design.config_digest === one.described?.digest)?.copies.find((copy) => copy.bytes === one.state.bytes));
  }

  function describe(one, description) {
    one.described = description;
    const base = [one.state.machine, ...one.state.designs, one.state.cc].join(" ");
    one.parameters.describe({ ...description, base }, one.state);
    const { state } = one;
    one.heading.textContent = [description.name, `CC ${one.sealed ? "on" : "off"}`, `${state.direction} ${bytes(state.bytes)} ${state.memory}`, ...[...state.set].map(([path, value]) => `${path}=${value}`)].join(", ");
  }

  function refuse(one, error) {
    one.todo.clear();
    one.answers.fail(error.message);
    one.parameters.refused(error.message);
    document.documentElement.dataset.ready = "yes";
  }

  // A beside B.
  function compare() {
    between.hidden = sides.length < 2;
    if (sides.length < 2) return;
    const [a, b] = sides.map((one) => one.answers.figures());
    const changes = differences(sides[0].state, sides[1].state);
    const cell = (value, show) => el("td", { class: "number" }, value === undefined || value === null ? "" : show(value));
    const line = (label, one, other, show) => el("tr", {}, el("th", { scope: "row" }, label), cell(one, show), cell(other, show), el("td", { class: "number" }, one > 0 && other > 0 ? `× ${number(other / one, 3)}` : ""));
    const says = changes.map(([what, one, other]) => `${what}: ${one} in A, ${other} in B`).join("; ");
    between.replaceChildren(
      el("h2", {}, "A and B"),
      el("p", {}, says || "A and B are the same: change one of them."),
      el("div", { class: "table" }, el("table", { id: "beside" }, el("thead", {}, el("tr", {}, ["", "A", "B", "B over A"].map((name) => el("th", { scope: "col", class: "number" }, name)))), el("tbody", {},
        line("rate", a.rate, b.rate, (value) => `${value.toFixed(3)} GB/s`),
        line("time of the copy", a.time, b.time, time),
        line("first message verified", a.first, b.first, time),
        line("longest exposure", a.exposure, b.exposure, (value) => (value ? time(value) : "none"))))),
    );
  }

  function arrange() {
    frame.classList.toggle("two", sides.length > 1);
    frame.replaceChildren(...sides.map((one) => one.box));
    second.textContent = sides.length > 1 ? "Leave B" : "Compare";
    compare();
  }

  const second = el("button", { type: "button", id: "second", click: () => {
    if (sides.length > 1) sides.pop();
    else sides.push(side("B", copyOf(sides[0].state)));
    arrange();
    changed(sides.at(-1));
  } });
  ["A", "B"].filter((name) => kept[name]).forEach((name) => sides.push(side(name, read(kept[name]))));
  arrange();
  return {
    box: el("div", {}, el("div", { class: "row" }, second), between, frame),
    begin: () => changed(sides[0]),
    leave: () => stop.abort(),
  };
}
