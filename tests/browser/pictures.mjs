// Pictures of the documents: the timeline of the page of a run, and the page to explore with. `.ci/pictures` runs it.

import { createRequire } from "node:module";

const [page_file, timeline, lab_address, lab, program] = process.argv.slice(2);
const { chromium } = createRequire(`${process.env.PLAYWRIGHT}/`)("playwright-core");
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: quiet });
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
await page.goto(`file://${page_file}`);
await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 5000 });
await page.locator("#timeline-part").screenshot({ path: timeline });
await page.setViewportSize({ width: 1100, height: 900 });
await page.goto(`${lab_address}#A=${encodeURIComponent("machine=h100-nvl-tdx&copy=h2d:64MiB")}`);
await page.waitForSelector('[data-command="curve"]', { timeout: 60_000 });
await page.waitForFunction(() => !document.querySelector('.fresh[aria-busy="true"]'), null, { timeout: 120_000 });
await page.screenshot({ path: lab });
await page.setViewportSize({ width: 1100, height: 2200 });
await page.goto(`${lab_address}#view=program&P=${encodeURIComponent(`${new URLSearchParams({ program: "validation/traces/h100-decode-eager-1.json.gz", change: "graph" })}`)}`);
await page.waitForSelector("#program-runs", { timeout: 60_000 });
// The answer alone: cards, what to change, timeline.
const clip = await page.evaluate(() => {
  const [first, last] = [".tiles", ".plot"].map((one) => document.querySelector(`#program-view ${one}`).getBoundingClientRect());
  return { x: last.left - 8, y: first.top - 8, width: last.width + 16, height: last.bottom - first.top + 16 };
});
await page.screenshot({ path: program, clip });
await browser.close();
