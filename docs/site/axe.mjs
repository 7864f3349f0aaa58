// node axe.mjs SITE [PAGE...]
//
// Opens the built pages in Chromium at the width of a phone and of a desk, in the light and the dark theme, and fails if axe
// finds that a page shuts somebody out. `CHROMIUM` is the browser.
//
// The dark theme is the same page in other colours, so that only the rules about colours look at it again.
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";
import { chromium } from "playwright-core";

const WIDTHS = [1400, 400];
/** What axe looks at in a theme. */
const THEMES = { light: {}, dark: { runOnly: ["color-contrast", "link-in-text-block"] } };
const TABS = 2;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json" };
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const [site, ...chosen] = process.argv.slice(2);
const pages = chosen.length > 0 ? chosen : await ownPages(site);
const server = createServer((request, answer) => serve(site, request, answer)).listen(0, "127.0.0.1");
await once(server, "listening");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ARGUMENTS });
const found = [];
try {
  const rest = pages.values();
  await Promise.all(Array.from({ length: TABS }, () => lookAtAll(rest)));
} finally {
  await browser.close();
  server.close();
}
for (const line of [...new Set(found)].sort()) console.log(line);
console.log(`${pages.length} pages in ${WIDTHS.length} widths and ${Object.keys(THEMES).length} themes: ${found.length} findings`);
if (found.length > 0) process.exitCode = 1;

/** Returns the pages of the project; those of the references are made by other tools. */
async function ownPages(folder) {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith(".html") && !name.startsWith("api/")).sort();
}

/** Looks at pages of an iterator that the tabs share. */
async function lookAtAll(rest) {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const tab = await context.newPage();
  for (const page of rest) found.push(...(await lookAt(tab, page)));
}

async function lookAt(tab, page) {
  await tab.setViewportSize({ width: WIDTHS[0], height: 900 });
  await tab.goto(`http://127.0.0.1:${server.address().port}/${page}`);
  await tab.waitForFunction(() => document.querySelector("#app")?.__vue_app__ !== undefined);
  await tab.addStyleTag({ content: "*, ::before, ::after { transition: none !important; animation: none !important; }" });
  await tab.addScriptTag({ path: AXE });
  const lines = [];
  for (const width of WIDTHS) {
    await tab.setViewportSize({ width, height: 900 });
    for (const [colorScheme, what] of Object.entries(THEMES)) {
      await tab.emulateMedia({ colorScheme });
      const rules = await tab.evaluate(async (what) => {
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"], ...what });
        return violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 160), nodes[0].failureSummary.replaceAll("\n", " ")]);
      }, what);
      for (const [id, count, html, why] of rules) lines.push(`${page} at ${width}, ${colorScheme}: ${id} (${count}): ${html} ${why}`);
    }
  }
  return lines;
}

async function serve(folder, { url }, answer) {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  const file = resolve(join(folder, path.endsWith("/") ? `${path}index.html` : path));
  const content = file.startsWith(`${resolve(folder)}/`) ? await readFile(file).catch(() => undefined) : undefined;
  if (content === undefined) return answer.writeHead(404).end();
  answer.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(content);
}
