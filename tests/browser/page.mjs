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

// What axe finds against WCAG 2.2, levels A and AA, serious or worse.
const axe = readFileSync(join(process.env.PLAYWRIGHT, "node_modules/axe-core/axe.min.js"), "utf8");
export async function inaccessible(page) {
  await page.evaluate(axe);
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await page.evaluate((rules) => globalThis.axe.run(document, { runOnly: rules }), rules);
  return violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
}

// The least contrast of colours of marks to the papers that they are on.
export function contrast(page) {
  return page.evaluate(() => {
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const light = (name) => {
      pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const marks = ["--faint", ...Array.from({ length: 8 }, (_, place) => `--c${place}`)].map(light);
    return Math.min(...["--paper", "--panel"].map(light).flatMap((paper) => marks.map((mark) => Math.max(mark, paper) / Math.min(mark, paper))));
  });
}

// Rules of pictures, for the texts of each drawing that is shown: none meets another, and no two ticks of an axis have one name.
export function unruly(page, selector = "svg") {
  return page.evaluate((selector) => [...document.querySelectorAll(selector)].filter((svg) => svg.getBoundingClientRect().width > 0).flatMap((svg) => {
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => [text.textContent, text.getBoundingClientRect(), text]);
    const meet = ([, a], [, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    const met = texts.flatMap((one, at) => texts.slice(at + 1).filter((other) => meet(one, other)).map((other) => `${svg.id}: ${one[0]} meets ${other[0]}`));
    const ticks = texts.filter(([, , text]) => text.classList.contains("tick")).map(([words, , text]) => `${text.getAttribute("text-anchor")} ${words}`);
    return [...met, ...ticks.filter((tick, at) => ticks.indexOf(tick) !== at).map((tick) => `${svg.id}: two ticks ${tick}`)];
  }), selector);
}

// Shows a picture alone.
export async function shown(svg, use) {
  const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
  try {
    await page.setContent(svg);
    await use(page);
  } finally {
    await page.close();
  }
}

// How many points the marks of a drawing stand for.
export const points = (page, selector) => page.locator(selector).evaluateAll((marks) => marks.reduce((sum, mark) => sum + Number(mark.dataset.count), 0));

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

  for (const width of [390, 1280]) {
    test(`pictures of ${name} have texts apart in any font, ${width} pixels`, () => opened(name, async (page) => {
      for (const font of ["Liberation Sans", "DejaVu Sans"]) {
        await page.evaluate((font) => { document.body.style.fontFamily = font; }, font);
        await page.setViewportSize({ width: width - 7, height: 900 });
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(200);
        assert.deepEqual(await unruly(page), [], font);
      }
    }, { width }));
  }

  for (const colorScheme of ["light", "dark"]) {
    test(`${name} is accessible, ${colorScheme}`, () => opened(name, async (page) => {
      assert.deepEqual(await inaccessible(page), []);
      assert.ok(await contrast(page) >= 3, `${await contrast(page)}`);
    }, { colorScheme }));
  }

  test(`no label of ${name} is a key of JSON`, () => opened(name, async (page) => {
    const keys = await page.evaluate(() => [...document.querySelectorAll("th, dt, option, legend, .legend li, svg text, .tile span")].map((one) => one.textContent.trim()).filter((text) => /^[a-z0-9]+(_[a-z0-9]+)+$/.test(text)));
    assert.deepEqual(keys, []);
  }));

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
