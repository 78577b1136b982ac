// The parameters of a machine: search, and a slider, a choice or a field for each, with its range and where it comes from.

const SHOWN = 40;
// What the path of a copy goes through comes first.
const GROUPS = ["cipher", "driver", "link", "copy_engine", "engine", "tag_queue", "hbm", "root_complex", "host_memory", "confidential_computing"];

// `fields` is what each means; `changed(path, value)` is called with null to take a change back.
function parameters(name, fields, changed) {
  let known = [];
  let base = null;
  let state = null;
  let matched = 0;
  const box = el("div", { class: "parameters", role: "list", "aria-label": `parameters of ${name}` });
  const count = el("p", { class: "soft" });
  // What is changed can be taken back also where it makes no machine, of which nothing else is known.
  const chips = el("div", { class: "row", role: "group", "aria-label": `changed parameters of ${name}` });
  const drawChips = () => {
    count.textContent = counted();
    chips.replaceChildren(...[...state.set].map(([path, value]) => el("button", { type: "button", class: "chip laid", "aria-pressed": "true", "aria-label": `take back ${path}`, click: () => { changed(path, null); fill(); } }, `${path}=${value}`)));
  };
  const search = el("input", { type: "search", id: `search-${name}`, placeholder: "name, unit or meaning: rate, tag, time", input: () => fill() });

  const meaning = (path) => fields[path] ?? fields[path.replace(/\.\d+(?=\.|$)/g, "[N]")] ?? { words: "", meaning: "", choices: [] };
  const text = (one) => `${one.path} ${one.unit} ${one.kind} ${meaning(one.path).words} ${meaning(one.path).meaning} ${one.value}`.toLowerCase();

  function matches() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = known.filter((one) => words.every((word) => one.text.includes(word)));
    const group = (one) => (GROUPS.indexOf(one.path.split(".")[0]) + GROUPS.length + 1) % (GROUPS.length + 1);
    const rank = (one) => (state.set.has(one.path) ? 0 : 100) + (words.length > 0 && !one.path.includes(words[0]) ? 50 : 0) + group(one);
    return found.map((one, at) => [rank(one), at, one]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , one]) => one);
  }

  function fill() {
    const found = matches();
    const shown = found.slice(0, SHOWN);
    box.replaceChildren(...shown.map(row));
    matched = found.length;
    drawChips();
  }

  function counted() {
    const more = matched > SHOWN ? `, ${SHOWN} of them shown` : "";
    return `${matched} of ${known.length} parameters${more}; ${state.set.size} changed`;
  }

  function row(one) {
    const means = meaning(one.path);
    const id = `${name}-${one.path}`;
    const back = el("button", { type: "button", class: "link", hidden: !state.set.has(one.path), click: () => { changed(one.path, null); fill(); } }, "take back");
    const box = el("div", { class: "parameter", role: "listitem" },
      el("p", {}, el("code", {}, one.path), " ", el("span", { class: `kind ${one.kind}`, title: one.source }, one.kind), " ", back),
      el("p", { class: "soft" }, prose(means.meaning || means.words)),
      el("div", { class: "row" }, control(one, means, id, (value) => { changed(one.path, value); mark(); })),
      el("p", { class: "soft" }, rangeOf(one), one.source && el("details", {}, el("summary", {}, "source"), one.source)));
    const mark = () => {
      box.classList.toggle("changed", state.set.has(one.path));
      back.hidden = !state.set.has(one.path);
      drawChips();
    };
    mark();
    return box;
  }

  function rangeOf(one) {
    if (one.low === null && one.high === null) return "";
    return `stated range ${one.low ?? ""} to ${one.high ?? ""}`;
  }

  function control(one, means, id, set) {
    const value = state.set.get(one.path) ?? one.value;
    const label = `${one.path} of ${name}`;
    const options = one.unit === "switch" ? [{ name: "true" }, { name: "false" }] : means.choices ?? [];
    if (options.length > 0) {
      const select = el("select", { id, "aria-label": label, change: () => set(select.value) }, options.map(({ name: option }) => el("option", { value: option, selected: option === value }, option)));
      return select;
    }
    const field = el("input", { type: "text", class: "value", id, value, "aria-label": label, spellcheck: "false", change: () => { set(field.value.trim()); if (range) range.value = scale.place(field.value); } });
    const scale = slider(one);
    const range = scale && el("input", {
      type: "range", min: 0, max: scale.steps, "aria-label": `${label}, slider`, "aria-valuetext": value,
      input: () => {
        field.value = scale.value(Number(range.value));
        range.setAttribute("aria-valuetext", field.value);
        set(field.value);
      },
    });
    if (range) range.value = scale.place(value);
    return [range, field];
  }

  return {
    box: el("fieldset", {}, el("legend", {}, el("label", { for: search.id }, "Parameters")), chips, search, count, box),
    // The machine's own values, without what the page has changed.
    describe(description, now) {
      state = now;
      const values = new Map(base === description.base ? known.map((one) => [one.path, one.value]) : []);
      const switches = Object.entries(description.switches).map(([path, truth]) => ({ path, value: String(truth), unit: "switch", kind: "switch", source: "", low: null, high: null }));
      known = [...switches, ...description.parameters].map((one) => ({ ...one, value: state.set.has(one.path) ? values.get(one.path) ?? one.value : one.value }));
      known.forEach((one) => { one.text = text(one); });
      base = description.base;
      // Whoever moves a slider keeps it.
      if (!box.contains(document.activeElement)) fill();
    },
    refill(now) {
      state = now;
      fill();
    },
  };
}
