// The pages of a comparison: of single copies, and of a workload.

const CURVES = ["gb_per_s", "time_ps", "speedup_over_baseline", "speedup_over_h100_cc", "fraction_of_off", "first_verified_ps", "exposure_ps"];
const COPY_COLUMNS = ["gb_per_s", "time_ps", "speedup_over_baseline", "fraction_of_off", "first_verified_ps", "exposure_ps", "quarantine_bytes", "forgery_log2"];
const WORKLOAD_COLUMNS = ["time_ps", "slowdown_over_off", "speedup_over_h100_cc", "gpu_idle", "h2d_bytes", "h2d_device_ps", "h2d_calls_ps", "d2h_bytes", "d2h_device_ps", "d2h_calls_ps", "exposure_ps"];

function comparePage(data) {
  if ("workload" in data.report) workloadComparison(data);
  else copyComparison(data);
  section("designs-part", "Designs", () => designsPart(data.report));
  configurationSection(data.configuration);
}

function showFigure(name) {
  return (value, digits = 3) => columnFigure(name, value, digits);
}

// A column of a table: a figure of a row, with its words as the head.
function figureColumn(name, of) {
  const show = name === "gpu_idle" ? percent : showFigure(name);
  return { name: labelled(name), text: (row) => (of(row)[name] === null || of(row)[name] === undefined ? "" : show(of(row)[name])), value: (row) => of(row)[name], number: true };
}

// The baselines, then those with the highest rates at the largest size.
function firstOnes(designs, direction, most) {
  const largest = (design) => {
    const copies = design.copies.filter((copy) => copy.direction === direction);
    return copies.reduce((best, copy) => (!best || copy.bytes > best.bytes ? copy : best), null)?.gb_per_s ?? 0;
  };
  const baselines = designs.filter((design) => ["off", "h100-cc", "h100-cc-resealed"].includes(design.name));
  const others = designs.filter((design) => !baselines.includes(design)).sort((a, b) => largest(b) - largest(a));
  return new Set([...baselines, ...others].slice(0, most).map((design) => design.name));
}

