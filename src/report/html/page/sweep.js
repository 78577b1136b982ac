// The page of a sweep: its front, and the configuration behind each point.

function sweepPage(data) {
  const { report } = data;
  const { columns, rows, axes } = report;
  const places = new Map(columns.map((column, place) => [column.name, place]));
  const get = (row, name) => rows[row][places.get(name)];
  const called = (name) => columns[places.get(name)]?.label ?? label(name);
  const numbers = columns.map((column) => column.name).filter((name) => name !== "index" && rows.some((_, row) => typeof get(row, name) === "number"));
  const [x, y] = startAxes(report, numbers);
  const state = { x, y, by: axes[0] ?? "", lessX: report.max.includes(x) ? -1 : 1, lessY: report.max.includes(y) ? -1 : 1, logX: false, logY: false, chosen: report.front?.knee ?? null };
  const redraw = [];
  const update = () => redraw.forEach((draw) => draw());
  const pick = (row) => { state.chosen = row; update(); };
  const front = () => frontOf(rows.map((_, row) => [figure(get(row, state.x)), figure(get(row, state.y))]), state.lessX, state.lessY);
  const refused = rows.filter((_, row) => get(row, "error")).length;
  document.getElementById("head").append(el("div", { class: "tiles" }, tile(number(report.points), "points"), tile(report.front?.rows.length ?? "none", "on the study's front"), tile(axes.length, "axes"), tile(refused, "without figures")));
  if (report.points > rows.length) document.getElementById("head").append(el("p", { class: "notice" }, `${rows.length} of ${report.points} points are shown: those on the study's front, and others at equal distances in the table.`));

  section("front-part", "Front", (box) => {
    const drawing = el("figure", { class: "chart", id: "front" });
    const key = el("div");
    const sense = (axis) => choice("better", `front-sense-${axis}`, [["1", "small"], ["-1", "large"]], String(state[axis === "x" ? "lessX" : "lessY"]), (value) => { state[axis === "x" ? "lessX" : "lessY"] = Number(value); update(); });
    const axis = (name) => choice(`${name} axis`, `front-${name}`, numbers.map((one) => [one, called(one)]), state[name], (value) => {
      state[name] = value;
      const less = name === "x" ? "lessX" : "lessY";
      state[less] = report.max.includes(value) || /per_s$/.test(value) ? -1 : 1;
      document.getElementById(`front-sense-${name}`).value = String(state[less]);
      update();
    });
    attach(box, {}, [
      el("p", {}, "Filled points are on the front of the two axes: no other point is as good in both and better in one. Choose a point to see its configuration."),
      el("div", { class: "controls" }, axis("x"), sense("x"), tick("logarithmic", "front-log-x", false, (on) => { state.logX = on; update(); })),
      el("div", { class: "controls" }, axis("y"), sense("y"), tick("logarithmic", "front-log-y", false, (on) => { state.logY = on; update(); }), choice("colour by", "front-by", [["", "nothing"], ...columns.map((column) => [column.name, column.label]).filter(([name]) => axes.includes(name) || ["limited_by_unit", "limited_by_parameter"].includes(name))], state.by, (value) => { state.by = value; update(); })),
      drawing, key,
    ]);
    redraw.push(chart(drawing, () => frontChart(rows, get, state, front(), key, called), { chosen: (mark) => pick(Number(mark.dataset.key)) }));
  });

  section("point-part", "Configuration of the chosen point", (box) => {
    const place = el("div", { id: "point", "aria-live": "polite" });
    box.append(place);
    const fill = () => place.replaceChildren(state.chosen === null ? el("p", { class: "soft" }, "No point is chosen.") : pointOf(report, state.chosen, get));
    fill();
    redraw.push(fill);
  });

  section("table-part", "Points on the front", (box) => {
    const place = el("div");
    let all = false;
    const fill = () => {
      const on = front();
      const listedRows = all ? rows.map((_, row) => row) : on;
      const shown = unique([...axes, state.x, state.y, ...report.min, ...report.max, "busiest_unit", "waited_for"]).filter((name) => places.has(name));
      place.replaceChildren(el("p", { class: "soft", id: "front-count" }, `${on.length} of ${rows.length} points are on the front of ${called(state.x)} and ${called(state.y)}`), table([
        { name: "index", text: (row) => get(row, "index") ?? row },
        ...shown.map((name) => ({ name: called(name), what: columns[places.get(name)].what, text: (row) => columnFigure(name, get(row, name)), value: (row) => get(row, name) })),
      ], listedRows, { id: "front-table", caption: "points on the front", chosen: pick, isChosen: (row) => row === state.chosen }));
    };
    attach(box, {}, [el("div", { class: "controls" }, tick("all points", "front-all", false, (on) => { all = on; fill(); })), place]);
    fill();
    redraw.push(fill);
  });
  section("study-part", "The study", () => [listed([["simulator", report.simulator], ["small", report.min.map(called).join(", ")], ["large", report.max.map(called).join(", ")]]), el("pre", { tabindex: 0 }, report.text)]);
}

