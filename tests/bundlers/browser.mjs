// Opens a built app in Chromium, under a policy for its content that allows WebAssembly and no `eval`.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

import { chromium } from "playwright-core";

/** The policy for scripts: they run from this server, and compile WebAssembly. */
export const STRICT = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/** Returns the title that an app gives its page when it is done. */
export function titleOf(folder, policy) {
  return inChromium(folder, policy, async (page) => {
    await page.waitForFunction(() => document.title !== "asking", undefined, { timeout: PATIENCE });
    return page.title();
  });
}

/** Returns the first lines that an app logs. */
export function loggedBy(folder, policy, count) {
  return inChromium(folder, policy, (page, logged) => {
    return new Promise((done, failed) => {
      const look = () => logged.length >= count && done(logged.slice(0, count));
      page.on("console", look);
      look();
      setTimeout(() => failed(new Error(`expected ${count} lines`)), PATIENCE).unref();
    });
  });
}

async function inChromium(folder, policy, look) {
  const server = createServer((request, answer) => serve(folder, policy, request, answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ARGUMENTS });
  const logged = [];
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => logged.push(String(error)));
    page.on("console", (message) => message.type() === "log" && logged.push(message.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    return await look(page, logged);
  } catch (error) {
    throw new Error(`the app did not say it all: ${[...logged, error].join("; ")}`);
  } finally {
    await browser.close();
    server.close();
  }
}

async function serve(folder, policy, { url }, answer) {
  const name = url === "/" ? "/index.html" : normalize(new URL(url, "http://localhost").pathname);
  try {
    const content = await readFile(join(folder, name));
    answer.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "content-security-policy": policy });
    answer.end(content);
  } catch {
    answer.writeHead(404).end();
  }
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".jwk": "application/json" };
const PATIENCE = 30_000;
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
