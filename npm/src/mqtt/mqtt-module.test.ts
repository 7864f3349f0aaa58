// The one instance of the module: a fault of it loses sets and gates and nothing else, and what is
// disposed leaves no memory behind.

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { thrownBy } from "../testing.ts";
import type { Mqtt } from "./mqtt.ts";

const { Instance } = WebAssembly;
let mqtt: Mqtt;
let instances: WebAssembly.Exports[];
/** The call that fails like a trap. */
let failing: string | undefined;

beforeEach(async () => {
  [instances, failing] = [[], undefined];
  class Failing {
    readonly exports: WebAssembly.Exports;

    constructor(module: WebAssembly.Module, imports: WebAssembly.Imports) {
      const { exports } = new Instance(module, imports);
      const calls = Object.entries(exports).map(([name, call]) => [name, typeof call === "function" ? this.#wrapped(name, call) : call]);
      this.exports = Object.fromEntries(calls) as WebAssembly.Exports;
      instances.push(exports);
    }

    #wrapped(name: string, call: Function) {
      return (...given: unknown[]): unknown => {
        if (name === failing) throw new WebAssembly.RuntimeError("unreachable");
        return call(...given);
      };
    }
  }
  WebAssembly.Instance = Failing as unknown as typeof Instance;
  vi.resetModules();
  ({ mqtt } = await import("./mqtt.ts"));
  await mqtt.load();
});
afterEach(() => {
  WebAssembly.Instance = Instance;
});

const everything = { for: () => ({ isAllowed: () => true }) } as never;
const principal = { id: "ada", roles: [] };
const internal = { code: "internal" };

it.each<[call: string, act: (mqtt: Mqtt) => unknown]>([
  ["matches", (mqtt) => mqtt.matches("a", "a")],
  ["cover", (mqtt) => mqtt.cover("a", ["a"])],
  ["decode", (mqtt) => mqtt.decode(new Uint8Array(2), { version: 5 })],
  ["check", (mqtt) => mqtt.encode({ kind: "pingreq" }, 5)],
  ["find", (mqtt) => mqtt.filters().match("a")],
  ["insert", (mqtt) => mqtt.filters().add("a", 1)],
  ["tell", (mqtt) => mqtt.gate(everything, { principal }).tick()],
])("a fault in `%s` is an internal error, and the next call starts another instance", (call, act) => {
  const set = mqtt.filters();
  set.add("a", 1);
  const gate = mqtt.gate(everything, { principal });
  failing = call;
  expect(thrownBy(() => act(mqtt))).toMatchObject(internal);
  failing = undefined;
  for (const lost of [() => set.match("a"), () => set.add("b", 1), () => gate.tick()]) expect(thrownBy(lost)).toMatchObject(internal);
  set.dispose();
  gate.dispose();
  using another = mqtt.filters();
  another.add("a/+", 2);
  expect([mqtt.matches("a/+", "a/b"), another.match("a/b"), instances.length]).toEqual([true, [2], 2]);
});

it("what is disposed, and packets that were large, leave no memory behind", () => {
  const fill = (): void => {
    using set = mqtt.filters();
    for (let at = 0; at < 500; at += 1) set.add(`devices/${at}/#`, at);
    using gate = mqtt.gate(everything, { principal });
    gate.fromClient(mqtt.encode({ kind: "connect", version: 5, clientId: "c" }, 5).subarray(0, 9));
    mqtt.encode({ kind: "publish", topic: "a", payload: new Uint8Array(1_000_000) }, 5);
    mqtt.matches("a", "a");
  };
  fill();
  const bytes = (): number => (instances[0]!["memory"] as WebAssembly.Memory).buffer.byteLength;
  const before = bytes();
  for (let time = 0; time < 200; time += 1) fill();
  expect(bytes()).toBe(before);
});
