// node run.mjs [STEP]...
//
// Opens the pages of Vite, Next and React Router in Chromium, with the packed package. CHROMIUM names the
// program of the browser. Each step compares what a page shows, and then prints its figures.

import { cpSync, renameSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { copied, run, serving } from "./apps.mjs";
import { answered, opened, withBrowser } from "./chromium.mjs";
import { album } from "./policy.mjs";

const STEPS = {
  "vite": savesInVite,
  "many": manyInVite,
  "next dev": (browser) => firstPaint(browser, "next", ["next", "dev", "-H", "127.0.0.1", "-p", "PORT"], { isWatched: true }),
  "next": (browser) => firstPaint(browser, "next", ["next", "start", "-H", "127.0.0.1", "-p", "PORT"], { build: ["next", "build"] }),
  "next dev webpack": (browser) => firstPaint(browser, "next", ["next", "dev", "--webpack", "-H", "127.0.0.1", "-p", "PORT"], { isWatched: true }),
  "next webpack": (browser) => firstPaint(browser, "next", ["next", "start", "-H", "127.0.0.1", "-p", "PORT"], { build: ["next", "build", "--webpack"] }),
  "next standalone": (browser) => standalone(browser, ["next", "build"]),
  "next standalone webpack": (browser) => standalone(browser, ["next", "build", "--webpack"]),
  "react-router dev": (browser) => firstPaint(browser, "react-router", ["react-router", "dev", "--host", "127.0.0.1", "--port", "PORT"], { isWatched: true }),
  "react-router": (browser) => firstPaint(browser, "react-router", ["react-router-serve", "build/server/index.js"], { build: ["react-router", "build"] }),
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in STEPS));
if (unknown !== undefined) throw new Error(`unknown step \`${unknown}\`: expected ${Object.keys(STEPS).join(", ")}`);
await withBrowser(async (browser) => {
  for (const name of names.length > 0 ? names : Object.keys(STEPS)) console.log(`    ${name}: ${await STEPS[name](browser)}`);
});

/** Saves a policy among 100 ten times: the open page shows each new answer. Then it saves a broken one. */
async function savesInVite(browser) {
  const folder = copied("vite");
  for (let at = 0; at < 99; at += 1) save(folder, `other-${at}`, album("user").replace("resource: album", `resource: other${at}`));
  return serving(folder, ["vite", "--host", "127.0.0.1", "--port", "PORT", "--strictPort"], async (address) => {
    const { page, complaints } = await opened(browser, address);
    await answered(page, "edit", "allowed");
    hold("the states", await states(page), { edit: ["loading", "allowed"] });
    const times = await saves(page, folder, "edit", 10);
    await brokenInVite(page, folder);
    hold("complaints", complaints.filter((text) => !text.includes("/policies") && !text.includes("500 (")), []);
    await page.close();
    return `${figures(times)} from the save of 1 of 100 policies to the answer in the page`;
  });
}

/** The overlay shows the place of an error, the page stays, and goes on when the error is mended. */
async function brokenInVite(page, folder) {
  save(folder, "album", album("user").replace("EFFECT_ALLOW", "ALOW"));
  const overlay = page.locator("vite-error-overlay");
  await overlay.waitFor({ state: "attached" });
  const text = await overlay.evaluate((element) => element.shadowRoot.textContent);
  if (!/album\.yaml:6:\d+/.test(text)) throw new Error(`expected the place of the error, found ${text}`);
  const [before] = (await states(page)).edit.slice(-1);
  save(folder, "album", album(before === "allowed" ? "guest" : "user"));
  await answered(page, "edit", before === "allowed" ? "denied" : "allowed");
  await overlay.waitFor({ state: "detached" });
}

/** Measures a built page of 1,000 `Can`. */
async function manyInVite(browser) {
  const folder = copied("vite");
  await run(folder, ["vite", "build", "--logLevel", "error"]);
  return serving(folder, ["vite", "preview", "--host", "127.0.0.1", "--port", "PORT", "--strictPort"], async (address) => {
    const { page, complaints } = await opened(browser, `${address}many.html`);
    await page.waitForFunction(() => document.title === "ready");
    await page.evaluate(() => window.rounds(20));
    const rounds = await page.evaluate(() => window.rounds(21));
    hold("complaints", complaints, []);
    await page.close();
    const parts = Object.keys(rounds[0]).map((name) => `${name} ${median(rounds.map((times) => times[name])).toFixed(1)} ms`);
    return `script of 1,000 Can, medians of 21: ${parts.join(", ")}`;
  });
}

/** Opens a page that a server has painted. The answers of the server stay, and what it left open is first loading. */
async function firstPaint(browser, name, words, { build, isWatched = false }) {
  const folder = isAbsolute(name) ? name : copied(name);
  if (build !== undefined) await run(folder, build);
  return serving(folder, words, async (address) => {
    const painted = await (await fetch(address)).text();
    for (const text of ["allowed", "denied", "loading"]) if (!painted.includes(text)) throw new Error(`the page of the server has no \`${text}\`: ${painted}`);
    const { page, complaints } = await opened(browser, address);
    for (const id of ["a0", "a1"]) await answered(page, `edit ${id}`, "allowed");
    hold("the states", await states(page), {
      "delete a0": ["allowed"],
      "edit a0": ["loading", "allowed"],
      "delete a1": ["denied"],
      "edit a1": ["loading", "allowed"],
    });
    hold("complaints", complaints, []);
    const times = isWatched ? await saves(page, folder, "edit a0", 10) : [];
    hold("complaints", complaints, []);
    await page.close();
    return `no hydration warning, and loading is never denied${isWatched ? `; ${figures(times)} from the save of a policy to the answer in the page` : ""}`;
  });
}

/** Opens the page of a server that Next has copied with its packages. The build and the modules of the package are gone by then. */
async function standalone(browser, build) {
  const folder = copied("next", "standalone");
  await run(folder, build);
  const [built, server] = [join(folder, ".next"), join(folder, "away/out/nextstandalone")];
  renameSync(join(built, "standalone"), join(folder, "away"));
  cpSync(join(built, "static"), join(server, ".next/static"), { recursive: true });
  renameSync(built, join(folder, "built"));
  const modules = join(import.meta.dirname, "node_modules/wardgate/wasm");
  renameSync(modules, `${modules}-away`);
  try {
    return await firstPaint(browser, server, ["node", "server.js"], {});
  } finally {
    renameSync(`${modules}-away`, modules);
  }
}

/** Lets other roles edit, again and again, and returns the milliseconds until the page shows it. The page is not loaded again. */
async function saves(page, folder, name, count) {
  await page.evaluate(() => (window.isSame = true));
  const times = [];
  for (let at = 0; at < count; at += 1) {
    const [role, text] = at % 2 === 0 ? ["guest", "denied"] : ["user", "allowed"];
    const start = Date.now();
    save(folder, "album", album(role));
    await answered(page, name, text);
    times.push((await page.evaluate((name) => window.shown[name].at(-1).at, name)) - start);
    // A person does not save within the time in which a watcher joins changes.
    await page.waitForTimeout(500);
  }
  hold("the page", await page.evaluate(() => window.isSame), true);
  return times;
}

function save(folder, name, text) {
  writeFileSync(join(folder, `policies/${name}.yaml`), text);
}

async function states(page) {
  const shown = await page.evaluate(() => window.shown);
  return Object.fromEntries(Object.entries(shown).map(([name, all]) => [name, all.map(({ text }) => text)]));
}

function hold(what, found, expected) {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
}

function figures(times) {
  return `${Math.min(...times)} to ${Math.max(...times)} ms, median ${median(times)} ms,`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
