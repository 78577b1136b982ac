// The page of a run that goes on: what it shows of it, and what its buttons and keys do.
//
// SEALSIM is the program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const { chromium } = createRequire(`${process.env.PLAYWRIGHT}/`)("playwright-core");
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser = null;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: quiet });
});
after(() => browser?.close());

// Begins a run, opens its page, and lets `use` work with both.
async function live(options, use, { width = 1200, colorScheme = "light", lost = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "sealsim-live-"));
  const child = spawn(process.env.SEALSIM, ["run", "h100-nvl-tdx", "--what-if", "0", ...options], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((done) => child.on("exit", done));
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const address = (await lines.next()).value.replace("live: ", "");
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.stack));
  try {
    await page.goto(address);
    await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 20_000 });
    await use({ page, child, ended, folder });
    if (!lost) assert.deepEqual(said, [], "the console is empty");
  } finally {
    await page.close();
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  }
}

const held = ["--copy", "h2d:8MiB", "--live", "--live-hold"];
const state = (page, wanted) => page.waitForSelector(`#status[data-state="${wanted}"]`, { timeout: 60_000 });
const done = async (page) => Number(await page.locator("#done").textContent());
const column = (page, table, place) => page.locator(`#${table} tbody tr td:nth-child(${place})`).allTextContents();

test("steps go from message to message, by button and by key", () => live(held, async ({ page }) => {
  await state(page, "paused");
  assert.equal(await done(page), 0);
  assert.ok(await page.locator("#pause").isDisabled() && await page.locator("#go").isEnabled());
  await page.locator("#step").click();
  await page.waitForFunction(() => document.getElementById("done").textContent === "1");
  await page.keyboard.press("n");
  await page.waitForFunction(() => document.getElementById("done").textContent === "2");
  await state(page, "paused");
  assert.match(await page.locator("#copies tbody").textContent(), /h2d.*arrived/);
}));

test("queues are sorted by how full they are, units by how busy", () => live(held, async ({ page }) => {
  await state(page, "paused");
  for (let step = 1; step <= 3; step += 1) {
    await page.locator("#step").click();
    await page.waitForFunction((step) => document.getElementById("done").textContent === String(step), step);
  }
  await state(page, "paused");
  const fills = (await column(page, "queues", 2)).map((text) => text.split("/").map(Number)).map(([count, depth]) => count / depth);
  assert.ok(fills.length > 5 && fills.every((fill, at) => at === 0 || fills[at - 1] >= fill), fills.join());
  const busy = (await column(page, "units", 3)).map(parseFloat);
  assert.ok(busy.length > 5 && busy[0] > 0 && busy.every((part, at) => at === 0 || busy[at - 1] >= part), busy.join());
  const used = busy.length;
  await page.locator("#units-used").uncheck();
  assert.ok((await column(page, "units", 1)).length > used);
  const wholes = await page.locator("#units tbody svg").evaluateAll((bars) => bars.map((bar) => [...bar.querySelectorAll("rect")].slice(1).reduce((sum, rect) => sum + Number(rect.getAttribute("width")), 0)));
  wholes.forEach((whole) => assert.ok(Math.abs(whole - 100) < 0.01, wholes.join()));
}));

test("a run is recorded, goes on, ends and is closed", () => live(held, async ({ page, ended, folder }) => {
  await state(page, "paused");
  await page.keyboard.press("r");
  await page.locator("#record-status", { hasText: "sealsim-live.pftrace" }).waitFor();
  assert.ok(await page.locator("#record").isDisabled());
  await page.keyboard.press(" ");
  await state(page, "ended");
  await page.locator("#record-status", { hasText: "Recorded from" }).waitFor();
  assert.match(await page.locator("#arrived").textContent(), /8 MiB of 8 MiB/);
  assert.ok(existsSync(join(folder, "sealsim-live.pftrace")));
  await page.locator("#close").click();
  assert.equal(await ended, 0);
  await state(page, "closed");
}));

test("space pauses a run and lets it go on", () => live(["--copy", "h2d:1GiB", "--live"], async ({ page }) => {
  await state(page, "running");
  await page.keyboard.press(" ");
  await state(page, "paused");
  const time = await page.locator("#time").textContent();
  await page.waitForTimeout(700);
  assert.equal(await page.locator("#time").textContent(), time);
  await page.locator("#go").focus();
  await page.keyboard.press(" ");
  await page.waitForFunction((time) => document.getElementById("time").textContent !== time, time);
}));

test("a page whose program has gone says so", () => live(held, async ({ page, child }) => {
  await state(page, "paused");
  child.kill("SIGKILL");
  await state(page, "lost");
  assert.match(await page.locator("#status").textContent(), /connection is lost/);
  assert.ok(await page.locator("#step").isDisabled());
}, { lost: true }));

test("the page fits a narrow screen", () => live(held, async ({ page }) => {
  await page.locator("#step").click();
  await page.waitForFunction(() => document.getElementById("done").textContent === "1");
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${wide} on ${window}`);
}, { width: 400 }));

test("the page is dark where that is asked for, and all that takes the focus has a name", () => live(held, async ({ page }) => {
  const bright = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
  const [paper, ink] = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]);
  assert.ok(bright(paper) < bright(ink));
  const [nameless, twice] = await page.evaluate(() => {
    const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length || one.closest("label");
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    return [[...document.querySelectorAll("button, select, input, [tabindex]")].filter((one) => !named(one)).map((one) => one.outerHTML), ids.filter((id, at) => ids.indexOf(id) !== at)];
  });
  assert.deepEqual([nameless, twice], [[], []]);
}, { colorScheme: "dark" }));
