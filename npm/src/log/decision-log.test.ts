// Decisions that a PDP records, read back from the frames that the sink got.

import { readFileSync } from "node:fs";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { album, atNoon, closed, fixture, inFull, noon, ofCode, onLists, onOne, openAlbum, thrownBy, viewing, withActions } from "../testing.ts";
import { open } from "../pdp/open.ts";
import type { OpenOptions } from "../pdp/options.ts";
import type { Decided } from "../pdp/recording.ts";
import type { CheckRequest } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";
import { startPool } from "../pool/pool.ts";
import { limiter } from "../ratelimit/limiter.ts";
import { memory } from "../ratelimit/memory.ts";
import { decisionLog, openSegment, segmentStart, type DecisionLogOptions, type DecisionRecord, type LogRecord } from "./log.ts";

/** The frames that a sink got, and the records in them. */
class Frames {
  readonly taken: Uint8Array<ArrayBuffer>[] = [];
  /** The errors that the sink throws next. */
  failures = 0;

  readonly sink = async (frame: Uint8Array<ArrayBuffer>): Promise<void> => {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("the sink is away");
    }
    this.taken.push(frame);
  };

  async records(): Promise<LogRecord[]> {
    const bytes = await new Blob([segmentStart(), ...this.taken]).arrayBuffer();
    return [...(await openSegment(bytes)).records()].map(([number, record], at) => (expect(number).toBe(at), record));
  }

  async decisions(): Promise<DecisionRecord[]> {
    return (await this.records()).filter((record) => record.kind === "decision");
  }
}

async function logged(options: Partial<DecisionLogOptions> = {}, opening: Partial<OpenOptions> = {}) {
  const frames = new Frames();
  const log = decisionLog({ sink: frames.sink, flushMillis: 0, ...options });
  return { frames, log, pdp: await open(album, { ...atNoon, log, ...opening }) };
}

/** Requests about policies with rate limits. */
interface Limited {
  readonly bundle: string;
  readonly cases: readonly { readonly request: CheckRequest }[];
}

const clear = (id: string) => ({ kind: "clear", id });
const stranger = (id: string) => viewing({ principal: { id, roles: ["stranger"] } });

