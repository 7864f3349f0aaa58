// Opens a built app in Chromium, under a policy for its content that allows WebAssembly and no `eval`.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

import { chromium } from "playwright-core";

/** What scripts may do: run from this server, and compile WebAssembly. */
export const STRICT = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/** The title that the app gives its page, and whether `eval` is really forbidden there. */
export async function titleOf(folder, policy) {
  const server = createServer((request, answer) => serve(folder, policy, request, answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ARGUMENTS });
  try {
    const page = await browser.newPage();
    const broken = [];
    page.on("pageerror", (error) => broken.push(String(error)));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => document.title !== "asking", undefined, { timeout: PATIENCE }).catch((error) => {
      throw new Error(`the app says nothing: ${[...broken, error].join("; ")}`);
    });
    return await page.title();
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
