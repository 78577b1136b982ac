// The pages of comparisons.

import assert from "node:assert/strict";
import { test } from "node:test";
import { column, count, dataOf, everywhere, opened, sorts } from "./page.mjs";

const { report } = dataOf("compare");
const copies = (direction) => report.designs.flatMap((design) => design.copies.filter((copy) => copy.direction === direction));
const priced = (direction, size) => report.designs.filter((design) => typeof design.cost.area_total_kge === "number" && design.copies.some((copy) => copy.direction === direction && copy.bytes === size));

everywhere("compare", "#curves .mark");
everywhere("compare-workload", "#ends .mark");

test("each copy is a point of a curve, in the direction that is chosen", () => opened("compare", async (page) => {
  assert.equal(await count(page, "#curves .mark"), copies("h2d").length);
  assert.equal(await count(page, "#curves g[data-series]"), report.designs.length);
  await page.locator("#table-direction").selectOption("d2h");
  assert.equal(await count(page, "#curves .mark"), copies("d2h").length);
  assert.equal(await page.locator("#curves-direction").inputValue(), "d2h");
  assert.ok((await page.locator("#curves .mark").first().getAttribute("aria-label")).includes("d2h"));
}));

test("designs are switched on and off, and stay as points", () => opened("compare", async (page) => {
  await page.locator("#curves-none").click();
  assert.equal(await count(page, "#curves .mark.faint"), copies("h2d").length);
  await page.locator(".switches label", { hasText: report.designs[1].name }).first().locator("input").check();
  assert.equal(await count(page, "#curves .mark:not(.faint)"), report.sizes_bytes.length);
}));

test("another figure has another axis", () => opened("compare", async (page) => {
  await page.locator("#curves-figure").selectOption("time_ps");
  assert.match(await page.locator("#curves svg").textContent(), /us/);
}));

test("cost against rate has each design that has both, and its front", () => opened("compare", async (page) => {
  const [size] = report.sizes_bytes;
  await page.locator("#cost-size").selectOption(String(size));
  assert.equal(await count(page, "#cost .mark"), priced("h2d", size).length);
  const best = Math.max(...priced("h2d", size).map((design) => design.copies.find((copy) => copy.direction === "h2d" && copy.bytes === size).gb_per_s));
  const names = priced("h2d", size).filter((design) => design.copies.some((copy) => copy.direction === "h2d" && copy.bytes === size && copy.gb_per_s === best)).map((design) => design.name);
  const filled = await page.locator("#cost .mark").evaluateAll((marks) => marks.filter((mark) => mark.getAttribute("fill") !== "var(--paper)").map((mark) => mark.dataset.key));
  assert.ok(filled.some((name) => names.includes(name)), `${filled} has one of ${names}`);
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
  assert.equal(await count(page, "#cost .mark"), designs.filter((design) => typeof design.cost.area_total_kge === "number").length);
}));
