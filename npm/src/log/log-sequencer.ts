// One signed log in a store of objects, out of the frames of many isolates: the entry `wardgate/log-sequencer`.
//
// Law: the store alone says what the log is. After a write that failed or was refused everything in memory is
// forgotten, and the log is opened from the store again. A frame is acknowledged when a signed checkpoint covers it.

import { loader } from "#load-log-sequencer";

import { describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { knownMembers, readOneOf, readWhole } from "../base/option.ts";
import type { LoadOptions } from "../pdp/load-options.ts";
import { compile, readLoad } from "../wasm/code.ts";
import { SharedLoader } from "../wasm/shared-loader.ts";
import { SequencerInstance, sequencerMismatch, type Appended, type Write } from "./sequencer-instance.ts";

export { WardgateError, type Code } from "../base/errors.ts";
export type { LoadOptions } from "../pdp/load-options.ts";
export type { Appended } from "./sequencer-instance.ts";

/** An object of a store. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  /** What tells this content of the object from every other one, such as an `ETag`. */
  readonly tag: string;
}

/** When an object is written: always, if there is none of its name, or if it still has a tag. */
export type PutCondition = { readonly kind: "always" } | { readonly kind: "new" } | { readonly kind: "unchanged"; readonly tag: string };

/** A store of objects that are written as a whole, and read as they were written last. */
export interface LogStore {
  /** Returns an object; `undefined` if there is none. */
  get(name: string): Promise<StoredObject | undefined>;
  /** Writes an object, and returns its tag; `undefined` if the condition does not hold, and then it changes nothing. */
  put(name: string, bytes: Uint8Array<ArrayBuffer>, condition: PutCondition): Promise<string | undefined>;
  /** Deletes objects, of which some may not be there. A failure is none. */
  delete(names: readonly string[]): Promise<unknown>;
}

/** The options of `logSequencer`. */
export interface LogSequencerOptions {
  /** The private key of the log, a text from `wardgate log keys`: a secret. */
  readonly key: string;
  /** Where the log is. */
  readonly store: LogStore;
  /**
   * What becomes of ids and evidence that frames have in the clear. With `"committed"`, the default, records get commitments to
   * them, and the values are sealed in the store `private`; with `"clear"` they stay.
   */
  readonly values?: "committed" | "clear" | undefined;
  /** Where the keys of subjects and the sealed values are, under names that begin with `private/`. Who reads it reads all ids. */
  readonly private?: LogStore | undefined;
  /** The least time between two checkpoints, in milliseconds. Default: 1000. */
  readonly intervalMillis?: number | undefined;
}

/** How many frames became what. */
export interface AppendedCounts {
  readonly appended: number;
  readonly known: number;
  readonly refused: number;
  readonly later: number;
}

/** A log that is written. */
export interface LogSequencer {
  /**
   * Appends frames of logs with `independent: true`, each at most once, however often it is given. Resolves when a signed
   * checkpoint is about them, with what became of each; rejects if the store fails, and then all should be given again.
   */
  append(frames: readonly Uint8Array[]): Promise<readonly Appended[]>;
  /**
   * Deletes the keys of subjects, who are principals by their ids: their values cannot be opened any more, in any copy of the log. Resolves
   * when a signed checkpoint is about the record of it, with how many of them had a key; rejects if the store fails, and then it should
   * be called again.
   */
  erase(subjects: readonly string[]): Promise<number>;
  /** The frames since this log was opened. */
  readonly counts: AppendedCounts;
}

/**
 * Opens a log in a store, or begins one. What is in the store is a log that `wardgate log verify` reads from a folder with the same files.
 *
 * @throws TypeError or RangeError for wrong options.
 *
 * @example
 *     const log = logSequencer({ key: env.LOG_KEY, store, private: otherStore });
 *     const became = await log.append(frames);
 */
export function logSequencer(options: LogSequencerOptions): LogSequencer {
  return new StoredLog(readOptions(options));
}

/**
 * Loads the code of the module, which a sequencer does itself. The option `code` supplies the code, as for `open`. Further calls
 * do nothing.
 *
 * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
 */
export async function load(options: LoadOptions = {}): Promise<void> {
  const code = readLoad(options);
  if (loaded !== undefined) return;
  const module = await (code === undefined ? own.load() : compile(code));
  const lack = sequencerMismatch(module);
  if (lack !== undefined) throw new WardgateError("wrong-code", `the code is not the sequencer of this version of the package: ${lack}`);
  loaded ??= module;
}

interface Settings {
  readonly key: string;
  readonly store: LogStore;
  /** The store of keys and values; `undefined` if values stay as they are. */
  readonly privateStore: LogStore | undefined;
  readonly intervalMillis: number;
}

interface Job {
  /** Does the work that the next commit writes, and returns what tells the caller about it. */
  readonly begin: (log: OpenedLog, now: number) => () => void;
  readonly reject: (reason: unknown) => void;
}

