// The evidence of decisions that wait for a flush.
//
// Law: `read` allocates nothing, unless a list or an object is compared as a whole. It copies the words of the frame, which say all but what a
// text is, and keeps references to texts, which cannot change. Bytes are made of them at the flush.

import { frames, isListOrMap, planFor, digest } from "../fast/accessors.ts";
import type { FastPath, FastPaths } from "../fast/fast-paths.ts";
import { MISSING as MISSING_BYTE, BOOL, BROKEN as BROKEN_BYTE, LIST, END, NULL as NULL_BYTE } from "../fast/stored-values.ts";
import { ValueWriter } from "../fast/stored-writer.ts";
import type { WireSlot } from "../fast/wire-paths.ts";
import type { Fields } from "../base/plain.ts";
import type { ActionRequest, CheckRequest } from "../pdp/request-types.ts";

/** What is kept of the fast path of a bundle: how its slots are written. */
export class EvidencePath {
  readonly id: number;
  readonly roles: FastPath["roles"];
  readonly slots: readonly EvidenceSlot[];

  constructor(fastPath: FastPath) {
    this.id = fastPath.id;
    this.roles = fastPath.roles;
    this.slots = fastPath.slots.map((slot, at) => new EvidenceSlot(slot, fastPath.times.includes(at)));
  }
}

class EvidenceSlot {
  readonly source: number;
  readonly path: readonly string[];
  /** The first and only name of most paths; empty if there are other names. */
  readonly name: string;
  /** True if the slot holds the time, which the record has. */
  readonly isTime: boolean;
  readonly isTest: boolean;
  /** True if a program may read a list or an object. Other hosts leave one to the general path where no program does. */
  readonly wantsValue: boolean;
  /** The texts of the words that stand for constants. */
  readonly constants: ReadonlyMap<number, string>;

  constructor({ root, path, test, uses, constants }: WireSlot, isTime: boolean) {
    this.source = SOURCES.indexOf(root);
    this.path = path;
    this.name = path.length === 1 ? path[0]! : "";
    this.isTime = isTime;
    this.isTest = test !== undefined;
    this.wantsValue = (uses & USES_VALUE) !== 0;
    this.constants = new Map(constants.map(([text, word]) => [word, text]));
  }
}

/** The evidence of the entries of a log, in cells. */
export class EvidenceBuffer {
  /** The cells of an entry: its path, the principal if it has policies of its own, each role, each slot. */
  readonly #references: unknown[];
  readonly #words: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #maxBytes: number;
  #used = 0;
  /** The bytes of requests that wait. */
  #bytes = 0;
  /** The most bytes of the parts of the record at hand. */
  #ofRecord = 0;
  readonly #scratch = new Uint8Array(MAX_EVIDENCE_BYTES);

  constructor(capacity: number) {
    const cells = capacity * CELLS_OF_AN_ENTRY;
    this.#references = new Array<unknown>(cells).fill(undefined);
    this.#words = new Uint32Array(cells);
    this.#numbers = new Float64Array(cells);
    this.#maxBytes = capacity * BYTES_OF_AN_ENTRY;
  }

  /** Begins the evidence of a decision. */
  begin(): void {
    this.#ofRecord = 0;
  }

  /** Forgets all. */
  clear(): void {
    this.#references.fill(undefined, 0, this.#used);
    this.#used = this.#bytes = this.#ofRecord = 0;
  }

