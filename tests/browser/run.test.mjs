// The page of a run, with a timeline of units and messages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { column, count, everywhere, opened, sorts, withData } from "./page.mjs";

const slice = (start_ps, end_ps, label, state, follows = null) => ({ start_ps, end_ps, label, state, follows });
const data = withData("run", "run-traced", (data) => {
  const end = data.report.simulated_ps;
  const at = (part) => Math.round(part * end);
  data.timeline = { end_ps: end, left_out: "Messages after the second are <left out>.", tracks: [
    { name: "gpu.pce0", kind: "unit", slices: [slice(at(0.1), at(0.3), "read_data", "stall", [1, 0]), slice(at(0.3), at(0.5), "busy", "busy"), slice(at(0.6), at(0.9), "ghash_busy", "stall", [0, 1])] },
    { name: "link.h2d </script>", kind: "unit", slices: [slice(at(0.05), at(0.25), "busy", "busy", [2, 0])] },
    { name: "message 1", kind: "message", slices: [slice(0, at(0.2), "cipher", "stage"), slice(at(0.1), at(0.6), "link", "stage")] },
  ] };
  data.messages = Array.from({ length: 200 }, (_, place) => ({ number: place + 1, copy: 1, start_ps: place * 1000, end_ps: place * 1000 + 50_000 + (place % 20) * 7_000 }));
});
const slices = data.timeline.tracks.flatMap((track) => track.slices);
const view = (page) => page.locator("#timeline").evaluate((svg) => [Number(svg.dataset.from), Number(svg.dataset.to)]);
const chosen = (page) => page.locator("#timeline .slice.chosen").evaluate((mark) => [Number(mark.dataset.track), Number(mark.dataset.slice)]);
const click = (page, track, place) => page.locator(`#timeline .slice[data-track="${track}"][data-slice="${place}"]`).click();

everywhere("run-traced", "#timeline .slice");
everywhere("run", "#timeline .slice");

test("all slices are drawn, and overlapping ones in lanes", () => opened("run-traced", async (page) => {
  assert.equal(await count(page, "#timeline .slice"), slices.length);
  const tops = await page.locator('#timeline .slice[data-track="2"]').evaluateAll((marks) => marks.map((mark) => mark.getAttribute("y")));
  assert.equal(new Set(tops).size, 2);
  assert.ok((await page.locator("#timeline-part").textContent()).includes("<left out>"));
}));

test("a click on a wait chooses what it waits for, and Back returns", () => opened("run-traced", async (page) => {
  await click(page, 0, 0);
  assert.deepEqual(await chosen(page), [1, 0]);
  assert.equal(await count(page, "#timeline .arrow"), 1);
  assert.match(await page.locator("#timeline-details").textContent(), /link\.h2d <\/script>: busy/);
  await page.locator("#timeline-follow").click();
  assert.deepEqual(await chosen(page), [2, 0]);
  assert.ok(await page.locator("#timeline-follow").isDisabled());
  await page.locator("#timeline-back").click();
  await page.locator("#timeline-back").click();
  assert.deepEqual(await chosen(page), [0, 0]);
}));

test("keys zoom, move, choose and follow", () => opened("run-traced", async (page) => {
  const end = data.timeline.end_ps;
  await page.locator("#timeline").focus();
  await page.keyboard.press("+");
  const near = await view(page);
  assert.ok(Math.abs(near[1] - near[0] - end / 2) <= 2 && near[0] > 0, near);
  await page.keyboard.press("ArrowRight");
  const moved = await view(page);
  assert.ok(moved[0] > near[0] && Math.abs(moved[1] - moved[0] - (near[1] - near[0])) <= 2);
  await page.keyboard.press("+");
  const nearer = await view(page);
  await page.keyboard.press("-");
  const back = await view(page);
  assert.ok(nearer[1] - nearer[0] < back[1] - back[0]);
  await page.keyboard.press("Home");
  assert.deepEqual(await view(page), [0, end]);
  await page.keyboard.press("n");
  assert.deepEqual(await chosen(page), [0, 0]);
  await page.keyboard.press("n");
  await page.keyboard.press("n");
  assert.deepEqual(await chosen(page), [0, 2]);
  await page.keyboard.press("Enter");
  assert.deepEqual(await chosen(page), [0, 1]);
  await page.keyboard.press("Backspace");
  assert.deepEqual(await chosen(page), [0, 2]);
  await page.keyboard.press("ArrowDown");
  assert.deepEqual(await chosen(page), [1, 0]);
}));

test("what is followed comes into view", () => opened("run-traced", async (page) => {
  await page.locator("#timeline").focus();
  await page.keyboard.press("n");
  for (let press = 0; press < 6; press += 1) await page.keyboard.press("+");
  await page.locator("#timeline-right").click();
  await page.keyboard.press("Shift+Tab");
  const before = await view(page);
  await page.locator("#timeline-follow").click();
  const [from, to] = await view(page);
  const [target] = data.timeline.tracks[1].slices;
  assert.ok(target.end_ps > from && target.start_ps < to, `${[from, to]} from ${before}`);
  assert.equal(await count(page, "#timeline .slice.chosen"), 1);
}));

