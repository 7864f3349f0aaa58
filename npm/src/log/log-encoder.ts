// Makes records of the entries of a log, and frames of the records.
//
// The records are written in the one way of `docs/DECISION-LOG.md`; the module refuses others when it makes the frame.

import { ALLOWED, CONTINUES, LIMITED } from "../pdp/recording.ts";
import type { LogInstance } from "./log-abi.ts";
import { DIGEST, LEFT_OUT, NO_EVIDENCE, READ, REFERENCES, REQUEST, SEARCH, type LogBuffer, type PoliciesInForce } from "./log-buffer.ts";
import { MAX_EVIDENCE_BYTES } from "./log-evidence.ts";
import { ValueWriter } from "../fast/stored-writer.ts";
import type { IdForm } from "./log-types.ts";

/** What the records of a log say of itself. */
export interface EncoderSettings {
  readonly stream: number;
  /** True if decisions have evidence. */
  readonly hasEvidence: boolean;
  readonly principal: IdForm;
  readonly resource: IdForm;
  /** The key of pseudonyms, 32 bytes. */
  readonly key: Uint8Array | undefined;
  /** The settings, as a record has them. */
  readonly text: string;
  /** True if each frame can be read alone. */
  readonly isIndependent: boolean;
}

export class LogEncoder {
  readonly #settings: EncoderSettings;
  /** The bytes of the longest record. */
  readonly #mostBytes: number;
  readonly #instance: () => LogInstance;
  readonly #bytes = new Uint8Array(MAX_FRAME_BYTES - HEAD_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  /** The start of the record that is written, the end of what was written, and the number of records before. */
  #start = 0;
  #at = 0;
  #records = 0;
  /** The place of the next frame: the number of its first record, and the digest of the head before. */
  #first = 0;
  #before: Uint8Array = new Uint8Array(32);
  /** The sequences of the next records: of the log itself, and of decisions. */
  #ownSequence = 0;
  #sequence = 0;
  readonly #targets = new Map<string, number>();
  #targetsGiven = 0;
  readonly #pseudonyms = new Map<string, Uint8Array>();
  #frames: Uint8Array<ArrayBuffer>[] = [];
  /** The numbers of the targets of the decision that is written. */
  readonly #outcomes: number[] = [];
  #hasBegun = false;
  /** The random number of the log. */
  #number: Uint8Array = new Uint8Array(16);
  /** Of independent frames: the policies by their numbers, those that the frame has, and the time of its first record. */
  readonly #policiesKnown = new Map<number, PoliciesInForce>();
  readonly #policiesHere = new Set<number>();
  #lastTime = -Infinity;

  constructor(settings: EncoderSettings, instance: () => LogInstance) {
    this.#settings = settings;
    this.#instance = instance;
    this.#mostBytes = MAX_RECORD_BYTES + (settings.hasEvidence ? 2 + MAX_EVIDENCE_BYTES : 0);
  }

  /** Returns the frames of all entries, and empties the buffer, or throws and changes nothing. `now` is in milliseconds since 1970. */
  drain(buffer: LogBuffer, now: number): Uint8Array<ArrayBuffer>[] {
    const [first, before, ownSequence, sequence, hasBegun, number, lastTime] = [this.#first, this.#before, this.#ownSequence, this.#sequence, this.#hasBegun, this.#number, this.#lastTime];
    try {
      return this.#drain(buffer, now);
    } catch (thrown) {
      // Nothing was handed out, so the next call writes the same records.
      [this.#first, this.#before, this.#ownSequence, this.#sequence, this.#hasBegun, this.#number, this.#lastTime] = [first, before, ownSequence, sequence, hasBegun, number, lastTime];
      this.#at = this.#records = 0;
      this.#forgetNames();
      throw thrown;
    }
  }

  #drain(buffer: LogBuffer, now: number): Uint8Array<ArrayBuffer>[] {
    this.#frames = [];
    const { undefinedPolicies, count, lost } = buffer;
    if (this.#settings.isIndependent) {
      for (const policies of undefinedPolicies) this.#know(policies);
    } else {
      if (!this.#hasBegun) this.#begin(undefinedPolicies[0]?.time ?? now);
      for (const policies of undefinedPolicies) this.#policies(policies);
    }
    for (let at = 0; at < count; ) at = buffer.outcomes[at] === SEARCH ? this.#search(buffer, at) : this.#decision(buffer, at);
    if (lost > 0) this.#lost(lost, now);
    this.#seal();
    buffer.undefinedPolicies = [];
    buffer.clear();
    return this.#frames;
  }

  #begin(time: number): void {
    this.#number = crypto.getRandomValues(new Uint8Array(16));
    this.#started(time, "");
    this.#settingsOf(time);
    this.#hasBegun = true;
  }

  #started(time: number, version: string): void {
    this.#open(6, 0);
    this.#time(time);
    this.#byte(0);
    this.#raw(this.#number);
    this.#text(version, MAX_TEXT_BYTES);
    this.#close();
  }