function figure(value) {
  return typeof value === "number" ? value : NaN;
}

// The study's objectives, or rate over the first axis.
function startAxes(report, numbers) {
  const wanted = [...report.min, ...report.max, ...report.axes, "area_total_kge", "gb_per_s", ...numbers].filter((name) => numbers.includes(name));
  const first = wanted[0] ?? "";
  const second = [...report.max, ...wanted].find((name) => numbers.includes(name) && name !== first) ?? first;
  return [first, second];
}

// Series by the values of a column. Many numbers are put into five ranges.
function groupsOf(rows, get, by) {
  if (!by) return { name: () => "points", names: ["points"] };
  const values = unique(rows.map((_, row) => get(row, by)));
  if (values.length <= 16 || values.some((value) => typeof value === "string")) {
    const sorted = values.sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true })));
    const text = (value) => (value === null ? "none" : String(value));
    return { name: (row) => text(get(row, by)), names: sorted.map(text) };
  }
  const sorted = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
  const edges = [0.2, 0.4, 0.6, 0.8].map((part) => quantile(sorted, part));
  const names = [...edges.map((edge, place) => `${place ? `over ${number(edges[place - 1])}, ` : ""}up to ${number(edge)}`), `over ${number(edges[3])}`];
  return { name: (row) => (typeof get(row, by) === "number" ? names[edges.filter((edge) => get(row, by) > edge).length] : "none"), names: [...names, "none"] };
}

function frontChart(rows, get, state, front, key, called) {
  const on = new Set(front);
  const groups = groupsOf(rows, get, state.by);
  const at = new Map(groups.names.map((name, place) => [name, place]));
  const point = (row) => ({ x: figure(get(row, state.x)), y: figure(get(row, state.y)), key: row, chosen: row === state.chosen, label: `${called(state.x)}: ${columnFigure(state.x, get(row, state.x))}\n${called(state.y)}: ${columnFigure(state.y, get(row, state.y))}${state.by ? `\n${called(state.by)}: ${groups.name(row)}` : ""}${on.has(row) ? "\non the front" : ""}` });
  const places = rows.map((_, row) => row);
  const series = groups.names.flatMap((name) => [false, true].map((isOn) => ({ name, look: look(at.get(name)), hollow: !isOn, points: places.filter((row) => on.has(row) === isOn && groups.name(row) === name).map(point) }))).filter((one) => one.points.length > 0);
  const used = unique(series.map((one) => one.name));
  key.replaceChildren(state.by ? el("ul", { class: "legend" }, el("li", { class: "soft" }, `${called(state.by)}:`), used.slice(0, 64).map((name) => el("li", {}, shapeSwatch(look(at.get(name))), name))) : "");
  const xs = places.map((row) => figure(get(row, state.x)));
  const ys = places.map((row) => figure(get(row, state.y)));
  const scale = (name, values, log) => (from, to) => (log ? logarithmic : linear)(values, from, to, { show: (value, digits) => String(columnFigure(name, Number(value.toPrecision(12)), digits)) });
  return {
    label: `${called(state.y)} over ${called(state.x)}`, xLabel: called(state.x), yLabel: called(state.y), height: 420, series, x: scale(state.x, xs, state.logX), y: scale(state.y, ys, state.logY),
    under: ({ svg, x, y }) => {
      const usable = front.filter((row) => x.usable(xs[row]) && y.usable(ys[row]));
      const path = usable.map((row, place) => `${place ? "L" : "M"}${x.place(xs[row])},${y.place(ys[row])}`).join("");
      if (path) svg.append(sv("path", { class: "rule", fill: "none", d: path }));
    },
  };
}

function pointOf(report, row, get) {
  const values = report.columns.map((column) => [column, get(row, column.name)]);
  const isAxis = ([column]) => report.axes.includes(column.name);
  const others = values.filter((one) => !isAxis(one) && one[1] !== null && one[1] !== "");
  return el("div", {}, listed(values.filter(isAxis).map(([column, value]) => [el("span", { title: column.name }, column.label), value === null ? "does not apply" : String(value)])), el("details", { open: true }, el("summary", {}, "Figures"), table([
    { name: "figure", text: ([column]) => column.label }, { name: "value", text: ([column, value]) => columnFigure(column.name, value), value: ([, value]) => value, number: true }, { name: "meaning", text: ([column]) => column.what ?? "", wide: true },
  ], others, { id: "point-figures", caption: "figures of the point" })));
}
