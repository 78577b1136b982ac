// The page of a sweep.

import assert from "node:assert/strict";
import { test } from "node:test";
import { column, count, dataOf, everywhere, opened, points } from "./page.mjs";

const { report } = dataOf("sweep");
const place = (name) => report.columns.findIndex((column) => column.name === name);
const index = (row) => String(report.rows[row][place("index")]);

everywhere("sweep", "#front .mark");

test("each point is drawn, and the front is the one that pareto finds", () => opened("sweep", async (page) => {
  assert.equal(await points(page, "#front .mark"), report.rows.length);
  const listed = await column(page, "front-table", 1);
  assert.deepEqual([...listed].sort(), report.front.rows.map(index).sort());
  const filled = await page.locator("#front .mark").evaluateAll((marks) => marks.filter((mark) => mark.getAttribute("fill") !== "var(--paper)").map((mark) => Number(mark.dataset.key)));
  assert.deepEqual(filled.sort((a, b) => a - b), report.front.rows);
}));

test("axes are chosen, and the front with them", () => opened("sweep", async (page) => {
  await page.locator("#front-x").selectOption("engine.ghash.width");
  await page.locator("#front-y").selectOption("exposure_ps");
  assert.match(await page.locator("#front svg").textContent(), /GHASH products per cycle/);
  const [x, y] = [place("engine.ghash.width"), place("exposure_ps")];
  const beats = (a, b) => a[x] <= b[x] && a[y] <= b[y] && (a[x] < b[x] || a[y] < b[y]);
  const front = report.rows.map((_, row) => row).filter((row) => !report.rows.some((other) => beats(other, report.rows[row])));
  assert.deepEqual((await column(page, "front-table", 1)).sort(), front.map(index).sort());
  await page.locator("#front-sense-y").selectOption("-1");
  assert.notDeepEqual((await column(page, "front-table", 1)).sort(), front.map(index).sort());
  await page.locator("#front-log-x").check();
  assert.equal(await points(page, "#front .mark"), report.rows.length);
}));

test("a point shows its configuration, by pointer, key and row", () => opened("sweep", async (page) => {
  const shows = async (row) => {
    const text = await page.locator("#point dl").textContent();
    report.axes.forEach((axis) => assert.ok(text.includes(`${report.columns[place(axis)].label}${report.rows[row][place(axis)]}`), `${axis} in ${text}`));
  };
  await page.locator('#front .mark[data-key="1"]').click({ force: true });
  await shows(1);
  assert.equal(await count(page, "#front .mark.chosen"), 1);
  const mark = page.locator("#front .mark[tabindex='0']");
  await mark.focus();
  await page.keyboard.press("ArrowRight");
  const key = await page.evaluate(() => Number(document.activeElement.dataset.key));
  await page.keyboard.press("Enter");
  await shows(key);
  await page.locator("#front-table tbody tr").last().click();
  await shows(report.front.rows[report.front.rows.length - 1]);
}));

test("points are coloured by a column", () => opened("sweep", async (page) => {
  const shapes = () => page.locator("#front .mark").evaluateAll((marks) => new Set(marks.map((mark) => mark.getAttribute("stroke"))).size);
  assert.equal(await shapes(), new Set(report.rows.map((row) => row[place(report.axes[0])])).size);
  await page.locator("#front-by").selectOption("");
  assert.equal(await shapes(), 1);
}));
