import { describe, expect, it } from "vitest";

import { digest, Kinds, planFor, FastPathList } from "./kinds.ts";
import type { FastPath, FastPaths } from "./fast-paths.ts";

const NO_VERDICTS = { actions: new Map<string, number>(), other: -1, grants: -1, at: -1 };

const planOf = (id: number): FastPath => ({ id }) as FastPath;

/** Kinds with fast paths for each one that starts with `k`. */
class Lists {
  readonly loaded: string[] = [];
  readonly kinds = new Kinds("", "");
  readonly #fastPaths = { isLive: true, load: (_: Kinds, kind: string) => this.#load(kind) } as unknown as FastPaths;

  /** Finds a list as the hot functions do. */
  find(kind: string): string | undefined {
    const at = digest(kind) & this.kinds.mask;
    const list = this.kinds.names[at] === kind ? this.kinds.lists[at] : this.kinds.miss(this.#fastPaths, kind);
    return list == null || planFor(list, kind)?.id !== kind.length ? undefined : kind;
  }

  #load(kind: string): FastPathList | null {
    this.loaded.push(kind);
    return kind.startsWith("k") ? new FastPathList([[kind, kind.length]], -1, planOf, NO_VERDICTS) : null;
  }
}

describe("the lists of kinds", () => {
  it("are found in any number, and loaded once", () => {
    const lists = new Lists();
    const names = ["k", "kk", ...Array.from({ length: 3000 }, (_, at) => `kind_${at}`)];
    for (let time = 0; time < 3; time += 1) for (const name of names) expect(lists.find(name)).toBe(name);
    expect(lists.loaded).toEqual(names);
  });

  it("are distinguished if their names have one digest", () => {
    const lists = new Lists();
    const [one, two] = ["kind_abc", "kinx_abc"];
    expect(digest(one)).toBe(digest(two));
    for (let time = 0; time < 3; time += 1) for (const name of [one, two]) expect(lists.find(name)).toBe(name);
  });

  it("that do not exist are remembered, up to a bound", () => {
    const lists = new Lists();
    const { kinds, loaded } = lists;
    for (let time = 0; time < 3; time += 1) expect(lists.find("none")).toBeUndefined();
    expect(loaded).toEqual(["none"]);
    for (let at = 0; at < 5000; at += 1) lists.find(`x${at}`);
    expect(kinds.names.length).toBe(64);
    const long = "x".repeat(1000);
    for (let time = 0; time < 2; time += 1) lists.find(long);
    expect(loaded.filter((name) => name === long).length).toBe(2);
  });

  it("take the empty name for a name", () => {
    expect(new Lists().find("")).toBeUndefined();
  });
});

describe("the fast path for an action", () => {
  it("is found under any name, among any number", () => {
    const names = ["", "a", "b", "aa", "ab", "view", "edit", ...Array.from({ length: 200 }, (_, at) => `action_${at}`)];
    for (const count of [0, 1, 5, names.length]) {
      const known = names.slice(0, count);
      const list = new FastPathList(known.map((name, id) => [name, id]), names.length, planOf, NO_VERDICTS);
      for (let time = 0; time < 2; time += 1) {
        for (const name of [...names, "v", "views", "\ud83d"]) {
          expect(planFor(list, name)?.id).toBe(known.includes(name) ? known.indexOf(name) : names.length);
        }
      }
    }
  });

  it("is loaded once, on first use", () => {
    const read: number[] = [];
    const list = new FastPathList([["view", 3], ["edit", 4], ["vote", 3]], -1, (id) => (read.push(id), id < 0 ? null : planOf(id)), NO_VERDICTS);
    for (let time = 0; time < 3; time += 1) {
      expect(planFor(list, "edit")?.id).toBe(4);
      expect(planFor(list, "sign")).toBeNull();
    }
    expect(read).toEqual([4, -1]);
  });

  it("is loaded again if it could not be loaded before", () => {
    let isLive = false;
    const list = new FastPathList([["view", 3]], 5, (id) => (isLive ? planOf(id) : undefined), NO_VERDICTS);
    expect([planFor(list, "view"), planFor(list, "edit")]).toEqual([null, null]);
    isLive = true;
    expect([planFor(list, "view")?.id, planFor(list, "edit")?.id]).toEqual([3, 5]);
  });
});
