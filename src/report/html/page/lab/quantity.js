// Values as the command line takes them, `1.6 B/cycle`, on a slider.

const SCALE = {
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  fs: 1e-15, ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1,
  Hz: 1, kHz: 1e3, MHz: 1e6, GHz: 1e9,
};
const STEPS = 1000;

// { amount, unit, scale } of a value, or null if it is no quantity.
function quantity(text) {
  const found = /^(\d+(?:\.\d+)?)(?:\s+(\S+))?$/.exec(text ?? "");
  if (!found) return null;
  const unit = found[2] ?? "";
  const scale = SCALE[unit] ?? 1;
  return { amount: Number(found[1]) * scale, unit, scale };
}

const isPower = (amount) => amount >= 1 && Math.log2(amount) % 1 === 0;

function written(amount, { unit, scale }, kind, powers) {
  if (kind === "size") {
    const whole = powers ? 2 ** Math.round(Math.log2(amount)) : Math.round(amount);
    const fits = ["GiB", "MiB", "KiB"].find((one) => whole % SCALE[one] === 0 && whole >= SCALE[one]);
    return fits ? `${whole / SCALE[fits]} ${fits}` : `${whole} B`;
  }
  const value = amount / scale;
  const whole = kind === "count" || kind === "number of cycles";
  const shown = whole ? (powers ? 2 ** Math.round(Math.log2(value)) : Math.round(value)) : Number(value.toPrecision(4));
  return unit ? `${shown} ${unit}` : String(shown);
}

// A scale from a quarter of the value to four times it, and over its whole range: places in 0 to 1000, and the value at a place.
function slider({ value, unit: kind, low, high }) {
  const now = quantity(value);
  if (!now || now.amount <= 0) return null;
  const amounts = [quantity(low)?.amount, quantity(high)?.amount].filter((one) => one > 0);
  const least = Math.min(...amounts, now.amount / 4);
  const most = Math.max(...amounts, now.amount * 4);
  const powers = (kind === "size" || kind === "count") && isPower(now.amount) && amounts.every(isPower);
  const from = Math.log(least);
  const wide = Math.log(most) - from;
  return {
    steps: STEPS,
    place: (text) => Math.round((STEPS * (Math.log(quantity(text)?.amount || now.amount) - from)) / wide),
    value: (place) => written(Math.exp(from + (wide * place) / STEPS), now, kind, powers),
  };
}
