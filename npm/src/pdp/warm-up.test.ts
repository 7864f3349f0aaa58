// The warm-up runs to its end: the bundle is refused at the last step of its verification, and
// rules decide its requests.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { openSync } from "./open.ts";
import { ofCode } from "../testing.ts";
import { warmUp } from "./warm-up.ts";
import { BUNDLE } from "./warm-up-bundle.ts";

const bundle = Uint8Array.from(atob(BUNDLE), (character) => character.charCodeAt(0));
const zeroKey = { alg: "ML-DSA-87", key: new Uint8Array(2592), kid: "nobody" } as const;

describe("the warm-up", () => {
  // If this fails because the format has changed, `warm-up.mjs` writes the bundle again.
  it("runs any number of times", () => {
    warmUp();
    warmUp({ code: readFileSync(new URL("../../wasm/wardgate_bg.wasm", import.meta.url)) });
    expect(() => warmUp({ cod: 1 } as never)).toThrow(TypeError);
  });

  it("verifies a signature that is whole and wrong", () => {
    expect(() => openSync(bundle, { trust: zeroKey })).toThrow(ofCode("wrong-signature"));
    expect(() => openSync(bundle.with(70, 0), { trust: zeroKey })).toThrow(ofCode("wrong-digest"));
  });

  it("makes a request that every rule of its policy reads, and is allowed", () => {
    const pdp = openSync(bundle, { trust: "unsigned" });
    expect(pdp.header.name).toBe("warm-up");
    const resource = { kind: "warm", id: "one", attr: { owner: "ada", level: 4, state: "open", name: "a", tags: ["b"] } };
    const principal = { id: "ada", roles: ["user"], attr: { blocked: false } };
    const { actions, outputs } = pdp.check({ principal, resource, actions: ["edit", "view"] });
    expect(Object.values(actions).map(({ effect }) => effect)).toEqual(["allow", "allow"]);
    expect(outputs).toHaveLength(1);
    pdp.dispose();
  });
});
