// Colours that people with any colour vision tell apart, and shapes or hatching beside them.

const COLOURS = 8;
const HATCHES = ["", "/", "\\", ":", "="];

function colour(place) {
  return `var(--c${place % COLOURS})`;
}

// Fills of areas: each colour solid, then each hatched, and so on.
function fill(place) {
  const hatch = Math.floor(place / COLOURS) % HATCHES.length;
  return hatch === 0 ? colour(place) : `url(#hatch${hatch}-${place % COLOURS})`;
}

function hatching() {
  const patterns = [];
  const forms = [null, "M-1,7L7,-1M5,13L13,5M-1,13L13,-1", "M-1,5L7,13M5,-1L13,7M-1,-1L13,13", null, "M0,2H12M0,6H12M0,10H12"];
  for (let hatch = 1; hatch < HATCHES.length; hatch += 1) {
    for (let place = 0; place < COLOURS; place += 1) {
      const lines = forms[hatch]
        ? sv("path", { d: forms[hatch], fill: "none", stroke: "var(--paper)", "stroke-width": 1.6 })
        : [[3, 3], [9, 9]].map(([cx, cy]) => sv("circle", { cx, cy, r: 1.8, fill: "var(--paper)" }));
      const attributes = { id: `hatch${hatch}-${place}`, width: 12, height: 12, patternUnits: "userSpaceOnUse" };
      patterns.push(sv("pattern", attributes, sv("rect", { width: 12, height: 12, fill: colour(place) }), lines));
    }
  }
  document.body.append(sv("svg", { class: "defs", "aria-hidden": "true" }, sv("defs", {}, patterns)));
}

// Categories keep their fill over the whole page: stages are solid as the table of names has them, and so is work; what waits is hatched.
const categories = new Map();

function category(name) {
  if (name === "idle") return "var(--idle)";
  const known = name === "busy" ? 0 : NAMES.fills[`stage.${name}`] ?? NAMES.fills[`operation.${name}`];
  if (known !== undefined) return fill(known);
  if (!categories.has(name)) categories.set(name, COLOURS + categories.size);
  return fill(categories.get(name));
}

const SHAPES = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x},${y - 1.2 * r}L${x + 1.1 * r},${y + 0.9 * r}H${x - 1.1 * r}z`,
  (x, y, r) => `M${x},${y - 1.3 * r}L${x + 1.3 * r},${y}L${x},${y + 1.3 * r}L${x - 1.3 * r},${y}z`,
  (x, y, r) => `M${x},${y + 1.2 * r}L${x + 1.1 * r},${y - 0.9 * r}H${x - 1.1 * r}z`,
  (x, y, r) => `M${x},${y - 0.4 * r}l${0.6 * r},${-0.6 * r}l${0.4 * r},${0.4 * r}l${-0.6 * r},${0.6 * r}l${0.6 * r},${0.6 * r}l${-0.4 * r},${0.4 * r}l${-0.6 * r},${-0.6 * r}l${-0.6 * r},${0.6 * r}l${-0.4 * r},${-0.4 * r}l${0.6 * r},${-0.6 * r}l${-0.6 * r},${-0.6 * r}l${0.4 * r},${-0.4 * r}z`,
  (x, y, r) => `M${x - r},${y - 0.4 * r}h${0.6 * r}v${-0.6 * r}h${0.8 * r}v${0.6 * r}h${0.6 * r}v${0.8 * r}h${-0.6 * r}v${0.6 * r}h${-0.8 * r}v${-0.6 * r}h${-0.6 * r}z`,
  (x, y, r) => `M${x - 0.4 * r},${y - 1.1 * r}h${0.8 * r}v${2.2 * r}h${-0.8 * r}z`,
];

const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 4"];

// The colour, shape and dashes of a series, as in pictures that the program draws: no two of 64 share all.
function look(place) {
  return { colour: colour(place + Math.floor(place / COLOURS)), shape: SHAPES[place % SHAPES.length], dash: DASHES[place % DASHES.length] };
}

function swatch(fillWith) {
  return sv("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, sv("rect", { width: 14, height: 14, fill: fillWith, stroke: "var(--line)" }));
}

function shapeSwatch({ colour: ink, shape }, hollow = false) {
  return sv("svg", { width: 16, height: 14, viewBox: "0 0 16 14", "aria-hidden": "true" }, sv("path", { d: shape(8, 7, 4.5), fill: hollow ? "none" : ink, stroke: ink }));
}

function legend(names) {
  return el("ul", { class: "legend" }, names.map((name) => el("li", {}, swatch(category(name)), stateLabel(name))));
}
