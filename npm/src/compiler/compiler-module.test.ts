// The instance of the compiler: its state after a trap, and its lifetime.

import { beforeEach, describe, expect, it, vi } from "vitest";

import { run } from "./compiler-module.ts";
import { fixture, ofCode } from "../testing.ts";

const trap = vi.hoisted(() => ({ armed: false, starts: 0 }));

// The module has no way to trap that a test could use. This mock overwrites its memory on a trap,
// so that code that still used the lost instance would fail.
vi.mock("../../wasm/wardgate_compiler_bg.js", async (load) => {
  const glue = await load<typeof import("../../wasm/wardgate_compiler_bg.js")>();
  let memory: WebAssembly.Memory | undefined;
  return {
    ...glue,
    __wbg_set_wasm(exports: WebAssembly.Exports): void {
      memory = exports["memory"] as WebAssembly.Memory | undefined;
      if (memory !== undefined) trap.starts += 1;
      glue.__wbg_set_wasm(exports);
    },
    compile(files: unknown, options: unknown): unknown {
      if (!trap.armed) return glue.compile(files, options) as unknown;
      trap.armed = false;
      new Uint8Array(memory!.buffer).fill(0xff);
      throw new WebAssembly.RuntimeError("unreachable");
    },
  };
});

const files = [["album.yaml", new Uint8Array(fixture("album/album.yaml"))]] as const;
const settings = { code: undefined, moduleOptions: {} };

beforeEach(async () => {
  await length();
  trap.starts = 0;
});

async function length(): Promise<number | undefined> {
  return (await run(files, settings)).bundle?.length;
}

describe("a trap", () => {
  it("is reported as internal, and the next call has a fresh instance", async () => {
    const before = await length();
    trap.armed = true;
    await expect(length()).rejects.toEqual(ofCode("internal"));
    expect(await length()).toBe(before);
    expect(trap.starts).toBe(1);
  });

  it("ends no other call", async () => {
    const before = await length();
    trap.armed = true;
    const [first, ...others] = await Promise.allSettled([length(), length(), length()]);
    expect(first.status).toBe("rejected");
    expect(others).toEqual([before, before].map((value) => ({ status: "fulfilled", value })));
  });
});

describe("the instance", () => {
  it("is reused while it is small, and dropped after it has grown large", async () => {
    await length();
    expect(trap.starts).toBe(0);
    await run([["a.yaml", new Uint8Array(2 ** 25).fill(0x20)]], settings);
    await length();
    await length();
    expect(trap.starts).toBe(1);
  });
});
