// The stream of events that hands saved policies to open pages.

import { join } from "node:path";

import { expect, it } from "vitest";

import { open } from "../pdp/open.ts";
import { readBundlerOptions } from "./bundler-options.ts";
import { eventsOf } from "./policy-events.ts";
import { albumFor, BROKEN, project, viewAs, write } from "./testing-bundlers.ts";

it("hands on each saved policy that compiles, and nothing at another address", async () => {
  const root = project({ "policies/a.yaml": albumFor("user") });
  const address = await eventsOf(join(root, "policies"), readBundlerOptions({}));
  expect(await eventsOf(join(root, "policies"), readBundlerOptions({}))).toBe(address);
  expect((await fetch(new URL("/other", address))).status).toBe(404);
  const response = await fetch(address);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  write(root, "policies/b.yaml", BROKEN.replace("resource: album", "resource: photo"));
  write(root, "policies/b.yaml", albumFor("guest").replace("resource: album", "resource: photo"));
  write(root, "policies/a.yaml", albumFor("guest"));
  let text = "";
  while (!text.endsWith("\n\n")) text += (await events.read()).value ?? "";
  using pdp = await open(Buffer.from(text.trimEnd().split("data: ").at(-1)!, "base64"), { trust: "unsigned" });
  expect([pdp.isAllowed(viewAs("user")), pdp.isAllowed(viewAs("guest"))]).toEqual([false, true]);
  await events.cancel();
});
