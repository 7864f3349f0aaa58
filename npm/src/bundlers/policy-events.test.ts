// The stream of events that hands saved policies to open pages. Its thread runs the built file of the plug-in.

import { join } from "node:path";

import { expect, it } from "vitest";

import { open } from "../pdp/open.ts";
import { albumFor, BROKEN, project, viewAs, write } from "./testing-bundlers.ts";
import type * as entry from "./webpack.ts";

const { pitch } = (await import(new URL("../../dist/node/webpack.js", import.meta.url).href)) as typeof entry;

/** Returns the address of the events in the module of a folder, as a page of Next has it. */
async function addressIn(root: string): Promise<string | undefined> {
  const text = await pitch.call({
    resourcePath: join(root, "policies/a.yaml"),
    resourceQuery: "",
    mode: "development",
    getOptions: () => ({ plugin: {}, hot: "import.meta.webpackHot", hasEvents: true }),
    addContextDependency: () => {},
    emitWarning: () => {},
  });
  return /new EventSource\("(http:\/\/127\.0\.0\.1:[^"]+)"\)/.exec(text)?.[1];
}

it("hands on each saved policy that compiles, and nothing at another address", async () => {
  const root = project({ "policies/a.yaml": albumFor("user") });
  const address = (await addressIn(root))!;
  expect(await addressIn(root)).toBe(address);
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
