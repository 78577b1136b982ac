// The page to explore with: states, sliders, A beside B, its link, and that its figures are those of the command line.
//
// SEALSIM is the program. PICTURES, if it is set, is a folder for screenshots.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { inaccessible, unruly } from "./page.mjs";

const { chromium } = createRequire(`${process.env.PLAYWRIGHT}/`)("playwright-core");
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser = null;
let program = null;
let address = null;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: quiet });
  program = spawn(process.env.SEALSIM, ["lab", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  address = (await lines.next()).value.replace("lab: ", "");
});
after(async () => {
  await browser?.close();
  const ended = new Promise((done) => program.on("exit", done));
  program.kill("SIGINT");
  assert.equal(await ended, 0);
});

const settled = (page) => page.waitForFunction(() => document.documentElement.dataset.ready === "yes" && [...document.querySelectorAll(".answers")].every((one) => one.getAttribute("aria-busy") === "false" && (one.querySelector('[data-command="curve"], [data-curve="none"]') || !one.querySelector("[role=alert]").hidden)), null, { timeout: 240_000 });

// Opens the page in a state, and lets `use` work with it.
async function lab(state, use, { width = 1300, colorScheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 1000 }, colorScheme });
  const said = [];
  const asked = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.stack));
  page.on("request", (request) => asked.push(request.url()));
  try {
    await page.goto(address + (state ? `#A=${encodeURIComponent(state)}` : ""));
    await settled(page);
    await use(page);
    assert.deepEqual(said.filter((line) => !line.includes("422")), [], "the console is empty");
    assert.deepEqual(asked.filter((url) => !url.startsWith(address)), [], "nothing is asked for elsewhere");
  } finally {
    await page.close();
  }
}

const small = "machine=h100-nvl-tdx&copy=h2d:1MiB";
const figure = (page, side, label) => page.locator(`#side-${side} [data-figure="${label}"]`).textContent();
const rate = async (page, side = "A") => parseFloat(await figure(page, side, "rate"));

// The rate that the command on the page gives in a shell.
async function printed(page, side = "A") {
  const command = await page.locator(`#side-${side} [data-command="run"]`).textContent();
  const output = execFileSync("sh", ["-c", `${command.replace(/^sealsim/, '"$SEALSIM"')} --format json`], { encoding: "utf8" });
  return JSON.parse(output).copies[0].gb_per_s;
}

const shot = async (page, name) => process.env.PICTURES && page.screenshot({ path: join(process.env.PICTURES, `${name}.png`), fullPage: true });

test("the page begins with answers, which are those of its command", () => lab("", async (page) => {
  assert.ok(Math.abs(await rate(page) - await printed(page)) < 0.0006);
  assert.match(await page.locator("#side-A .answers").textContent(), /cipher\.seal_rate/);
  assert.equal(await page.locator("#curve-A svg").count(), 1);
  const mark = Number(await page.locator("#curve-A .chosen-size").getAttribute("x1"));
  const tick = Number(await page.locator("#curve-A svg text", { hasText: /^64 MiB$/ }).getAttribute("x"));
  assert.ok(Math.abs(mark - tick) < 1, `${mark} at ${tick}`);
  const [marked, whole] = await page.evaluate(() => [".chosen-size", "svg"].map((one) => document.querySelector(`#curve-A ${one}`).getBoundingClientRect().height));
  assert.ok(marked > 0.4 * whole && marked < 0.9 * whole, `${marked} of ${whole}`);
  await shot(page, "lab");
}));

