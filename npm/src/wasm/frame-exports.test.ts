// The calls without glue, used as in the hot functions: words in the memory, numbers as arguments.

import { describe, expect, it } from "vitest";

import * as glue from "../../wasm/wardgate_bg.js";
import { loader } from "../runtimes/node/load.ts";
import { ALLOW, DENY, MISSING, TEMPORARY, UNSURE, type DecideCalls } from "./frame.ts";
import { album, unsignedTerms, noon } from "../testing.ts";

interface Raw extends DecideCalls {
  readonly memory: WebAssembly.Memory;
  readonly __wbindgen_start: () => void;
  readonly frame: () => number;
  readonly columns: () => number;
}

interface List {
  readonly other: number;
  readonly actions: readonly (readonly [string, number])[];
}

interface WireFastPath {
  readonly flags: number;
  readonly others: number;
  readonly slots: readonly { readonly root: string; readonly path: readonly string[]; readonly uses: number }[];
  readonly roles: readonly (readonly [string, number])[];
}

const instance = new WebAssembly.Instance(await loader.load(), { "./wardgate_bg.js": { ...glue } });
glue.__wbg_set_wasm(instance.exports);
const raw = instance.exports as unknown as Raw;
raw.__wbindgen_start();
const handle = glue.open(album, unsignedTerms, 0, 0);
let words = new Uint32Array(raw.memory.buffer, raw.frame(), 64);

/** Returns the number of the fast path for an action, and the mask of the role `user` in it. */
function fastPathFor(action: string): { id: number; fastPath: WireFastPath; user: number } {
  const { other, actions } = JSON.parse(glue.planList(handle, "album", "", "")) as List;
  const id = new Map(actions).get(action) ?? other;
  const fastPath = JSON.parse(glue.planOf(handle, id)) as WireFastPath;
  return { id, fastPath, user: new Map(fastPath.roles).get("user") ?? fastPath.others };
}

describe("a fast path", () => {
  it("lists the members that it reads", () => {
    const { fastPath } = fastPathFor("edit");
    const read = fastPath.slots.map(({ root, path }) => [root, ...path].join("."));
    expect(read.sort()).toEqual(["principal.id", "resource.attr.owner"]);
  });

  it("belongs to a list that its kind is listed with", () => {
    expect(JSON.parse(glue.planKinds(handle))).toEqual(["album", expect.any(Number)]);
  });

  it("is absent for a kind without policies, and for an unknown number", () => {
    expect(glue.planList(handle, "nothing", "", "")).toBe("false");
    expect(glue.planOf(handle, 1_000_000)).toBe("");
    expect(glue.principals(handle)).toBe("[]");
  });
});

describe("a decision on the frame", () => {
  it("depends on the words and on the roles", () => {
    const { id, user } = fastPathFor("edit");
    const owned = (): number => raw.decide(handle, id, user);
    words.fill(TEMPORARY, 0, 2);
    expect(owned()).toBe(ALLOW);
    expect(raw.decide(handle, id, 0)).toBe(DENY);
    words[1] = TEMPORARY + 1;
    expect(owned()).toBe(DENY);
    words[0] = words[1] = MISSING;
    expect(owned()).toBe(DENY);
  });

  it("is unsure for a handle, a fast path or a form that does not exist", () => {
    const { id, user } = fastPathFor("view");
    expect(raw.decide(handle, id, user)).toBe(ALLOW);
    expect(raw.decide(99, id, user)).toBe(UNSURE);
    expect(raw.decide(handle, -1, user)).toBe(UNSURE);
    expect(raw.decideClasses(handle, id, 1, 4, noon)).toBe(UNSURE);
    expect(raw.decideClasses(handle, id, 32, 4, noon)).toBe(UNSURE);
  });

  it("takes any time, and no value that is not a time", () => {
    const { id, user } = fastPathFor("share");
    expect(raw.decideValues(handle, id, user, 4, noon)).toBe(ALLOW);
    expect(raw.decideValues(handle, id, user, 4, noon + 86_400_000)).toBe(DENY);
    expect(raw.decideValues(handle, id, user, 4, Number.NaN)).toBe(UNSURE);
    expect(raw.decideValues(handle, id, user, 65_537, noon)).toBe(UNSURE);
    expect(raw.decide(handle, id, user)).toBe(UNSURE);
  });
});

describe("a decision on columns", () => {
  it("is one bit for each row", () => {
    const { id, fastPath, user } = fastPathFor("edit");
    const address = raw.columns();
    expect(raw.columns()).toBe(address);
    words = new Uint32Array(raw.memory.buffer, raw.frame(), 64);
    const column = new Uint32Array(raw.memory.buffer, address, 1024);
    const owner = fastPath.slots.findIndex(({ path }) => path[0] === "owner");
    words[1 - owner] = TEMPORARY;
    column.forEach((_, row) => (column[row] = row % 3 === 0 ? TEMPORARY : TEMPORARY + 1 + row));
    expect(raw.decideColumns(handle, id, user, 40, 1 << owner)).toBe(0);
    const allowed = new Uint32Array(raw.memory.buffer, address + 196_608, 32);
    expect([allowed[0], allowed[1], allowed[2]]).toEqual([0x49249249, 0x92, 0]);
    expect(raw.decideColumns(handle, id, user, 1025, 1 << owner)).toBe(2);
    expect(raw.decideColumns(99, id, user, 40, 1 << owner)).toBe(2);
  });
});
