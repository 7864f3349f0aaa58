// Topics, covers and sets of filters, in the module as it is published.

import { readFileSync } from "node:fs";

import { beforeAll, describe, expect, it } from "vitest";

import { WardgateError } from "../base/errors.ts";
import { thrownBy } from "../testing.ts";
import { mqtt } from "./mqtt.ts";

beforeAll(() => mqtt.load());

/** Returns code and reason code of the error that a call throws. */
function refused(act: () => unknown): unknown {
  const thrown = thrownBy(act);
  return thrown instanceof WardgateError ? [thrown.code, thrown.reason] : thrown;
}

const words = ["", "a", "b", "$s"];
/** All names of at most three levels. */
const names = [1, 2, 3].flatMap((levels) => combined(words, levels)).filter((name) => name !== "");
/** All filters of at most three levels. */
const filters = [1, 2, 3]
  .flatMap((levels) => combined([...words, "+"], levels).concat(combined([...words, "+"], levels - 1).map((front) => (levels === 1 ? "#" : `${front}/#`))))
  .filter((filter) => filter !== "");

describe("matches", () => {
  it("equals matching level by level", () => {
    for (const filter of filters) for (const name of names) expect(mqtt.matches(filter, name), `${filter} ${name}`).toBe(matchesPlainly(filter, name));
  });

  it("counts the filter of a shared subscription", () => {
    expect([mqtt.matches("$share/g/a/+", "a/b"), mqtt.matches("$share/g/a/+", "$share/g/a/b")]).toEqual([true, false]);
  });

  it("works for any Unicode", () => {
    for (const word of ["ü", "温度", "🌡", "\uFEFF"]) expect(mqtt.matches(`a/${word}/+`, `a/${word}/b`)).toBe(true);
    expect(mqtt.matches("a/u", "a/ü")).toBe(false);
  });

  it.each<[filter: string, name: string, code: string, reason: number]>([
    ["a#", "a", "invalid-filter", 0x8f],
    ["a/#/b", "a", "invalid-filter", 0x8f],
    ["", "a", "invalid-filter", 0x8f],
    ["$share/g", "a", "invalid-filter", 0x8f],
    ["a\u0000", "a", "invalid-filter", 0x8f],
    ["\ud800", "a", "invalid-filter", 0x8f],
    ["x".repeat(1025), "a", "invalid-filter", 0x8f],
    ["x".repeat(70_000), "a", "invalid-filter", 0x8f],
    ["ü".repeat(60_000), "a", "invalid-filter", 0x8f],
    ["a", "a/+", "invalid-topic", 0x90],
    ["a", "#", "invalid-topic", 0x90],
    ["a", "", "invalid-topic", 0x90],
    ["a", "\udc00", "invalid-topic", 0x90],
    ["a", "/".repeat(32), "invalid-topic", 0x90],
    ["a", "x".repeat(100_000), "invalid-topic", 0x90],
  ])("refuses %j and %j", (filter, name, code, reason) => {
    expect(refused(() => mqtt.matches(filter, name))).toEqual([code, reason]);
  });

  it("refuses what is not text", () => {
    for (const value of [undefined, null, 1, {}, ["a"], new Uint8Array()]) {
      expect(thrownBy(() => mqtt.matches(value as string, "a"))).toBeInstanceOf(TypeError);
      expect(thrownBy(() => mqtt.matches("a", value as string))).toBeInstanceOf(TypeError);
    }
  });
});

describe("cover", () => {
  it("tells all, none, or a name that is not covered", () => {
    expect(mqtt.cover("a/#", ["a", "a/+/#"])).toBe("all");
    expect(mqtt.cover("a/#", ["b/#"])).toBe("none");
    expect(mqtt.cover("a/#", [])).toBe("none");
    expect(mqtt.cover("a/+", ["a/b"])).toEqual({ part: "a/x" });
  });

  it("agrees with matching each name", () => {
    for (const asked of filters) {
      for (let at = 0; at < filters.length; at += 7) {
        const by = [filters[at]!, filters[(at * 5 + 3) % filters.length]!];
        const cover = mqtt.cover(asked, by);
        const covered = names.filter((name) => matchesPlainly(asked, name)).map((name) => by.some((filter) => matchesPlainly(filter, name)));
        const label = `${asked} by ${by.join(" ")}`;
        if (cover === "all") expect(covered, label).not.toContain(false);
        else if (cover === "none") expect(covered, label).not.toContain(true);
        else expect([matchesPlainly(asked, cover.part), by.some((filter) => matchesPlainly(filter, cover.part))], label).toEqual([true, false]);
      }
    }
  });

  it("takes many patterns and long ones", () => {
    const many = Array.from({ length: 5000 }, (_, at) => `a/${"long".repeat(5)}-${at}/+`);
    expect(mqtt.cover(many[4999]!, many)).toBe("all");
    expect(mqtt.cover("a/+/+", many)).toMatchObject({ part: expect.any(String) });
    expect(mqtt.cover("a", ["a"])).toBe("all");
  });

  it("refuses invalid filters wherever they are", () => {
    expect(refused(() => mqtt.cover("a#", ["a"]))).toEqual(["invalid-filter", 0x8f]);
    expect(refused(() => mqtt.cover("a", ["a", "b", "c#"]))).toEqual(["invalid-filter", 0x8f]);
    expect(refused(() => mqtt.cover("a", [""]))).toEqual(["invalid-filter", 0x8f]);
    for (const by of ["a", undefined, [1], [undefined]]) expect(thrownBy(() => mqtt.cover("a", by as never))).toBeInstanceOf(TypeError);
  });
});