test("the page opens with what CC costs and what to change, which is tried", () => lab("", async (page) => {
  const [off, on] = ["off", "on"].map((cc) => JSON.parse(execFileSync(process.env.SEALSIM, ["run", "h100-nvl-tdx", "--copy", "h2d:64MiB", "--cc", cc, "--data", "none", "--what-if", "0", "--format", "json"], { encoding: "utf8" })).copies[0].gb_per_s);
  assert.equal(await figure(page, "A", "cost of CC"), `${Number((off / on).toPrecision(3))} ×`);
  // The terminal's list.
  const told = JSON.parse(execFileSync(process.env.SEALSIM, ["run", "h100-nvl-tdx", "--copy", "h2d:64MiB", "--format", "json"], { encoding: "utf8" })).levers;
  const rows = await page.locator("#levers-A tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map(([name, , , gain]) => [name, gain]), told.filter((one) => one.gain_percent >= 1).map((one) => [one.name, `+${Math.round(one.gain_percent)} %`]));
  const no_gain = told.filter((one) => one.gain_percent < 1).map((one) => one.name).join(", ");
  assert.ok((await page.locator("#side-A .answers").textContent()).includes(`No gain: ${no_gain}.`));
  const before = await rate(page);
  const promised = parseFloat(rows[0][2]);
  await page.locator("#levers-A button").first().click();
  await page.waitForFunction(() => location.hash.includes("openssl-3.1"));
  await settled(page);
  assert.ok(await rate(page) > 2 * before && Math.abs(await rate(page) - promised) < 0.01);
}));

test("designs are in groups, each with how many times as fast as today's path it is", () => lab(small, async (page) => {
  await page.waitForFunction(() => document.querySelector('#design-A option[value="fastrack"]').textContent.includes("× today"), null, { timeout: 240_000 });
  const groups = await page.locator("#design-A optgroup").evaluateAll((all) => all.map((one) => one.label));
  assert.deepEqual(groups, ["Works on today's GPU", "Needs another GPU", "Other ciphers", "Hypotheses"]);
}));

test("a refused value keeps the answers and marks its field", () => lab(small, async (page) => {
  const before = await rate(page);
  await page.locator("#search-A").fill("link.lanes");
  const field = page.locator('[aria-label="link.lanes of A"]');
  await field.fill("3");
  await field.press("Enter");
  await page.waitForFunction(() => !document.querySelector("#side-A .answers > [role=alert]").hidden);
  assert.equal(await rate(page), before);
  assert.equal(await field.getAttribute("aria-invalid"), "true");
}));

test("a search finds any word and what it is also called", () => lab(small, async (page) => {
  for (const [words, path] of [["newer openssl", "cipher.library"], ["pcie lanes", "link.lanes"], ["cpu encryption speed", "cipher.seal_rate"]]) {
    await page.locator("#search-A").fill(words);
    assert.ok((await page.locator("#side-A .parameter code").allTextContents()).slice(0, 4).includes(path), words);
  }
}));

test("on a telephone the first figure is on the first screen, and answers come before parameters", () => lab(small, async (page) => {
  const top = (selector) => page.locator(selector).first().evaluate((one) => one.getBoundingClientRect().top + scrollY);
  assert.ok(await top('[data-figure="cost of CC"]') < 400);
  assert.ok(await top("#levers-A") < await top("#machine-A"));
  assert.deepEqual(await unruly(page), []);
}, { width: 390 }));

test("the keyboard skips to the answers and moves between tabs", () => lab(small, async (page) => {
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  assert.ok(page.url().includes("A="), "the state stays");
  await page.locator("#tab-path").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-program");
  assert.equal(await page.locator('[role="tab"][tabindex="0"]').count(), 1);
}));

test("print has the whole state and no buttons", () => lab(`${small}&set=${encodeURIComponent("link.lanes=8")}`, async (page) => {
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => [...document.querySelectorAll("button, input, select")].filter((one) => one.getBoundingClientRect().width > 0).length);
  assert.equal(shown, 0);
  assert.match(await page.locator("#side-A > h2 small").textContent(), /h100-nvl-tdx, CC on, h2d 1 MiB pinned, link\.lanes=8/);
}));

for (const colorScheme of ["light", "dark"]) {
  test(`the page is accessible, ${colorScheme}`, () => lab(small, async (page) => {
    await page.waitForFunction(() => !document.querySelector('.fresh[aria-busy="true"]'), null, { timeout: 240_000 });
    assert.deepEqual(await inaccessible(page), []);
    assert.deepEqual(await unruly(page), []);
  }, { colorScheme }));
}

