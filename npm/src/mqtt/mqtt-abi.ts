// An instance of the module of MQTT, the mirror of `crates/mqtt-wasm/src/lib.rs`.
//
// The calls take and return numbers; text and bytes cross in a buffer of the instance. An exception
// that leaves a call is a trap: the instance must not be used again.

import { WardgateError, type Code } from "../base/errors.ts";
import { isWellFormed } from "../base/text.ts";
import { mismatchOf } from "../wasm/code.ts";
import { faultMessage } from "./mqtt-faults.ts";
import type { WriteBuffer } from "./mqtt-writer.ts";

/** Returns the difference between a module and that of MQTT; `undefined` if there is none. */
export function mqttMismatch(code: WebAssembly.Module): string | undefined {
  return mismatchOf(code, EXPORTS, isJudge);
}

/** The limits of packets and gates, in the order of the module. */
export type LimitNumbers = readonly number[];

/** Answers a question of a gate: 1 allows, another number denies. It must not throw. */
export type Judge = (action: number, level: number, question: Uint8Array, size: number) => number;

/** The output of a gate for an event: see `tell` of the module. */
export interface GateOutput {
  /** True if the bytes for the other side are those that came. */
  readonly isSame: boolean;
  readonly toServer: Uint8Array<ArrayBuffer>;
  readonly toClient: Uint8Array<ArrayBuffer>;
  /** The side that the connection ends for; 0 while it goes on. */
  readonly side: number;
  readonly reason: number;
  readonly isRegular: boolean;
  readonly offset: number;
  readonly message: string;
}

export class MqttInstance implements WriteBuffer {
  /** True after a trap. */
  isLost = false;
  /** True while a packet is written into the buffer, which no other call may use meanwhile. */
  isWriting = false;
  /** True while a gate asks its judge, which must make no call. */
  #isAsking = false;
  #judge: Judge = deny;
  readonly #calls: Calls;
  /** The view of the buffer, until it moves; a growing memory detaches it. */
  #view: Uint8Array = NO_BYTES;
  /** The view of the whole memory, until it grows. */
  #memory: Uint32Array = NO_WORDS;
  /** The offset in `#memory` of the words beside a result. */
  readonly #words: number;
  #limits: LimitNumbers | undefined;

