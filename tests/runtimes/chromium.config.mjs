// Chromium, in the browser mode of vitest: the page imports the package from the development server of Vite.

import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { exchange } from "./exchange.mjs";

const [executablePath, ...rest] = JSON.parse(process.env.WARDGATE_PARITY);
const [questions, report] = rest.splice(-2);
const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", ...rest];

export default defineConfig({
  // A package that Vite bundles for development does not find the files beside it.
  optimizeDeps: { exclude: ["wardgate"] },
  server: { fs: { allow: [".."] } },
  plugins: [{ name: "exchange", configureServer: ({ middlewares }) => void middlewares.use(exchange(questions, report)) }],
  test: {
    include: ["chromium.test.mjs"],
    // Many times the usual time.
    testTimeout: 300_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      api: { host: "127.0.0.1" },
      provider: playwright({ launchOptions: { executablePath, args } }),
      instances: [{ browser: "chromium" }],
    },
  },
});
