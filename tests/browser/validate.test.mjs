// The page of a validation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { column, count, dataOf, everywhere, opened, sorts, points } from "./page.mjs";

const { report, curves } = dataOf("validate");

everywhere("validate", "#against .mark");

test("each point is drawn against its measurement and as a residual", () => opened("validate", async (page) => {
  for (const figure of ["against", "residuals"]) assert.equal(await points(page, `#${figure} .mark`), report.datasets[0].values.length);
  const places = await page.locator("#residuals .mark").evaluateAll((marks) => marks.flatMap((mark) => [...mark.getAttribute("aria-label").matchAll(/error ([+-]?[\d.]+) %/g)].map((found) => found[1])));
  const errors = report.datasets[0].values.map((value) => Math.abs(value.error_percent).toFixed(1));
  assert.deepEqual(places.map((text) => Math.abs(Number(text)).toFixed(1)).sort(), errors.sort());
}));

test("another data set is chosen", () => opened("validate", async (page) => {
  await page.locator("#points-dataset").selectOption("1");
  assert.equal(await points(page, "#against .mark"), report.datasets[1].values.length);
}));

test("errors stand apart for each class", () => opened("validate", async (page) => {
  const classes = report.datasets.reduce((sum, one) => sum + [one.points_used_to_fit, one.points_informed, one.points_held_out].filter((points) => points > 0).length, 0);
  assert.equal(await count(page, "#errors tbody tr"), classes);
}));

test("points sort by their error, and a row is shown in both plots", () => opened("validate", async (page) => {
  await sorts(page, "points", 5, async () => (await column(page, "points", 5)).map((text) => parseFloat(text)));
  await page.locator("#points tbody tr").first().click();
  assert.equal(await count(page, "#against .mark.chosen"), 1);
  assert.equal(await count(page, "#residuals .mark.chosen"), 1);
}));

test("curves are those of --plot, and their points say what they are", () => opened("validate", async (page) => {
  const shown = curves.slice(0, 12);
  assert.equal(await count(page, "#panels svg"), shown.length);
  const marks = (svg) => svg.split('class="mark"').length - 1;
  assert.equal(await count(page, "#panels .mark"), shown.reduce((sum, svg) => sum + marks(svg), 0));
  const says = await page.locator("#panels .mark").evaluateAll((all) => all.map((mark) => mark.getAttribute("aria-label")));
  for (const one of ["measured", "simulated"]) assert.ok(says.filter((text) => text.includes(one) && text.includes("Rate (GB/s): ")).length > 9, one);
  await page.locator("#panels .mark").first().focus();
  assert.equal(await page.locator("#tooltip").textContent(), says[0]);
}));
