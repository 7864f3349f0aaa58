// One signed log in a store of objects, out of the frames of many isolates: the entry `wardgate/log-sequencer`.
//
// Law: the store alone says what the log is. After a write that failed or was refused everything in memory is
// forgotten, and the log is opened from the store again. A frame is acknowledged when a signed checkpoint covers it.

import { loader } from "#load-log-sequencer";

import { describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { knownMembers, readWhole } from "../base/option.ts";
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
  /** The frames since this log was opened. */
  readonly counts: AppendedCounts;
}

/**
 * Opens a log in a store, or begins one. What is in the store is a log that `wardgate log verify` reads from a folder with the same files.
 *
 * @throws TypeError or RangeError for wrong options.
 *
 * @example
 *     const log = logSequencer({ key: env.LOG_KEY, store });
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
  readonly intervalMillis: number;
}

interface Job {
  readonly frames: readonly Uint8Array[];
  readonly resolve: (became: readonly Appended[]) => void;
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

  constructor(options: Settings) {
    this.#options = options;
  }

  append(frames: readonly Uint8Array[]): Promise<readonly Appended[]> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ frames, resolve, reject });
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
        this.#opened = undefined;
        for (const { reject } of jobs) reject(thrown);
      }
    }
    this.#isRunning = false;
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const log = (this.#opened ??= await OpenedLog.open(this.#options));
      const now = Date.now();
      const became = jobs.map(({ frames }) => frames.map((frame) => log.take(frame, now)));
      if (await log.commit(now)) {
        for (const { kind } of became.flat()) this.counts[kind] += 1;
        jobs.forEach(({ resolve }, at) => resolve(became[at]!));
        return;
      }
      this.#opened = undefined;
    }
    throw new Error("other sequencers write the log");
  }
}

/** The log as it was read from its store, and what was appended since. */
class OpenedLog {
  readonly #instance: SequencerInstance;
  readonly #store: LogStore;
  /** The tag of the checkpoint. */
  #checkpoint: string | undefined;

  private constructor(instance: SequencerInstance, store: LogStore, checkpoint: string | undefined) {
    this.#instance = instance;
    this.#store = store;
    this.#checkpoint = checkpoint;
  }

  static async open({ key, store }: Settings): Promise<OpenedLog> {
    await load();
    const instance = new SequencerInstance(loaded!);
    // In this order: the state says no more than the checkpoint that was written before it.
    const state = await store.get("sequencer");
    const checkpoint = await store.get("checkpoint");
    const identity = instance.open(key, state?.bytes ?? NO_BYTES, checkpoint?.bytes ?? NO_BYTES);
    await identify(store, identity);
    for (let count = 0; ; count += 1) {
      const segment = await store.get(instance.next);
      if (segment === undefined) break;
      if (count === MAX_FOLLOWED) throw new WardgateError("malformed-log", `the object \`sequencer\` is missing, and the log has more than ${MAX_FOLLOWED} segments`);
      instance.follow(segment.bytes, Date.now());
    }
    instance.mustBeWhole();
    return new OpenedLog(instance, store, checkpoint?.tag);
  }

  take(frame: Uint8Array, now: number): Appended {
    return this.#instance.take(frame, now);
  }

  /** Writes what was taken. Returns false if another sequencer was first. */
  async commit(now: number): Promise<boolean> {
    const deleted: string[] = [];
    for (const write of this.#instance.commit(now)) {
      if (write.condition === "deletion") deleted.push(write.name);
      else if (!(await this.#put(write))) return false;
    }
    if (deleted.length > 0) await this.#store.delete(deleted).catch(() => undefined);
    return true;
  }

  async #put({ name, bytes, condition }: Write): Promise<boolean> {
    const tag = await this.#store.put(name, bytes, this.#conditionOf(condition));
    if (condition === "unchanged") this.#checkpoint = tag;
    return tag !== undefined;
  }

  #conditionOf(condition: Write["condition"]): PutCondition {
    if (condition === "new" || (condition === "unchanged" && this.#checkpoint === undefined)) return { kind: "new" };
    return condition === "unchanged" ? { kind: "unchanged", tag: this.#checkpoint! } : { kind: "always" };
  }
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
  if (typeof store !== "object" || store === null) throw new TypeError(`option \`store\` must be an object, found ${describe(store)}`);
  return { key, store: store as LogStore, intervalMillis: readWhole(members.get("intervalMillis"), "intervalMillis", MAX_INTERVAL_MILLIS) ?? 1000 };
}

let loaded: WebAssembly.Module | undefined;
const own = new SharedLoader(loader, { name: "the sequencer of decision logs", elsewhere: "`load({ code })` of `wardgate/log-sequencer`" });
const NAMES: readonly (keyof LogSequencerOptions)[] = ["key", "store", "intervalMillis"];
const NO_BYTES = new Uint8Array();
/** The calls of `append` that one checkpoint is about, the openings of the log for them, and the segments that an opening reads. */
const MAX_JOBS = 256;
const ATTEMPTS = 3;
const MAX_FOLLOWED = 10_000;
const MAX_INTERVAL_MILLIS = 3_600_000;
