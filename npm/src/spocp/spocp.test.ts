// Queries to the rules of SPOCP in a bundle: their answers, their refusals, and that rules and
// policies always belong to one bundle.

import { readFileSync } from "node:fs";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { WardgateError } from "../base/errors.ts";
import { hash } from "../pdp/hashing.ts";
import { open, openSync } from "../pdp/open.ts";
import { spocp } from "./spocp.ts";
import type { SpocpQuery } from "../pdp/spocp-types.ts";
import type { SpocpPdp } from "../pdp/types.ts";
import { album, closed, editing, fixture, node, noon, releaseKey, signed, thrownBy, viewing } from "../testing.ts";

/** The album with the rules of `fixtures/spocp/pages.spoc`. */
const pages = fixture("spocp.bundle");
const options = { trust: "unsigned", spocp } as const;
const index = "(http (page index.html) (action GET) (user bo))";
const adaPosts = "(http (page a) (action POST) (user ada))";

let pdp: SpocpPdp;
beforeEach(async () => {
  pdp = await open(pages, options);
});
afterEach(() => pdp.dispose());

function refused(act: () => unknown): unknown {
  const thrown = thrownBy(act);
  return thrown instanceof WardgateError ? [thrown.code, thrown.offset] : thrown;
}

describe("rules of a bundle that has expired", () => {
  it("allow nothing, and still refuse a malformed query", async () => {
    let isExpired = false;
    const read = await spocp.ready();
    const module = { ...spocp, readyNow: () => (packed: Uint8Array) => read(packed, () => isExpired) };
    using expiring = openSync(pages, { trust: "unsigned", spocp: module });
    const rules = expiring.spocp;
    expect([rules.query(index), rules.first(index)?.number, rules.matches(index).length > 0]).toEqual([true, pdp.spocp.first(index)?.number, true]);
    isExpired = true;
    expect([rules.query(index), rules.first(index), rules.matches(index), rules.size]).toEqual([false, undefined, [], 5]);
    expect(refused(() => rules.query("(broken"))).toEqual(refused(() => pdp.spocp.query("(broken")));
  });

  it("are those of their PDP, which knows the time", async () => {
    const reads: (() => boolean)[] = [];
    const read = await spocp.ready();
    const module = { ...spocp, readyNow: () => (packed: Uint8Array, isExpired: () => boolean) => (reads.push(isExpired), read(packed, isExpired)) };
    let now = noon;
    using dated = openSync(signed, { trust: releaseKey, clock: () => now, spocp: module });
    expect([dated.header.expires, reads.map((isExpired) => isExpired())]).toEqual([Date.UTC(2025, 0), [false]]);
    now = Date.UTC(2025, 0);
    expect(reads.map((isExpired) => isExpired())).toEqual([true]);
  });
});

