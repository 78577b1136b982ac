// Figures for people.

// The program's table of names: words and units by name, or by kind and name, fills by number, and the rows of some kinds in their order.
const rowsOf = (kind) => ROWS.filter((row) => row[0] === kind).map(([, name, label]) => [name, label]);
const nameOf = ([kind, name]) => (["figure", "field"].includes(kind) ? name : `${kind}.${name}`);
const NAMES = {
  words: Object.fromEntries(ROWS.map((row) => [nameOf(row), row[2]])),
  units: Object.fromEntries(ROWS.filter((row) => row[0] === "figure" && row[3]).map(([, name, , unit]) => [name, unit])),
  fills: Object.fromEntries(ROWS.filter((row) => /^\d+$/.test(row[3])).map((row) => [nameOf(row), Number(row[3])])),
  blocks: rowsOf("block"), groups: rowsOf("group"), synonyms: rowsOf("word"),
};

function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value);
  if (size >= 1e9 || size < 1e-3) return value.toExponential(digits - 1).replace("e+", "e");
  if (size >= 1e4) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(digits)));
}

const TIME_UNITS = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"]];

function timeUnit(ps) {
  return TIME_UNITS.find(([size]) => Math.abs(ps) >= size) ?? TIME_UNITS[4];
}

function time(ps, digits = 4) {
  if (ps === null || ps === undefined) return "";
  if (ps === 0) return "0";
  const [size, unit] = timeUnit(ps);
  return `${Number((ps / size).toPrecision(digits))} ${unit}`;
}

function bytes(count, digits = 4) {
  if (count === null || count === undefined) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${Number(value.toPrecision(Math.max(digits, 4)))} ${units[unit]}`;
}

function percent(part, digits = 1) {
  const text = (100 * part).toFixed(digits);
  return `${Number(text) === 0 ? text.replace("-", "") : text} %`;
}

// What a figure is called, or with its kind a stage, a cause, a stall: the words of the program's table of names.
function label(name, kind = "") {
  return NAMES.words[kind ? `${kind}.${name}` : name] ?? NAMES.words[name] ?? name.replaceAll("_", " ");
}

// The same with its unit, which values of times and bytes have themselves.
function labelled(name) {
  const unit = /_ps$|bytes$/.test(name) ? null : NAMES.units[name];
  return unit ? `${label(name)}, ${unit}` : label(name);
}

// A state of a unit, as legends have it.
function stateLabel(name) {
  const stall = NAMES.words[`stall.${name}`];
  return stall ? `waits for ${stall}` : label(name, "stage");
}

// Who was busiest in a copy, and who waited longest.
function busy({ unit, state, fraction, behind, waited }) {
  const queue = behind ? ` behind copy ${behind}` : "";
  const wait = waited ? `; ${waited.unit} waits for ${label(waited.stall, "stall")} ${percent(waited.fraction, 0)}` : "";
  return `${unit} ${state} ${percent(fraction, 0)}${queue}${wait}`;
}

function signed(value, digits = 1) {
  return `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
}

function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

// The value below which a part of sorted values lie.
function quantile(sorted, part) {
  if (sorted.length === 0) return NaN;
  const place = (sorted.length - 1) * part;
  const low = Math.floor(place);
  const high = Math.ceil(place);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}

// Column names end in a unit: how such a value is shown.
function columnFigure(name, value, digits = 4) {
  if (typeof value !== "number") return value ?? "";
  if (name.endsWith("_ps")) return time(value, digits);
  if (name === "bytes" || name.endsWith("_bytes")) return bytes(value, digits);
  return number(value, digits);
}
