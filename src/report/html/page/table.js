// Tables that sort by a click on a head.

const SHOWN_ROWS = 40;
// A table of more columns has less room between them.
const DENSE = 12;

// `columns`: { name, text(row), value(row), wide, narrow, number }. `chosen(row)` is called for a row that is clicked.
function table(columns, rows, { id, caption, sort, chosen, isChosen } = {}) {
  let by = sort ? columns.findIndex((column) => column.name === sort.name) : -1;
  let falling = sort?.falling ?? false;
  let all = false;
  const body = el("tbody");
  const more = el("button", { type: "button", click: () => { all = true; fill(); } });
  const value = (column, row) => (column.value ? column.value(row) : column.text(row));
  const isNumber = columns.map((column) => column.number ?? (rows.length > 0 && rows.some((row) => typeof value(column, row) === "number")));
  const heads = columns.map((column, place) => {
    const button = el("button", { type: "button", title: column.what, click: () => {
      falling = by === place ? !falling : isNumber[place];
      by = place;
      fill();
    } });
    return el("th", { scope: "col", class: isNumber[place] ? "number" : null }, button);
  });
  function order(one, other) {
    const [a, b] = [value(columns[by], one), value(columns[by], other)];
    const [noA, noB] = [a === null || a === undefined || a === "", b === null || b === undefined || b === ""];
    if (noA || noB) return noA - noB;
    const numbers = typeof a === "number" && typeof b === "number";
    const sign = falling ? -1 : 1;
    return sign * (numbers ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  }
  function fill() {
    const sorted = by < 0 ? rows : [...rows].sort(order);
    heads.forEach((head, place) => {
      head.setAttribute("aria-sort", place !== by ? "none" : falling ? "descending" : "ascending");
      head.firstChild.textContent = columns[place].name + (place !== by ? "" : falling ? " ▼" : " ▲");
    });
    const shown = all ? sorted : sorted.slice(0, SHOWN_ROWS);
    body.replaceChildren(...shown.map(line));
    more.hidden = shown.length === rows.length;
    more.textContent = `Show all ${rows.length} rows`;
  }
  function line(row) {
    const cells = columns.map((column, place) => el("td", { class: [isNumber[place] && "number", column.wide && "wide", column.narrow && "narrow"].filter(Boolean).join(" ") || null }, column.text(row)));
    const pick = chosen && (() => chosen(row));
    return el("tr", { class: [chosen && "link", isChosen?.(row) && "chosen"].filter(Boolean).join(" ") || null, tabindex: chosen ? 0 : null, click: pick, keydown: pick && ((event) => event.key === "Enter" && pick()) }, cells);
  }
  fill();
  const framed = el("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption ?? "table" }, el("table", { id, class: columns.length > DENSE ? "dense" : null }, caption && el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, heads)), body));
  const whole = el("div", {}, framed, more);
  whole.refresh = fill;
  return whole;
}
