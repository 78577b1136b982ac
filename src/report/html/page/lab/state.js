// A state of the page: a machine, what lies over it, and a copy. As text it is a query with the names of the command line's options.

const UNITS = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];

function sizeText(bytes) {
  const [unit, size] = UNITS.find(([, size]) => bytes >= size && bytes % size === 0) ?? ["", 1];
  return `${bytes / size}${unit}`;
}

// Bytes of a size as 64MiB, or null.
function readSize(text) {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(TiB|GiB|MiB|KiB|B)?\s*$/i.exec(text);
  if (!found) return null;
  const size = UNITS.find(([unit]) => unit.toLowerCase() === found[2]?.toLowerCase())?.[1] ?? 1;
  const bytes = Number(found[1]) * size;
  return Number.isInteger(bytes) && bytes > 0 && bytes <= 2 ** 52 ? bytes : null;
}

function read(text) {
  const parts = new URLSearchParams(text);
  const [direction = "h2d", size = "64MiB", memory = "pinned"] = (parts.get("copy") ?? "").split(":").filter(Boolean);
  const setting = (one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)];
  return {
    machine: parts.get("machine") ?? "h100-nvl-tdx",
    designs: parts.getAll("design"),
    cc: parts.get("cc") ?? "",
    set: new Map(parts.getAll("set").filter((one) => one.includes("=")).map(setting)),
    direction,
    bytes: readSize(size) ?? 64 * 2 ** 20,
    memory,
  };
}

function write(state) {
  const parts = new URLSearchParams();
  parts.append("machine", state.machine);
  state.designs.forEach((design) => parts.append("design", design));
  if (state.cc) parts.append("cc", state.cc);
  state.set.forEach((value, path) => parts.append("set", `${path}=${value}`));
  const memory = state.memory === "pinned" ? "" : `:${state.memory}`;
  parts.append("copy", `${state.direction}:${sizeText(state.bytes)}${memory}`);
  return parts.toString();
}

function copyOf(state) {
  return read(write(state));
}

// Takes options of the command line over into a state: settings, designs, a copy's memory.
function adopt(state, options) {
  const given = new URLSearchParams([...options.matchAll(/--(\S+) (\S+)/g)].map(([, name, value]) => [name, value]));
  const { set, designs, memory } = read(given);
  set.forEach((value, path) => state.set.set(path, value));
  state.designs.push(...designs);
  if (given.has("copy")) state.memory = memory;
}

// What of one state is otherwise in another, as words.
function differences(one, other) {
  const found = [];
  const say = (what, a, b) => {
    if (a !== b) found.push([what, a || "none", b || "none"]);
  };
  say("machine", one.machine, other.machine);
  say("designs", one.designs.join(" + "), other.designs.join(" + "));
  say("confidential computing", one.cc || "Machine default", other.cc || "Machine default");
  const copy = (state) => `${state.direction} ${bytes(state.bytes)} ${state.memory}`;
  say("copy", copy(one), copy(other));
  for (const path of new Set([...one.set.keys(), ...other.set.keys()])) {
    say(path, one.set.get(path) ?? "Machine default", other.set.get(path) ?? "Machine default");
  }
  return found;
}

// Fetches what a question is answered with.
async function fetched(path, as, signal) {
  return (await asked(path, { signal }))[as]();
}

// Sends a file.
async function sent(path, file) {
  return (await asked(path, { method: "POST", body: file })).json();
}

// Gives an order.
function begun(path) {
  return asked(path, { method: "POST" });
}

async function asked(path, options) {
  let reply = null;
  try {
    reply = await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Error("The program does not answer: it has ended, most likely. Start `sealsim lab` again.");
  }
  if (!reply.ok) throw new Error(await reply.text());
  return reply;
}
