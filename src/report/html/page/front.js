// The points that no other point beats.

// Places of points [x, y] on the front, from left to right. A sign is 1 where less is better, -1 where more is.
function frontOf(points, signX, signY) {
  const usable = points.map(([x, y], place) => [x * signX, y * signY, place]).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  usable.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  const front = [];
  let best = Infinity;
  let last = null;
  for (const [x, y, place] of usable) {
    // Equals are on it together.
    if (y < best || (last && last[0] === x && last[1] === y)) {
      front.push(place);
      best = y;
      last = [x, y];
    }
  }
  return front.sort((a, b) => points[a][0] - points[b][0] || points[a][1] - points[b][1]);
}
