// `DECISION_LOG = "frames"`: decisions become binary frames of a queue.

import { beforeAll, describe, expect, it } from "vitest";
import type { PublicJwk } from "wardgate";
import { decisionLog, openSegment, replay, segmentsOf, type LogRecord, type ReplayedOutcome } from "wardgate/log";

import { framesOf, provideFrames } from "../src/decision-log.ts";
import type { Env } from "../src/env.ts";
import { nameOf, storeFrames } from "../src/frame-store.ts";
import { ask, bob, deployment, EVALUATION, EVALUATIONS, fill, given, limited, metrics, policies, reading } from "./testing.ts";

beforeAll(async () => {
  await fill();
  provideFrames(decisionLog);
});

async function recordsIn(frames: readonly Uint8Array[]): Promise<LogRecord[][]> {
  const segments = await Promise.all(segmentsOf(frames).map((segment) => openSegment(segment)));
  return segments.map((segment) => [...segment.records()].map(([, record]) => record));
}

describe("frames", () => {
  it("have each decision, with its policies and names", async () => {
    const sent: Uint8Array[] = [];
    const DECISIONS = { send: async (frame: Uint8Array, { contentType }: { contentType: string }) => void (contentType === "bytes" && sent.push(frame)) };
    const deployed = deployment({ DECISION_LOG: "frames", DECISIONS });
    await ask(deployed, EVALUATION, reading);
    await ask(deployed, EVALUATIONS, { ...reading, evaluations: [{}, { action: { name: "fly" } }] });
    await ask(deployed, "/access/v1/search/action", { subject: bob, resource: reading.resource });
    // A queue delivers at least once, in any order.
    const [records = [], ...others] = await recordsIn([...sent, ...sent].reverse());
    expect(others).toEqual([]);
    const decisions = records.flatMap((it) => (it.kind === "decision" ? [it] : []));
    const targets = new Map(records.flatMap((it) => (it.kind === "target" ? [[it.number, it] as const] : [])));
    const said = decisions.map(({ principal, resource, outcomes }) => [principal, resource, outcomes.map(({ target, answer }) => [targets.get(target)?.action, answer])]);
    const about = [{ kind: "clear", id: "alice" }, { kind: "clear", id: "record-1" }];
    expect(said.slice(0, 3)).toEqual([[...about, [["read", "allowed"]]], [...about, [["read", "allowed"]]], [...about, [["fly", "denied"]]]]);
    expect(said.slice(3).length).toBeGreaterThan(0);
    expect(decisions.map(({ sequence }) => sequence)).toEqual(decisions.map((_, at) => at));
    const revisions = records.flatMap((it) => (it.kind === "policies" ? [it.revision] : []));
    // Each frame can be read alone.
    expect([revisions.length > 1, new Set(revisions)]).toEqual([true, new Set([1])]);
    expect(await metrics(deployed)).toMatchObject({ log: { lost: 0 } });
  });

  it("wait for a queue that is away, and change no answer", async () => {
    const sent: Uint8Array[] = [];
    let isAway = true;
    const send = async (frame: Uint8Array): Promise<void> => {
      if (isAway) throw new Error("the queue is away");
      sent.push(frame);
    };
    const deployed = deployment({ DECISION_LOG: "frames", DECISIONS: { send } });
    for (let time = 0; time < 2; time += 1) expect(await ask(deployed, EVALUATION, reading)).toEqual({ status: 200, body: { decision: true } });
    expect(sent).toEqual([]);
    isAway = false;
    await ask(deployed, EVALUATION, reading);
    const [records = []] = await recordsIn(sent);
    expect(records.filter(({ kind }) => kind === "decision").length).toBe(3);
  });

  it("have decisions with rate limits, after their charges", async () => {
    const sent: Uint8Array[] = [];
    await given.POLICIES_KV.put("limited", limited);
    const changes = { BUNDLE: "kv:limited", LIMITS: given.LIMITS, LIMITS_DEADLINE: 60_000, INDEX: undefined };
    const deployed = deployment({ ...changes, DECISION_LOG: "frames", DECISIONS: { send: async (frame: Uint8Array) => void sent.push(frame) } });
    const viewing = { subject: { type: "user", id: "frames" }, action: { name: "view" }, resource: { type: "album", id: "a" } };
    const answers: unknown[] = [];
    for (let time = 0; time < 6; time += 1) answers.push(((await ask(deployed, EVALUATION, viewing)).body as { readonly decision: boolean }).decision);
    const [records = []] = await recordsIn(sent);
    const recorded = records.flatMap((it) => (it.kind === "decision" ? [it.outcomes[0]!.answer] : []));
    expect(recorded).toEqual(answers.map((isAllowed) => (isAllowed === true ? "allowed" : "limited")));
    expect(new Set(recorded).size).toBe(2);
  });

  it("have ids as they are, as pseudonyms, or not at all", async () => {
    const key = "k".repeat(43);
    for (const [DECISION_IDS, DECISION_KEY, kind] of [[undefined, undefined, "clear"], ["pseudonym", key, "pseudonym"], ["absent", undefined, "absent"]] as const) {
      const sent: Uint8Array[] = [];
      const deployed = deployment({ DECISION_LOG: "frames", DECISION_IDS, DECISION_KEY, DECISIONS: { send: async (frame: Uint8Array) => void sent.push(frame) } });
      await ask(deployed, EVALUATION, reading);
      const decisions = (await recordsIn(sent)).flat().filter((it) => it.kind === "decision");
      expect(decisions).toMatchObject([{ principal: { kind }, resource: { kind } }]);
    }
    const DECISIONS = { send: async () => undefined };
    for (const changes of [{ DECISION_IDS: "committed" }, { DECISION_IDS: "pseudonym" }, { DECISION_IDS: "pseudonym", DECISION_KEY: "a".repeat(42) }, { DECISION_KEY: key }]) {
      expect(() => framesOf({ DECISION_LOG: "frames", DECISIONS, ...changes } as unknown as Env)).toThrow(/DECISION_/);
    }
  });

  it("have no evidence, or that from which each decision is made again", async () => {
    const asked = [reading, { ...reading, subject: bob, action: { name: "view" } }, { ...reading, action: { name: "delete", properties: { soft: true } } }];
    for (const [DECISION_EVIDENCE, expected] of [[undefined, "no-evidence"], ["absent", "no-evidence"], ["clear", "same"]] as const) {
      const sent: Uint8Array[] = [];
      const deployed = deployment({ DECISION_LOG: "frames", DECISION_EVIDENCE, DECISIONS: { send: async (frame: Uint8Array) => void sent.push(frame) } });
      for (const body of asked) await ask(deployed, EVALUATION, body);
      const outcomes: ReplayedOutcome[] = [];
      for (const segment of segmentsOf(sent)) {
        for await (const found of replay(segment, { bundles: [policies], trust: JSON.parse(given.RELEASE_KEY) as PublicJwk })) outcomes.push(...found.outcomes);
      }
      expect(outcomes.map((outcome) => ("why" in outcome ? outcome.why : outcome.kind)), DECISION_EVIDENCE).toEqual(asked.map(() => expected));
    }
    const DECISIONS = { send: async () => undefined };
    for (const changes of [{ DECISION_LOG: "frames", DECISION_EVIDENCE: "committed" }, { DECISION_LOG: "console", DECISION_EVIDENCE: "clear" }, { DECISION_EVIDENCE: "absent" }]) {
      expect(() => framesOf({ DECISIONS, ...changes } as unknown as Env)).toThrow(/DECISION_EVIDENCE/);
    }
  });

  it("need their queue, and no sample", () => {
    const DECISIONS = { send: async () => undefined };
    for (const changes of [{}, { DECISIONS, DECISION_SAMPLE: 0.5 }]) {
      expect(() => framesOf({ DECISION_LOG: "frames", ...changes } as unknown as Env)).toThrow(/DECISION/);
    }
    expect(framesOf({ DECISION_LOG: "queue" })).toBe(undefined);
  });
});

