// What a trap does: it is reported once, and the next call decides again.

import { beforeEach, describe, expect, it, vi } from "vitest";

import { loadModule } from "./load-node.ts";
import { readOptions } from "./options.ts";
import { OpenedPdp } from "./pdp.ts";
import { Runtime } from "./runtime.ts";
import { album, closed, viewing } from "./testing.ts";

const trap = vi.hoisted(() => ({ armed: false }));

// The module has no way to trap that a test could use. Here its memory is overwritten when it would, so
// that anything that still relied on the lost instance would fail.
vi.mock("../wasm/wardgate_bg.js", async (load) => {
  const glue = await load<typeof import("../wasm/wardgate_bg.js")>();
  let memory: WebAssembly.Memory;
  function trapping<A extends unknown[], R>(call: (...given: A) => R): (...given: A) => R {
    return (...given) => {
      if (!trap.armed) return call(...given);
      trap.armed = false;
      new Uint8Array(memory.buffer).fill(0xff);
      throw new WebAssembly.RuntimeError("unreachable");
    };
  }
  return {
    ...glue,
    __wbg_set_wasm(exports: WebAssembly.Exports): void {
      memory = exports["memory"] as WebAssembly.Memory;
      glue.__wbg_set_wasm(exports);
    },
    isAllowed: trapping(glue.isAllowed),
    reload: trapping(glue.reload),
  };
});

const settings = readOptions({ trust: "unsigned" });
const internal = expect.objectContaining({ name: "WardgateError", code: "internal" }) as Error;

let runtime: Runtime;
let pdp: OpenedPdp;
beforeEach(async () => {
  trap.armed = false;
  runtime = new Runtime(await loadModule());
  pdp = new OpenedPdp(runtime, album, settings);
});

describe("a trap", () => {
  it("is reported as internal, and the PDP decides again afterwards", () => {
    trap.armed = true;
    expect(() => pdp.isAllowed(viewing())).toThrow(internal);
    expect(pdp.isAllowed(viewing())).toBe(true);
    expect(runtime.generation).toBe(1);
  });

  it("loses no PDP of the instance, and none gets the policies of another", () => {
    const other = new OpenedPdp(runtime, closed, settings);
    trap.armed = true;
    expect(() => other.isAllowed(viewing())).toThrow(internal);
    expect([other.isAllowed(viewing()), pdp.isAllowed(viewing())]).toEqual([false, true]);
  });

  it("keeps what was reloaded before it", () => {
    pdp.reload(closed);
    trap.armed = true;
    expect(() => pdp.isAllowed(viewing())).toThrow(internal);
    expect(pdp.isAllowed(viewing())).toBe(false);
  });

  it("during a reload keeps the last good bundle", () => {
    trap.armed = true;
    expect(() => pdp.reload(closed)).toThrow(internal);
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("inside a getter of a request ends the whole call", () => {
    const attr = {
      get x(): boolean {
        trap.armed = true;
        expect(() => pdp.isAllowed(viewing())).toThrow(internal);
        return pdp.isAllowed(viewing());
      },
    };
    expect(() => pdp.isAllowed(viewing({ resource: { attr } }))).toThrow(internal);
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("lets a PDP of the lost instance be disposed of", () => {
    const other = new OpenedPdp(runtime, closed, settings);
    trap.armed = true;
    expect(() => pdp.isAllowed(viewing())).toThrow(internal);
    other.dispose();
    expect(pdp.isAllowed(viewing())).toBe(true);
  });
});
