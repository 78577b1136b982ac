// The pages of comparisons.

import assert from "node:assert/strict";
import { test } from "node:test";
import { column, count, dataOf, everywhere, opened, points, sorts, withData } from "./page.mjs";

const { report } = dataOf("compare");
const copies = (direction) => report.designs.flatMap((design) => design.copies.filter((copy) => copy.direction === direction));
const priced = (direction, size) => report.designs.filter((design) => typeof design.cost.area_total_kge === "number" && design.copies.some((copy) => copy.direction === direction && copy.bytes === size));

everywhere("compare", "#curves .mark");
everywhere("compare-workload", "#ends .mark");

test("each copy is a point of a curve, in the direction that is chosen", () => opened("compare", async (page) => {
  assert.equal(await points(page, "#curves .mark"), copies("h2d").length);
  assert.equal(await count(page, "#curves g[data-series]"), report.designs.length);
  await page.locator("#table-direction").selectOption("d2h");
  assert.equal(await points(page, "#curves .mark"), copies("d2h").length);
  assert.equal(await page.locator("#curves-direction").inputValue(), "d2h");
  assert.ok((await page.locator("#curves .mark").first().getAttribute("aria-label")).includes("d2h"));
}));

test("designs are switched on and off, and stay as points", () => opened("compare", async (page) => {
  await page.locator("#curves-none").click();
  assert.equal(await points(page, "#curves .mark.faint"), copies("h2d").length);
  await page.locator(".switches label", { hasText: report.designs[1].name }).first().locator("input").check();
  assert.ok(await count(page, "#curves .mark:not(.faint)") === report.sizes_bytes.length);
}));

test("another figure has another axis", () => opened("compare", async (page) => {
  await page.locator("#curves-figure").selectOption("time_ps");
  assert.match(await page.locator("#curves svg").textContent(), /µs/);
}));

test("cost against rate has each design that has both, and its front", () => opened("compare", async (page) => {
  const [size] = report.sizes_bytes;
  await page.locator("#cost-size").selectOption(String(size));
  assert.equal(await points(page, "#cost .mark"), priced("h2d", size).length);
  const best = Math.max(...priced("h2d", size).map((design) => design.copies.find((copy) => copy.direction === "h2d" && copy.bytes === size).gb_per_s));
  const names = priced("h2d", size).filter((design) => design.copies.some((copy) => copy.direction === "h2d" && copy.bytes === size && copy.gb_per_s === best)).map((design) => design.name);
  const filled = await page.locator("#cost .mark").evaluateAll((marks) => marks.filter((mark) => mark.getAttribute("fill") !== "var(--paper)").map((mark) => mark.dataset.key));
  assert.ok(filled.some((name) => names.includes(name)), `${filled} has one of ${names}`);
}));

test("a design has one colour in all charts", () => opened("compare", async (page) => {
  const colours = (figure) => page.locator(`${figure} g[data-series]`).evaluateAll((all) => Object.fromEntries(all.map((one) => [one.dataset.series, one.querySelector("[stroke]")?.getAttribute("stroke")])));
  const [curves, cost] = [await colours("#curves"), await colours("#cost")];
  const both = Object.keys(curves).filter((name) => curves[name] && cost[name]);
  assert.ok(both.length > 3);
  for (const name of both) assert.equal(curves[name], cost[name], name);
  const dashes = await page.locator("#curves .curve").evaluateAll((all) => all.map((one) => one.getAttribute("stroke-dasharray")));
  dashes.forEach((dash, at) => assert.ok(at === 0 || dash !== dashes[at - 1], "neighbours differ in dashes too"));
}));

test("marks that share a place are one, with their number, and none is larger", () => {
  withData("compare", "compare-shared", (data) => {
    const [first, ...others] = data.report.designs;
    others.forEach((design) => design.copies.forEach((copy, at) => { copy.gb_per_s = first.copies[at].gb_per_s; }));
  });
  return opened("compare-shared", async (page) => {
    const { designs } = dataOf("compare-shared").report;
    assert.deepEqual(await page.locator("#curves .mark").evaluateAll((marks) => marks.map((mark) => Number(mark.dataset.count))), report.sizes_bytes.map(() => designs.length));
    assert.equal(await page.locator("#curves svg text", { hasText: String(designs.length) }).count() > 0, true);
    const wide = await page.locator("#curves .mark").evaluateAll((marks) => Math.max(...marks.map((mark) => mark.getBBox().width)));
    assert.ok(wide <= 12, `${wide}`);
  });
});

test("one size is sorted bars, and counts have whole ticks", () => {
  withData("compare", "compare-one", (data) => {
    data.report.sizes_bytes.splice(1);
    data.report.designs.forEach((design) => { design.copies = design.copies.filter((copy) => copy.bytes === data.report.sizes_bytes[0]); });
  });
  return opened("compare-one", async (page) => {
    const { designs } = dataOf("compare-one").report;
    const rate = (name) => designs.find((design) => design.name === name).copies.find((copy) => copy.direction === "h2d").gb_per_s;
    const names = await page.locator("#curves .mark").evaluateAll((marks) => marks.map((mark) => mark.dataset.key));
    assert.deepEqual(names, [...names].sort((a, b) => rate(b) - rate(a)));
    assert.equal(names.length, designs.length);
  });
});

test("those on the front have their names first", () => opened("compare", async (page) => {
  const filled = await page.locator("#cost .mark").evaluateAll((marks) => marks.filter((mark) => mark.getAttribute("fill") !== "var(--paper)").map((mark) => mark.dataset.key));
  const texts = await page.locator("#cost svg text").allTextContents();
  assert.ok(texts.includes(filled[0]), `${filled[0]} of ${texts}`);
}));

test("the table sorts by rate and by name", () => opened("compare", async (page) => {
  const rates = async () => (await column(page, "figures", 3)).map(Number);
  await sorts(page, "figures", 3, rates);
  const head = page.locator("#figures th:nth-child(1) button");
  await head.focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#figures th:nth-child(1)").getAttribute("aria-sort"), "ascending");
}));

test("points take the focus by arrows and say what they are", () => opened("compare", async (page) => {
  await page.locator("#curves .mark[tabindex='0']").focus();
  const first = await page.locator("#tooltip").textContent();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.locator("#tooltip").textContent(), first);
  assert.equal(await count(page, "#curves .mark[tabindex='0']"), 1);
}));

test("a workload has a bar for each design, in either order", () => opened("compare-workload", async (page) => {
  const { designs } = dataOf("compare-workload").report;
  assert.equal(await count(page, "#ends .mark"), designs.length);
  await page.locator("#ends-order").selectOption("end");
  const order = await page.locator("#ends .mark").evaluateAll((marks) => marks.map((mark) => mark.dataset.key));
  assert.deepEqual(order, [...designs].sort((a, b) => a.time_ps - b.time_ps).map((design) => design.name));
  assert.equal(await points(page, "#cost .mark"), designs.filter((design) => typeof design.cost.area_total_kge === "number").length);
}));
