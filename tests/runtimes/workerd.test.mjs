import { env } from "cloudflare:workers";
import { inject, test } from "vitest";
import plain from "wardgate/wasm/nosimd";
import { run } from "./run.mjs";

test("the answers are those of the native build", async () => {
  const { body } = await env.EXCHANGE.fetch("http://exchange/questions");
  // workerd has no setting that switches vectors off.
  const report = await run(navigator.userAgent, body, inject("isPlain") ? plain : undefined);
  await env.EXCHANGE.fetch("http://exchange/report", { method: "POST", body: JSON.stringify(report) });
});