test("designs, direction, memory and size change the answer", () => lab(small, async (page) => {
  const first = await rate(page);
  await page.locator("#design-A").selectOption("fastrack");
  await page.waitForFunction(() => location.hash.includes("fastrack"));
  await settled(page);
  const fast = await rate(page);
  assert.ok(fast > first, `${fast} > ${first}`);
  assert.ok(Math.abs(fast - await printed(page)) < 0.0006);
  await page.locator('#side-A button[data-value="d2h"]').click();
  await page.locator('#side-A button[data-value="pageable"]').click();
  await page.locator("#size-A").fill("64KiB");
  await page.locator("#size-A").press("Enter");
  await page.locator("#side-A .chip.laid").click();
  await page.waitForFunction(() => location.hash.includes("d2h%253A64KiB%253Apageable") && !location.hash.includes("fastrack"));
  await settled(page);
  assert.match(await page.locator('#side-A [data-command="run"]').textContent(), /^sealsim run h100-nvl-tdx --copy d2h:64KiB:pageable /);
  assert.ok(Math.abs(await rate(page) - await printed(page)) < 0.0006);
}));

test("a size that is none is said, and without CC only the curve is missing", () => lab(small, async (page) => {
  const first = await rate(page);
  const wrong = page.getByText("A size is a number");
  assert.ok(await wrong.isHidden());
  await page.locator("#size-A").fill("banana");
  await page.locator("#size-A").press("Enter");
  assert.ok(await wrong.isVisible());
  assert.equal(await rate(page), first);
  await page.locator("#size-A").fill("2MiB");
  await page.locator("#size-A").press("Enter");
  assert.ok(await wrong.isHidden());
  await settled(page);
  await page.locator("#cc-A").selectOption("off");
  // What limited it before is not shown as if it did now.
  await page.waitForFunction(() => location.hash.includes("cc%3Doff"));
  const stale = await page.evaluate(() => document.querySelectorAll('#side-A .fresh[aria-busy="true"]').length);
  assert.ok(stale > 2, `${stale}`);
  await settled(page);
  assert.equal(await page.evaluate(() => document.querySelectorAll('#side-A .fresh[aria-busy="true"]').length), 0);
  assert.ok(await page.locator("#side-A .answers > [role=alert]").isHidden());
  assert.match(await page.locator('#side-A [data-curve="none"]').textContent(), /confidential computing off/);
  assert.ok(await rate(page) > 5 * first);
}));

test("a parameter is found by its meaning, moved by keys, and taken back", () => lab(small, async (page) => {
  const first = await rate(page);
  await page.locator("#search-A").fill("seal_rate");
  const slider = page.locator('[aria-label="cipher.seal_rate of A, slider"]');
  await slider.focus();
  for (let key = 0; key < 3; key += 1) await page.keyboard.press("PageUp");
  await page.waitForFunction(() => location.hash.includes("cipher.seal_rate"));
  await settled(page);
  const faster = await rate(page);
  assert.ok(faster > first, `${faster} > ${first}`);
  assert.ok(Math.abs(faster - await printed(page)) < 0.0006);
  await page.locator("#side-A .parameter.changed button", { hasText: "take back" }).click();
  await page.waitForFunction(() => !location.hash.includes("cipher.seal_rate"));
  await settled(page);
  assert.equal(await rate(page), first);
  await page.locator("#search-A").fill("release of plaintext verdict");
  assert.ok(await page.locator("#side-A .parameter").count() < 40);
}));

test("what limits a copy can be relaxed at once", () => lab(small, async (page) => {
  const first = await rate(page);
  await page.locator("#side-A button", { hasText: /^Set cipher\.seal_rate/ }).click();
  await page.waitForFunction(() => location.hash.includes("cipher.seal_rate"));
  await settled(page);
  assert.ok(await rate(page) > first * 1.1);
}));

test("B stands beside A, and a link brings both back", () => lab(small, async (page) => {
  await page.locator("#second").click();
  await settled(page);
  await page.locator("#search-B").fill("cipher.library");
  await page.locator('[aria-label="cipher.library of B"]').selectOption("openssl-3.1");
  await page.waitForFunction(() => location.hash.includes("openssl-3.1"));
  await settled(page);
  const [a, b] = [await rate(page, "A"), await rate(page, "B")];
  assert.ok(b > a, `${b} > ${a}`);
  assert.match(await page.locator("#between").textContent(), /cipher\.library: Machine default in A, openssl-3\.1 in B/);
  await shot(page, "lab-two");
  const link = page.url();
  const again = await browser.newPage();
  await again.goto(link);
  await settled(again);
  assert.deepEqual([await rate(again, "A"), await rate(again, "B")], [a, b]);
  await again.close();
  assert.ok(Math.abs(b - await printed(page, "B")) < 0.0006);
}));

