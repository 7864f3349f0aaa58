// The consumer of frames, and the bucket as the store of a log.

import { describe, expect, it } from "vitest";
import type { Appended } from "wardgate/log-sequencer";

import { bucketStore } from "../src/log/bucket.ts";
import type { LogEnv } from "../src/log/env.ts";
import { valuesOf } from "../src/log/sequencer.ts";
import { appendAll } from "../src/log/worker.ts";
import { given } from "./testing.ts";

describe("the consumer", () => {
  /** Hands messages to the consumer, and returns what became of each. */
  async function consumed(bodies: readonly unknown[], append: (frames: readonly Uint8Array[]) => Promise<readonly Appended[]>): Promise<string[]> {
    const became = bodies.map(() => "");
    const messages = bodies.map((body, at) => ({ body, ack: () => void (became[at] = "taken"), retry: () => void (became[at] = "left") }));
    const SEQUENCER = { idFromName: (name: string) => name, get: () => ({ append }) };
    await appendAll({ messages } as unknown as MessageBatch, { SEQUENCER } as unknown as LogEnv);
    return became;
  }

  it("takes from the queue what is in the log, and nothing else", async () => {
    const message = "the reason";
    const answers: Appended[] = [{ kind: "appended" }, { kind: "known" }, { kind: "refused", message }, { kind: "later", message }];
    const handed: number[] = [];
    const append = async (frames: readonly Uint8Array[]) => (handed.push(...frames.map(({ length }) => length)), answers);
    const bodies = [new ArrayBuffer(3), new Uint8Array(2), "text", { event: 1 }, new ArrayBuffer(1)];
    expect(await consumed(bodies, append)).toEqual(["taken", "taken", "left", "left", "left"]);
    expect(handed).toEqual([3, 2, 0, 0, 1]);
  });

  it("leaves everything to the queue if the log cannot be written", async () => {
    expect(await consumed([new ArrayBuffer(3)], () => Promise.reject(new Error("the bucket is away")))).toEqual(["left"]);
  });
});

describe("values", () => {
  it("are committed where there is a bucket for them, and clear where that is said", () => {
    const LOG_PRIVATE_R2 = given.POLICIES_R2;
    expect(Object.keys(valuesOf({ LOG_PRIVATE_R2 }))).toEqual(["private"]);
    expect(valuesOf({ LOG_VALUES: "clear" })).toEqual({ values: "clear" });
    for (const changes of [{}, { LOG_VALUES: "committed" }, { LOG_VALUES: "clear", LOG_PRIVATE_R2 }, { LOG_VALUES: "absent", LOG_PRIVATE_R2 }]) {
      expect(() => valuesOf(changes)).toThrow(/LOG_VALUES|LOG_PRIVATE_R2/);
    }
  });
});

describe("the bucket", () => {
  const bytes = (...values: readonly number[]) => Uint8Array.from(values);

  it("writes an object as its condition says", async () => {
    const store = bucketStore(given.POLICIES_R2);
    const first = await store.put("log/a", bytes(1), { kind: "new" });
    expect(await store.put("log/a", bytes(2), { kind: "new" })).toBe(undefined);
    expect(await store.get("log/a")).toEqual({ bytes: bytes(1), tag: first });
    const second = await store.put("log/a", bytes(3), { kind: "unchanged", tag: first! });
    expect(second).not.toBe(first);
    expect(await store.put("log/a", bytes(4), { kind: "unchanged", tag: first! })).toBe(undefined);
    expect((await store.get("log/a"))?.bytes).toEqual(bytes(3));
    await store.put("log/a", bytes(5), { kind: "always" });
    expect((await store.get("log/a"))?.bytes).toEqual(bytes(5));
  });

  it("deletes more objects than one call does", async () => {
    const store = bucketStore(given.POLICIES_R2);
    await store.put("log/b", bytes(1), { kind: "always" });
    await store.delete([...Array.from({ length: 1000 }, (_, at) => `log/none-${at}`), "log/b"]);
    expect(await store.get("log/b")).toBe(undefined);
  });
});