describe("the store of frames", () => {
  /** Hands messages to the consumer, and returns what became of each. */
  async function consumed(bodies: readonly unknown[], bucket: R2Bucket | undefined = given.POLICIES_R2): Promise<string[]> {
    const became = bodies.map(() => "");
    const messages = bodies.map((body, at) => ({ body, ack: () => (became[at] = "stored"), retry: () => (became[at] = "refused") }));
    await storeFrames({ messages } as unknown as MessageBatch, bucket);
    return became;
  }

  async function frames(): Promise<Uint8Array[]> {
    const sent: Uint8Array[] = [];
    const deployed = deployment({ DECISION_LOG: "frames", DECISIONS: { send: async (frame: Uint8Array) => void sent.push(frame) } });
    for (let time = 0; time < 3; time += 1) await ask(deployed, EVALUATION, reading);
    return sent;
  }

  it("has each frame once, from which the segments are made again", async () => {
    const sent = await frames();
    const bodies = [...sent, ...sent].reverse().map((frame) => frame.slice().buffer);
    expect(await consumed(bodies)).toEqual(bodies.map(() => "stored"));
    const { objects } = await given.POLICIES_R2.list({ prefix: "frames/" });
    expect(objects.map(({ key }) => key).sort()).toEqual(sent.map(nameOf).sort());
    expect(objects[0]!.key).toMatch(/^frames\/20\d\d-\d\d-\d\d\/[0-9a-f]{32}\.wgf$/);
    const stored = await Promise.all(objects.map(async ({ key }) => (await given.POLICIES_R2.get(key))!.arrayBuffer()));
    const [records = [], ...others] = await recordsIn(stored.map((bytes) => new Uint8Array(bytes)));
    expect([records.filter(({ kind }) => kind === "decision").length, others.length]).toEqual([3, 0]);
  });

  it("leaves to the queue what it cannot store", async () => {
    const [frame] = await frames();
    expect(await consumed(["text", { event: 1 }, new ArrayBuffer(127), new ArrayBuffer(128), frame])).toEqual(["refused", "refused", "refused", "refused", "stored"]);
    const away = { put: () => Promise.reject(new Error("the bucket is away")) } as unknown as R2Bucket;
    expect(await consumed([frame], away)).toEqual(["refused"]);
  });
});
