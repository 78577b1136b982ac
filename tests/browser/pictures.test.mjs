// Pictures that the program draws: those of the documents, and those that `.ci/browser` has made in the folder of pages.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { shown, unruly } from "./page.mjs";

const all = [process.env.PAGES, "docs"].flatMap((folder) => readdirSync(folder).filter((name) => name.endsWith(".svg")).map((name) => join(folder, name)));

for (const file of all) {
  test(`texts of ${file.split("/").at(-1)} are apart, in any font`, async () => {
    const svg = readFileSync(file, "utf8");
    for (const font of ["Liberation Sans", "DejaVu Sans"]) {
      await shown(svg.replace(/font-family="[^"]*"/, `font-family="${font}"`), async (page) => assert.deepEqual(await unruly(page), [], font));
    }
  });
}
