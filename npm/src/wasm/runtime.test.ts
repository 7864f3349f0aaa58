// Traps: each is reported once, and the next call decides again.

import { beforeEach, describe, expect, it, vi } from "vitest";

import { loader } from "../runtimes/node/load.ts";
import { readOptions } from "../pdp/options.ts";
import { OpenedPdp } from "../pdp/pdp.ts";
import { Runtime } from "./runtime.ts";
import { album, closed, editing, noon, ofCode, onOne, releaseKey, signed, thrownBy, viewing } from "../testing.ts";
import type { ActionRequest } from "../pdp/request-types.ts";

const trap = vi.hoisted(() => ({ armed: false, inFrame: false }));

// The module has no way to trap that a test could use. This mock overwrites its memory on a trap,
// so that code that still used the lost instance would fail.
vi.mock("../../wasm/wardgate_bg.js", async (load) => {
  const glue = await load<typeof import("../../wasm/wardgate_bg.js")>();
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

// The calls that decide the frame cannot be replaced in the module, but in its views they can.
vi.mock("./frame.ts", async (load) => {
  const frames = await load<typeof import("./frame.ts")>();
  return {
    ...frames,
    frameAt(buffer: ArrayBuffer, address: number, calls: import("./frame.ts").DecideCalls): import("./frame.ts").Frame {
      const frame = frames.frameAt(buffer, address, calls);
      const decide = (handle: number, fastPath: number, roles: number): number => {
        if (!trap.inFrame) return calls.decide(handle, fastPath, roles);
        trap.inFrame = false;
        frame.arena.fill(0xff);
        throw new WebAssembly.RuntimeError("unreachable");
      };
      return { ...frame, decide };
    },
  };
});

// With a truth table there would be no calls into the module.
vi.mock("../fast/truth-table.ts", async (load) => {
  const answers = await load<typeof import("../fast/truth-table.ts")>();
  return { ...answers, truthTableOf: () => answers.NO_TABLE };
});

const settings = readOptions({ trust: "unsigned" });
const internal = ofCode("internal");

let runtime: Runtime;
let pdp: OpenedPdp;
beforeEach(async () => {
  trap.armed = false;
  trap.inFrame = false;
  runtime = new Runtime(await loader.load());
  pdp = new OpenedPdp(runtime, album, settings);
});

describe("a trap", () => {
  it("is reported as internal, and the PDP decides again afterwards", () => {
    trapIn(() => pdp.isAllowed(unusualRequest()));
    expect(pdp.isAllowed(viewing())).toBe(true);
    expect(runtime.generation).toBe(1);
  });

  it("loses no PDP of the instance, and none gets the policies of another", () => {
    const other = new OpenedPdp(runtime, closed, settings);
    trapIn(() => other.isAllowed(unusualRequest()));
    expect([other.isAllowed(viewing()), pdp.isAllowed(viewing())]).toEqual([false, true]);
  });

  it("keeps what was reloaded before it", () => {
    pdp.reload(closed);
    trapIn(() => pdp.isAllowed(unusualRequest()));
    expect(pdp.isAllowed(viewing())).toBe(false);
  });

  it("during a reload keeps the last good bundle", () => {
    trapIn(() => pdp.reload(closed));
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("inside a getter of a request ends the whole call", () => {
    const attr = {
      get x(): boolean {
        trapIn(() => new OpenedPdp(runtime, album, settings).reload(closed));
        return pdp.isAllowed(viewing());
      },
    };
    expect(() => pdp.explain(viewing({ resource: { attr } }))).toThrow(internal);
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("that a getter catches ends the whole call too", () => {
    const attr = {
      get x(): boolean {
        trapIn(() => pdp.isAllowed(unusualRequest()));
        return true;
      },
    };
    expect(() => pdp.explain(viewing({ resource: { attr } }))).toThrow(internal);
    expect([pdp.isAllowed(viewing()), runtime.generation]).toEqual([true, 1]);
  });

  it("is distinguished from an error in code around the module", () => {
    for (const error of [new WebAssembly.RuntimeError("of another module"), new RangeError("theirs"), ["type", "x"], 7]) {
      expect(thrownBy(() => runtime.call(() => { throw error; }))).toBe(error);
    }
    expect([pdp.isAllowed(viewing()), runtime.generation]).toEqual([true, 0]);
  });

  it("is distinguished from an error in a getter, wherever the getter calls again", () => {
    const error = new WebAssembly.RuntimeError("of another module");
    const inner = { get owner(): never { throw error; } };
    const attr = {
      get x(): boolean {
        expect(thrownBy(() => pdp.isAllowed(editing(inner)))).toBe(error);
        expect(thrownBy(() => pdp.explain(viewing({ resource: { attr: inner } })))).toBe(error);
        return true;
      },
    };
    for (let time = 0; time < 3; time += 1) pdp.explain(viewing({ resource: { attr } }));
    expect([pdp.isAllowed(viewing()), runtime.generation]).toEqual([true, 0]);
  });

  it("is an exhausted stack, though other code throws that error too", () => {
    const dive = (): void => { pdp.explain(viewing()); dive(); };
    expect(thrownBy(dive)).toBeInstanceOf(Error);
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("loses no accepted bundle, even if it has expired by now", () => {
    let now = noon;
    const dated = new OpenedPdp(runtime, signed, readOptions({ trust: releaseKey, clock: () => now }));
    now = Date.UTC(2030, 0);
    trapIn(() => pdp.isAllowed(unusualRequest()));
    // It is open again, and its expiry is in force.
    expect([dated.isAllowed(viewing()), dated.header.revision]).toEqual([false, 7]);
    const { principal, resource } = viewing();
    const { actions } = dated.check({ principal, resource, actions: ["view"] });
    expect(actions["view"]?.reason).toEqual({ kind: "expired" });
    expect(() => dated.reload(signed)).toThrow(ofCode("expired"));
    now = noon;
    expect(dated.isAllowed(viewing())).toBe(true);
  });

  it("lets a PDP of the lost instance be disposed of", () => {
    const other = new OpenedPdp(runtime, closed, settings);
    trapIn(() => pdp.isAllowed(unusualRequest()));
    other.dispose();
    expect(pdp.isAllowed(viewing())).toBe(true);
  });
});

describe("a trap while a frame is decided on", () => {
  it.each(onOne)("is reported by %s, and the PDP decides again afterwards", (_, decide) => {
    const deciding = (): boolean => decide(pdp, viewing, { kind: "album", action: "view" });
    warm();
    trap.inFrame = true;
    expect(deciding).toThrow(internal);
    expect(trap.inFrame).toBe(false);
    expect([pdp.isAllowed(viewing()), runtime.generation]).toEqual([true, 1]);
    expect(deciding()).toBe(true);
  });

  it("takes the frame from all PDPs, and none decides by the policies of another", () => {
    const other = new OpenedPdp(runtime, closed, settings);
    warm();
    other.isAllowed(viewing());
    trap.inFrame = true;
    expect(() => pdp.isAllowed(viewing())).toThrow(internal);
    // In the new instance the first PDP gets the first handle.
    for (let time = 0; time < 3; time += 1) {
      expect([other.isAllowed(viewing()), pdp.isAllowed(viewing())]).toEqual([false, true]);
    }
  });

  it("is distinguished from an error of the caller", () => {
    warm();
    const error = new WebAssembly.RuntimeError("of another module");
    const attr = { get owner(): string { throw error; } };
    expect(() => pdp.isAllowed(editing(attr))).toThrow(error);
    expect([pdp.isAllowed(viewing()), runtime.generation]).toEqual([true, 0]);
  });

  it("inside a getter makes the outer request be decided anew", () => {
    warm();
    expect(pdp.isAllowed(editing({ owner: "ada" }))).toBe(true);
    const inner = vi.fn(() => pdp.isAllowed(viewing()));
    const attr = {
      get owner(): string {
        trap.inFrame = inner.mock.calls.length === 0;
        if (trap.inFrame) expect(inner).toThrow(internal);
        return "ada";
      },
    };
    expect(pdp.isAllowed(editing(attr))).toBe(true);
    expect([inner.mock.calls.length, runtime.generation]).toEqual([1, 1]);
  });
});

/** Lets a call trap, which it reports. */
function trapIn(act: () => unknown): void {
  trap.armed = true;
  expect(act).toThrow(internal);
}

/** Returns a request for the general path, because its object is an instance of a class. */
function unusualRequest(): ActionRequest {
  return Object.assign(Object.create({}) as object, viewing());
}

/** Decides until the frame is used: the first request loads the fast paths. */
function warm(): void {
  for (let time = 0; time < 3; time += 1) expect(pdp.isAllowed(viewing())).toBe(true);
}
