// node firefox.mjs PROGRAM [plain] QUESTIONS REPORT
//
// The page is bundled by Vite, as for production, and served under a strict policy for content.

import { once } from "node:events";
import { createServer } from "node:http";
import puppeteer from "puppeteer-core";
import { build } from "vite";
import { exchange } from "./exchange.mjs";

/** Many times the usual time. */
const LIMIT = 300_000;
const TYPES = { js: "text/javascript", wasm: "application/wasm" };
const [executablePath, ...rest] = process.argv.slice(2);
const [questions, report] = rest.splice(-2);

const files = await bundled("firefox-page.mjs");
const server = createServer((request, response) => exchange(questions, report)(request, response, () => serve(request, response)));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, protocolTimeout: LIMIT });
try {
  const page = await browser.newPage();
  page.on("console", (message) => console.log(message.text()));
  page.on("pageerror", (error) => console.log(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/?${rest}`);
  await page.waitForFunction("document.title !== ''", { timeout: LIMIT });
  const title = await page.title();
  if (title !== "done") throw new Error(title);
} finally {
  await browser.close();
  server.close();
}

/** Returns the files of a bundled page by their addresses. */
async function bundled(input) {
  const { output } = await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: "warn",
    build: { write: false, target: "es2022", rollupOptions: { input, output: { entryFileNames: "page.js" } } },
  });
  return new Map(output.map((file) => [`/${file.fileName}`, file.code ?? file.source]));
}

function serve({ url }, response) {
  if (url.startsWith("/?")) {
    const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
    response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy });
    response.end('<!doctype html><title></title><script type="module" src="/page.js"></script>');
    return;
  }
  const file = files.get(url);
  const type = TYPES[url.slice(url.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  response.writeHead(file === undefined ? 404 : 200, { "content-type": type });
  response.end(file);
}
