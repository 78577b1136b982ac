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
await page.goto(`${lab_address}#A=${encodeURIComponent("machine=h100-nvl-tdx&design=fastrack&copy=h2d:4MiB")}`);
await page.waitForSelector('[data-command="curve"]', { timeout: 60_000 });
await page.screenshot({ path: lab });
await page.setViewportSize({ width: 1100, height: 1000 });
await page.goto(`${lab_address}#view=program&P=${encodeURIComponent(`${new URLSearchParams({ program: "validation/traces/h100-decode-eager-1.json.gz", change: "graph" })}`)}`);
await page.waitForSelector("#program-runs", { timeout: 60_000 });
await page.screenshot({ path: program, fullPage: true, clip: { x: 0, y: 0, width: 1100, height: 1500 } });
await browser.close();
