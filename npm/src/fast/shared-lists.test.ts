// Kinds that opening listed with one number share a list of fast paths.

import { expect, it, vi } from "vitest";

import { ALLOW, ALWAYS, frameAt, TRUE, UNSURE } from "../wasm/frame.ts";
import { FastPaths } from "./fast-paths.ts";
import { decideRequest } from "./generated/encode-request.ts";
import { begin } from "../wasm/reentrancy.ts";
import type { Runtime } from "../wasm/runtime.ts";

const loaded = vi.hoisted(() => [] as string[]);

vi.mock("../wasm/abi.ts", () => ({
  planList: (_: number, kind: string, version: string, scope: string) => {
    loaded.push(`${kind} ${version} ${scope}`);
    return '{"other": [-1, -1], "grants": -1, "actions": [["read", 0, -1]]}';
  },
  planOf: () => JSON.stringify({ flags: 1, others: 1, roles: [], slots: [] }),
}));

const calls = { decide: () => ALLOW, decideValues: () => ALLOW, decideClasses: () => ALLOW, decideColumns: () => UNSURE, decideInOrder: () => UNSURE, verdict: () => -1, grants: () => -1 };
const frame = frameAt(new ArrayBuffer(1024 + 65_536), 0, calls);
frame.words[ALWAYS] = TRUE;
const runtime = { generation: 0, call: (work: () => unknown) => (begin(), work()), frame: () => frame };

it("is loaded once, and only for requests without version and scope", () => {
  const fastPaths = new FastPaths(runtime as unknown as Runtime, () => 0);
  const decide = (resource: object): number =>
    decideRequest(fastPaths, { principal: { id: "ada", roles: [] }, action: "read", resource: { id: "d", ...resource } });
  fastPaths.begin([], Infinity, ["doc", 4, "other", 4, "more", 4, "apart", 9]);
  fastPaths.resume(0);
  fastPaths.preload();
  for (const kind of ["other", "more", "doc", "other"]) expect(decide({ kind })).toBe(ALLOW);
  expect(loaded.splice(0)).toEqual(["doc  "]);
  // A request that loads something stays unsure.
  for (const resource of [{ kind: "apart" }, { kind: "new" }, { kind: "other", scope: "acme" }]) expect(decide(resource)).toBe(UNSURE);
  expect(loaded.splice(0)).toEqual(["apart  ", "new  ", "other  acme"]);
  fastPaths.begin([]);
  fastPaths.resume(0);
  expect(decide({ kind: "more" })).toBe(UNSURE);
});
