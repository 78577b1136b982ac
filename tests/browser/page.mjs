// A page in a browser, watched: what it says on its console, what it asks for, what it looks like.
//
// PAGES is the folder of pages, PLAYWRIGHT the folder that holds playwright-core, CHROMIUM the browser.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

const folder = process.env.PAGES;
const { chromium } = createRequire(`${process.env.PLAYWRIGHT}/`)("playwright-core");
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser = null;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: quiet });
});
after(() => browser?.close());

const island = /(<script type="application\/json" id="data">)(.*?)(<\/script>)/s;

// The data of a page.
export function dataOf(name) {
  return JSON.parse(readFileSync(join(folder, `${name}.html`), "utf8").match(island)[2]);
}

// The page of other data: its policy names its scripts, not what they draw.
export function withData(name, as, change) {
  const text = readFileSync(join(folder, `${name}.html`), "utf8");
  const data = dataOf(name);
  change(data);
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  writeFileSync(join(folder, `${as}.html`), text.replace(island, (_, open, old, close) => open + json + close));
  return data;
}

// Opens a page, lets `use` work with it, and holds it against what holds for every page.
export async function opened(name, use, { width = 1200, colorScheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const said = [];
  const asked = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.stack));
  page.on("request", (request) => asked.push(request.url()));
  const address = `file://${join(folder, `${name}.html`)}`;
  try {
    await page.goto(address);
    await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 5000 });
    await use(page);
    assert.deepEqual(said, [], "the console is empty");
    assert.deepEqual(asked, [address], "nothing but the page is asked for");
    assert.equal(await page.locator(".notice.bad", { hasText: "cannot be drawn" }).count(), 0);
  } finally {
    await page.close();
  }
}

export const count = (page, selector) => page.locator(selector).count();

// Texts of a column of a table, from top to bottom.
export function column(page, table, place) {
  return page.locator(`#${table} tbody tr td:nth-child(${place})`).allTextContents();
}

// A click on a head sorts by its column, another one turns the order around.
export async function sorts(page, table, place, values) {
  const head = page.locator(`#${table} th:nth-child(${place})`);
  const orders = [];
  for (let click = 0; click < 2; click += 1) {
    await head.locator("button").click();
    orders.push(await head.getAttribute("aria-sort"));
    const rows = await values();
    const rising = rows.every((value, at) => at === 0 || rows[at - 1] <= value);
    const falling = rows.every((value, at) => at === 0 || rows[at - 1] >= value);
    assert.ok(orders[click] === "ascending" ? rising : falling, `${table} ${orders[click]}: ${rows}`);
  }
  assert.deepEqual([...orders].sort(), ["ascending", "descending"]);
}

// What holds for every page: it fits a phone, has a dark form, prints, and goes by keyboard.
export function everywhere(name, mark) {
  test(`${name} fits a narrow screen`, () => opened(name, async (page) => {
    const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= window, `${wide} on ${window}`);
    assert.ok(await count(page, mark) > 0);
    const beyond = await page.evaluate(() => [...document.querySelectorAll("section svg, section .controls, section .table")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length);
    assert.equal(beyond, 0, "nothing reaches over the edge");
  }, { width: 400 }));

  test(`${name} shows all columns of its tables on 1,200 pixels`, () => opened(name, async (page) => {
    const cut = await page.evaluate(() => {
      document.querySelectorAll("details").forEach((one) => { one.open = true; });
      return [...document.querySelectorAll(".table")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => `${one.firstChild.id}: ${one.scrollWidth} on ${one.clientWidth}`);
    });
    assert.deepEqual(cut, []);
  }, { width: 1200 }));

  test(`${name} is dark where that is asked for`, async () => {
    const colours = async (colorScheme) => {
      let found = null;
      await opened(name, async (page) => {
        found = await page.evaluate((mark) => {
          const one = document.querySelector(mark);
          const ink = getComputedStyle(document.documentElement);
          return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color, one && ink.getPropertyValue("--c0")];
        }, mark);
      }, { colorScheme });
      return found;
    };
    const [light, dark] = [await colours("light"), await colours("dark")];
    light.forEach((colour, at) => assert.notEqual(colour, dark[at]));
    const bright = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    assert.ok(bright(light[0]) > bright(light[1]) && bright(dark[0]) < bright(dark[1]));
  });

  test(`${name} prints`, () => opened(name, async (page) => {
    const pdf = await page.pdf({ format: "A4" });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    assert.ok(pdf.length > 15_000, `${pdf.length} bytes`);
  }));

  test(`${name} has a name for all that takes the focus, and each id once`, () => opened(name, async (page) => {
    const [nameless, twice] = await page.evaluate(() => {
      const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length || one.closest("label");
      const ids = [...document.querySelectorAll("[id]")].map((one) => one.id).filter(Boolean);
      return [[...document.querySelectorAll("button, select, input, [tabindex]")].filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 90)), ids.filter((id, at) => ids.indexOf(id) !== at)];
    });
    assert.deepEqual([nameless, twice], [[], []]);
  }));
}