  /**
   * Keeps what a fast path has just read of a request, whose words are in the frame. Returns the first cell; -1 if a part of an
   * evidence has no room for it.
   */
  read(frame: FastPaths["frame"], path: EvidencePath, own: string | undefined, request: ActionRequest): number {
    const references = this.#references;
    const words = this.#words;
    const numbers = this.#numbers;
    const start = this.#used;
    const { roles } = request.principal;
    const { slots } = path;
    if (start + 2 + roles.length + slots.length > references.length) return -1;
    // The bytes without texts, and the code units of texts.
    let size = 11;
    let units = own === undefined ? 0 : own.length;
    references[start] = path;
    references[start + 1] = own;
    words[start] = roles.length;
    let at = start + 2;
    for (let index = 0; index < roles.length; index += 1) {
      const role = roles[index]!;
      const isListed = lists(path.roles, role);
      references[at] = role;
      words[at] = +isListed;
      size += isListed ? 5 : 1;
      units += isListed ? role.length : 0;
      at += 1;
    }
    for (let index = 0; index < slots.length; index += 1) {
      const slot = slots[index]!;
      let word = frame.words[index]!;
      // The result of a test of no value is that of an error.
      if (slot.isTime || (slot.isTest && word === BROKEN)) word = MISSING;
      words[at] = word;
      if (word === NUMBER) numbers[at] = frame.numbers[index]!;
      else if (word >= TEMPORARY) {
        const text = referenceOf(slot, request);
        if (typeof text !== "string") return this.#without(start, at);
        references[at] = text;
        units += text.length;
      } else if (word === VALUE) {
        const bytes = this.#valueOf(slot, request);
        if (bytes === undefined) return this.#without(start, at);
        references[at] = bytes;
        size += bytes.length;
      } else if (word > VALUE) units += slot.constants.get(word)!.length;
      size += 9;
      at += 1;
    }
    // A code unit takes at most three bytes.
    if (size + 3 * units > MAX_PART_BYTES && this.#exact(start, at, size) > MAX_PART_BYTES) return this.#without(start, at);
    this.#ofRecord += size + 3 * units;
    if (this.#ofRecord > MAX_EVIDENCE_BYTES) return this.#without(start, at);
    this.#used = at;
    return start;
  }

  /** Keeps the bytes of a request. Returns their cell; -1 if there is no room. */
  put(bytes: Uint8Array): number {
    const start = this.#used;
    if (start >= this.#references.length || this.#bytes + bytes.length > this.#maxBytes) return -1;
    this.#references[start] = bytes;
    this.#bytes += bytes.length;
    this.#used = start + 1;
    return start;
  }

  /**
   * Returns a request about some actions as an evidence. One that is longer than an evidence has the members of its objects in the
   * order of their names, so that its digest tells it. Returns `undefined` if it is longer than 1 MiB, or has a value that JSON has not.
   */
  bytesOf(request: Omit<CheckRequest, "actions">, actions: readonly string[]): Uint8Array | undefined {
    const writer = new ValueWriter(this.#scratch);
    const bytes = bytesIn(writer, request, actions);
    return writer.isFull ? bytesIn(new ValueWriter(new Uint8Array(MAX_DIGESTED_BYTES), true), request, actions) : bytes;
  }

  /** Returns the request in a cell. */
  wholeAt(cell: number): Uint8Array {
    return this.#references[cell] as Uint8Array;
  }

  /** Writes the part of an outcome after its length. Returns false if it has a text without an encoding. */
  writePart(cell: number, writer: ValueWriter): boolean {
    const start = writer.at;
    if (!writer.short(0) || !this.#writePart(cell, writer)) return false;
    const length = writer.at - start - 2;
    writer.bytes[start] = length & 0xff;
    writer.bytes[start + 1] = length >>> 8;
    return true;
  }

  #writePart(cell: number, writer: ValueWriter): boolean {
    const references = this.#references;
    const path = references[cell] as EvidencePath;
    const own = references[cell + 1];
    if (!(own === undefined ? writer.byte(MISSING_BYTE) : writer.text(own)) || !writer.number(path.id >>> 0)) return false;
    if (path.id < 0) return true;
    const [from, count] = [cell + 2, this.#words[cell]!];
    if (!writer.byte(LIST)) return false;
    for (let at = from; at < from + count; at += 1) {
      if (!(this.#words[at] === 1 ? writer.text(references[at]) : writer.byte(MISSING_BYTE))) return false;
    }
    if (!writer.byte(END)) return false;
    const roles = references.slice(from, from + count);
    return path.slots.every((slot, index) => this.#writeSlot(slot, from + count + index, roles, writer));
  }

  #writeSlot({ constants }: EvidenceSlot, cell: number, roles: readonly unknown[], writer: ValueWriter): boolean {
    const word = this.#words[cell]!;
    switch (word) {
      case MISSING:
        return writer.byte(MISSING_BYTE);
      case BROKEN:
        return writer.byte(BROKEN_BYTE);
      case NULL:
        return writer.byte(NULL_BYTE);
      case FALSE:
      case TRUE:
        return writer.byte(BOOL) && writer.byte(word - FALSE);
      case NUMBER:
        return writer.double(this.#numbers[cell]!);
      case VALUE: {
        const bytes = this.#references[cell];
        return bytes === NO_BYTES ? writer.texts(roles) : writer.raw(bytes as Uint8Array);
      }
      default:
        return writer.text(word >= TEMPORARY ? this.#references[cell] : constants.get(word));
    }
  }

  /** Returns the bytes of a list or an object that a slot has, none for the roles; `undefined` if they are no part of an evidence. */
  #valueOf(slot: EvidenceSlot, request: ActionRequest): Uint8Array | undefined {
    if (!slot.wantsValue) return undefined;
    if (slot.source === ROLES) return NO_BYTES;
    const value = referenceOf(slot, request);
    const writer = new ValueWriter(this.#scratch);
    return isListOrMap(value) && writer.value(value) && writer.at <= MAX_PART_BYTES ? this.#scratch.slice(0, writer.at) : undefined;
  }

  /** Returns the bytes with those of the texts in some cells. */
  #exact(start: number, end: number, size: number): number {
    let bytes = size;
    const path = this.#references[start] as EvidencePath;
    const first = start + 2 + this.#words[start]!;
    for (let cell = start + 1; cell < end; cell += 1) {
      const word = this.#words[cell]!;
      const constant = cell >= first && word > VALUE && word < TEMPORARY ? path.slots[cell - first]!.constants.get(word) : undefined;
      const text = constant ?? this.#references[cell];
      const isText = cell === start + 1 || (cell < first ? word === 1 : word > VALUE);
      if (isText && typeof text === "string") bytes += lengthOf(text);
    }
    return bytes;
  }

  /** Forgets the cells of an entry. */
  #without(start: number, end: number): number {
    this.#references.fill(undefined, start, end + 1);
    return -1;
  }
}

/** Writes a request about some actions, and returns the bytes; `undefined` if there is no room, or a value is none of a request. */
function bytesIn(writer: ValueWriter, { principal, resource, auxData }: Omit<CheckRequest, "actions">, actions: readonly string[]): Uint8Array | undefined {
  const isWritten =
    writer.texts(actions) &&
    writer.text(principal.id) && writer.text(principal.policyVersion ?? "") && writer.text(principal.scope ?? "") &&
    writer.texts(principal.roles) && writer.map(principal.attr) &&
    writer.text(resource.kind) && writer.text(resource.policyVersion ?? "") && writer.text(resource.id) && writer.text(resource.scope ?? "") &&
    writer.map(resource.attr) && writer.map(auxData?.jwt) && writer.map(auxData?.jwts);
  return isWritten ? writer.bytes.slice(0, writer.at) : undefined;
}

/** Returns the fast path that decides a request; `null` if it is none that has decided. */
export function pathOf(fastPaths: FastPaths, { principal, resource: { kind, scope, policyVersion }, action }: ActionRequest, own: string | undefined): FastPath | null {
  const all = fastPaths.kindsOf(policyVersion, scope);
  if (all === null) return null;
  const kinds = own === undefined ? all : all.own(principal.id);
  const place = digest(kind) & kinds.mask;
  const list = kinds.names[place] === kind ? kinds.lists[place]! : kinds.miss(fastPaths, kind);
  return list === null ? null : planFor(list, action);
}

/** Returns true if a fast path tells a role from others. */
function lists({ lengths, names, map }: FastPath["roles"], role: string): boolean {
  if (!((lengths >>> (role.length & 31)) & 1)) return false;
  if (map !== null) return map.has(role);
  for (let at = 0; at < names.length; at += 1) if (role === names[at]) return true;
  return false;
}

/** Returns the value that a slot reads. */
function referenceOf({ source, name, path }: EvidenceSlot, { principal, resource, auxData }: ActionRequest): unknown {
  let value: unknown;
  switch (source) {
    case 0:
      value = resource.attr;
      break;
    case 1:
      value = principal.attr;
      break;
    case 2:
      return principal.id;
    case 3:
      return resource.id;
    case 4:
      return resource.kind;
    case 6:
      value = auxData?.jwt;
      break;
    case 7:
      value = auxData?.jwts;
      break;
    default:
      return undefined;
  }
  if (name !== "") return (value as Fields | undefined)?.[name];
  for (let at = 0; at < path.length; at += 1) value = (value as Fields | undefined)?.[path[at]!];
  return value;
}

/** Returns the number of bytes of a text. */
function lengthOf(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Of a surrogate pair each unit counts for two of the four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  return bytes;
}

const { BROKEN, FALSE, MISSING, NULL, NUMBER, TEMPORARY, TRUE, USES_VALUE, VALUE } = frames;
/** The roots of slots, by their numbers in `referenceOf`. */
const SOURCES: readonly string[] = ["resource.attr", "principal.attr", "principal.id", "resource.id", "resource.kind", "principal.roles", "auxData.jwt", "auxData.jwts"];
const ROLES = SOURCES.indexOf("principal.roles");
const NO_BYTES = new Uint8Array();
/** The bounds of the format. */
const MAX_PART_BYTES = 512;
export const MAX_EVIDENCE_BYTES = 16 * 1024;
/** The most bytes of a request of which a record has the digest. */
const MAX_DIGESTED_BYTES = 2 ** 20;
/** The room for an entry on average. */
const CELLS_OF_AN_ENTRY = 8;
const BYTES_OF_AN_ENTRY = 512;
