// A decision log in JavaScript: decisions wait in a buffer, and frames of them go to a sink.
//
// Law: a decision waits for nothing. A flush makes frames of all that waits and hands them out in their order; a
// frame that the sink did not take stays the first, and the buffer is not emptied before.

import { bytesOf, describe } from "../base/describe.ts";
import { knownMembers, readFlag, readOneOf, readWhole } from "../base/option.ts";
import { WRITER, type DecisionLog, type DecisionWriter } from "../pdp/recording.ts";
import { BufferWriter, LogBuffer } from "./log-buffer.ts";
import { LogEncoder } from "./log-encoder.ts";
import { loadLog, logInstance } from "./log-module.ts";
import type { IdForm } from "./log-types.ts";

/** The options of `decisionLog`. */
export interface DecisionLogOptions {
  /**
   * Takes a frame of at most 96 KB, and owns its bytes. If it throws or rejects, the frame is handed to it again by the
   * next flush, before all others: a frame arrives at least once.
   */
  readonly sink: (frame: Uint8Array<ArrayBuffer>) => unknown;
  /**
   * What happens to a decision for which there is no room. Default: `"drop"`, which answers it; a record says how many
   * are missing. With `"deny"` it is a denial.
   */
  readonly onFull?: "drop" | "deny" | undefined;
  /** The number of actions that can wait for a flush, from 16 to 1,048,576. Default: 8192, of about 100 bytes each. */
  readonly capacity?: number | undefined;
  /**
   * The time after which the log flushes by itself, in milliseconds; 0 for never. Default: 1000. It also does when half of
   * the room is used. Such a flush needs a runtime whose timers run, which workers are not between requests.
   */
  readonly flushMillis?: number | undefined;
  /** The form of the ids of principals in records. Default: `"clear"`. */
  readonly principal?: IdForm | undefined;
  /** The form of the ids of resources. Default: `"clear"`. */
  readonly resource?: IdForm | undefined;
  /**
   * The evidence, from which `replay` and `wardgate log replay` make a decision again. Default: `"absent"`. With `"clear"` it is in the
   * record: what the fast path read, or the request. It has attributes of principal and resource, and claims of tokens.
   */
  readonly evidence?: "absent" | "clear" | undefined;
  /** The secret of pseudonyms: 32 random bytes. Who has it can tell whose pseudonym it is. */
  readonly key?: Uint8Array | ArrayBuffer | undefined;
  /** The number of the stream of decisions, from 1 to 65,535. Default: 1. */
  readonly stream?: number | undefined;
  /**
   * With `true` each frame names its log and defines the names that it uses, so that it can be read alone: for `logSequencer`,
   * which makes one log of the frames of many. Frames are larger by about 300 bytes. Default: `false`.
   */
  readonly independent?: boolean | undefined;
}

/**
 * Makes a decision log, for the option `log` of `open`. The frames of one log, in their order after the bytes of
 * `segmentStart`, are a segment that `openSegment` reads.
 *
 * @throws TypeError or RangeError for wrong options.
 *
 * @example
 *     const log = decisionLog({ sink: (frame) => appendFile("decisions.wgl", frame) });
 *     const pdp = await open(bundle, { trust, log });
 *     // At the end of the program, or of a request in a worker:
 *     await log.flush();
 */
export function decisionLog(options: DecisionLogOptions): DecisionLog {
  return new BufferedLog(readOptions(options));
}