function copyComparison({ report }) {
  const { designs } = report;
  const directions = unique(designs.flatMap((design) => design.copies.map((copy) => copy.direction)));
  const sizes = unique(designs.flatMap((design) => design.copies.map((copy) => copy.bytes))).sort((a, b) => a - b);
  const names = designs.map((design) => design.name);
  const state = { direction: directions[0], figure: "gb_per_s", size: sizes[sizes.length - 1], on: firstOnes(designs, directions[0], 8) };
  const of = (design) => design.copies.filter((copy) => copy.direction === state.direction).sort((a, b) => a.bytes - b.bytes);
  const redraw = [];
  const update = () => redraw.forEach((draw) => draw());
  document.getElementById("head").append(el("div", { class: "tiles" }, tile(designs.length, "designs"), tile(sizes.length, "sizes"), tile(report.host_memory ?? "", "host memory"), tile(report.machine, "machine")));
  const direction = (id) => choice("direction", id, directions.map((name) => [name, name]), state.direction, (value) => {
    state.direction = value;
    document.querySelectorAll("select[id$=-direction]").forEach((select) => { select.value = value; });
    update();
  });

  section("curves-part", "Over size", (box) => {
    const drawing = el("figure", { class: "chart", id: "curves" });
    const legendBox = el("div");
    const fillLegend = () => legendBox.replaceChildren(switches(names, state.on, update));
    attach(box, {}, [
      el("div", { class: "controls" }, direction("curves-direction"), choice("figure", "curves-figure", CURVES.map((name) => [name, labelled(name)]), state.figure, (value) => { state.figure = value; update(); }),
        el("button", { type: "button", id: "curves-all", click: () => { names.forEach((name) => state.on.add(name)); fillLegend(); update(); } }, "All"),
        el("button", { type: "button", id: "curves-none", click: () => { state.on.clear(); fillLegend(); update(); } }, "None")),
      drawing, legendBox,
      el("p", { class: "soft" }, "Designs that are switched off stay as thin grey lines. Both axes are logarithmic."),
    ]);
    fillLegend();
    if (sizes.length === 1) redraw.push(oneSize(drawing, () => ({ designs, of, figure: state.figure })));
    else redraw.push(chart(drawing, () => {
      const show = showFigure(state.figure);
      const series = designs.map((design, place) => ({
        name: design.name, look: look(place), line: true, faint: !state.on.has(design.name),
        points: of(design).map((copy) => ({ x: copy.bytes, y: copy[state.figure], label: `${design.name}, ${state.direction} ${bytes(copy.bytes)}: ${show(copy[state.figure])}${state.figure === "gb_per_s" ? " GB/s" : ""}\n${copy.limited_by ?? copy.busiest ?? ""}`, key: `${design.name} ${copy.bytes}` })),
      }));
      const values = series.flatMap((one) => one.points.map((point) => point.y));
      return {
        label: "figures over size", xLabel: "size of a copy", yLabel: labelled(state.figure), height: 420, series,
        x: (from, to) => logarithmic(sizes, from, to, { base: 2, show: bytes }), y: (from, to) => logarithmic(values, from, to, { show }),
      };
    }));
  });

  section("cost-part", "Cost against rate", (box) => {
    const drawing = el("figure", { class: "chart", id: "cost" });
    const missing = el("p", { class: "soft" });
    attach(box, {}, [
      el("p", {}, "Area of the engines, quarantine and tag queue of a GPU, in 1000 gate equivalents, with its range, against the rate. Designs on the front, of which none has both a smaller area and a higher rate, are joined by a line."),
      el("div", { class: "controls" }, direction("cost-direction"), choice("size", "cost-size", sizes.map((size) => [String(size), bytes(size)]), String(state.size), (value) => { state.size = Number(value); update(); })),
      drawing, missing,
    ]);
    redraw.push(chart(drawing, () => {
      const points = designs.map((design, place) => {
        const copy = of(design).find((one) => one.bytes === state.size);
        const { area_total_kge: area, area_total_kge_low: low, area_total_kge_high: high } = design.cost ?? {};
        return { design, place, x: area, low, high, y: copy?.gb_per_s };
      }).filter((point) => typeof point.x === "number" && typeof point.y === "number");
      const without = names.filter((name) => !points.some((point) => point.design.name === name));
      missing.textContent = without.length ? `Without a figure for area or rate: ${without.join(", ")}.` : "";
      return costChart(points, "rate, GB/s", (value) => `${number(value)} GB/s`, -1, state.on);
    }));
    if (report.cost_source) box.append(el("p", { class: "soft" }, `About costs: ${report.cost_source}. All areas may be off alike by a factor of ${report.process_spread_factor} up or down.`));
  });

  section("table-part", "All figures", (box) => {
    const place = el("div");
    attach(box, {}, [el("div", { class: "controls" }, direction("table-direction")), place]);
    const fill = () => {
      const rows = designs.flatMap((design) => of(design).map((copy) => ({ design, copy })));
      place.replaceChildren(table([
        { name: "design", text: ({ design }) => design.name },
        { name: "size", text: ({ copy }) => bytes(copy.bytes), value: ({ copy }) => copy.bytes },
        ...COPY_COLUMNS.map((name) => figureColumn(name, ({ copy }) => copy)),
        { name: "busiest", text: ({ copy }) => copy.busiest ?? "", wide: true },
        ...(designs.some((design) => of(design).some((copy) => copy.limited_by)) ? [{ name: "limited by", text: ({ copy }) => copy.limited_by ?? "", wide: true }] : []),
      ], rows, { id: "figures", caption: "figures of designs" }));
    };
    fill();
    redraw.push(fill);
  });
}

// Of one size there is no curve: the designs as bars, the best first.
function oneSize(box, now) {
  return amounts(box, () => {
    const { designs, of, figure } = now();
    const show = showFigure(figure);
    const rows = designs.map((design, place) => ({ design, place, value: of(design)[0]?.[figure] })).filter((row) => typeof row.value === "number");
    const sign = figure.endsWith("_ps") ? 1 : -1;
    return rows.sort((a, b) => sign * (a.value - b.value)).map(({ design, place, value }) => ({ name: design.name, value, text: show(value), fill: look(place).colour, label: `${design.name}: ${show(value)}` }));
  }, "designs, the best first");
}