test("a state that makes no machine says what is wrong with it", () => lab(`${small}&set=link.lanes%3D3`, async (page) => {
  assert.match(await page.locator("#side-A .answers > [role=alert]").textContent(), /lanes/);
  await page.locator('[aria-label="take back link.lanes"]').click();
  await page.waitForFunction(() => !location.hash.includes("lanes"));
  await settled(page);
  assert.ok(await rate(page) > 0);
}));

test("four browsers at once have the page, and each its answers", async () => {
  const contexts = await Promise.all([1, 2, 3, 4].map(() => browser.newContext()));
  const said = [];
  try {
    const rates = await Promise.all(contexts.map(async (context, number) => {
      const page = await context.newPage();
      page.on("console", (message) => said.push(message.text()));
      page.on("pageerror", (error) => said.push(error.stack));
      page.on("requestfailed", (request) => said.push(`${request.url()}: ${request.failure()?.errorText}`));
      await page.goto(`${address}#A=${encodeURIComponent(`machine=h100-nvl-tdx&copy=h2d:${number + 1}MiB`)}`);
      await settled(page);
      return rate(page);
    }));
    assert.ok(rates.every((one) => one > 0) && new Set(rates).size === 4, `${rates}`);
    assert.deepEqual(said, [], "nothing fails");
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
  }
});

for (const missing of ["lab.js", "choices", "fields"]) {
  test(`a page that does not get ${missing} says what to do`, async () => {
    const page = await browser.newPage();
    try {
      await page.route(`${address}${missing}`, (route) => route.abort());
      await page.goto(address);
      await page.getByText(/start `?sealsim lab`? again/i).waitFor({ timeout: 20_000 });
    } finally {
      await page.close();
    }
  });
}

test("files of a state are given", () => lab(small, async (page) => {
  for (const [name, begins] of [["machine.toml", /^#|^name|^\[|^\w/], ["plot.svg", /^<svg/], ["plot.pdf", /^%PDF-/]]) {
    const href = await page.locator(`a[download="${name}"]`).getAttribute("href");
    const text = await page.evaluate((href) => fetch(href).then((reply) => reply.text()), href);
    assert.match(text, begins, name);
  }
}));

for (const [width, colorScheme] of [[400, "light"], [1300, "dark"]]) {
  test(`the page fits ${width} pixels, ${colorScheme}, and all that takes the focus has a name`, () => lab(small, async (page) => {
    const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= window, `${wide} on ${window}`);
    const bright = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    const [paper, ink] = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]);
    assert.equal(bright(paper) < bright(ink), colorScheme === "dark");
    const [nameless, twice] = await page.evaluate(() => {
      const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length || one.closest("label");
      const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
      return [[...document.querySelectorAll("button, select, input, [tabindex]")].filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 90)), ids.filter((id, at) => ids.indexOf(id) !== at)];
    });
    assert.deepEqual([nameless, twice], [[], []]);
    await shot(page, `lab-${width}-${colorScheme}`);
  }, { width, colorScheme }));
}

// A warm decode loop of a PyTorch profiler, and what is no profile.
const profile = "validation/traces/h100-decode-eager-1.json.gz";
const played = (page, runs) => page.waitForFunction((runs) => document.querySelector("#program-view .state").textContent.startsWith("Played") && document.querySelectorAll("#program-runs tbody tr").length === runs, runs, { timeout: 240_000 });

async function dropped(page, file, name) {
  const data = await page.evaluateHandle(([base64, name]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
    return transfer;
  }, [file.toString("base64"), name]);
  await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
}