describe("a decision log", () => {
  it("has policies, targets and decisions, each with its sequence", async () => {
    const { frames, log, pdp } = await logged();
    expect([pdp.isAllowed(viewing({ request: { requestId: "r1" } })), pdp.isAllowed(stranger("eve"))]).toEqual([true, false]);
    pdp.check(withActions(viewing({ resource: { id: "a2", scope: "acme", policyVersion: "default" } }), ["view", "edit"]));
    expect(log.waiting).toBe(3);
    await log.flush();
    expect([log.waiting, log.lost, frames.taken.length]).toEqual([0, 0, 1]);
    const own = { stream: 0, caller: 0 };
    const target = { kind: "target", policies: 1, resourceKind: "album", policyVersion: "", scope: "" };
    const decision = { kind: "decision", stream: 1, caller: 0, time: noon, policies: 1, evidence: undefined, isGeneral: false, isCut: false, trace: undefined };
    expect(await frames.records()).toMatchObject([
      { ...own, sequence: 0, kind: "process", event: "started", time: noon },
      { ...own, sequence: 1, kind: "settings", text: 'on-full = "drop", principal = "clear", resource = "clear", evidence = "absent"' },
      { ...own, sequence: 2, kind: "policies", number: 1, revision: 0, name: "", time: noon, root: Uint8Array.from(Buffer.from(pdp.header.content, "hex")) },
      { ...own, sequence: 3, ...target, number: 0, action: "view" },
      { ...decision, sequence: 0, principal: clear("ada"), resource: clear("a1"), requestId: "r1", outcomes: [{ target: 0, answer: "allowed" }] },
      { ...decision, sequence: 1, principal: clear("eve"), resource: clear("a1"), requestId: undefined, outcomes: [{ target: 0, answer: "denied" }] },
      { ...own, sequence: 4, ...target, number: 1, policyVersion: "default", scope: "acme", action: "view" },
      { ...own, sequence: 5, ...target, number: 2, policyVersion: "default", scope: "acme", action: "edit" },
      { ...decision, sequence: 2, principal: clear("ada"), resource: clear("a2"), outcomes: [{ target: 1 }, { target: 2 }] },
    ]);
    await log.flush();
    expect(frames.taken.length).toBe(1);
  });

  it("changes no answer of any method, and has each of them", async () => {
    const plain = await openAlbum();
    for (const [name, decide] of [...onOne, ...onLists, ...inFull]) {
      for (const request of [viewing(), stranger("eve"), viewing({ resource: { attr: { owner: "ada" } }, request: { action: "edit" } })]) {
        const { frames, log, pdp } = await logged();
        const target = { kind: request.resource.kind, action: request.action };
        const allowed = decide(pdp, () => request, target);
        expect([name, allowed]).toEqual([name, decide(plain, () => request, target)]);
        await log.flush();
        const records = (await frames.records()).slice(4);
        if (name === "explain") expect(records).toEqual([]);
        else if (onLists.some(([list]) => list === name)) {
          const asked = name === "filter of a few" ? 1 : 20;
          expect(records).toMatchObject([{ kind: "search", policies: 1, target: 0, asked, allowed: allowed ? asked : 0 }]);
        } else {
          expect(records).toMatchObject([{ principal: clear(request.principal.id), outcomes: [{ target: 0, answer: allowed ? "allowed" : "denied" }] }]);
        }
      }
    }
  });

  it("has the decisions of `checkMany` and `decisionBytes`, and the scope of a prepared target", async () => {
    const { frames, log, pdp } = await logged();
    const plain = await openAlbum();
    const requests = [viewing(), stranger("eve")].map((request) => withActions(request, ["view", "edit"]));
    expect(pdp.checkMany(requests)).toEqual(plain.checkMany(requests));
    expect(pdp.decisionBytes(requests[0]!)).toEqual(plain.decisionBytes(requests[0]!));
    const target = { kind: "album", action: "view", scope: "acme", policyVersion: "default" };
    pdp.prepare(target).isAllowed(viewing().principal, viewing().resource);
    pdp.for(viewing().principal).prepare(target).filter([viewing().resource, { ...viewing().resource, scope: "other" }]);
    await log.flush();
    const records = await frames.records();
    expect(records.filter(({ kind }) => kind === "decision").length).toBe(4);
    expect(records.filter(({ kind }) => kind === "search")).toMatchObject([{ asked: 1 }, { asked: 1 }]);
    const scopes = records.flatMap((record) => (record.kind === "target" ? [record.scope] : []));
    expect(scopes).toEqual(["", "", "acme", "other"]);
  });

  it("says how many decisions found no room", async () => {
    const { frames, log, pdp } = await logged({ capacity: 16 });
    for (let count = 0; count < 20; count += 1) expect(pdp.isAllowed(viewing())).toBe(true);
    expect([log.waiting, log.lost]).toEqual([16, 4]);
    await log.flush();
    pdp.isAllowed(viewing());
    await log.flush();
    expect((await frames.records()).filter(({ kind }) => kind === "lost")).toMatchObject([{ ofStream: 1, first: 16, count: 4, reason: "full" }]);
    expect((await frames.decisions()).map(({ sequence }) => sequence)).toEqual([...Array(16).keys(), 20]);
    expect(log.lost).toBe(4);
  });

  it("denies without room, if its owner wants so", async () => {
    const { frames, log, pdp } = await logged({ capacity: 16, onFull: "deny" });
    for (let count = 0; count < 16; count += 1) expect(pdp.isAllowed(viewing())).toBe(true);
    const ways = [...onOne, ...onLists, ...inFull].filter(([name]) => name !== "explain");
    for (const [name, decide] of ways) expect([name, decide(pdp, () => viewing(), { kind: "album", action: "view" })]).toEqual([name, false]);
    const request = withActions(viewing(), ["view"]);
    expect(pdp.check(request).actions["view"]).toMatchObject({ effect: "deny", reason: { kind: "log-full" } });
    expect(JSON.parse(new TextDecoder().decode(pdp.decisionBytes(request)))).toEqual(pdp.check(request));
    await log.flush();
    expect(pdp.isAllowed(viewing())).toBe(true);
    await log.flush();
    expect((await frames.decisions()).length).toBe(17);
  });

  it("keeps the frames that the sink did not take, and hands them out first and once", async () => {
    const { frames, log, pdp } = await logged({ capacity: 16 });
    frames.failures = 2;
    pdp.isAllowed(viewing());
    await expect(log.flush()).rejects.toThrow("away");
    for (let count = 0; count < 20; count += 1) pdp.isAllowed(viewing());
    await expect(log.flush()).rejects.toThrow("away");
    expect([log.waiting, log.lost]).toEqual([16, 4]);
    await Promise.all([log.flush(), log.flush()]);
    expect((await frames.decisions()).map(({ sequence }) => sequence)).toEqual([...Array(17).keys()]);
    expect((await frames.records()).at(-1)).toMatchObject({ kind: "lost", first: 17, count: 4 });
  });

  it("makes frames that a queue takes, and cuts long ids", async () => {
    const { frames, log, pdp } = await logged({ capacity: 1000 });
    const [long, wide] = ["x".repeat(2000), "é".repeat(700)];
    for (let count = 0; count < 300; count += 1) pdp.isAllowed(viewing({ principal: { id: long }, resource: { id: wide }, request: { requestId: long } }));
    pdp.isAllowed(viewing({ principal: { id: "" }, resource: { id: "日本" } }));
    await log.flush();
    expect(frames.taken.length).toBeGreaterThan(8);
    for (const { length } of frames.taken) expect(length).toBeLessThanOrEqual(96 * 1024);
    const decisions = await frames.decisions();
    expect(decisions[0]).toMatchObject({ principal: clear("x".repeat(1024)), resource: clear("é".repeat(512)), requestId: "x".repeat(1024), isCut: true });
    expect(decisions.at(-1)).toMatchObject({ principal: clear(""), resource: clear("日本"), isCut: false });
    expect(decisions.length).toBe(301);
  });

  it("writes a decision about more actions than a record has as several", async () => {
    const { frames, log, pdp } = await logged();
    const actions = Array.from({ length: 300 }, (_, at) => `action${at}`);
    pdp.check(withActions(viewing(), actions));
    await log.flush();
    expect((await frames.decisions()).map(({ outcomes }) => outcomes.length)).toEqual([255, 45]);
  });

  it("has pseudonyms of ids, or none", async () => {
    const key = new Uint8Array(32).fill(7);
    const { frames, log, pdp } = await logged({ principal: "pseudonym", resource: "absent", key });
    for (const id of ["ada", "eve", "ada"]) pdp.isAllowed(viewing({ principal: { id } }));
    await log.flush();
    const decisions = await frames.decisions();
    const digests = decisions.map(({ principal }) => (principal.kind === "pseudonym" ? Buffer.from(principal.digest).toString("hex") : ""));
    expect(digests).toEqual([digests[0], digests[1], digests[0]]);
    expect(new Set(digests).size).toBe(2);
    expect(digests[0]).toHaveLength(32);
    expect(decisions[0]!.resource).toEqual({ kind: "absent" });
    expect(Buffer.concat(frames.taken).includes("ada")).toBe(false);
  });

  it("tells by which policies it was decided, across reloads and PDPs", async () => {
    const { frames, log, pdp } = await logged();
    pdp.isAllowed(viewing());
    pdp.reload(closed);
    pdp.isAllowed(viewing());
    expect(thrownBy(() => pdp.reload(new Uint8Array(9)))).toEqual(ofCode("not-a-bundle"));
    const other = await open(fixture("unusual.bundle"), { ...atNoon, log });
    other.isAllowed(viewing());
    pdp.isAllowed(viewing());
    await log.flush();
    expect((await frames.decisions()).map(({ policies }) => policies)).toEqual([1, 2, 3, 2]);
    const roots = (await frames.records()).flatMap((record) => (record.kind === "policies" ? [Buffer.from(record.root).toString("hex")] : []));
    expect(roots.slice(1)).toEqual([pdp.header.content, other.header.content]);
  });

  it("reads the clock again in each turn of the event loop", async () => {
    let now = noon;
    const { frames, log, pdp } = await logged({}, { clock: () => now });
    pdp.isAllowed(viewing());
    await Promise.resolve();
    now += 5;
    pdp.isAllowed(viewing());
    for (let count = 0; count < 64; count += 1) {
      now += 1;
      pdp.isAllowed(viewing());
    }
    await log.flush();
    const times = (await frames.decisions()).map(({ time }) => time - noon);
    expect([times[0], times[1], times.at(-1)]).toEqual([0, 5, 69]);
  });

  it("writes the same records after a flush that failed while they were made", async () => {
    const { frames, log, pdp } = await logged();
    pdp.isAllowed(viewing());
    const random = vi.spyOn(crypto, "getRandomValues").mockImplementationOnce(() => {
      throw new Error("no randomness yet");
    });
    await expect(log.flush()).rejects.toThrow("no randomness");
    random.mockRestore();
    await log.flush();
    expect((await frames.records()).map(({ kind, sequence }) => [kind, sequence])).toEqual([["process", 0], ["settings", 1], ["policies", 2], ["target", 3], ["decision", 0]]);
  });

  it("has the decisions of a limiter, after their charges", async () => {
    const { bundle, cases } = JSON.parse(readFileSync(new URL("../../../tests/limits/decisions.json", import.meta.url), "utf8")) as Limited;
    const frames = new Frames();
    const heard: Decided[] = [];
    const log = decisionLog({ sink: frames.sink, flushMillis: 0 });
    const limits = await open(Buffer.from(bundle, "base64"), { trust: "unsigned", limits: true, log, onDecision: (decided) => heard.push(decided) });
    const guard = limiter(limits, { store: memory({ keys: 1000 }) });
    const expected = [];
    for (const { request } of cases) {
      const { decision } = await guard.check(request);
      const answers = Object.values(decision.actions).map(({ effect, reason: { kind } }) => (effect === "allow" ? "allowed" : /limited|limit-error|store-away/.test(kind) ? "limited" : "denied"));
      if (answers.length > 0) expected.push(answers);
    }
    await log.flush();
    expect((await frames.decisions()).map(({ outcomes }) => outcomes.map(({ answer }) => answer))).toEqual(expected);
    expect(new Set(expected.flat())).toEqual(new Set(["allowed", "denied", "limited"]));
    expect(heard.length).toBe(expected.flat().length);
  });

  it("without room denies what a limiter allows", async () => {
    const log = decisionLog({ sink: () => undefined, capacity: 16, onFull: "deny", flushMillis: 0 });
    const guard = limiter(await open(album, { ...atNoon, log, limits: true }));
    const check = async (): Promise<[boolean, string | undefined]> => {
      const { allowed, decision } = await guard.check(viewing());
      return [allowed, decision.actions["view"]?.reason.kind];
    };
    for (let count = 0; count < 16; count += 1) expect(await check()).toEqual([true, "rule"]);
    expect(await check()).toEqual([false, "log-full"]);
  });

  it("refuses wrong options", async () => {
    const sink = (): void => undefined;
    for (const options of [undefined, null, {}, { sink: 1 }, { sink, key: new Uint8Array(32) }, { sink, principal: "pseudonym" },
      { sink, principal: "pseudonym", key: new Uint8Array(31) }, { sink, onFull: 1 }, { sink, capacity: "1" }]) {
      expect(() => decisionLog(options as never)).toThrow(TypeError);
    }
    for (const options of [{ capacity: 15 }, { capacity: 2 ** 20 + 1 }, { onFull: "block" }, { stream: 0 }, { flushMillis: -1 }, { resource: "committed" }, { evidence: "read" }]) {
      expect(() => decisionLog({ sink, ...options } as never)).toThrow(RangeError);
    }
    const log = decisionLog({ sink });
    for (const options of [{ log: {} }, { log: 1 }, { onDecision: 1 }]) {
      await expect(open(album, { ...atNoon, ...options } as never)).rejects.toThrow(TypeError);
    }
    await expect(startPool({ count: () => 0 } as never, album, { ...atNoon, log } as never)).rejects.toThrow("neither `log`");
  });
});

