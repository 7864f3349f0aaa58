// One log of the frames of many isolates, in a store that fails as a test says.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { open } from "../pdp/open.ts";
import { album, editing, fixture, viewing, withActions } from "../testing.ts";
import { logSequencer, type LogSequencerOptions, type LogStore, type PutCondition, type StoredObject } from "./log-sequencer.ts";
import { decisionLog, openSegment, segmentsOf, type DecisionLogOptions, type LogRecord } from "./log.ts";

const key = fixture("trust/log.key").toString();

/** A store in memory. */
class MemoryStore implements LogStore {
  readonly objects = new Map<string, StoredObject>();
  readonly puts: string[] = [];
  /** Called before each write; what it returns is done instead. */
  before: (name: string, write: () => string | undefined) => string | undefined | Promise<string | undefined> = (_, write) => write();

  async get(name: string): Promise<StoredObject | undefined> {
    return this.objects.get(name);
  }

  async put(name: string, bytes: Uint8Array<ArrayBuffer>, condition: PutCondition): Promise<string | undefined> {
    return this.before(name, () => {
      const found = this.objects.get(name)?.tag;
      const holds = condition.kind === "always" || (condition.kind === "new" ? found === undefined : found === condition.tag);
      if (!holds) return undefined;
      this.puts.push(name);
      const tag = `${name} ${this.puts.length}`;
      this.objects.set(name, { bytes, tag });
      return tag;
    });
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) this.objects.delete(name);
  }

  /** Returns the records of the log, in their order. */
  async records(): Promise<LogRecord[]> {
    const names = [...this.objects.keys()].filter((name) => name.endsWith(".wgl")).sort();
    const segments = await Promise.all(names.map((name) => openSegment(this.objects.get(name)!.bytes as Uint8Array<ArrayBuffer>)));
    return segments.flatMap((segment) => [...segment.records()].map(([, record]) => record));
  }

  /** Returns the ids of the principals of all decisions, in their order, each with its actions. */
  async decisions(): Promise<string[]> {
    const targets = new Map<number, string>();
    const found: string[] = [];
    for (const record of await this.records()) {
      if (record.kind === "target") targets.set(record.number, record.action);
      if (record.kind !== "decision") continue;
      const actions = record.outcomes.map(({ target, answer }) => `${targets.get(target)} ${answer}`);
      found.push(`${record.principal.kind === "clear" ? record.principal.id : "-"}: ${actions.join(", ")}`);
    }
    return found.sort();
  }
}

/** Returns a sequencer of a store, as another isolate would make it, that leaves values as they are. */
function sequencer(store: LogStore, options: Partial<LogSequencerOptions> = {}) {
  return logSequencer({ key, store, values: "clear", intervalMillis: 0, ...options });
}

/** Returns a sequencer that hides values, in the same store. */
function hiding(store: LogStore) {
  return logSequencer({ key, store, private: store, intervalMillis: 0 });
}

/** Returns a log of an isolate, its PDP, and the frames that it sent. */
async function isolate(options: Partial<DecisionLogOptions> = {}) {
  const frames: Uint8Array<ArrayBuffer>[] = [];
  const log = decisionLog({ sink: (frame) => void frames.push(frame), flushMillis: 0, independent: true, ...options });
  return { frames, log, pdp: await open(album, { trust: "unsigned", log }) };
}

/** Returns frames of an isolate, each with the decision about one principal. */
async function framesAbout(...ids: readonly string[]): Promise<Uint8Array<ArrayBuffer>[]> {
  return framesWith({}, ids);
}

async function framesWith(options: Partial<DecisionLogOptions>, ids: readonly string[]): Promise<Uint8Array<ArrayBuffer>[]> {
  const { frames, log, pdp } = await isolate(options);
  for (const id of ids) {
    pdp.isAllowed(viewing({ principal: { id, roles: ["stranger"] } }));
    await log.flush();
  }
  return frames;
}

const about = (...ids: readonly string[]) => ids.map((id) => `${id}: view denied`);
const command = process.env["WARDGATE"] ?? fileURLToPath(new URL("../../../target/debug/wardgate", import.meta.url));

