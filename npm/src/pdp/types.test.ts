// The values that the types accept and refuse. The compiler is the test; at run time the answers
// are checked.

import { describe, expect, it } from "vitest";

import { openAlbum } from "../testing.ts";
import type { AttributeHolder, Resource } from "./request-types.ts";

interface Album {
  readonly owner: string;
  readonly tags?: readonly string[];
}

interface Empty {
  readonly note?: string;
}

class Photo {
  readonly owner: string;
  readonly #secret = 1;

  constructor(owner: string) {
    this.owner = owner;
  }

  size(): number {
    return this.#secret;
  }
}

const pdp = await openAlbum();
const principal = { id: "ada", roles: ["user"] };

describe("attributes", () => {
  it("may be of an interface or a class", () => {
    const album: Album = { owner: "ada" };
    const empty: Empty = {};
    const attrs: readonly AttributeHolder[] = [album, new Photo("ada"), { owner: "ada", nested: { album } }];
    for (const attr of attrs) expect(pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } })).toBe(true);
    const resource: Resource = { kind: "album", id: "a1", attr: empty };
    expect(pdp.isAllowed({ principal: { ...principal, attr: album }, action: "edit", resource })).toBe(false);
    expect(pdp.isAllowed({ principal, action: "edit", resource, auxData: { jwt: album, jwts: { one: { claims: album } } } })).toBe(false);
  });

  it("are no list, no function and no text", () => {
    const check = (resource: Resource): void => expect(() => pdp.check({ principal, actions: ["edit"], resource })).toThrow(TypeError);
    // @ts-expect-error: a list.
    check({ kind: "album", id: "a1", attr: ["owner"] });
    // @ts-expect-error: a function.
    check({ kind: "album", id: "a1", attr: () => "ada" });
    // @ts-expect-error: a text.
    check({ kind: "album", id: "a1", attr: "owner" });
    // @ts-expect-error: nothing.
    check({ kind: "album", id: "a1", attr: null });
    // @ts-expect-error: a member that there is not.
    check({ kind: "album", id: "a1", policy_version: "2" });
  });
});