// Points of designs over area, those on the front joined.
function costChart(points, yLabel, show, sign, on) {
  const front = frontOf(points.map((point) => [point.x, point.y]), 1, sign);
  const series = points.map((point) => ({
    name: point.design.name, look: look(point.place), named: on.has(point.design.name) || front.includes(points.indexOf(point)), hollow: !front.includes(points.indexOf(point)),
    points: [{ ...point, label: `${point.design.name}: ${number(point.x)} kGE (${number(point.low)} to ${number(point.high)}), ${show(point.y)}`, key: point.design.name }],
  }));
  // Names of those on the front are placed first.
  series.sort((a, b) => a.hollow - b.hollow);
  return {
    label: "cost against rate", xLabel: "area, kGE", yLabel, height: 400, series,
    x: (from, to) => logarithmic(points.flatMap((point) => [point.x, point.low, point.high]), from, to), y: (from, to) => linear(points.map((point) => point.y), from, to, { zero: true }),
    under: ({ svg, x, y }) => {
      const path = front.map((place, at) => `${at ? "L" : "M"}${x.place(points[place].x)},${y.place(points[place].y)}`).join("");
      if (path) svg.append(sv("path", { class: "rule", fill: "none", d: path }));
    },
  };
}

function workloadComparison({ report }) {
  const { designs } = report;
  const sealed = designs.filter((design) => design.confidential_computing !== false);
  const best = sealed.reduce((one, other) => (other.time_ps < one.time_ps ? other : one), sealed[0]);
  document.getElementById("head").append(el("p", {}, report.workload_summary ?? ""), el("div", { class: "tiles" }, tile(designs.length, "designs"), tile(report.workload, "workload"), tile(best ? time(best.time_ps) : "", best ? `least with confidential computing, by ${best.name}` : "least")));
  section("curves-part", "End of the workload", (box) => {
    const drawing = el("figure", { class: "chart", id: "ends" });
    let order = "asked";
    const rows = () => (order === "asked" ? designs : [...designs].sort((a, b) => a.time_ps - b.time_ps));
    let draw = null;
    attach(box, {}, [el("div", { class: "controls" }, choice("order", "ends-order", [["asked", "as asked for"], ["end", "shortest first"]], order, (value) => { order = value; draw(); })), drawing]);
    draw = amounts(drawing, () => rows().map((design) => ({ name: design.name, value: design.time_ps, text: design.slowdown_over_off ? `${number(design.slowdown_over_off, 3)} × off` : time(design.time_ps), fill: look(designs.indexOf(design)).colour, label: `${design.name}: ${time(design.time_ps)}${design.slowdown_over_off ? `, ${number(design.slowdown_over_off)} times off` : ""}` })), "end of the workload by design");
  });
  section("cost-part", "Cost against time", (box) => {
    const drawing = el("figure", { class: "chart", id: "cost" });
    box.append(el("p", {}, "Area of the engines, quarantine and tag queue of a GPU, with its range, against the end of the workload. Designs on the front are joined by a line."), drawing);
    const points = designs.map((design, place) => ({ design, place, x: design.cost?.area_total_kge, low: design.cost?.area_total_kge_low, high: design.cost?.area_total_kge_high, y: design.time_ps })).filter((point) => typeof point.x === "number");
    chart(drawing, () => ({ ...costChart(points, "end of the workload", time, 1, new Set(designs.map((design) => design.name))), y: (from, to) => linear(points.map((point) => point.y), from, to, { zero: true, show: time }) }));
  });
  section("table-part", "All figures", () => {
    return table([
      { name: "design", text: (design) => design.name },
      ...WORKLOAD_COLUMNS.map((name) => figureColumn(name, (design) => design)),
      { name: "area, kGE", text: (design) => number(design.cost?.area_total_kge), value: (design) => design.cost?.area_total_kge, number: true },
      { name: "busiest", text: ({ busiest }) => busiest ?? "", wide: true },
    ], designs, { id: "figures", caption: "figures of designs" });
  });
}

function designsPart({ designs, skipped }) {
  return [
    table([
      { name: "design", text: (design) => design.name },
      { name: "summary", text: (design) => [design.summary].flat().filter(Boolean).join("; "), wide: true },
      { name: "baseline", text: (design) => design.baseline ?? "" },
      { name: "area, kGE", text: ({ cost }) => (typeof cost?.area_total_kge === "number" ? `${number(cost.area_total_kge)} (${number(cost.area_total_kge_low)} to ${number(cost.area_total_kge_high)})` : ""), value: ({ cost }) => cost?.area_total_kge, number: true },
      { name: "assumed parameters", text: (design) => design.assumed_parameters },
      { name: "notes", text: ({ cost }) => [cost?.missing, ...(cost?.notes ?? [])].filter(Boolean).join("; "), wide: true },
    ], designs, { id: "designs", caption: "designs" }),
    skipped?.length > 0 && [el("h3", {}, "Designs that the machine cannot have"), el("ul", {}, skipped.map((one) => el("li", {}, `${one.name}: ${one.reason}`)))],
  ];
}
