// From values to places on an axis.

function range(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low > high ? [0, 1] : [low, high];
}

// Names of ticks: with three digits, and as many more as tell them apart.
function told(ticks, show) {
  const all = (digits) => ticks.map((value) => show(value, digits));
  const digits = [3, 4, 5, 6, 8, 10, 12].find((digits) => new Set(all(digits)).size === ticks.length);
  return all(digits ?? 3);
}

// How wide a text of a drawing is, in the font that there is.
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

function linear(values, from, to, { zero = false, show = number } = {}) {
  const whole = values.every((value) => Number.isInteger(value) || !Number.isFinite(value));
  let [low, high] = range(values);
  if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) [low, high] = [low - Math.max(0.5, Math.abs(low) / 10), high + Math.max(0.5, Math.abs(high) / 10)];
  const room = zero ? 0.04 * (high - low) : 0.05 * (high - low);
  [low, high] = [low < 0 || !zero ? low - room : low, high > 0 || !zero ? high + room : high];
  const place = (value) => from + ((value - low) / (high - low)) * (to - from);
  return { place, ticks: (most) => evenly(low, high, most, whole), show, low, high, usable: Number.isFinite };
}

// Multiples of 1, 2 or 5 times a power of ten; of counts whole ones.
function evenly(low, high, most, whole = false) {
  const raw = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(whole ? 1 : 0, [1, 2, 5, 10].map((times) => times * power).find((size) => size >= raw) ?? raw);
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9 && ticks.length < 100; value += step) ticks.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return ticks;
}

function logarithmic(values, from, to, { base = 10, show = number } = {}) {
  let [low, high] = range(values.filter((value) => value > 0));
  if (low <= 0) [low, high] = [1, base];
  const room = Math.max((high / low) ** 0.05, base === 2 ? 1.3 : 1.1);
  [low, high] = [low / room, high * room];
  const [least, span] = [Math.log(low), Math.log(high / low)];
  const place = (value) => from + ((Math.log(value) - least) / span) * (to - from);
  const ticks = (most) => {
    const powers = [];
    for (let power = Math.ceil(Math.log(low) / Math.log(base) - 1e-9); base ** power <= high; power += 1) powers.push(base ** power);
    if (powers.length < 2 && base === 10) return evenly(low, high, Math.min(most, 4));
    const few = base === 10 && powers.length <= 2 && most >= 5;
    const all = few ? powers.concat(powers[0] / 10).flatMap((power) => [1, 2, 5].map((times) => times * power)).filter((value) => value >= low && value <= high).sort((a, b) => a - b) : powers;
    const step = Math.ceil(all.length / Math.max(2, most));
    return all.filter((_, place) => place % step === 0);
  };
  return { place, ticks, show, low, high, usable: (value) => Number.isFinite(value) && value > 0 };
}
