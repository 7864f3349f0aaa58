import { env } from "cloudflare:workers";
import { inject, test } from "vitest";
import plain from "wardgate/wasm/nosimd";
import { run } from "./run.mjs";

test("the answers are those of the native build", async () => {
  const { body } = await env.EXCHANGE.fetch("http://exchange/questions");
  // workerd cannot be told to do without vectors.
  const report = await run(navigator.userAgent, body, inject("isPlain") ? plain : undefined);
  await env.EXCHANGE.fetch("http://exchange/report", { method: "POST", body: JSON.stringify(report) });
});
