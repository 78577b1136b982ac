// Curves and points over two axes.

const MARGIN = { left: 62, right: 14, top: 12, bottom: 44 };

// Axes with grid lines. `x` and `y` make a scale out of the ends of the axis.
function frame({ width, height = 360, x, y, xLabel, yLabel, label }) {
  const { left, right, top, bottom } = MARGIN;
  const scales = { x: x(left, width - right), y: y(height - bottom, top) };
  const svg = sv("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
  for (const [place, text] of spaced(scales.x, Math.max(2, Math.floor(width / 90)))) {
    svg.append(sv("line", { class: "grid", x1: place, x2: place, y1: top, y2: height - bottom }), sv("text", { class: "soft tick", x: place, y: height - bottom + 16, "text-anchor": "middle" }, text));
  }
  const ticks = scales.y.ticks(6);
  told(ticks, scales.y.show).forEach((text, at) => {
    const place = scales.y.place(ticks[at]);
    svg.append(sv("line", { class: "grid", x1: left, x2: width - right, y1: place, y2: place }), sv("text", { class: "soft tick", x: left - 6, y: place + 4, "text-anchor": "end" }, text));
  });
  svg.append(
    sv("path", { class: "axis", fill: "none", d: `M${left},${top}V${height - bottom}H${width - right}` }),
    sv("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, xLabel),
    sv("text", { x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(top + height - bottom) / 2})` }, yLabel),
  );
  return { svg, ...scales };
}

// Places and names of ticks that do not meet: every one, or every other, and so on.
function spaced(scale, most) {
  const ticks = scale.ticks(most);
  const all = told(ticks, scale.show).map((text, at) => [scale.place(ticks[at]), text, textWidth(text) / 2]);
  const kept = (step) => all.filter((_, at) => at % step === 0);
  const meet = (ticks) => ticks.some(([place, , half], at) => at > 0 && place - half < ticks[at - 1][0] + ticks[at - 1][2] + 6);
  let step = 1;
  while (step < all.length && meet(kept(step))) step += 1;
  return kept(step);
}

// A chart in a box that is as wide as there is room. `spec(width)` gives:
//   x, y: makers of scales; xLabel, yLabel, label;
//   series: [{ name, look, faint, hollow, line, points: [{ x, y, label, low, high, key }] }];
//   under(frame): what is drawn below; names: whether points are named beside them.
function chart(box, spec, { chosen } = {}) {
  return responsive(box, (width) => {
    const asked = spec(width);
    const framed = frame({ width, ...asked });
    const { svg, x, y } = framed;
    asked.under?.(framed);
    // Neither a mark nor another name is covered by a name.
    const usable = (point) => x.usable(point.x) && y.usable(point.y);
    const taken = asked.series.flatMap((one) => one.points.filter(usable)).map((point) => ({ left: x.place(point.x) - 5, right: x.place(point.x) + 5, top: y.place(point.y) - 5, bottom: y.place(point.y) + 5 }));
    const cells = shared(asked.series, x, y);
    for (const series of [...asked.series].sort((a, b) => (b.faint ? 1 : 0) - (a.faint ? 1 : 0))) svg.append(drawnSeries(series, x, y, cells));
    for (const series of asked.series.filter((one) => one.named)) nameBeside(svg, series, x, y, taken, width);
    for (const cell of new Set(cells.values())) if (cell.length > 1 && !cell[0].faint) nameBeside(svg, { name: String(cell.length), points: [cell[0].point] }, x, y, taken, width);
    marksOf(svg, chosen);
    box.querySelector("svg")?.remove();
    box.prepend(svg);
  });
}

// Points that share a place, by point; the first of each is drawn: one of a series that is on, of the front before others.
function shared(series, x, y) {
  const [cells, of] = [new Map(), new Map()];
  const rank = (one) => (one.faint ? 2 : one.hollow ? 1 : 0);
  for (const one of [...series].sort((a, b) => rank(a) - rank(b))) {
    for (const point of one.points.filter((point) => x.usable(point.x) && y.usable(point.y))) {
      const place = [x.place(point.x), y.place(point.y)].map((at) => Math.round(at / 3)).join();
      const cell = cells.get(place) ?? [];
      cells.set(place, cell);
      cell.push({ point, faint: one.faint });
      of.set(point, cell);
    }
  }
  return of;
}

function drawnSeries({ name, look: { colour: ink, shape, dash }, faint, hollow, line, points, stair }, x, y, cells) {
  const usable = points.filter((point) => x.usable(point.x) && y.usable(point.y));
  const places = usable.map((point) => [x.place(point.x), y.place(point.y)]);
  const group = sv("g", { "data-series": name });
  if (line && places.length > 1) {
    const step = (place, at) => (stair && at > 0 ? `H${place[0]}V${place[1]}` : `${at ? "L" : "M"}${place[0]},${place[1]}`);
    group.append(sv("path", { class: faint ? "curve faint" : "curve", d: places.map(step).join(""), stroke: faint ? null : ink, "stroke-dasharray": dash || null }));
  }
  usable.forEach((point, at) => {
    const [px, py] = places[at];
    if (Number.isFinite(point.low) && Number.isFinite(point.high) && point.high > point.low && x.usable(point.low)) {
      group.append(sv("line", { class: faint ? "faint" : null, stroke: faint ? null : ink, x1: x.place(point.low), x2: x.place(point.high), y1: py, y2: py }));
    }
    const cell = cells.get(point);
    if (cell[0].point !== point) return;
    const told = unique(cell.map((one) => one.point.label));
    const label = [...told.slice(0, 10), told.length > 10 && `and ${told.length - 10} more`].filter(Boolean).join("\n");
    const chosen = cell.some((one) => one.point.chosen);
    const form = sv("path", { class: ["mark", faint && "faint", chosen && "chosen"].filter(Boolean).join(" "), d: shape(px, py, faint ? 2.5 : 4.5), fill: faint ? null : hollow ? "var(--paper)" : ink, stroke: faint ? null : ink, "stroke-width": faint ? null : 1.3, role: "img", "aria-label": label, "data-key": point.key, "data-count": cell.length });
    group.append(form);
  });
  return group;
}

// Names that would cover another are left out: a hint says them.
function nameBeside(svg, { name, points }, x, y, taken, width) {
  for (const point of points.filter((one) => x.usable(one.x) && y.usable(one.y))) {
    const [px, py] = [x.place(point.x), y.place(point.y)];
    const long = textWidth(name);
    // Above the point: a range may be drawn at its sides.
    const end = px + long > width - MARGIN.right;
    const area = { left: end ? px - long : px - 6, right: end ? px + 6 : px + long, top: py - 21, bottom: py - 8 };
    const covers = taken.some((other) => area.left < other.right && other.left < area.right && area.top < other.bottom && other.top < area.bottom);
    if (covers || area.left < MARGIN.left || area.top < 0) continue;
    taken.push(area);
    svg.append(sv("text", { class: "soft", x: end ? px + 6 : px - 6, y: py - 9, "text-anchor": end ? "end" : "start" }, name));
  }
}

// A legend whose entries switch series on and off.
function switches(names, on, changed) {
  return el("ul", { class: "legend switches" }, names.map((name, place) => el("li", {}, tick([shapeSwatch(look(place)), name], null, on.has(name), (checked) => {
    if (checked) on.add(name);
    else on.delete(name);
    changed();
  }))));
}
