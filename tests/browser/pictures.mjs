// Pictures of the tour: the timeline of the page of a run, as docs/tour.md shows it. `.ci/pictures` runs it.

import { createRequire } from "node:module";

const [page_file, picture] = process.argv.slice(2);
const { chromium } = createRequire(`${process.env.PLAYWRIGHT}/`)("playwright-core");
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: quiet });
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
await page.goto(`file://${page_file}`);
await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 5000 });
await page.locator("#timeline-part").screenshot({ path: picture });
await browser.close();