  constructor(module: WebAssembly.Module) {
    const ask = (action: number, level: number, address: number, length: number, size: number): number =>
      this.#ask(action, level, address, length, size);
    const imported = WebAssembly.Module.imports(module).map((it) => [it.module, { [it.name]: ask }]);
    const calls = new WebAssembly.Instance(module, Object.fromEntries(imported)).exports as unknown as Calls;
    this.#calls = {
      ...calls,
      room: this.#guarded(calls.room),
      matches: this.#guarded(calls.matches),
      cover: this.#guarded(calls.cover),
      decode: this.#guarded(calls.decode),
      check: this.#guarded(calls.check),
      openSet: this.#guarded(calls.openSet),
      insert: this.#guarded(calls.insert),
      remove: this.#guarded(calls.remove),
      find: this.#guarded(calls.find),
      openGate: this.#guarded(calls.openGate),
      tell: this.#guarded(calls.tell),
    };
    this.#words = calls.words() >>> 2;
  }

  matches(filter: string, name: string): boolean {
    const view = this.buffer(bytesFor(filter) + bytesFor(name));
    const first = put(view, filter, 0, INVALID_FILTER);
    const second = put(view, name, first, INVALID_TOPIC);
    return this.#checked(this.#calls.matches(first, second)) === 1;
  }

  /** Returns true for all, false for none, and else a name that is not covered. */
  cover(asked: string, patterns: readonly string[]): boolean | string {
    const view = this.buffer(patterns.reduce((sum, filter) => sum + 2 + bytesFor(filter), 2 + bytesFor(asked)));
    let at = 0;
    for (const filter of [asked, ...patterns]) {
      const length = put(view, filter, at + 2, INVALID_FILTER);
      view[at] = length >>> 8;
      view[at + 1] = length & 0xff;
      at += 2 + length;
    }
    const status = this.#checked(this.#calls.cover(at));
    return status > 1 ? this.#text(status - 1) : status === 1;
  }

  /** Sets the limits of what follows. What was written is lost. */
  limit(limits: LimitNumbers): void {
    if (this.#limits === limits) return;
    const view = this.buffer(4 * limits.length);
    const numbers = new DataView(view.buffer, view.byteOffset);
    limits.forEach((limit, at) => numbers.setUint32(4 * at, limit, true));
    this.#calls.limit();
    this.#limits = limits;
  }

  /** Checks the packet at the front of the buffer. Returns its length, or 0 if it is not there as a whole. */
  decode(level: number, length: number): number {
    return this.#checked(this.#calls.decode(level, length));
  }

  /** Returns the number of bytes that the packet has at least, after a call of `decode` that returned 0. */
  get least(): number {
    return this.#word(0);
  }

  /** Checks a packet that was written into the buffer. */
  check(level: number, start: number, end: number): void {
    this.#checked(this.#calls.check(level, start, end));
  }

  openSet(low: number, high: number): number {
    return this.#calls.openSet(low, high) >>> 0;
  }

  closeSet(set: number): void {
    if (this.isLost) return;
    this.#mustNotAsk();
    this.#calls.closeSet(set);
  }

  insert(set: number, filter: string, value: number): void {
    const length = put(this.buffer(bytesFor(filter)), filter, 0, INVALID_FILTER);
    this.#checked(this.#calls.insert(set, length, value));
  }

  remove(set: number, value: number): void {
    this.#calls.remove(set, value);
  }

  /** Returns the number of filters that match, and `valueAt` the value of each until the next call. */
  find(set: number, name: string): number {
    const length = put(this.buffer(bytesFor(name)), name, 0, INVALID_TOPIC);
    return this.#checked(this.#calls.find(set, length));
  }

  valueAt(index: number): number {
    return this.#wordAt((this.#word(0) >>> 2) + index);
  }

  /** Makes a gate within the limits, and returns its number. `choices` has a bit for each choice. */
  openGate(choices: number, connectMillis: number, connackMillis: number, now: number): number {
    return this.#calls.openGate(choices, connectMillis, connackMillis, now >>> 0, upper(now)) >>> 0;
  }

  closeGate(gate: number): void {
    if (this.isLost) return;
    this.#mustNotAsk();
    this.#calls.closeGate(gate);
  }

  /** Tells a gate what happens; bytes are in the buffer, and `number` is their length. */
  tell(gate: number, event: number, number: number, judge: Judge): GateOutput {
    let status;
    this.#judge = judge;
    try {
      status = this.#calls.tell(gate, event, number >>> 0, upper(number));
    } finally {
      this.#judge = deny;
    }
    if (status < 0) throw new WardgateError("internal", "the module of MQTT does not know this gate");
    const isSame = status === 1;
    const [server, client] = event === FROM_CLIENT ? [isSame, false] : [false, isSame];
    return {
      isSame,
      toServer: server ? NO_BYTES : this.#copy(0),
      toClient: client ? NO_BYTES : this.#copy(2),
      side: this.#word(4),
      reason: this.#word(5),
      isRegular: this.#word(6) === 1,
      offset: this.#word(7) + this.#word(8) * 2 ** 32,
      message: this.#word(4) === 0 ? "" : faultMessage(this.#word(9), this.#word(10), this.#word(5)),
    };
  }

  /**
   * Returns the buffer, with room for that many bytes; what was written may be lost. One that a long
   * packet needed is freed by the next call for a short one.
   */
  buffer(length: number): Uint8Array {
    if (this.isWriting) throw new TypeError("a getter of a packet must not use MQTT while the packet is encoded");
    this.#mustNotAsk();
    const { length: present } = this.#view;
    const fits = present >= length && (present === MIN_BUFFER_BYTES || length > MIN_BUFFER_BYTES);
    return fits ? this.#view : this.#moved(length);
  }

  /** Returns the buffer with what was written. */
  get written(): Uint8Array {
    return this.#view;
  }

  grow(written: number, least: number): Uint8Array {
    const before = this.#view.slice(0, written);
    const view = this.#moved(Math.max(least, 2 * this.#view.length));
    view.set(before);
    return view;
  }

  #moved(length: number): Uint8Array {
    const wanted = Math.max(length, MIN_BUFFER_BYTES);
    const address = wanted > MAX_BUFFER_BYTES ? 0 : this.#calls.room(wanted) >>> 0;
    if (address === 0) throw new RangeError(`there is no room for ${length} bytes in the module`);
    return (this.#view = new Uint8Array(this.#calls.memory.buffer, address, wanted));
  }

  /** Returns the result of a call, or throws what is wrong with what was written. */
  #checked(status: number): number {
    if (status >= 0) return status;
    const [offset, reason] = [this.#word(0), this.#word(1)];
    throw fault(codeOf(reason), faultMessage(this.#word(2), this.#word(3), reason), reason, offset);
  }

  #text(length: number): string {
    return decoder.decode(new Uint8Array(this.#calls.memory.buffer, this.#word(0), length));
  }

  /** Returns a word beside the result of the last call. */
  #word(index: number): number {
    return this.#wordAt(this.#words + index);
  }

  #wordAt(offset: number): number {
    // The memory may have grown, which moves no word.
    if (this.#memory.length === 0) this.#memory = new Uint32Array(this.#calls.memory.buffer);
    return this.#memory[offset]!;
  }

  /** Asks the judge about the packet at an address. */
  #ask(action: number, level: number, address: number, length: number, size: number): number {
    this.#isAsking = true;
    try {
      return this.#judge(action, level, new Uint8Array(this.#calls.memory.buffer, address >>> 0, length), size >>> 0);
    } catch {
      // An exception must not reach the module, whose state it would leave in disorder.
      return DENIED;
    } finally {
      this.#isAsking = false;
    }
  }

  #mustNotAsk(): void {
    if (this.#isAsking) throw new TypeError("code that a gate calls to decide must not use MQTT");
  }

  /** Returns a copy of the bytes whose address and length are words. */
  #copy(index: number): Uint8Array<ArrayBuffer> {
    const length = this.#word(index + 1);
    return length === 0 ? NO_BYTES : new Uint8Array(this.#calls.memory.buffer, this.#word(index), length).slice() as Uint8Array<ArrayBuffer>;
  }

  /** Returns a call that reports a trap. No call has more than five arguments. */
  #guarded<F extends (a: number, b: number, c: number, d: number, e: number) => number>(call: F): F {
    const guarded = (a: number, b: number, c: number, d: number, e: number): number => {
      this.#mustNotAsk();
      try {
        return call(a, b, c, d, e);
      } catch (cause) {
        this.isLost = true;
        throw new WardgateError("internal", "the module of MQTT failed, and its sets and gates are lost", { cause });
      }
    };
    return guarded as F;
  }
}