test("the pointer shows hints, drags and zooms", () => opened("run-traced", async (page) => {
  await page.locator('#timeline .slice[data-track="0"][data-slice="0"]').hover();
  assert.match(await page.locator("#tooltip").textContent(), /gpu\.pce0: waits for read data under way \(stall\)[^]*waits for link\.h2d/);
  await page.locator("#timeline-in").click();
  const before = await view(page);
  const box = await page.locator('#timeline .slice[data-track="2"][data-slice="1"]').boundingBox();
  const [x, y] = [box.x + 0.9 * box.width, box.y + 0.5 * box.height];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 20, y, { steps: 4 });
  await page.mouse.up();
  assert.ok((await view(page))[0] > before[0], "what is dragged to the left shows what is later");
  assert.equal(await count(page, "#timeline .slice.chosen"), 0, "a drag is no click");
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  const [from, to] = await view(page);
  assert.ok(to - from < before[1] - before[0]);
}));

test("the cycles of each unit sum to all of them", () => opened("run-traced", async (page) => {
  await page.locator("#units-quiet").uncheck();
  const units = Object.entries(data.report.units);
  const parts = units.reduce((sum, [, unit]) => sum + [unit.busy, unit.idle, ...Object.values(unit.stalls)].filter((cycles) => cycles > 0).length, 0);
  assert.equal(await count(page, "#units .mark"), parts);
  const widths = await page.locator("#units .mark").evaluateAll((marks) => marks.map((mark) => [mark.dataset.row, Number(mark.getAttribute("width"))]));
  const bars = units.map(([name]) => widths.filter(([row]) => row === name).reduce((sum, [, width]) => sum + width, 0));
  bars.forEach((width) => assert.ok(Math.abs(width - bars[0]) < 0.5, bars.join()));
  await page.locator("#units-part summary").click();
  const heads = await count(page, "#unit-table th");
  assert.deepEqual(new Set(await column(page, "unit-table", heads)), new Set(["100.00 %"]));
}));

test("latencies are all in the histogram", () => opened("run-traced", async (page) => {
  const counts = await page.locator("#latencies .mark").evaluateAll((marks) => marks.map((mark) => Number(mark.dataset.count)));
  assert.equal(counts.reduce((sum, one) => sum + one, 0), 200);
  const text = await page.locator("#latency-part").textContent();
  assert.ok(text.includes("median 116.5 ns") && text.includes("max 183 ns"), text);
}));

test("parameters that bind have their measured gains and lead to the configuration", () => opened("run-traced", async (page) => {
  const best = data.report.copies.flatMap(({ limited_by_parts: parts }) => parts?.best ?? []);
  assert.equal(await count(page, "#binders tbody tr"), new Set(best.map((one) => one.parameter)).size);
  assert.equal(await count(page, "#binding .mark"), new Set(best.filter((one) => one.gain_percent).map((one) => one.parameter)).size);
  await page.locator("#binders button.mono").first().click();
  const path = await page.locator("#parameter-search").inputValue();
  assert.ok((await column(page, "parameters", 1)).includes(path));
}));

test("the configuration is searched by words and by provenance", () => opened("run-traced", async (page) => {
  await page.locator("#parameter-search").fill("cipher rate");
  const words = (one) => ["cipher", "rate"].every((word) => `${one.path} ${one.value} ${one.kind} ${one.source}`.toLowerCase().includes(word));
  const found = data.configuration.parameters.filter(words);
  assert.equal((await column(page, "parameters", 1)).length, found.length);
  await page.locator("#parameter-kind").selectOption("assumed");
  assert.equal((await column(page, "parameters", 1)).length, found.filter((one) => one.kind === "assumed").length);
}));

test("the copies sort by time", () => opened("run-traced", async (page) => {
  const times = data.report.copies.map((copy) => copy.end_ps - copy.start_ps);
  const rows = async () => (await column(page, "copies", 1)).map((number) => times[Number(number) - 1]);
  const heads = await page.locator("#copies th").allTextContents();
  await sorts(page, "copies", heads.indexOf("time") + 1, rows);
}));

test("a timeline of 60,000 slices is drawn and zoomed without delay", async () => {
  withData("run", "run-long", (long) => {
    long.timeline = { end_ps: 6e9, left_out: null, tracks: Array.from({ length: 30 }, (_, unit) => ({ name: `unit ${unit}`, kind: "unit", slices: Array.from({ length: 2000 }, (_, place) => slice(place * 3e6 + unit, place * 3e6 + 1e6, place % 3 ? "busy" : "credit", "busy")) })) };
  });
  await opened("run-long", async (page) => {
    // What the computer takes for a loop says how slow it is, and how busy.
    const loop = await page.evaluate(() => {
      const began = performance.now();
      let sum = 0;
      for (let at = 0; at < 5e7; at += 1) sum += at % 7;
      return sum && performance.now() - began;
    });
    const began = Date.now();
    await page.locator("#timeline-in").click();
    await page.locator("#timeline-all").click();
    assert.ok(Date.now() - began < Math.max(2000, 40 * loop), `${Date.now() - began} ms, a loop ${loop} ms`);
    assert.equal(await page.locator("#timeline").getAttribute("data-view"), "60000");
    for (let zoom = 0; zoom < 9; zoom += 1) await page.locator("#timeline-in").click();
    const [seen, drawn] = await page.locator("#timeline").evaluate((svg) => [svg.dataset.view, svg.dataset.drawn]);
    assert.equal(seen, drawn, "all that is in view is drawn once there is room");
  });
});