class StoredLog implements LogSequencer {
  readonly counts = { appended: 0, known: 0, refused: 0, later: 0 };
  readonly #options: Settings;
  #opened: OpenedLog | undefined;
  #jobs: Job[] = [];
  #isRunning = false;
  /** The time before which no checkpoint is written. */
  #notBefore = 0;
  /** The keys that are deleted in the store, of which no record tells since a later write failed. */
  #unrecorded = 0;

  constructor(options: Settings) {
    this.#options = options;
  }

  async append(frames: readonly Uint8Array[]): Promise<readonly Appended[]> {
    const became = await this.#committed((log, now) => frames.map((frame) => log.take(frame, now)));
    for (const { kind } of became) this.counts[kind] += 1;
    return became;
  }

  async erase(subjects: readonly string[]): Promise<number> {
    if (this.#options.privateStore === undefined) throw new TypeError("a log whose values are `clear` has no keys of subjects");
    if (!Array.isArray(subjects) || !subjects.every((subject) => typeof subject === "string")) throw new TypeError("subjects must be a list of strings");
    return this.#committed((log, now) => log.erase(subjects, now));
  }

  /** Does work before a commit, and returns its result after it. */
  #committed<Result>(work: (log: OpenedLog, now: number) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const begin: Job["begin"] = (log, now) => {
        const result = work(log, now);
        return () => resolve(result);
      };
      this.#jobs.push({ begin, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Commits all jobs, those that come meanwhile together. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#jobs.length > 0) {
      await pause(this.#notBefore - Date.now());
      this.#notBefore = Date.now() + this.#options.intervalMillis;
      const jobs = this.#jobs.splice(0, MAX_JOBS);
      try {
        await this.#commit(jobs);
      } catch (thrown) {
        this.#close();
        for (const { reject } of jobs) reject(thrown);
      }
    }
    this.#isRunning = false;
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const log = (this.#opened ??= await OpenedLog.open(this.#options, this.#unrecorded));
      const now = Date.now();
      const ends = jobs.map(({ begin }) => begin(log, now));
      if (await log.commit(now)) {
        for (const end of ends) end();
        return;
      }
      this.#close();
    }
    throw new Error("other sequencers write the log");
  }

  /** Forgets the log as it was read. */
  #close(): void {
    this.#unrecorded = this.#opened?.unrecorded ?? this.#unrecorded;
    this.#opened = undefined;
  }
}

/** The log as it was read from its store, and what was appended since. */
class OpenedLog {
  /** The keys that are deleted in the store, of which no segment tells. */
  unrecorded: number;
  readonly #instance: SequencerInstance;
  readonly #settings: Settings;
  /** The tags of the objects that are written if they are unchanged. */
  readonly #tags: Map<string, string | undefined>;
  /** The keys that the next commit deletes, and whether it records those that are deleted. */
  #erased = 0;
  #isErasing = false;

  private constructor(instance: SequencerInstance, settings: Settings, tags: Map<string, string | undefined>, unrecorded: number) {
    this.#instance = instance;
    this.#settings = settings;
    this.#tags = tags;
    this.unrecorded = unrecorded;
  }

  static async open(settings: Settings, unrecorded: number): Promise<OpenedLog> {
    const { key, store, privateStore } = settings;
    await load();
    const instance = new SequencerInstance(loaded!);
    // In this order: the state says no more than the checkpoint that was written before it.
    const state = await store.get("sequencer");
    const checkpoint = await store.get("checkpoint");
    const keys = await privateStore?.get(KEYS);
    const hidden = privateStore === undefined ? undefined : (keys?.bytes ?? NO_BYTES);
    const identity = instance.open(key, state?.bytes ?? NO_BYTES, checkpoint?.bytes ?? NO_BYTES, hidden);
    await identify(store, identity);
    for (let count = 0; ; count += 1) {
      const segment = await store.get(instance.next);
      if (segment === undefined) break;
      if (count === MAX_FOLLOWED) throw new WardgateError("malformed-log", `the object \`sequencer\` is missing, and the log has more than ${MAX_FOLLOWED} segments`);
      instance.follow(segment.bytes, Date.now());
    }
    instance.mustBeWhole();
    return new OpenedLog(instance, settings, new Map([["checkpoint", checkpoint?.tag], [KEYS, keys?.tag]]), unrecorded);
  }

  take(frame: Uint8Array, now: number): Appended {
    return this.#instance.take(frame, now);
  }

  /** Deletes keys of subjects, and returns how many there were, with those of which no segment tells yet. */
  erase(subjects: readonly string[], now: number): number {
    const before = this.#isErasing ? 0 : this.unrecorded;
    const keys = this.#instance.erase(subjects, before, now);
    this.#erased += keys - before;
    this.#isErasing = true;
    return keys;
  }

