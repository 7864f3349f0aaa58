// Hosts that have changed `__proto__`, on which the hot functions rely. They need a process of
// their own, so they run the built package.

import { describe, expect, it } from "vitest";

import { node } from "../testing.ts";

const program = `
  import { readFileSync } from "node:fs";
  import { open } from "./dist/node/index.js";
  const pdp = await open(readFileSync("fixtures/album.bundle"), { trust: "unsigned" });
  const principal = { id: "ada", roles: ["user"] };
  const resource = { kind: "album", id: "a1", attr: { owner: "ada" } };
  const inherits = { ...resource, attr: Object.create({ owner: "ada" }) };
  const own = JSON.parse('{"__proto__": {"owner": "ada"}, "owner": "eve"}');
  const bare = Object.assign(Object.create(null), { owner: "ada" });
  const target = { kind: "album", action: "edit" };
  for (let time = 0; time < 3; time += 1) {
    for (const one of [resource, inherits, { ...resource, attr: own }, { ...resource, attr: bare }]) {
      console.log(
        pdp.isAllowed({ principal, action: "edit", resource: one }),
        pdp.for(principal).isAllowed("edit", one),
        pdp.prepare(target).isAllowed(principal, one),
        pdp.filter({ principal, action: "edit", resources: Array(20).fill(one) }).length,
      );
    }
  }
`;

describe("a host", () => {
  const flags = ["--no-warnings", "--disable-proto=delete", "--disable-proto=throw"];

  it.each(flags)("with %s gives the same answers", (flag) => {
    const [yes, no] = ["true true true 20\n", "false false false 0\n"];
    expect(node([flag, "--input-type=module", "--eval", program])).toBe(`${yes}${no}${no}${yes}`.repeat(3));
  });
});
