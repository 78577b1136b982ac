// How values are distributed.

const BINS = 32;

// Bins of equal width, or of equal ratio where values span more than two orders of magnitude.
function binned(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[0], sorted[sorted.length - 1]];
  const log = low > 0 && high / low > 100;
  const count = low === high ? 1 : BINS;
  const edge = (place) => (low === high ? low : log ? low * (high / low) ** (place / count) : low + ((high - low) * place) / count);
  const bins = Array.from({ length: count }, (_, place) => ({ from: edge(place), to: edge(place + 1), count: 0 }));
  let place = 0;
  for (const value of sorted) {
    while (place + 1 < count && value >= bins[place].to) place += 1;
    bins[place].count += 1;
  }
  return { sorted, bins, log };
}

// The distribution of times in ps, with median, 95th percentile and the longest.
function histogram(box, values, { what }) {
  const { sorted, bins, log } = binned(values);
  const marked = [["median", quantile(sorted, 0.5)], ["p95", quantile(sorted, 0.95)], ["max", sorted[sorted.length - 1]]];
  const spread = [bins[0].from, bins[bins.length - 1].to];
  responsive(box, (width) => {
    const height = 280;
    const scale = (from, to) => (log ? logarithmic(spread, from, to, { show: time }) : linear(spread, from, to, { show: time }));
    const { svg, x, y } = frame({ width, height, x: scale, y: (from, to) => linear(bins.map((bin) => bin.count), from, to, { zero: true }), xLabel: `time of a ${what}`, yLabel: `${what}s`, label: `distribution of ${what} latencies` });
    for (const bin of bins.filter((one) => one.count > 0)) {
      const one = bin.from === bin.to;
      const [left, right] = one ? [x.place(bin.from) - 8, x.place(bin.from) + 8] : [x.place(bin.from), x.place(bin.to)];
      const text = one ? time(bin.from) : `${time(bin.from)} to ${time(bin.to)}`;
      svg.append(sv("rect", { class: "mark", x: left, y: y.place(bin.count), width: Math.max(1, right - left - 1), height: y.place(0) - y.place(bin.count), fill: colour(0), role: "img", "aria-label": `${text}: ${plural(bin.count, what)}`, "data-count": bin.count }));
    }
    let row = 0;
    for (const [name, value] of marked) {
      const place = x.place(value);
      const end = place > width / 2;
      svg.append(sv("line", { class: "rule", x1: place, x2: place, y1: 10, y2: y.place(0) }), sv("text", { x: end ? place - 4 : place + 4, y: 20 + 14 * row, "text-anchor": end ? "end" : "start" }, `${name} ${time(value)}`));
      row += 1;
    }
    marksOf(svg);
    box.querySelector("svg")?.remove();
    box.prepend(svg);
  });
  return marked;
}