describe("a query", () => {
  it("is allowed by a rule above it", () => {
    expect(pdp.spocp.size).toBe(5);
    expect(pdp.spocp.query(index)).toBe(true);
    expect(pdp.spocp.query("(http (page index.html) (action POST) (user bo))")).toBe(false);
    expect(pdp.spocp.query("(http (page /public/a) (action HEAD) (user))")).toBe(true);
    expect(pdp.spocp.query("(report 12)") && !pdp.spocp.query("(report 13)")).toBe(true);
  });

  it("is read in both forms, as text and as bytes", () => {
    const canonical = "(4:http(4:page10:index.html)(6:action3:GET)(4:user2:bo))";
    const bytes = new TextEncoder().encode(canonical);
    const forms: SpocpQuery[] = [canonical, bytes, bytes.buffer, Buffer.from(index)];
    expect(forms.map((form) => pdp.spocp.query(form))).toEqual([true, true, true, true]);
    const binary = Uint8Array.of(...new TextEncoder().encode("(6:binary2:"), 0, 255, 0x29);
    expect([binary, "(binary #00FF#)", "(binary |AP8=|)"].map((form) => pdp.spocp.query(form))).toEqual([true, true, true]);
  });

  it("returns the rules that allow it", () => {
    const text = "(http (page index.html) (action GET) (user ada))";
    const rules = pdp.spocp.matches(text);
    expect(rules.map(({ number, text }) => [number, text])).toEqual([
      [0, "(http (page index.html)(action GET)(user))"],
      [2, "(http (page)(action (* set GET POST))(user ada))"],
    ]);
    expect(new TextDecoder().decode(rules[0]!.canonical)).toBe("(4:http(4:page10:index.html)(6:action3:GET)(4:user))");
    expect(pdp.spocp.first(text)).toEqual(rules[0]);
    expect([pdp.spocp.first("(ftp)"), pdp.spocp.matches("(ftp)")]).toEqual([undefined, []]);
  });

  it("may be long", () => {
    const long = `(http (page /public/${"ä€𝕏".repeat(5000)}) (action GET))`;
    expect([long, index, long].map((text) => pdp.spocp.query(text))).toEqual([true, true, true]);
    expect(refused(() => pdp.spocp.query("(".repeat(3000)))).toEqual(["malformed-query", expect.any(Number)]);
    expect(refused(() => pdp.spocp.query("a".repeat(2 ** 21)))).toEqual(["malformed-query", expect.any(Number)]);
  });

  it("has the position of its error, in bytes", () => {
    for (const [query, at] of [["", 0], ["(", 1], ["(http", 5], ["http)", 4], ["(5:http)", 8], ["(ä (* sets a))", 7], [new Uint8Array(), 0]] as const) {
      expect(refused(() => pdp.spocp.query(query)), String(query)).toEqual(["malformed-query", at]);
    }
    expect(() => pdp.spocp.matches("(http")).toThrow("byte 5: the expression is not finished");
    expect(pdp.spocp.query(index)).toBe(true);
  });

  it("must be text or bytes", () => {
    for (const query of [undefined, null, 1, {}, ["(http)"]]) expect(() => pdp.spocp.query(query as never)).toThrow(TypeError);
    expect(() => pdp.spocp.first("(http \ud800)")).toThrow(RangeError);
  });
});

describe("a bundle", () => {
  it("without rules allows nothing", async () => {
    using none = await open(album, options);
    expect([none.spocp.size, none.spocp.query(index)]).toEqual([0, false]);
  });

  it("is opened at once, too", () => {
    using now = openSync(pages, options);
    expect(now.spocp.query(index)).toBe(true);
  });

  it("has no rules without the option", () => {
    using plain = openSync(pages, { trust: "unsigned" });
    expect(plain.spocp).toBe(undefined);
    expect(plain.isAllowed(viewing())).toBe(true);
  });

  it("is refused when its rules are malformed", async () => {
    const broken = malformed(pages);
    await expect(open(broken, options)).rejects.toMatchObject({ code: "malformed-rules" });
    // Without the option the rules are not read.
    openSync(broken, { trust: "unsigned" }).dispose();
    expect(refused(() => pdp.examine(broken))).toEqual(["malformed-rules", undefined]);
    expect(refused(() => pdp.reload(broken))).toEqual(["malformed-rules", undefined]);
    expect([pdp.isAllowed(viewing()), pdp.spocp.query(index)]).toEqual([true, true]);
  });

  it("takes its option from the package alone", async () => {
    for (const given of [true, {}, "spocp", () => {}]) {
      await expect(open(pages, { trust: "unsigned", spocp: given as never })).rejects.toThrow(TypeError);
    }
    await expect(spocp.load({ cod: 1 } as never)).rejects.toThrow("unknown option `cod`");
  });
});

