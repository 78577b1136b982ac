// The parameters of a machine, each with where its value comes from.

let filterParameters = null;

function configurationSection(configuration) {
  if (!configuration?.parameters) return;
  section("configuration", "Configuration", (box) => {
    const all = configuration.parameters;
    const kinds = unique(all.map((one) => one.kind));
    const place = el("div");
    let [wanted, kind] = ["", ""];
    const columns = [
      { name: "parameter", text: (one) => el("code", {}, one.path), value: (one) => one.path },
      { name: "value", text: (one) => one.value },
      { name: "unit", text: (one) => one.unit ?? "" },
      { name: "provenance", text: (one) => one.kind },
      { name: "range", text: (one) => (one.low || one.high ? `${one.low ?? ""} to ${one.high ?? ""}` : ""), narrow: true },
      { name: "source", text: (one) => one.source ?? "", wide: true },
    ];
    const fill = () => {
      const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
      const has = (one) => words.every((word) => [one.path, one.value, one.kind, one.source].join(" ").toLowerCase().includes(word));
      const found = all.filter((one) => (!kind || one.kind === kind) && has(one));
      place.replaceChildren(el("p", { class: "soft", id: "parameter-count", "aria-live": "polite" }, `${found.length} of ${plural(all.length, "parameter")}`), table(columns, found, { id: "parameters", caption: "parameters", sort: { name: "parameter" } }));
    };
    const search = el("input", { type: "search", id: "parameter-search", placeholder: "search", "aria-label": "search parameters", input: () => { wanted = search.value; fill(); } });
    filterParameters = (path) => {
      search.value = path;
      wanted = path;
      fill();
      document.getElementById("configuration").scrollIntoView();
      search.focus({ preventScroll: true });
    };
    const counts = kinds.map((name) => `${all.filter((one) => one.kind === name).length} ${name}`).join(", ");
    attach(box, {}, [
      listed([["machine", `${configuration.name}: ${configuration.summary ?? ""}`], ["from", (configuration.layers ?? []).join(", then ")], ["digest", el("code", {}, configuration.digest ?? "")], ["switches", Object.entries(configuration.switches ?? {}).map(([name, on]) => `${name} = ${on}`).join(", ")], ["provenance", counts]]),
      el("div", { class: "controls" }, search, choice("provenance", "parameter-kind", [["", "all"], ...kinds.map((name) => [name, name])], "", (value) => { kind = value; fill(); })),
      place,
    ]);
    fill();
  });
}

// A button that shows a parameter in its table, or its path where there is no table.
function parameterLink(path, data) {
  const known = data.configuration?.parameters?.some((one) => one.path === path);
  return known ? el("button", { type: "button", class: "mono link", click: () => filterParameters?.(path) }, path) : el("code", {}, path);
}