/** Returns the most bytes that a topic takes in the buffer. One that is too long is not written. */
function bytesFor(text: string): number {
  // A code unit takes at most three bytes.
  return text.length > MAX_TOPIC_UNITS ? 0 : text.length * 3;
}

/** Writes a topic name or filter into the buffer, and returns its length in bytes. */
function put(view: Uint8Array, text: string, at: number, [code, reason]: Fault): number {
  // A longer one is invalid in any encoding, and its length would not fit into two bytes.
  if (text.length > MAX_TOPIC_UNITS) throw fault(code, `a topic of ${text.length} characters is too long`, reason);
  const { written } = encoder.encodeInto(text, at === 0 ? view : view.subarray(at));
  if (written > 0xffff) throw fault(code, `a topic of ${written} bytes is too long`, reason);
  // The replacement of half of a surrogate pair would be another topic.
  if (written !== text.length && !isWellFormed(text)) throw fault(code, "a topic must be Unicode", reason);
  return written;
}

function fault(code: Code, message: string, reason: number, offset?: number): WardgateError {
  return Object.assign(new WardgateError(code, message), { reason }, offset !== undefined && { offset });
}

/** Returns the code of an error for a reason code of 5.0. */
function codeOf(reason: number): Code {
  switch (reason) {
    case 0x81:
      return "malformed-packet";
    case INVALID_FILTER[1]:
      return INVALID_FILTER[0];
    case INVALID_TOPIC[1]:
      return INVALID_TOPIC[0];
    case 0x95:
      return "too-large";
    default:
      return "protocol-error";
  }
}

/** Returns true for the import of the judge, whose name has a digest. */
function isJudge({ kind, name }: WebAssembly.ModuleImportDescriptor): boolean {
  return kind === "function" && name.startsWith("__wbg_judge_");
}

function deny(): number {
  return DENIED;
}

/** Returns the upper half of a number of 64 bits. */
function upper(number: number): number {
  return Math.floor(number / 2 ** 32);
}

interface Calls {
  readonly memory: WebAssembly.Memory;
  readonly room: (length: number) => number;
  readonly words: () => number;
  readonly limit: () => void;
  readonly matches: (filter: number, name: number) => number;
  readonly cover: (length: number) => number;
  readonly decode: (level: number, length: number) => number;
  readonly check: (level: number, start: number, end: number) => number;
  readonly openSet: (low: number, high: number) => number;
  readonly closeSet: (set: number) => void;
  readonly insert: (set: number, length: number, value: number) => number;
  readonly remove: (set: number, value: number) => number;
  readonly find: (set: number, length: number) => number;
  readonly openGate: (choices: number, connect: number, connack: number, low: number, high: number) => number;
  readonly closeGate: (gate: number) => void;
  readonly tell: (gate: number, event: number, low: number, high: number) => number;
}

type Fault = readonly [code: Code, reason: number];

const INVALID_FILTER: Fault = ["invalid-filter", 0x8f];
const INVALID_TOPIC: Fault = ["invalid-topic", 0x90];
/** The event of bytes of the client. */
export const FROM_CLIENT = 0;
const DENIED = 0;
const NO_BYTES = new Uint8Array();
const NO_WORDS = new Uint32Array();
/** The exports that identify the module. */
const EXPORTS = ["memory", "room", "words", "limit", "matches", "cover", "decode", "check", "openSet", "closeSet", "insert", "remove", "find", "openGate", "closeGate", "tell"];
const MAX_TOPIC_UNITS = 0xffff;
/** The smallest size of the buffer in the module. */
const MIN_BUFFER_BYTES = 65_536;
/** The largest requested size: the module could not hold a larger buffer beside its other data. */
const MAX_BUFFER_BYTES = 2 ** 29;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
