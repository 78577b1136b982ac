// The parameters of a machine: search, and a slider, a choice or a field for each, with its range and where it comes from.

const SHOWN = 40;
// `fields` is what each means, `libraries` which core was measured with which library; `changed(path, value)` is called with null to take a change back.
function parameters(name, fields, libraries, changed) {
  let known = [];
  let base = null;
  let state = null;
  let found = null;
  let movers = [];
  const open = new Set();
  const box = el("div", { class: "parameters", "aria-label": `parameters of ${name}`, role: "group" });
  const count = el("p", { class: "soft" });
  // What is changed can be taken back also where it makes no machine, of which nothing else is known.
  const chips = el("div", { class: "row", role: "group", "aria-label": `changed parameters of ${name}` });
  const drawChips = () => {
    count.textContent = counted();
    chips.replaceChildren(...[...state.set].map(([path, value]) => el("button", { type: "button", class: "chip laid", "aria-pressed": "true", "aria-label": `take back ${path}`, click: () => { changed(path, null); fill(); } }, `${path}=${value}`)));
  };
  const search = el("input", { type: "search", id: `search-${name}`, placeholder: "name, unit or meaning: newer openssl", input: () => fill() });

  const meaning = (path) => fields[path] ?? fields[path.replace(/\.\d+(?=\.|$)/g, "[N]")] ?? { words: "", meaning: "", choices: [] };
  const text = (one) => `${one.path} ${one.unit} ${one.kind} ${meaning(one.path).words} ${meaning(one.path).meaning} ${one.value}`.toLowerCase();

  const blockOf = (one) => NAMES.blocks.findIndex(([block]) => block === one.path.split(".")[0]) % NAMES.blocks.length;

  // Those that have most of the words, or what the words are also called; names before meanings.
  function matches(words) {
    const synonyms = (word) => [word, ...(NAMES.synonyms.find(([one]) => one === word)?.[1].split(" ") ?? [])];
    const all = words.map(synonyms);
    const hits = (text) => all.filter((any) => any.some((word) => text.includes(word))).length;
    const scored = known.map((one, at) => ({ one, at, hits: hits(one.text), named: hits(one.path.toLowerCase()) }));
    const most = Math.max(1, ...scored.map((each) => each.hits));
    return scored.filter((each) => each.hits === most).sort((a, b) => b.named - a.named || a.at - b.at).map((each) => each.one);
  }

  // What is changed and what moves the answer, then the blocks of the path, folded; or what is searched for.
  function fill() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = words.length > 0 ? matches(words) : null;
    const first = known.filter((one) => state.set.has(one.path) || movers.includes(one.path) || one.path === "cipher.library");
    box.replaceChildren(...(found ? found.slice(0, SHOWN).map(row) : [block("Changed, or moves the answer", first, true), ...NAMES.blocks.map(([, heading], at) => block(heading, known.filter((one) => blockOf(one) === at && !first.includes(one)))), block("Other", known.filter((one) => blockOf(one) < 0))].filter(Boolean)));
    drawChips();
  }

  function block(heading, all, unfolded = false) {
    if (all.length === 0) return null;
    const rows = el("div", { role: "list", "aria-label": `${heading} of ${name}` });
    const whole = el("details", { open: unfolded || open.has(heading) }, el("summary", {}, `${heading} (${all.length})`), rows);
    const show = () => {
      if (whole.open) rows.replaceChildren(...all.map(row));
      open[whole.open ? "add" : "delete"](heading);
    };
    whole.addEventListener("toggle", show);
    if (whole.open) rows.replaceChildren(...all.map(row));
    return whole;
  }

  function counted() {
    const more = found?.length > SHOWN ? `, ${SHOWN} of them shown` : "";
    return `${found ? `${found.length} of ` : ""}${known.length} parameters${more}; ${state.set.size} changed`;
  }

  function row(one) {
    const means = meaning(one.path);
    const id = `${name}-${one.path}`;
    const back = el("button", { type: "button", class: "link", hidden: !state.set.has(one.path), click: () => { changed(one.path, null); fill(); } }, "take back");
    const box = el("div", { class: "parameter", role: found ? null : "listitem" },
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

  // The choices of a closed set. Libraries are those that were measured on the core.
  function optionsOf(one, means) {
    const core = state.set.get("cpu.core") ?? known.find((each) => each.path === "cpu.core")?.value;
    const of = { "cipher.library": libraries.filter(([each]) => !core || each === core).map(([, library]) => library), "cpu.core": unique(libraries.map(([each]) => each)) }[one.path];
    if (of) return of.map((name) => ({ name }));
    return one.unit === "switch" ? [{ name: "true" }, { name: "false" }] : [...(means.choices ?? [])];
  }

  function control(one, means, id, set) {
    const value = state.set.get(one.path) ?? one.value;
    const label = `${one.path} of ${name}`;
    const options = optionsOf(one, means);
    if (options.length > 0) {
      if (!options.some((option) => option.name === value)) options.push({ name: value });
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
    // What limits a copy comes first.
    moving(paths) {
      const same = String(paths) === String(movers);
      movers = paths;
      if (!same && !box.contains(document.activeElement)) fill();
    },
    // Marks the fields that a refusal names.
    refused(words) {
      for (const path of state.set.keys()) document.getElementById(`${name}-${path}`)?.setAttribute("aria-invalid", String(words.includes(path)));
    },
    refill(now) {
      state = now;
      fill();
    },
  };
}
