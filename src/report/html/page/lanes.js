// Where slices of a track stand: side by side in lanes where they overlap, and at what places on the axis of time.

const MOST_LANES = 8;

// The lane of each slice, and how many there are. What finds no lane stands in the last.
function lanesOf(slices) {
  const ends = [];
  const lanes = new Array(slices.length);
  const order = slices.map((_, place) => place).sort((a, b) => slices[a].start_ps - slices[b].start_ps || a - b);
  for (const place of order) {
    const { start_ps: start, end_ps: end } = slices[place];
    let lane = ends.findIndex((until) => until <= start);
    if (lane < 0) lane = ends.length < MOST_LANES ? ends.length : MOST_LANES - 1;
    ends[lane] = Math.max(ends[lane] ?? 0, end);
    lanes[place] = lane;
  }
  return { lanes, count: Math.max(1, ends.length) };
}

// Dates on an axis from one time to another, with as many decimals as tell them apart.
function dates(from, to, most) {
  const ticks = evenly(from, to, most);
  const [size, unit] = timeUnit(to);
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / size : 1;
  const decimals = clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 9);
  return ticks.map((value) => [value, value === 0 ? "0" : `${(value / size).toFixed(decimals)} ${unit}`]);
}

// The slices of a track that are to be drawn between two times: what would cover less than a pixel that is taken is left out.
function visible(slices, lanes, from, to, place, keep) {
  const taken = [];
  const drawn = [];
  let inView = 0;
  slices.forEach((slice, at) => {
    if (slice.end_ps < from || slice.start_ps > to) return;
    inView += 1;
    const [left, right] = [place(Math.max(slice.start_ps, from)), place(Math.min(slice.end_ps, to))];
    const lane = lanes[at];
    const width = Math.max(1, right - left);
    if (width <= 1 && left < (taken[lane] ?? -1) + 0.5 && at !== keep) return;
    taken[lane] = Math.max(taken[lane] ?? -1, left + width);
    drawn.push({ at, lane, left, width });
  });
  return { drawn, inView };
}
