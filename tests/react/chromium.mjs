// A page in Chromium, with everything that it shows and complains about.

import { chromium } from "playwright-core";

/** Runs `act` with a browser. */
export async function withBrowser(act) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
  try {
    return await act(browser);
  } finally {
    await browser.close();
  }
}

/** Opens a page, and returns it with its complaints. */
export async function opened(browser, address) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  await page.addInitScript(record);
  await page.goto(address);
  return { page, complaints };
}

/** Waits until an answer of the page is `text`. */
export async function answered(page, name, text) {
  const isThere = ([name, text]) => document.querySelector(`[data-answer="${name}"]`)?.textContent === text;
  await page.waitForFunction(isThere, [name, text], { timeout: PATIENCE });
}

/** Runs in the page: records each text of each answer, with its time. */
function record() {
  window.shown = {};
  const look = () => {
    for (const { dataset, textContent } of document.querySelectorAll("[data-answer]")) {
      const all = (window.shown[dataset.answer] ??= []);
      // The parser makes an element before its text.
      if (textContent !== "" && all.at(-1)?.text !== textContent) all.push({ text: textContent, at: Date.now() });
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}

const PATIENCE = 60_000;
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