  /** Writes what was taken. Returns false if another sequencer was first. */
  async commit(now: number): Promise<boolean> {
    const { store, privateStore } = this.#settings;
    const writes = this.#instance.commit(now);
    for (const write of writes.filter(({ condition }) => condition !== "deletion")) {
      if (await this.#put(write)) this.#wrote(write);
      else {
        // The values of a segment that is not written.
        const values = write.condition === "new" ? writes.filter(({ name }) => name.endsWith(".wgv")) : [];
        await deleteAll(privateStore, values);
        return false;
      }
    }
    await deleteAll(store, writes.filter(({ condition }) => condition === "deletion"));
    return true;
  }

  async #put({ name, bytes, condition }: Write): Promise<boolean> {
    const { store, privateStore } = this.#settings;
    const tag = await (name.startsWith(PRIVATE) ? privateStore! : store).put(name, bytes, this.#conditionOf(name, condition));
    if (condition === "unchanged") this.#tags.set(name, tag);
    return tag !== undefined;
  }

  #conditionOf(name: string, condition: Write["condition"]): PutCondition {
    const tag = this.#tags.get(name);
    if (condition === "new" || (condition === "unchanged" && tag === undefined)) return { kind: "new" };
    return condition === "unchanged" ? { kind: "unchanged", tag: tag! } : { kind: "always" };
  }

  /** Notes which deleted keys no segment tells of. */
  #wrote({ name, condition }: Write): void {
    if (name === KEYS) {
      this.unrecorded += this.#erased;
      this.#erased = 0;
    }
    if (condition === "new" && this.#isErasing) {
      this.unrecorded = 0;
      this.#isErasing = false;
    }
  }
}

/** Deletes objects; a failure is none. */
async function deleteAll(store: LogStore | undefined, objects: readonly Write[]): Promise<void> {
  if (objects.length > 0) await store?.delete(objects.map(({ name }) => name)).catch(() => undefined);
}

/** Writes the identity of a new log, or throws if the store has a log of another key. */
async function identify(store: LogStore, identity: string): Promise<void> {
  const known = (await store.get("identity")) ?? (await begin(store, identity));
  if (known === undefined || new TextDecoder().decode(known.bytes).startsWith(identity)) return;
  throw new WardgateError("malformed-key", "the log in the store is of another key");
}

/** Begins a log, or returns the identity that another sequencer wrote meanwhile. */
async function begin(store: LogStore, identity: string): Promise<StoredObject | undefined> {
  const number = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const tag = await store.put("identity", new TextEncoder().encode(`${identity}${number}\n`), { kind: "new" });
  return tag === undefined ? store.get("identity") : undefined;
}

function pause(millis: number): Promise<void> {
  return millis > 0 ? new Promise((resolve) => setTimeout(resolve, millis)) : Promise.resolve();
}

function readOptions(options: unknown): Settings {
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, found ${describe(options)}`);
  const members = knownMembers(options, NAMES);
  const [key, store] = [members.get("key"), members.get("store")];
  // The value is a secret.
  if (typeof key !== "string") throw new TypeError("option `key` must be a string");
  if (!isStore(store)) throw new TypeError(`option \`store\` must be an object, found ${describe(store)}`);
  return { key, store, privateStore: readPrivate(members), intervalMillis: readWhole(members.get("intervalMillis"), "intervalMillis", MAX_INTERVAL_MILLIS) ?? 1000 };
}

/** Returns the store of keys and values, which may be that of the log; `undefined` if values stay as they are. */
function readPrivate(members: ReadonlyMap<string, unknown>): LogStore | undefined {
  const isClear = readOneOf(members.get("values"), "values", ["committed", "clear"]) === "clear";
  const store = members.get("private");
  if (isClear && store !== undefined) throw new TypeError("option `private` is for values that are `committed`");
  if (isClear || isStore(store)) return store as LogStore | undefined;
  throw new TypeError(`option \`private\` must be the store of keys and sealed values, found ${describe(store)}; or set \`values\` to \`clear\``);
}

function isStore(store: unknown): store is LogStore {
  return typeof store === "object" && store !== null;
}

let loaded: WebAssembly.Module | undefined;
const own = new SharedLoader(loader, { name: "the sequencer of decision logs", elsewhere: "`load({ code })` of `wardgate/log-sequencer`" });
const NAMES: readonly (keyof LogSequencerOptions)[] = ["key", "store", "values", "private", "intervalMillis"];
const PRIVATE = "private/";
/** The object of the keys of subjects. */
const KEYS = `${PRIVATE}keys.wgk`;
const NO_BYTES = new Uint8Array();
/** The calls of `append` that one checkpoint is about, the openings of the log for them, and the segments that an opening reads. */
const MAX_JOBS = 256;
const ATTEMPTS = 3;
const MAX_FOLLOWED = 10_000;
const MAX_INTERVAL_MILLIS = 3_600_000;
