// Memory leaks: a million decisions, a thousand reloads and a thousand openings leave the heap and
// the memory of the module at their sizes. They run in a process with an exposed garbage collector.
//
// The heap varies by some ten thousand bytes by itself, up and down. A leak would appear in each of
// the eight runs, so the test takes the smallest growth.

import { expect, it } from "vitest";

import { node } from "../testing.ts";

const program = `
  import { readFileSync } from "node:fs";
  // The package does not export its memory, so the test intercepts the creation of the instance.
  const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      memories.push(this.exports.memory);
    }
  };
  const { open, openSync } = await import("./dist/node/index.js");
  const bundles = ["album", "closed"].map((name) => readFileSync("fixtures/" + name + ".bundle"));
  const pdp = await open(bundles[0], { trust: "unsigned" });
  const principal = { id: "ada", roles: ["user"] };
  const resources = ["ada", "bo", "cy", "di"].map((owner, at) => ({ kind: "album", id: "a" + at, attr: { owner } }));
  const many = Array.from({ length: 10 }, () => resources).flat();

  // Makes 1,000 decisions by every method.
  function decide() {
    const sam = pdp.for(principal);
    for (let time = 0; time < 10; time += 1) {
      for (const resource of resources) {
        pdp.isAllowed({ principal, action: "edit", resource });
        sam.isAllowed("edit", { kind: "album", id: String(Math.random()), attr: { owner: String(Math.random()) } });
        pdp.isAllowed({ principal: { ...principal, id: "p" + time }, action: "view", resource });
      }
      pdp.filter({ principal, action: "edit", resources: many });
      pdp.isAllowedMany(resources.map((resource) => ({ principal, action: "edit", resource })));
      pdp.check({ principal, actions: ["view", "edit"], resource: resources[time % 4] });
      pdp.explain({ principal, action: "edit", resource: resources[time % 4] });
    }
    for (let time = 0; time < 420; time += 1) pdp.isAllowed({ principal, action: "edit", resource: resources[time % 4] });
  }

  function run(rounds) {
    for (let round = 0; round < rounds; round += 1) {
      decide();
      pdp.reload(bundles[round % 2]);
      openSync(bundles[round % 2], { trust: "unsigned" }).dispose();
    }
  }

  function used() {
    globalThis.gc();
    globalThis.gc();
    return [process.memoryUsage().heapUsed, memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)];
  }

  // The first run creates the objects that are created once.
  const windows = Array.from({ length: 9 }, () => {
    const before = used();
    run(1000);
    return used().map((bytes, at) => bytes - before[at]);
  }).slice(1);
  console.log(JSON.stringify([Math.min(...windows.map(([heap]) => heap)), Math.max(...windows.map(([, linear]) => linear))]));
`;

it("leaves no memory behind", { timeout: 240_000 }, () => {
  const [heap, linear] = JSON.parse(node(["--expose-gc", "--input-type=module", "--eval", program])) as [number, number];
  expect(heap).toBeLessThan(MOST_HEAP);
  expect(linear).toBe(0);
});

/**
 * One word for each reload would be 8,000 bytes, one object more; a byte for each decision a
 * million.
 */
const MOST_HEAP = 32_000;