/** Verifies what is in a store with the command, and returns what it says. */
function verified(store: MemoryStore): { readonly records: number; readonly decisions: number; readonly lost: number; readonly unsealed: number } {
  const trust = fileURLToPath(new URL("../../fixtures/trust/log.vkey", import.meta.url));
  return JSON.parse(ofCommand(store, "verify", ["--trust", trust, "--json"]));
}

/** Writes what is in a store into a folder, and returns what a command of `wardgate log` says of it. */
function ofCommand({ objects }: MemoryStore, name: string, options: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "wardgate-log-"));
  try {
    for (const [name, { bytes }] of objects) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), bytes);
    }
    return execFileSync(command, ["log", name, folder, ...options], { encoding: "utf8" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("evidence in a log of many isolates", () => {
  it("lets the command make each decision again", async () => {
    const store = new MemoryStore();
    for (let number = 0; number < 2; number += 1) {
      const { frames, log, pdp } = await isolate({ evidence: "clear" });
      for (const owner of ["ada", "bo", 1, null, ["ada"], undefined]) {
        pdp.isAllowed(editing({ owner }));
        pdp.check(withActions(editing({ owner, at: new Date() }), ["view", "edit", "share", "drop"]));
        pdp.for({ id: "ada", roles: ["stranger", "user"] }).isAllowed("edit", { kind: "album", id: "a1", attr: { owner } });
        await log.flush();
      }
      await sequencer(store).append(frames);
    }
    const policies = fileURLToPath(new URL("../../fixtures/album.bundle", import.meta.url));
    expect(JSON.parse(ofCommand(store, "replay", ["--policies", policies, "--json"]))).toEqual({ same: 2 * 6 * 6, different: [], absent: [] });
  });

  it("is a digest of long requests, which the command confirms", async () => {
    const policies = fileURLToPath(new URL("../../fixtures/album.bundle", import.meta.url));
    const requests = ["x", "y"].map((unit) => editing({ owner: unit.repeat(17_000), "\u{1f600}": [1.5, null], "\u{ff5e}": { b: true, a: "é" } }));
    const [folder, store] = [mkdtempSync(join(tmpdir(), "wardgate-asked-")), new MemoryStore()];
    const asked = join(folder, "asked.jsonl");
    writeFileSync(asked, requests.map(({ action, ...request }) => JSON.stringify({ ...request, actions: [action] })).join("\n"));
    for (const make of [sequencer, hiding]) {
      const { frames, log, pdp } = await isolate({ evidence: "clear" });
      pdp.isAllowed(requests[0]!);
      pdp.isAllowed(editing({ owner: "z".repeat(17_000) }));
      await log.flush();
      await make(store).append(frames);
    }
    const decisions = (await store.records()).flatMap((record) => (record.kind === "decision" ? [record.evidence?.kind] : []));
    expect(decisions).toEqual(["digest", "digest", "committed-digest", "committed-digest"]);
    const replayed = (...more: readonly string[]): unknown => JSON.parse(ofCommand(store, "replay", ["--policies", policies, "--json", ...more]));
    expect(replayed()).toEqual({ same: 0, different: [], absent: [{ why: "with a digest alone", count: 4 }] });
    expect(replayed("--requests", asked)).toEqual({ same: 2, different: [], absent: [{ why: "with a digest alone", count: 2 }] });
    rmSync(folder, { recursive: true });
  });
});

/** Returns the ids of the principals of all decisions as the command opens them, sorted; `-` for one that it cannot open. */
function openedIds(store: MemoryStore): string[] {
  const lines = ofCommand(store, "export", []).trim().split("\n").map((line) => JSON.parse(line) as { kind: string; principal?: { id?: string } | string });
  return lines.flatMap(({ kind, principal }) => (kind === "decision" ? [JSON.stringify(principal)] : [])).sort();
}

describe("values in a log of many isolates", () => {
  const policies = fileURLToPath(new URL("../../fixtures/album.bundle", import.meta.url));
  const replayed = (store: MemoryStore): unknown => JSON.parse(ofCommand(store, "replay", ["--policies", policies, "--json"]));

  it("are committed, and opened by what is in the private store", async () => {
    const [store, privateStore] = [new MemoryStore(), new MemoryStore()];
    const log = logSequencer({ key, store, private: privateStore, intervalMillis: 0 });
    await log.append(await framesWith({ evidence: "clear" }, ["adalbert", "beatrice"]));
    await log.append(await framesWith({ evidence: "clear" }, ["adalbert"]));
    const decisions = (await store.records()).flatMap((record) => (record.kind === "decision" ? [record] : []));
    expect(decisions).toMatchObject(Array.from({ length: 3 }, () => ({ principal: { kind: "commitment" }, resource: { kind: "commitment" }, evidence: { kind: "committed-read" } })));
    const bytes = (of: MemoryStore) => [...of.objects.values()].map((object) => Buffer.from(object.bytes).toString("latin1")).join();
    expect(bytes(store) + bytes(privateStore)).not.toMatch(/adalbert|beatrice/);
    expect([...privateStore.objects.keys()].every((name) => /^private\/(keys\.wgk|\d{12}\.[0-9a-f]{32}\.wgv)$/.test(name))).toBe(true);
    expect(verified(store)).toMatchObject({ decisions: 3, lost: 0, unsealed: 0 });
    expect(replayed(store)).toMatchObject({ same: 0, absent: [{ count: 3 }] });
    for (const [name, object] of privateStore.objects) store.objects.set(name, object);
    expect(replayed(store)).toEqual({ same: 3, different: [], absent: [] });
    expect(openedIds(store).join()).toMatch(/adalbert.*adalbert.*beatrice/);
  });

  it("of a subject cannot be opened once it is erased", async () => {
    const store = new MemoryStore();
    const log = hiding(store);
    await log.append(await framesWith({ evidence: "clear" }, ["ada", "eve", "eve"]));
    const copy = [...store.objects];
    expect(await log.erase(["nobody"])).toBe(0);
    expect(await log.erase(["eve", "nobody"])).toBe(1);
    await log.append(await framesWith({ evidence: "clear" }, ["eve"]));
    expect((await store.records()).filter(({ kind }) => kind === "erasure")).toMatchObject([{ keys: 1 }]);
    expect(verified(store)).toMatchObject({ decisions: 4, unsealed: 0 });
    expect(replayed(store)).toEqual({ same: 2, different: [], absent: [{ why: "that are erased", count: 2 }] });
    expect(openedIds(store).filter((id) => id.includes("eve")).length).toBe(1);
    // The keys of today open no copy of then either.
    const old = new MemoryStore();
    for (const [name, object] of copy) old.objects.set(name, name === "private/keys.wgk" ? store.objects.get(name)! : object);
    expect(replayed(old)).toMatchObject({ same: 1, absent: [{ why: "that are erased", count: 2 }] });
  });

  it("are all there, whichever write a crash follows", async () => {
    const batches = [await framesWith({ evidence: "clear" }, ["a", "b"]), await framesWith({ evidence: "clear" }, ["c"])];
    const whole = new MemoryStore();
    for (const batch of batches) await hiding(whole).append(batch);
    expect(whole.puts.length).toBe(15);
    for (let crash = 1; crash <= whole.puts.length; crash += 1) {
      const store = new MemoryStore();
      let writes = 0;
      store.before = (_, write) => {
        writes += 1;
        const tag = write();
        if (writes === crash) throw new Error("the store is away");
        return tag;
      };
      for (const batch of batches) {
        const first = await hiding(store).append(batch).catch(() => undefined);
        if (first === undefined) await hiding(store).append(batch);
      }
      expect(replayed(store), `${crash}`).toEqual({ same: 3, different: [], absent: [] });
    }
  });

  it("are those of the sequencer that wrote the segment, and an erasure is recorded by the one that comes first", async () => {
    for (const name of ["keys.wgk", ".wgv", "000000000002.wgl"]) {
      const store = new MemoryStore();
      const [one, other] = [hiding(store), hiding(store)];
      await one.append(await framesWith({ evidence: "clear" }, ["ada", "eve"]));
      await other.append(await framesWith({ evidence: "clear" }, ["bo"]));
      const third = await framesWith({ evidence: "clear" }, ["cleo"]);
      let isBetween = false;
      store.before = async (put, write) => {
        if (put.endsWith(name) && !isBetween) {
          isBetween = true;
          expect(await other.append(third)).toEqual([{ kind: "appended" }]);
        }
        return write();
      };
      const frames = await framesWith({ evidence: "clear" }, ["dan"]);
      const [erased, became] = await Promise.all([one.erase(["eve"]), one.append(frames)]);
      expect([erased, became], name).toEqual([1, [{ kind: "appended" }]]);
      expect((await store.records()).filter(({ kind }) => kind === "erasure"), name).toMatchObject([{ keys: 1 }]);
      expect(replayed(store), name).toEqual({ same: 4, different: [], absent: [{ why: "that are erased", count: 1 }] });
      expect(verified(store)).toMatchObject({ decisions: 5, unsealed: 0 });
      const ending = (end: string) => [...store.objects.keys()].filter((known) => known.endsWith(end)).length;
      expect(ending(".wgv"), "of each segment").toBe(ending(".wgl"));
    }
  });

  it("have a record of their erasure after a write that failed", async () => {
    const store = new MemoryStore();
    const log = hiding(store);
    await log.append(await framesAbout("ada"));
    store.before = (name, write) => (name.endsWith(".wgl") ? Promise.reject(new Error("the store is away")) : write());
    await expect(log.erase(["ada"])).rejects.toThrow("the store is away");
    store.before = (_, write) => write();
    expect(await log.erase(["ada"])).toBe(1);
    expect((await store.records()).filter(({ kind }) => kind === "erasure")).toMatchObject([{ keys: 1 }]);
  });

  it("are committed only where there is a place for their keys", async () => {
    const store = new MemoryStore();
    const check = (options: object, message: string) => expect(() => logSequencer({ key, store, ...options } as LogSequencerOptions)).toThrow(message);
    check({}, "option `private` must be the store of keys and sealed values");
    check({ values: "clear", private: store }, "option `private` is for values that are `committed`");
    check({ values: "absent" }, "option `values` must be one of committed, clear");
    await expect(sequencer(store).erase(["ada"])).rejects.toThrow(TypeError);
    await expect(hiding(store).erase("ada" as unknown as string[])).rejects.toThrow("subjects must be a list of strings");
    const damaged = new MemoryStore();
    damaged.objects.set("private/keys.wgk", { bytes: new Uint8Array(57), tag: "1" });
    await expect(hiding(damaged).append([])).rejects.toMatchObject({ code: "malformed-log", message: "the keys of subjects are damaged" });
  });
});

describe("independent frames", () => {
  it("name their log, and all that they use", async () => {
    const { frames, log, pdp } = await isolate();
    pdp.isAllowed(viewing());
    await log.flush();
    pdp.check(withActions(viewing(), ["view", "edit"]));
    await log.flush();
    expect(frames.length).toBe(2);
    const records = await Promise.all(frames.map(async (frame) => [...(await openSegment(segmentsOf([frame])[0]!)).records()].map(([, record]) => record)));
    expect(records.map((frame) => frame.map(({ kind }) => kind))).toEqual([
      ["process", "settings", "policies", "target", "decision"],
      ["process", "policies", "target", "target", "decision"],
    ]);
    const numbers = records.map(([process]) => (process!.kind === "process" ? [...process!.instance].join() : ""));
    expect(numbers[0]).toBe(numbers[1]);
    expect(records.map((frame) => frame.at(-1)!.sequence)).toEqual([0, 1]);
  });

  it("split a decision whose names no frame has room for", async () => {
    const { frames, log, pdp } = await isolate();
    const actions = Array.from({ length: 250 }, (_, at) => `${at}`.padEnd(1024, "a"));
    pdp.check(withActions(viewing(), actions));
    await log.flush();
    expect(frames.every((frame) => frame.length <= 96 * 1024)).toBe(true);
    const store = new MemoryStore();
    expect(await sequencer(store).append(frames)).toEqual(frames.map(() => ({ kind: "appended" })));
    const decisions = (await store.records()).flatMap((record) => (record.kind === "decision" ? [record] : []));
    expect(decisions.length).toBeGreaterThan(2);
    expect(decisions.reduce((sum, { outcomes }) => sum + outcomes.length, 0)).toBe(250);
    expect(decisions.map(({ sequence }) => sequence)).toEqual(decisions.map((_, at) => at));
  });

  it("fill frames, and say what is missing", async () => {
    const { frames, log, pdp } = await isolate({ capacity: 4096 });
    for (let number = 0; number < 5000; number += 1) pdp.isAllowed(viewing({ principal: { id: `${number}`.padStart(40, "u"), roles: ["stranger"] } }));
    await log.flush();
    expect(frames.length).toBeGreaterThan(3);
    const store = new MemoryStore();
    await sequencer(store).append([...frames].reverse());
    const records = await store.records();
    expect(records.filter(({ kind }) => kind === "decision").length).toBe(4096);
    expect(records.filter(({ kind }) => kind === "lost")).toMatchObject([{ stream: 0, first: 4096, count: 904, reason: "full" }]);
  });
});

describe("a sequencer", () => {
  it("takes each frame once, in any order, and gives names numbers of one log", async () => {
    const [ones, others] = [await framesAbout("a", "b", "c"), await framesAbout("d", "e")];
    const store = new MemoryStore();
    const log = sequencer(store);
    expect(await log.append([ones[2]!, others[0]!])).toEqual([{ kind: "appended" }, { kind: "appended" }]);
    expect(await log.append([...ones, ...others])).toMatchObject([{ kind: "appended" }, { kind: "appended" }, { kind: "known" }, { kind: "known" }, { kind: "appended" }]);
    expect(await sequencer(store).append([...ones, ...others])).toEqual(Array.from({ length: 5 }, () => ({ kind: "known" })));
    expect(await store.decisions()).toEqual(about("a", "b", "c", "d", "e"));
    expect((await store.records()).filter(({ kind }) => kind === "policies").length).toBe(2);
    expect(log.counts).toEqual({ appended: 5, known: 2, refused: 0, later: 0 });
  });

  it("refuses what is no frame of an isolate, and counts it", async () => {
    const [frame] = await framesAbout("a");
    const dependent = await isolate({ independent: false });
    dependent.pdp.isAllowed(viewing());
    await dependent.log.flush();
    const damaged = frame!.slice();
    damaged[200]! ^= 1;
    const store = new MemoryStore();
    const log = sequencer(store);
    const frames = [new Uint8Array(), frame!.subarray(0, 300), damaged, new Uint8Array(200_000), dependent.frames[0]!, frame!];
    expect((await log.append(frames)).map((became) => ("message" in became ? became.message : became.kind))).toEqual([
      "expected a whole frame, found the end of the bytes",
      "expected a whole frame, found the end of the bytes",
      "expected the records of the head of the frame, found others",
      "expected a frame of at most 128,000 bytes, found a longer one",
      "expected a frame that can be read alone, found one of another form or version",
      "appended",
    ]);
    expect(log.counts).toMatchObject({ appended: 1, refused: 5 });
    expect(await store.decisions()).toEqual(about("a"));
  });

  it("loses nothing and repeats nothing, whichever write a crash follows", async () => {
    const batches = [await framesAbout("a", "b"), await framesAbout("c")];
    const whole = new MemoryStore();
    for (const batch of batches) await sequencer(whole).append(batch);
    expect(whole.puts.length).toBe(11);
    for (let crash = 1; crash <= whole.puts.length; crash += 1) {
      for (const isDone of [false, true]) {
        const store = new MemoryStore();
        let writes = 0;
        store.before = (_, write) => {
          writes += 1;
          if (writes !== crash) return write();
          if (isDone) write();
          throw new Error("the store is away");
        };
        for (const batch of batches) {
          const first = await sequencer(store).append(batch).catch(() => undefined);
          // A queue delivers again what was not acknowledged.
          if (first === undefined) await sequencer(store).append(batch);
        }
        expect(await store.decisions(), `${crash} ${isDone}`).toEqual(about("a", "b", "c"));
        if (existsSync(command)) expect(verified(store)).toMatchObject({ decisions: 3, unsealed: 0 });
      }
    }
  });

  it("goes on itself after a write that failed", async () => {
    const [frames, store] = [await framesAbout("a"), new MemoryStore()];
    const log = sequencer(store);
    store.before = () => Promise.reject(new Error("the store is away"));
    await expect(log.append(frames)).rejects.toThrow("the store is away");
    store.before = (_, write) => write();
    expect(await log.append(frames)).toEqual([{ kind: "appended" }]);
    expect(await store.decisions()).toEqual(about("a"));
  });

  it("is refused by another one that was first, and goes on behind it", async () => {
    const [first, second, third] = [await framesAbout("a"), await framesAbout("b"), await framesAbout("c")];
    for (const name of ["000000000001.wgl", "tile/0/000.p/2", "checkpoint", "sequencer"]) {
      const store = new MemoryStore();
      const [one, other] = [sequencer(store), sequencer(store)];
      await one.append(first);
      await other.append(first);
      let isBetween = false;
      store.before = async (put, write) => {
        if (put === name && !isBetween) {
          isBetween = true;
          expect(await other.append(third)).toEqual([{ kind: "appended" }]);
        }
        return write();
      };
      expect((await one.append(second))[0]!.kind, name).toMatch(/appended|known/);
      expect(await store.decisions(), name).toEqual(about("a", "b", "c"));
      if (existsSync(command)) expect(verified(store)).toMatchObject({ decisions: 3, unsealed: 0 });
    }
  });

  it("writes a log that the command verifies", async () => {
    const store = new MemoryStore();
    const log = sequencer(store);
    const frames = await framesAbout(...Array.from({ length: 300 }, (_, at) => `${at}`));
    for (const frame of frames) await log.append([frame]);
    expect([...store.objects.keys()].filter((name) => name.startsWith("tile/0/"))).toEqual(expect.arrayContaining(["tile/0/000", "tile/0/001.p/44"]));
    expect(store.objects.has("tile/0/000.p/255")).toBe(false);
    if (existsSync(command)) expect(verified(store)).toMatchObject({ origin: "log.example/edge", decisions: 300, frames: 300, lost: 0, unsealed: 0 });
  });

  it("goes on with no log that was changed, and with no log of another key", async () => {
    const frames = await framesAbout("a", "b");
    const store = new MemoryStore();
    await sequencer(store).append(frames.slice(0, 1));
    const changed = (name: string, change?: (bytes: Uint8Array) => void) => {
      const copy = new MemoryStore();
      for (const [known, object] of store.objects) copy.objects.set(known, { ...object, bytes: object.bytes.slice() });
      if (change === undefined) copy.objects.delete(name);
      else change(copy.objects.get(name)!.bytes);
      return sequencer(copy).append(frames);
    };
    await expect(changed("checkpoint")).rejects.toMatchObject({ code: "malformed-log" });
    await expect(changed("checkpoint", (bytes) => void (bytes[bytes.length - 9]! ^= 1))).rejects.toMatchObject({ code: "refused-proof" });
    await expect(changed("sequencer", (bytes) => void (bytes[40]! ^= 1))).rejects.toMatchObject({ code: "malformed-log" });
    await expect(changed("identity", (bytes) => void (bytes[60]! ^= 1))).rejects.toMatchObject({ code: "malformed-key" });
    await expect(sequencer(store, { key: "PRIVATE+KEY+other" }).append(frames)).rejects.toMatchObject({ code: "malformed-key" });
    // Without its state it reads the segments.
    expect(await changed("sequencer")).toEqual([{ kind: "known" }, { kind: "appended" }]);
  });

  it("takes no wrong options", () => {
    const check = (options: object, message: string) => expect(() => logSequencer(options as LogSequencerOptions)).toThrow(message);
    check({ key, store: 1 }, "option `store` must be an object");
    check({ key: 1, store: {} }, "option `key` must be a string");
    check({ key, store: {}, other: 1 }, "unknown option `other`");
  });
});