test("a profile is dropped, its switches play it again, and its report is given", () => lab(small, async (page) => {
  await page.locator("#tab-program").click();
  await dropped(page, readFileSync(profile), "my job.json.gz");
  await page.waitForFunction(() => document.querySelector('[data-command="program"]')?.textContent.includes("my_job"), null, { timeout: 240_000 });
  await played(page, 2);
  await page.locator("#change-graph").check();
  await played(page, 3);
  // What CC costs then: 8.428 ms instead of 8.116.
  const card = () => page.locator("#program-view .tile:nth-child(3)").textContent();
  assert.match(await card(), /mean of 4 steps, with CC and graph; without CC 8\.116 ms: CC costs 3\.8 %/);
  await page.locator("#change-openssl").check();
  await played(page, 3);
  await page.getByText("with CC and graph, openssl; without CC 8.116 ms").waitFor();
  await page.locator("#change-openssl").uncheck();
  await page.locator("#change-copy-thread").check();
  await page.waitForFunction(() => document.querySelector('[data-command="program"]').textContent.includes("graph+copy-thread"), null, { timeout: 240_000 });
  const command = await page.locator('[data-command="program"]').textContent();
  assert.equal(command, "sealsim replay my_job.json.gz --what-if changes --what-if graph+copy-thread");
  const printed = JSON.parse(execFileSync("sh", ["-c", `${command.replace("sealsim", '"$SEALSIM"').replace("my_job.json.gz", profile)} --format json`], { encoding: "utf8" }));
  const [off, both] = [printed.steps.runs[0].mean_ns, printed.what_if.find((row) => row.name === "graph+copy-thread").step_ns];
  const over = await page.locator("#program-runs tbody tr:nth-child(3) td:nth-child(3)").textContent();
  assert.match(await card(), /with CC and graph, copy-thread: 80\.7 % shorter than with CC alone; no profile says what copies so changed take without CC/);
  assert.equal(await page.locator("#given").textContent(), "my_job.json.gz");
  assert.deepEqual(await page.locator("#program optgroup[label=Shipped] option").allTextContents().then((all) => all.filter((name) => name.includes("my_job"))), []);
  assert.ok(Math.abs(parseFloat(over.replace("× ", "")) - both / off) < 0.001, `${over}, ${both / off}`);
  assert.match(await page.locator("#program-view .plot svg").textContent(), /copies that hold it/);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "change-copy-thread", "the switch keeps the focus");
  const report = await page.locator('a[download="program.html"]').getAttribute("href");
  assert.match(await page.evaluate((href) => fetch(href).then((reply) => reply.text()), report), /<!doctype html>[^]*copy calls that hold the host/i);
  await shot(page, "lab-program");
  await dropped(page, Buffer.from("no profile"), "notes.txt");
  await page.waitForFunction(() => document.querySelector("#program-view [role=alert]").textContent.includes("notes.txt"), null, { timeout: 60_000 });
}));

test("published figures stand beside a workload", () => lab(small, async (page) => {
  await page.locator("#tab-workload").click();
  assert.match(await page.locator("#published").textContent(), /8\.68 times.*arXiv 2501\.11771/);
}));

test("a workload is simulated with designs beside each other", () => lab(small, async (page) => {
  await page.locator("#tab-workload").click();
  await page.locator("#workload").selectOption("decode-loop");
  await page.locator("#simulate").click();
  await page.waitForSelector("#runs", { timeout: 120_000 });
  const names = await page.locator("#runs tbody td:first-child").allTextContents();
  assert.deepEqual(names, ["off", "h100-cc", "h100-cc-resealed", "staged", "direct", "link"]);
  assert.ok(page.url().includes("decode-loop"));
  await page.locator("#tab-path").click();
  await settled(page);
}));

test("a run is begun from the page, looked into and ended", () => lab(small, async (page) => {
  await page.locator("#tab-inside").click();
  await page.locator("#begin").click();
  const run = page.frameLocator("iframe.inside");
  await run.locator('#status[data-state="paused"]').waitFor({ timeout: 20_000 });
  assert.equal(await run.locator("#record").count(), 0, "what cannot be done is not offered");
  await run.locator("#step").click();
  await run.locator("#done", { hasText: /^1$/ }).waitFor();
  await run.locator("#go").click();
  await run.locator('#status[data-state="ended"]').waitFor({ timeout: 240_000 });
  await page.locator("#begin").click();
  await run.locator('#status[data-state="paused"]').waitFor({ timeout: 20_000 });
}));