  #settingsOf(time: number): void {
    this.#open(8, 0);
    this.#time(time);
    this.#text(this.#settings.text, MAX_TEXT_BYTES);
    this.#close();
  }

  /** Remembers policies, of which the oldest ones go. */
  #know(policies: PoliciesInForce): void {
    this.#policiesKnown.set(policies.number, policies);
    const [oldest] = this.#policiesKnown.keys();
    if (this.#policiesKnown.size > MAX_POLICIES) this.#policiesKnown.delete(oldest!);
  }

  #forgetNames(): void {
    this.#targets.clear();
    this.#policiesHere.clear();
  }

  /** Begins an independent frame, if none is begun, and defines policies there. */
  #introduce(time: number, policies: number | undefined): void {
    if (this.#records === 0) {
      // A sequencer forgets those of whom it hears nothing for a day.
      if (time - this.#lastTime > QUIET_MILLIS || this.#sequence > MAX_SEQUENCE) {
        [this.#number, this.#sequence, this.#hasBegun] = [crypto.getRandomValues(new Uint8Array(16)), 0, false];
      }
      this.#lastTime = time;
      this.#started(time, INDEPENDENT);
      if (!this.#hasBegun) this.#settingsOf(time);
      this.#hasBegun = true;
    }
    const known = policies === undefined || this.#policiesHere.has(policies) ? undefined : this.#policiesKnown.get(policies);
    if (known === undefined) return;
    this.#policies(known);
    this.#policiesHere.add(known.number);
  }

  /** Returns the end of the entries, from a position on, that a record in the frame has room for, with all their names. */
  #fitting(buffer: LogBuffer, from: number, end: number): number {
    let room = this.#bytes.length - this.#at - this.#mostBytes - (this.#records === 0 ? INTRODUCTION_BYTES : 0) - MAX_TEXT_BYTES - TARGET_BYTES;
    let records = this.#records + 4;
    let to = from;
    while (to < end && records < MAX_FRAME_RECORDS) {
      const isKnown = this.#targets.has(nameOf(buffer, to));
      room -= isKnown ? 0 : targetBytes(buffer, to);
      records += 1;
      if (room < 0) break;
      to += 1;
    }
    return to;
  }

  /** Returns as `#fitting`, after it ended the frame if it has too little room, and began another one. */
  #place(buffer: LogBuffer, from: number, end: number): number {
    let to = this.#fitting(buffer, from, end);
    if (to < end && this.#records > 0) {
      this.#seal();
      to = this.#fitting(buffer, from, end);
    }
    this.#introduce(buffer.times[from]!, buffer.policies[from]!);
    return to;
  }

  #policies({ number, header, time }: PoliciesInForce): void {
    this.#open(2, 0);
    this.#time(time);
    this.#word(number);
    this.#long(header.revision);
    this.#raw(bytesOfHex(header.content));
    this.#text(header.name, MAX_TEXT_BYTES);
    this.#close();
  }

  /** Returns the number of a target, which it defines if it is new. */
  #target(buffer: LogBuffer, at: number): number {
    const policies = buffer.policies[at]!;
    const name = nameOf(buffer, at);
    const known = this.#targets.get(name);
    if (known !== undefined) return known;
    // Whoever asks about ever new kinds makes the log longer, but not this memory.
    if (this.#targets.size >= MAX_TARGETS) this.#targets.clear();
    const number = this.#targetsGiven;
    this.#targetsGiven = (number + 1) % 2 ** 30;
    this.#targets.set(name, number);
    this.#open(3, 0);
    this.#word(policies);
    this.#word(number);
    for (const text of namesOf(buffer, at)) this.#text(text, MAX_TEXT_BYTES);
    this.#close();
    return number;
  }

  /** Writes the decision of the entries from a position on, and returns the position behind them. */
  #decision(buffer: LogBuffer, first: number): number {
    let end = first + 1;
    while (end < buffer.count && buffer.outcomes[end]! & CONTINUES) end += 1;
    for (let from = first; from < end; ) {
      // Where names are so long that no frame has room for all, the decision has several records.
      const to = this.#settings.isIndependent ? this.#place(buffer, from, end) : end;
      this.#outcomesOf(buffer, first, from, to);
      from = to;
    }
    return end;
  }

  /** Writes a record with some outcomes of the decision that begins at `first`. */
  #outcomesOf(buffer: LogBuffer, first: number, from: number, to: number): void {
    const { references, outcomes } = buffer;
    const numbers = this.#outcomes;
    numbers.length = 0;
    for (let at = from; at < to; at += 1) numbers.push(this.#target(buffer, at) * 4 + (outcomes[at]! & (ALLOWED | LIMITED)));
    const start = this.#open(1, this.#settings.stream);
    this.#time(buffer.times[first]!);
    this.#word(buffer.policies[first]!);
    this.#byte(numbers.length);
    for (const number of numbers) this.#word(number);
    const given = first * REFERENCES;
    const requestId = references[given + 6];
    let isCut = this.#id(1, this.#settings.principal, references[given + 5]);
    isCut = this.#id(2, this.#settings.resource, references[given + 4]) || isCut;
    if (requestId !== undefined) isCut = this.#text(textOf(requestId), MAX_TEXT_BYTES) || isCut;
    const form = buffer.evidence === undefined ? NO_EVIDENCE : this.#evidence(buffer, first, from, to);
    isCut = isCut || form === LEFT_OUT;
    this.#bytes[start + 1] = (requestId === undefined ? 0 : HAS_REQUEST) | (isCut ? IS_CUT : 0) | (form === LEFT_OUT ? 0 : form << 4);
    this.#close();
  }

  /** Writes the evidence of some outcomes of the decision that begins at `first`, and returns its form. */
  #evidence({ forms, cells, outcomes, count, evidence }: LogBuffer, first: number, from: number, to: number): number {
    let form = forms[from]!;
    for (let at = from + 1; at < to && form === READ; at += 1) form = forms[at]!;
    const writer = new ValueWriter(this.#bytes.subarray(this.#at + 2, this.#at + 2 + MAX_EVIDENCE_BYTES));
    let isWritten = true;
    if (form === READ) for (let at = from; at < to && isWritten; at += 1) isWritten = evidence!.writePart(cells[at]!, writer);
    else {
      // An action that no fast path has decided brings the request, for all.
      let at = first;
      while (forms[at] === READ && at + 1 < count && outcomes[at + 1]! & CONTINUES) at += 1;
      form = forms[at]!;
      if (form === DIGEST) this.#raw(this.#instance().digest(evidence!.wholeAt(cells[at]!)));
      if (form !== REQUEST) return form;
      isWritten = writer.raw(evidence!.wholeAt(cells[at]!));
    }
    if (!isWritten) return LEFT_OUT;
    this.#short(writer.at);
    this.#at += writer.at;
    return form;
  }

  #search(buffer: LogBuffer, at: number): number {
    if (this.#settings.isIndependent) this.#place(buffer, at, at + 1);
    const target = this.#target(buffer, at);
    this.#open(9, this.#settings.stream);
    this.#time(buffer.times[at]!);
    this.#word(buffer.policies[at]!);
    this.#word(target);
    this.#long(buffer.asked[at]!);
    this.#long(buffer.allowed[at]!);
    this.#close();
    return at + 1;
  }

  #lost(count: number, now: number): void {
    if (this.#settings.isIndependent) {
      if (this.#at + 2 * this.#mostBytes > this.#bytes.length || this.#records + 4 > MAX_FRAME_RECORDS) this.#seal();
      this.#introduce(now, undefined);
    }
    this.#open(4, 0);
    this.#time(now);
    this.#short(this.#settings.stream);
    this.#word(this.#sequence);
    this.#long(count);
    this.#text("full", MAX_TEXT_BYTES);
    this.#close();
    this.#sequence = (this.#sequence + count) % 2 ** 32;
  }

  /** Writes an id, and returns true if it was cut. */
  #id(field: number, form: IdForm, given: unknown): boolean {
    const id = textOf(given);
    switch (form) {
      case "absent":
        this.#byte(0);
        return false;
      case "pseudonym":
        this.#byte(2);
        this.#raw(this.#pseudonym(field, id));
        return false;
      case "clear":
        this.#byte(1);
        return this.#text(id, MAX_TEXT_BYTES);
    }
  }

  #pseudonym(field: number, id: string): Uint8Array {
    const name = `${field}${id}`;
    const known = this.#pseudonyms.get(name);
    if (known !== undefined) return known;
    if (this.#pseudonyms.size >= MAX_PSEUDONYMS) this.#pseudonyms.clear();
    const pseudonym = this.#instance().pseudonym(this.#settings.key!, field, encoder.encode(id).subarray(0, MAX_PSEUDONYM_BYTES));
    this.#pseudonyms.set(name, pseudonym);
    return pseudonym;
  }

  /** Begins a record, in a frame that has room for the longest one, and returns its position. */
  #open(kind: number, stream: number): number {
    if (this.#at + this.#mostBytes > this.#bytes.length || this.#records === MAX_FRAME_RECORDS) this.#seal();
    const start = this.#at;
    this.#start = start;
    this.#byte(kind);
    this.#byte(0);
    this.#short(0);
    this.#short(stream);
    this.#short(0);
    if (stream === 0) {
      this.#word(this.#ownSequence);
      this.#ownSequence = (this.#ownSequence + 1) % 2 ** 32;
    } else {
      this.#word(this.#sequence);
      this.#sequence = (this.#sequence + 1) % 2 ** 32;
    }
    return start;
  }
  #close(): void {
    this.#view.setUint16(this.#start + 2, this.#at - this.#start, true);
    this.#records += 1;
  }

  /** Makes a frame of the records so far. */
  #seal(): void {
    if (this.#records === 0) return;
    const written = this.#instance().write(this.#before, this.#first, this.#bytes.subarray(0, this.#at), 0);
    this.#before = written.slice(0, 32);
    this.#frames.push(written.slice(32));
    this.#first += this.#records;
    this.#at = this.#records = 0;
    if (this.#settings.isIndependent) this.#forgetNames();
  }

  #byte(byte: number): void {
    this.#bytes[this.#at] = byte;
    this.#at += 1;
  }

  #short(number: number): void {
    this.#view.setUint16(this.#at, number, true);
    this.#at += 2;
  }

  #word(number: number): void {
    this.#view.setUint32(this.#at, number, true);
    this.#at += 4;
  }

  #long(number: number): void {
    this.#view.setUint32(this.#at, number % 2 ** 32, true);
    this.#view.setInt32(this.#at + 4, Math.floor(number / 2 ** 32), true);
    this.#at += 8;
  }

  /** Writes a time in microseconds. One that is none is 1970. */
  #time(millis: number): void {
    const micros = Math.round(millis * 1000);
    this.#long(Number.isSafeInteger(micros) ? micros : 0);
  }

  #raw(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Writes a text after its length, and returns true if it was cut. */
  #text(text: string, most: number): boolean {
    const bytes = this.#bytes;
    const from = this.#at + 2;
    let written = 0;
    if (text.length <= SHORT) {
      // For short texts a call of the encoder takes longer than all of this.
      for (; written < text.length; written += 1) {
        const unit = text.charCodeAt(written);
        if (unit > 0x7f) break;
        bytes[from + written] = unit;
      }
    }
    let read = written;
    if (written < text.length || text.length > SHORT) ({ read, written } = encoder.encodeInto(text, bytes.subarray(from, from + most)));
    this.#short(written);
    this.#at = from + written;
    return read < text.length;
  }
}

