// A bundle that is reloaded while a batch is being read: a principal that has policies of its own
// from then on is left to the general path.

import { expect, it, vi } from "vitest";

import { decideRows } from "./batch.ts";
import { ALWAYS, columnsAt, frameAt, TRUE } from "../wasm/frame.ts";
import { FastPaths } from "./fast-paths.ts";
import type { Runtime } from "../wasm/runtime.ts";
import { begin } from "../wasm/reentrancy.ts";
import { PrincipalRecord } from "./prepared-requests.ts";

vi.mock("../wasm/abi.ts", () => ({
  planList: () => '{"other": [-1, -1], "grants": -1, "actions": [["read", 0, -1]]}',
  planOf: () => JSON.stringify({
    flags: 1,
    others: 1,
    roles: [],
    slots: [{ root: "resource.attr", path: ["owner"], uses: 0, constants: [] }],
  }),
}));

const decided = (): number => 0;
const calls = { decide: decided, decideValues: decided, decideClasses: decided, decideColumns: decided, decideInOrder: decided, verdict: decided, grants: decided };
const frame = frameAt(new ArrayBuffer(1024 + 65_536), 0, calls);
frame.words[ALWAYS] = TRUE;
const columns = columnsAt(new ArrayBuffer(196_864), 0);
const runtime = {
  generation: 0,
  call: (work: () => unknown) => (begin(), work()),
  frame: () => frame,
  columns: () => columns,
};

it("leaves later rows to the general path", () => {
  const fastPaths = new FastPaths(runtime as unknown as Runtime, () => 0);
  const reload = (ids: readonly string[]): void => {
    begin();
    fastPaths.begin(ids);
    fastPaths.resume(0);
  };
  reload([]);
  const resource = (attr: object): object => ({ kind: "doc", id: "d", attr });
  const rows = Array.from({ length: 1100 }, () => resource({ owner: "ada" }));
  rows[3] = resource({ get owner(): string { reload(["ada"]); return "ada"; } });
  const { allowed, unsure } = decideRows(fastPaths, { record: new PrincipalRecord({ id: "ada", roles: ["user"] }), action: "read", auxData: undefined }, rows);
  expect(allowed.every((bits) => bits === 0)).toBe(true);
  expect(unsure.map((bits) => bits >>> 0)).toEqual([...Array<number>(34).fill(0xffff_ffff), 0xfff]);
});