describe("a flush by itself", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("comes after a while, and again after a failure", async () => {
    const { frames, log, pdp } = await logged({ flushMillis: 50 });
    await log.flush();
    frames.taken.length = 0;
    frames.failures = 1;
    pdp.isAllowed(viewing());
    await vi.advanceTimersByTimeAsync(49);
    expect([frames.failures, log.waiting]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect([frames.failures, frames.taken.length]).toEqual([0, 0]);
    await vi.advanceTimersByTimeAsync(50);
    expect(frames.taken.length).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("comes when half of the room is used", async () => {
    const { frames, log, pdp } = await logged({ capacity: 16, flushMillis: 1000 });
    await log.flush();
    for (let count = 0; count < 9; count += 1) pdp.isAllowed(viewing());
    await vi.advanceTimersByTimeAsync(0);
    expect(log.waiting).toBe(0);
    expect(frames.taken.length).toBe(2);
  });
});

describe("the listener of decisions", () => {
  const heard: Decided[] = [];
  const listening = (): Promise<Pdp> => open(album, { ...atNoon, onDecision: (decided) => heard.push(decided) });
  beforeEach(() => void (heard.length = 0));

  it("gets ids, names and effects", async () => {
    const pdp = await listening();
    pdp.isAllowed(viewing({ request: { requestId: "r1" } }));
    pdp.check(withActions(stranger("eve"), ["view", "edit"]));
    const resources = [viewing().resource, { ...viewing().resource, id: "a2" }];
    pdp.filter({ principal: viewing().principal, action: "view", resources });
    pdp.explain(viewing());
    const action = { kind: "action", resourceKind: "album", resourceId: "a1" } as const;
    expect(heard).toEqual([
      { ...action, principalId: "ada", action: "view", effect: "allow", requestId: "r1" },
      { ...action, principalId: "eve", action: "view", effect: "deny", requestId: undefined },
      { ...action, principalId: "eve", action: "edit", effect: "deny", requestId: undefined },
      { kind: "search", principalId: "ada", resourceKind: "album", action: "view", asked: 2, allowed: 2 },
    ]);
  });

  it("gets the decisions of `can`, of `allowedActions`, and of rows", async () => {
    const pdp = await listening();
    const { principal, resource } = viewing();
    expect(pdp.for(principal).can("view", resource)).toBe(true);
    const rows = ["ada", "eve", "ada"];
    expect(pdp.filter({ principal, action: "edit", rows, resource: (owner) => ({ ...resource, attr: { owner } }) })).toEqual(["ada", "ada"]);
    expect(pdp.allowedActions(principal, resource)).toContain("view");
    expect(heard.slice(0, 2)).toMatchObject([
      { kind: "action", action: "view", effect: "allow" },
      { kind: "search", action: "edit", asked: 3, allowed: 2 },
    ]);
    expect(heard.slice(2).map(({ action }) => action)).toEqual(pdp.actions("album"));
  });

  it("changes no decision by its exceptions, which are reported", async () => {
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (thrown: unknown) => reported.push(thrown));
    try {
      const pdp = await open(album, { ...atNoon, onDecision: () => { throw new Error("a listener"); } });
      expect([pdp.isAllowed(viewing()), pdp.isAllowed(stranger("eve"))]).toEqual([true, false]);
      expect(reported).toMatchObject([{ message: "a listener" }, { message: "a listener" }]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("gets what a log without room made of the decision", async () => {
    const log = decisionLog({ sink: () => undefined, capacity: 16, onFull: "deny", flushMillis: 0 });
    const pdp = await open(album, { ...atNoon, log, onDecision: (decided) => heard.push(decided) });
    for (let count = 0; count < 17; count += 1) pdp.isAllowed(viewing());
    expect(heard.map((decided) => decided.kind === "action" && decided.effect)).toEqual([...Array<string>(16).fill("allow"), "deny"]);
  });
});