class BufferedLog implements DecisionLog {
  readonly #settings: Settings;
  readonly #buffer: LogBuffer;
  readonly #encoder: LogEncoder;
  /** The frames that the sink did not take yet. */
  #frames: Uint8Array<ArrayBuffer>[] = [];
  #clock: () => number = () => Date.now();
  #lost = 0;
  /** The last flush. Flushes run one after the other. */
  #flushing: Promise<void> = Promise.resolve();
  #isFlushing = false;
  #timer: unknown;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#buffer = new LogBuffer(settings.capacity, settings.denies, settings.hasEvidence, (isHalfFull) => this.#wake(isHalfFull));
    this.#encoder = new LogEncoder(settings, logInstance);
  }

  get waiting(): number {
    return this.#buffer.records;
  }

  get lost(): number {
    return this.#lost + this.#buffer.lost;
  }

  [WRITER](clock: () => number): DecisionWriter {
    this.#clock = clock;
    return new BufferWriter(this.#buffer, clock);
  }

  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush());
    // The next flush runs in any case.
    this.#flushing = flushed.catch(() => undefined);
    return flushed;
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    try {
      await loadLog(undefined);
      await this.#handOut();
      const { records, lost, undefinedPolicies } = this.#buffer;
      if (records + lost + undefinedPolicies.length === 0) return;
      this.#frames = this.#encoder.drain(this.#buffer, this.#clock());
      this.#lost += lost;
      await this.#handOut();
    } finally {
      this.#isFlushing = false;
      // What came meanwhile, or was not taken.
      const { count, capacity } = this.#buffer;
      if (this.#frames.length === 0 && count > capacity >>> 1) this.#wake(true);
      else if (this.#frames.length + count > 0) this.#wake(false);
    }
  }

  async #handOut(): Promise<void> {
    while (this.#frames.length > 0) {
      // A copy: a sink may hand the bytes on to another thread before it fails.
      await this.#settings.sink(this.#frames[0]!.slice());
      this.#frames.shift();
    }
  }

  /** Flushes later, or soon if half of the room is used. */
  #wake(isHalfFull: boolean): void {
    if (this.#settings.flushMillis === 0 || this.#isFlushing) return;
    if (isHalfFull) this.#flushAlone();
    else this.#startTimer();
  }

  #startTimer(): void {
    if (this.#settings.flushMillis === 0 || this.#timer !== undefined) return;
    try {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#flushAlone();
      }, this.#settings.flushMillis);
      // A program may end while decisions wait: its last flush is its own.
      (this.#timer as { unref?: () => void }).unref?.();
    } catch {
      // A runtime without timers, or none at this moment.
    }
  }

  /** Flushes for nobody: after a failure the timer tries again. */
  #flushAlone(): void {
    this.flush().catch(() => undefined);
  }
}

interface Settings {
  readonly sink: (frame: Uint8Array<ArrayBuffer>) => unknown;
  readonly denies: boolean;
  readonly hasEvidence: boolean;
  readonly capacity: number;
  readonly flushMillis: number;
  readonly principal: IdForm;
  readonly resource: IdForm;
  readonly key: Uint8Array | undefined;
  readonly stream: number;
  readonly isIndependent: boolean;
  readonly text: string;
}

function readOptions(options: unknown): Settings {
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, found ${describe(options)}`);
  const members = knownMembers(options, NAMES);
  const sink = members.get("sink");
  if (typeof sink !== "function") throw new TypeError(`option \`sink\` must be a function, found ${describe(sink)}`);
  const onFull = readOneOf(members.get("onFull"), "onFull", ["drop", "deny"]) ?? "drop";
  const [principal, resource] = ["principal", "resource"].map((name) => (readOneOf(members.get(name), name, FORMS) ?? "clear") as IdForm) as [IdForm, IdForm];
  const evidence = readOneOf(members.get("evidence"), "evidence", ["absent", "clear"]) ?? "absent";
  const key = readKey(members.get("key"), principal === "pseudonym" || resource === "pseudonym");
  return {
    sink: sink as Settings["sink"],
    denies: onFull === "deny",
    hasEvidence: evidence === "clear",
    capacity: from(16, readWhole(members.get("capacity"), "capacity", MAX_CAPACITY) ?? 8192, "capacity"),
    flushMillis: readWhole(members.get("flushMillis"), "flushMillis", MAX_FLUSH_MILLIS) ?? 1000,
    principal,
    resource,
    key,
    stream: from(1, readWhole(members.get("stream"), "stream", 0xffff) ?? 1, "stream"),
    isIndependent: readFlag(members.get("independent"), "independent") ?? false,
    text: `on-full = "${onFull}", principal = "${principal}", resource = "${resource}", evidence = "${evidence}"`,
  };
}

function readKey(key: unknown, isNeeded: boolean): Uint8Array | undefined {
  const bytes = bytesOf(key);
  if (bytes === undefined ? key !== undefined || isNeeded : bytes.length !== 32) {
    throw new TypeError(`option \`key\` must be 32 bytes, found ${bytes === undefined ? describe(key) : bytes.length}`);
  }
  if (bytes !== undefined && !isNeeded) throw new TypeError("option `key` is for ids in the form `pseudonym`");
  return bytes?.slice();
}

function from(least: number, number: number, name: string): number {
  if (number >= least) return number;
  throw new RangeError(`option \`${name}\` must be at least ${least}, found ${number}`);
}

const NAMES: readonly (keyof DecisionLogOptions)[] = ["sink", "onFull", "capacity", "flushMillis", "principal", "resource", "evidence", "key", "stream", "independent"];
const FORMS: readonly IdForm[] = ["clear", "pseudonym", "absent"];
const MAX_CAPACITY = 2 ** 20;
const MAX_FLUSH_MILLIS = 3_600_000;