/** Returns the names of a target. */
function namesOf(buffer: LogBuffer, at: number): readonly string[] {
  return [0, 1, 2, 3].map((index) => textOf(buffer.references[at * REFERENCES + index]));
}

/** Returns a text that no other target has. */
function nameOf(buffer: LogBuffer, at: number): string {
  const [kind, version, scope, action] = namesOf(buffer, at) as [string, string, string, string];
  return `${buffer.policies[at]!} ${kind.length} ${version.length} ${scope.length} ${kind}${version}${scope}${action}`;
}

/** Returns no less than the bytes of the record of a target. */
function targetBytes(buffer: LogBuffer, at: number): number {
  return namesOf(buffer, at).reduce((bytes, name) => bytes + Math.min(3 * name.length, MAX_TEXT_BYTES), TARGET_BYTES);
}

function textOf(given: unknown): string {
  return typeof given === "string" ? given : "";
}

function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** A queue of Cloudflare takes 128 KB for a message. */
const MAX_FRAME_BYTES = 96 * 1024;
const HEAD_BYTES = 128;
const MAX_FRAME_RECORDS = 4096;
const MAX_TEXT_BYTES = 1024;
/** The longest record without evidence: four texts, or a decision about 255 actions with three ids. */
const MAX_RECORD_BYTES = 4 * (MAX_TEXT_BYTES + 2) + 64;
/** The module has no more room for an id. */
const MAX_PSEUDONYM_BYTES = 2 ** 20;
const MAX_TARGETS = 65_536;
/** What begins an independent frame, the mirror of `FORM` in `crates/decision-log/src/sequencer/part.rs`. */
const INDEPENDENT = "independent frames 1";
/** The most bytes of the records of process and settings, and of what the record of a target has beside its names. */
const INTRODUCTION_BYTES = 64 + 64 + MAX_TEXT_BYTES;
const TARGET_BYTES = 64;
/** The policies that independent frames can define: those of decisions that wait. */
const MAX_POLICIES = 64;
/** The time after which independent frames are of another log: a sequencer remembers twice as long. */
const QUIET_MILLIS = 12 * 3_600_000;
const MAX_SEQUENCE = 2 ** 31;
const MAX_PSEUDONYMS = 16_384;
const [HAS_REQUEST, IS_CUT] = [4, 8];
const SHORT = 32;
const encoder = new TextEncoder();