describe("a set of filters", () => {
  it("finds the value of every filter that matches", () => {
    using set = mqtt.filters<number>();
    filters.forEach((filter, at) => set.add(filter, at));
    expect(set.size).toBe(filters.length);
    for (const name of names) {
      const expected = filters.flatMap((filter, at) => (matchesPlainly(filter, name) ? [at] : []));
      expect(set.match(name).sort((left, right) => left - right), name).toEqual(expected);
    }
  });

  it("is what a list is, while filters come and go", () => {
    using set = mqtt.filters<string>();
    const list = new Map<number, string>();
    let seed = 7;
    const random = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most;
    for (let step = 0; step < 4000; step += 1) {
      const filter = filters[random(filters.length)]!;
      if (random(5) < 3) {
        const id = set.add(filter, filter);
        expect(list.has(id)).toBe(false);
        list.set(id, filter);
      } else {
        const id = [...list.keys()][random(list.size + 1)];
        if (id !== undefined) expect([set.remove(id), list.delete(id), set.remove(id)]).toEqual([true, true, false]);
      }
      const name = names[random(names.length)]!;
      expect(set.match(name).sort()).toEqual([...list.values()].filter((filter) => matchesPlainly(filter, name)).sort());
      expect(set.size).toBe(list.size);
    }
  });

  it("holds any value, the same filter twice, and gives no number twice", () => {
    using set = mqtt.filters<unknown>();
    const values = [undefined, null, 0, "", set];
    const ids = values.map((value) => set.add("a", value));
    expect(new Set(set.match("a"))).toEqual(new Set(values));
    for (const id of ids) set.remove(id);
    expect(set.match("a")).toEqual([]);
    const again = values.map((value) => set.add("a", value));
    expect(again.filter((id) => ids.includes(id))).toEqual([]);
    expect(ids.map((id) => set.remove(id))).toEqual(ids.map(() => false));
    expect(set.size).toBe(values.length);
    for (const id of [-1, 0.5, Number.NaN, 2 ** 60]) expect(set.remove(id)).toBe(false);
  });

  it("keeps sets apart, and outlives others", () => {
    using first = mqtt.filters<string>();
    first.add("a/+", "first");
    {
      using second = mqtt.filters<string>();
      second.add("a/#", "second");
      expect([first.match("a/b"), second.match("a/b")]).toEqual([["first"], ["second"]]);
    }
    using third = mqtt.filters<string>();
    expect([first.match("a/b"), third.match("a/b")]).toEqual([["first"], []]);
  });

  it("works while the memory of the module grows", () => {
    using set = mqtt.filters<number>();
    for (let at = 0; at < 50_000; at += 1) set.add(`devices/${at}/+/state`, at);
    using one = mqtt.filters<number>();
    one.add("#", 1);
    expect([set.match("devices/49999/a/state"), set.match("devices/0/b/state"), one.match("a")]).toEqual([[49_999], [0], [1]]);
    const everybody = mqtt.filters<number>();
    for (let at = 0; at < 20_000; at += 1) everybody.add("news", at);
    expect(everybody.match("news").sort((left, right) => left - right)).toEqual(Array.from({ length: 20_000 }, (_, at) => at));
    everybody.dispose();
  });

  it("refuses invalid filters and names, and is unchanged", () => {
    using set = mqtt.filters<number>();
    set.add("a", 1);
    expect(refused(() => set.add("a#", 2))).toEqual(["invalid-filter", 0x8f]);
    expect(refused(() => set.match("+"))).toEqual(["invalid-topic", 0x90]);
    expect([set.size, set.match("a")]).toEqual([1, [1]]);
    expect(set.match("b")).toEqual([]);
    for (const value of [undefined, 1, null]) expect(thrownBy(() => set.add(value as unknown as string, 2))).toBeInstanceOf(TypeError);
  });

  it("cannot be used after it was disposed", () => {
    const set = mqtt.filters<number>();
    const id = set.add("a", 1);
    set.dispose();
    set.dispose();
    for (const act of [() => set.add("a", 1), () => set.match("a"), () => set.remove(id)]) expect(refused(act)).toEqual(["disposed", undefined]);
  });

  it("may be made before the module is loaded", () => {
    expect(mqtt.filters().size).toBe(0);
  });
});

describe("the module", () => {
  it("is loaded from given code, and only from its own", async () => {
    const code = readFileSync(new URL("../../wasm/wardgate_mqtt_bg.wasm", import.meta.url));
    await mqtt.load({ code });
    await mqtt.load();
    expect(WebAssembly.Module.imports(new WebAssembly.Module(code)).map(({ kind }) => kind)).toEqual(["function"]);
    await expect(mqtt.load({ codes: code } as never)).rejects.toBeInstanceOf(TypeError);
  });
});

function combined(words: readonly string[], levels: number): string[] {
  if (levels < 1) return [];
  if (levels === 1) return [...words];
  return combined(words, levels - 1).flatMap((front) => words.map((word) => `${front}/${word}`));
}

/** Matches level by level, as section 4.7 of the standard describes. */
function matchesPlainly(filter: string, name: string): boolean {
  const [parts, words] = [filter.split("/"), name.split("/")];
  if (name.startsWith("$") && /^[+#]/.test(filter)) return false;
  for (const [at, part] of parts.entries()) {
    if (part === "#") return true;
    if (at >= words.length || (part !== "+" && part !== words[at])) return false;
  }
  return parts.length === words.length;
}
