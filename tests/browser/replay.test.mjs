// The page of a replay.

import assert from "node:assert/strict";
import { test } from "node:test";
import { column, count, dataOf, everywhere, opened, sorts } from "./page.mjs";

const { report, timelines } = dataOf("replay");

everywhere("replay", "#timeline .slice");
everywhere("replay-json", "#breakdown .mark");

test("off and CC stand one over the other, over one axis", () => opened("replay", async (page) => {
  const slices = timelines.flatMap(({ timeline }) => timeline.tracks.flatMap((track) => track.slices));
  assert.equal(await page.locator("#timeline").getAttribute("data-view"), String(slices.length));
  const tops = await page.locator("#timeline .slice").evaluateAll((marks) => marks.map((mark) => [mark.dataset.band, Number(mark.getAttribute("y"))]));
  const of = (band) => tops.filter(([one]) => one === band).map(([, y]) => y);
  assert.ok(Math.max(...of("0")) < Math.min(...of("1")));
  assert.equal(await page.locator("#timeline").getAttribute("data-to"), String(Math.max(...timelines.map((one) => one.timeline.end_ps))));
}));

test("a zoom is one of both, and a hint says what a slice is", () => opened("replay", async (page) => {
  await page.locator("#timeline").focus();
  await page.keyboard.press("n");
  const before = await page.locator("#timeline").getAttribute("data-view");
  for (let press = 0; press < 4; press += 1) await page.keyboard.press("+");
  assert.ok(Number(await page.locator("#timeline").getAttribute("data-view")) < Number(before));
  const bands = await page.locator("#timeline .slice").evaluateAll((marks) => new Set(marks.map((mark) => mark.dataset.band)).size);
  assert.equal(bands, 2);
  await page.locator("#timeline .slice").first().hover();
  assert.match(await page.locator("#tooltip").textContent(), /thread 1: .* \(operation\)/);
}));

test("each cause that takes time is a bar, and they sum to the difference", () => opened("replay", async (page) => {
  const shares = report.breakdown.filter((share) => share.ns !== 0);
  assert.equal(await count(page, "#breakdown .mark"), shares.length);
  assert.equal(report.breakdown.reduce((sum, share) => sum + share.ns, 0), report.runs[1].end_ns - report.runs[0].end_ns);
}));

test("calls sort by what they grow", () => opened("replay", async (page) => {
  const grown = report.operations.map((one) => [one.place, one.cc_ns - one.off_ns]);
  await sorts(page, "operations", 7, async () => (await column(page, "operations", 4)).map((place) => grown.find(([one]) => one === place)[1]));
}));

test("without dates the page says how to get them", () => opened("replay-json", async (page) => {
  assert.equal(await count(page, "#timeline"), 0);
  assert.match(await page.locator("#timeline-part").textContent(), /--report/);
}));