describe("a reload", () => {
  it("replaces policies and rules together", () => {
    const { spocp: rules } = pdp;
    const seen: unknown[] = [];
    pdp.onReload(() => seen.push([pdp.isAllowed(viewing()), rules.query(index)]));
    expect(pdp.examine(closed).content).not.toBe(pdp.header.content);
    expect([pdp.isAllowed(viewing()), rules.query(index)]).toEqual([true, true]);
    pdp.reload(closed);
    pdp.reload(pages);
    expect(seen).toEqual([[false, false], [true, true]]);
    expect(rules).toBe(pdp.spocp);
  });

  it("may come while a request is read", () => {
    expect(pdp.isAllowed(editing({ get owner() { return (pdp.reload(closed), "ada"); } }))).toBe(false);
    expect(pdp.spocp.query(index)).toBe(false);
  });

  it("that is refused changes neither", () => {
    expect(refused(() => pdp.reload(closed.subarray(1)))).toEqual(["not-a-bundle", undefined]);
    expect([pdp.isAllowed(viewing()), pdp.spocp.query(adaPosts)]).toEqual([true, true]);
  });
});

describe("after a trap", () => {
  const { Instance } = WebAssembly;
  afterEach(() => void (WebAssembly.Instance = Instance));

  it("the next query is answered from the same rules", () => {
    let traps = 0;
    WebAssembly.Instance = class extends Instance {
      override readonly exports: WebAssembly.Exports = { ...super.exports, allows: () => this.#trap() };
      #trap(): never {
        traps += 1;
        WebAssembly.Instance = Instance;
        throw new WebAssembly.RuntimeError("unreachable");
      }
    };
    using other = openSync(pages, options);
    expect(refused(() => other.spocp.query(index))).toEqual(["internal", undefined]);
    expect([other.spocp.query(index), traps]).toEqual([true, 1]);
    expect(pdp.spocp.query(index)).toBe(true);
  });
});

it("ends with its PDP", () => {
  const { spocp: rules } = pdp;
  pdp.dispose();
  for (const act of [() => rules.query(index), () => rules.size, () => rules.matches("(")]) {
    expect(refused(act)).toEqual(["disposed", undefined]);
  }
});

it("is loaded once, from the source of the caller", async () => {
  vi.resetModules();
  const fresh = (await import("./spocp.ts")).spocp;
  await expect(fresh.load({ code: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) })).rejects.toMatchObject({ code: "wrong-code" });
  await fresh.load({ code: readFileSync(new URL("../../wasm/wardgate_spocp_bg.wasm", import.meta.url)) });
  await fresh.load({ code: new Uint8Array() });
});

const program = `
  import { readFileSync } from "node:fs";
  const made = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      made.push(new WeakRef(this.exports.memory));
    }
  };
  const { openSync } = await import("./dist/node/index.js");
  const { spocp } = await import("./dist/node/spocp.js");
  const bundle = readFileSync("fixtures/spocp.bundle");
  const pdp = openSync(bundle, { trust: "unsigned", spocp });
  for (let time = 0; time < 50; time += 1) {
    pdp.reload(bundle);
    pdp.examine(bundle);
    openSync(bundle, { trust: "unsigned", spocp }).dispose();
  }
  for (let time = 0; time < 3; time += 1) {
    await new Promise((done) => setTimeout(done));
    globalThis.gc();
  }
  console.log(made.length, made.filter((memory) => memory.deref() !== undefined).length, pdp.spocp.size);
`;

it("frees its memory", () => {
  // One instance is that of the runtime.
  expect(node(["--expose-gc", "--input-type=module", "--eval", program])).toBe("152 2 5\n");
});

/**
 * Returns the same bundle with a byte of its rules changed, and correct digests: no compiler writes
 * it.
 */
function malformed(bundle: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(bundle);
  const view = new DataView(bytes.buffer);
  const [indexLength, contentLength] = [view.getUint32(20, true), view.getUint32(24, true)];
  const content = bytes.length - contentLength;
  const start = content - indexLength;
  const entry = content - 40;
  const chunk = bytes.subarray(bytes.length - view.getUint32(entry + 4, true));
  const root = bytes.slice(32, 64);
  chunk[4] = 0x21;
  bytes.set(hash(chunk), entry + 8);
  const next = hash(bytes.subarray(start, content));
  const head = Buffer.from(bytes.buffer, 0, start - 32);
  for (let at = head.indexOf(root); at >= 0; at = head.indexOf(root)) bytes.set(next, at);
  bytes.set(hash(head), start - 32);
  return bytes;
}
