// The page of a validation: measured, simulated, and how far they are apart.

const CLASSES = [["fitted", "fitted"], ["informed", "informed"], ["held_out", "held out"]];

function validatePage(data) {
  const { datasets } = data.report;
  section("errors-part", "Errors by data set", () => [
    el("p", {}, "Errors are stated apart for points that parameters were fitted to, points that were seen while a parameter was chosen (informed), and points held out."),
    errorsTable(datasets),
    (data.report.predicted_by ?? []).map((one) => el("p", { class: "soft" }, `predicted on ${one.machine}, digest ${one.machine_digest}, by sealsim ${one.sealsim}`)),
  ]);
  section("points-part", "Measured and simulated", (box) => pointsPart(box, datasets.filter((dataset) => dataset.values.length > 0)));
  if (data.curves?.length) section("curves-part", "Curves", (box) => curvesPart(box, data.curves));
}

function errorsTable(datasets) {
  const rows = datasets.flatMap((dataset) => [
    [dataset.points_used_to_fit, "fitted", dataset.fit], [dataset.points_informed, "informed", dataset.informed],
    [dataset.points_held_out, "held out", typeof dataset.mape_percent === "number" ? dataset : null],
  ].filter(([count]) => count > 0).map(([count, name, errors]) => ({ dataset, count, name, errors })));
  const figureOf = (name, show) => ({ text: ({ errors }) => (typeof errors?.[name] === "number" ? show(errors[name]) : ""), value: ({ errors }) => errors?.[name], number: true });
  return table([
    { name: "data set", text: ({ dataset }) => dataset.name }, { name: "machine", text: ({ dataset }) => (dataset.machines ?? []).join(", ") }, { name: "class", text: ({ name }) => name }, { name: "points", text: ({ count }) => count },
    { name: "mean absolute error", ...figureOf("mape_percent", (value) => `${value.toFixed(1)} %`) }, { name: "bias", ...figureOf("bias_percent", (value) => `${signed(value)} %`) }, { name: "worst", ...figureOf("worst_percent", (value) => `${value.toFixed(1)} %`) },
    { name: "worst point", text: ({ errors }) => errors?.worst_point ?? "" },
  ], rows, { id: "errors", caption: "errors by data set and class" });
}

function pointsPart(box, datasets) {
  if (datasets.length === 0) {
    box.append(el("p", { class: "soft" }, "There are no points."));
    return;
  }
  const state = { dataset: datasets[0], unit: "", chosen: null };
  const units = () => unique(state.dataset.values.map((value) => value.unit));
  const usable = () => state.dataset.values.map((value, place) => ({ ...value, place })).filter((value) => value.unit === state.unit && typeof value.measured === "number" && typeof value.simulated === "number");
  const [against, residuals, list, unitBox] = [el("figure", { class: "chart", id: "against" }), el("figure", { class: "chart", id: "residuals" }), el("div"), el("span")];
  const redraw = [];
  const update = () => redraw.forEach((draw) => draw());
  const pick = (place) => { state.chosen = place; update(); };
  const unitChoice = () => {
    [state.unit] = units();
    unitBox.replaceChildren(units().length > 1 ? choice("unit", "points-unit", units().map((unit) => [unit, unit]), state.unit, (value) => { state.unit = value; update(); }) : "");
  };
  const series = (points) => CLASSES.map(([key, name], place) => ({ name, look: look(place), points: points.filter((point) => point.class === key).map((point) => ({ ...point, chosen: point.place === state.chosen, key: point.place, label: `${point.label}\nmeasured ${number(point.measured)}, simulated ${number(point.simulated)} ${point.unit}\nerror ${signed(point.error_percent)} %, ${name}` })) }));
  const picks = { chosen: (mark) => pick(Number(mark.dataset.key)) };
  const log = (values, show) => (from, to) => logarithmic(values, from, to, { show });
  attach(box, {}, [
    el("div", { class: "controls" }, choice("data set", "points-dataset", datasets.map((dataset, place) => [String(place), `${dataset.name} (${dataset.values.length})`]), "0", (value) => { state.dataset = datasets[Number(value)]; state.chosen = null; unitChoice(); update(); }), unitBox),
    el("ul", { class: "legend" }, CLASSES.map(([, name], place) => el("li", {}, shapeSwatch(look(place)), name))),
    el("div", { class: "grid2" }, el("div", {}, el("h3", {}, "Simulated over measured"), against), el("div", {}, el("h3", {}, "Residuals"), residuals)), list,
  ]);
  unitChoice();
  redraw.push(chart(against, () => {
    const points = usable();
    const values = points.flatMap((point) => [point.measured, point.simulated]);
    return {
      label: "simulated over measured", xLabel: `measured, ${state.unit}`, yLabel: `simulated, ${state.unit}`, series: series(points.map((point) => ({ ...point, x: point.measured, y: point.simulated }))), x: log(values), y: log(values),
      under: ({ svg, x, y }) => svg.append(sv("line", { class: "rule", x1: x.place(x.low), y1: y.place(y.low), x2: x.place(x.high), y2: y.place(y.high) })),
    };
  }, picks));
  redraw.push(chart(residuals, () => {
    const points = usable();
    return {
      label: "residuals over measured", xLabel: `measured, ${state.unit}`, yLabel: "error, %", series: series(points.map((point) => ({ ...point, x: point.measured, y: point.error_percent }))), x: log(points.map((point) => point.measured)), y: (from, to) => linear(points.map((point) => point.error_percent), from, to, { zero: true }),
      under: ({ svg, x, y }) => svg.append(sv("line", { class: "axis", x1: x.place(x.low), x2: x.place(x.high), y1: y.place(0), y2: y.place(0) })),
    };
  }, picks));
  const fill = () => list.replaceChildren(table([
    { name: "point", text: (point) => point.label }, { name: "measured", text: (point) => number(point.measured), value: (point) => point.measured, number: true }, { name: "simulated", text: (point) => number(point.simulated), value: (point) => point.simulated, number: true },
    { name: "unit", text: (point) => point.unit }, { name: "error", text: (point) => `${signed(point.error_percent)} %`, value: (point) => point.error_percent, number: true }, { name: "class", text: (point) => point.class.replaceAll("_", " ") },
  ], usable(), { id: "points", caption: "points", chosen: (point) => pick(point.place), isChosen: (point) => point.place === state.chosen }), el("p", { class: "soft" }, (state.dataset.seen ?? []).map((seen) => `${plural(seen.points, "point")} seen for ${seen.parameters.join(", ")}: ${seen.why}. `)));
  fill();
  redraw.push(fill);
}

// Plots of the program, so many at first.
function curvesPart(box, plots) {
  const grid = el("div", { class: "grid2", id: "panels" });
  const show = (count) => grid.replaceChildren(...plots.slice(0, count).map((svg) => {
    const drawing = drawn(svg, "group", "measured and simulated");
    marksOf(drawing);
    return el("figure", { class: "plot" }, drawing);
  }));
  const more = el("button", { type: "button", hidden: plots.length <= 12, click: () => { show(plots.length); more.hidden = true; } }, `Show all ${plots.length} plots`);
  show(12);
  attach(box, {}, [grid, more]);
}
