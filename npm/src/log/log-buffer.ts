// The decisions that wait for a flush: references and numbers in arrays that are made once.
//
// Law: `put` allocates nothing, makes no text and no record. The strings of a request cannot change, so references
// suffice.

import type { FastPath, FastPaths } from "../fast/fast-paths.ts";
import type { DecisionWriter } from "../pdp/recording.ts";
import type { BundleHeader } from "../pdp/header.ts";
import type { ActionRequest, CheckRequest } from "../pdp/request-types.ts";
import { MAX_EVIDENCE_BYTES, EvidenceBuffer, EvidencePath, pathOf } from "./log-evidence.ts";

/** Policies that came into force. */
export interface PoliciesInForce {
  readonly number: number;
  readonly header: BundleHeader;
  /** The time in milliseconds since 1970. */
  readonly time: number;
}

/** The entries of a log, in their order. */
export class LogBuffer {
  readonly capacity: number;
  readonly denies: boolean;
  /** The number of entries. */
  count = 0;
  /** The number of decisions and searches among them, and of those after them that found no room. */
  records = 0;
  lost = 0;
  /** The references of each entry: see `REFERENCES`. */
  readonly references: unknown[];
  /** The time of each entry in milliseconds since 1970, and the number of its policies. */
  readonly times: Float64Array;
  readonly policies: Uint32Array;
  /** The outcome of each entry, or `SEARCH`. */
  readonly outcomes: Uint8Array;
  /** Of a search, how many were asked, and how many are allowed. */
  readonly asked: Uint32Array;
  readonly allowed: Uint32Array;
  /** The evidence of each entry: `NO_EVIDENCE`, `LEFT_OUT`, or the form and the cell. */
  readonly forms: Uint8Array;
  readonly cells: Uint32Array;
  /** `undefined` if decisions have no evidence. */
  readonly evidence: EvidenceBuffer | undefined;
  /** Policies for which no record was written. */
  undefinedPolicies: PoliciesInForce[] = [];
  #policiesGiven = 0;
  /** Called with the first entry, and with the one that fills half of the room. */
  readonly #wake: (isHalfFull: boolean) => void;

  constructor(capacity: number, denies: boolean, hasEvidence: boolean, wake: (isHalfFull: boolean) => void) {
    this.capacity = capacity;
    this.denies = denies;
    this.#wake = wake;
    this.references = new Array<unknown>(capacity * REFERENCES).fill(undefined);
    this.times = new Float64Array(capacity);
    this.policies = new Uint32Array(capacity);
    this.outcomes = new Uint8Array(capacity);
    this.asked = new Uint32Array(capacity);
    this.allowed = new Uint32Array(capacity);
    this.forms = new Uint8Array(hasEvidence ? capacity : 0);
    this.cells = new Uint32Array(hasEvidence ? capacity : 0);
    this.evidence = hasEvidence ? new EvidenceBuffer(capacity) : undefined;
  }

  /** Returns the next number of policies. */
  givePolicies(): number {
    this.#policiesGiven += 1;
    return this.#policiesGiven;
  }

  wake(): void {
    this.#wake(this.count > 1);
  }

  /** Forgets the entries. */
  clear(): void {
    this.references.fill(undefined, 0, this.count * REFERENCES);
    this.forms.fill(NO_EVIDENCE, 0, this.count + 1);
    this.evidence?.clear();
    this.count = this.records = this.lost = 0;
  }
}

/** Writes the decisions of one PDP. */
export class BufferWriter implements DecisionWriter {
  readonly #buffer: LogBuffer;
  readonly #clock: () => number;
  #policies = 0;
  /** False if the decision found no room. */
  #hasRoom = false;
  #time = 0;
  /** The number of entries for which the time counts. */
  #timed = 0;
  /** The fast paths of the policies in force, by their numbers; the one that denies what no policy is about has number -1. */
  #paths: EvidencePath[] = [];
  #denying: EvidencePath | undefined;
  #last: LastTarget = NO_TARGET;
  /** True while the end of this turn is to forget the time. */
  #isForgetting = false;
  readonly #forgetTime = (): void => {
    this.#timed = 0;
    this.#isForgetting = false;
  };

  constructor(buffer: LogBuffer, clock: () => number) {
    this.#buffer = buffer;
    this.#clock = clock;
  }

  get hasEvidence(): boolean {
    return this.#buffer.evidence !== undefined;
  }

  begin(header: BundleHeader): void {
    this.#paths = [];
    this.#last = NO_TARGET;
    const number = this.#buffer.givePolicies();
    this.#policies = number;
    this.#buffer.undefinedPolicies.push({ number, header, time: this.#clock() });
  }

  tick(time?: number): void {
    if (time !== undefined) {
      [this.#time, this.#timed] = [time, 0];
    } else if (this.#timed <= 1) this.#readTime();
    else this.#timed -= 1;
  }

  time(): number {
    return this.#timed > 0 ? this.#time : Math.floor(this.#clock());
  }

  read(fastPaths: FastPaths, request: ActionRequest): boolean {
    const buffer = this.#buffer;
    // Without room there is no entry to which it would belong.
    if (!this.#hasRoom) return true;
    const { id } = request.principal;
    const own = fastPaths.hasPrincipals && fastPaths.principals.has(id) ? id : undefined;
    const path = this.#pathOf(fastPaths, request, own);
    const { frame } = fastPaths;
    if (path === null || frame.words.length === 0) return false;
    const cell = buffer.evidence!.read(frame, path, own, request);
    if (cell < 0) return false;
    buffer.forms[buffer.count] = READ;
    buffer.cells[buffer.count] = cell;
    return true;
  }

  /** Returns the path that has decided a request; most are about the target of the one before. */
  #pathOf(fastPaths: FastPaths, request: ActionRequest, own: string | undefined): EvidencePath | null {
    const { action, resource: { kind, scope, policyVersion } } = request;
    const last = this.#last;
    if (own === undefined && last.kind === kind && last.action === action && last.scope === scope && last.version === policyVersion) return last.path;
    const fastPath = pathOf(fastPaths, request, own);
    if (fastPath === null) return null;
    const path = this.#path(fastPath);
    if (own === undefined) this.#last = { kind, action, scope, version: policyVersion, path };
    return path;
  }

  bytesOf(request: Omit<CheckRequest, "actions">, actions: readonly string[]): Uint8Array | undefined {
    return this.#buffer.evidence!.bytesOf(request, actions);
  }

  whole(bytes: Uint8Array | undefined): void {
    if (!this.#hasRoom) return;
    const { evidence, forms, cells, count } = this.#buffer;
    const cell = bytes === undefined ? -1 : evidence!.put(bytes);
    forms[count] = cell < 0 ? LEFT_OUT : bytes!.length > MAX_EVIDENCE_BYTES ? DIGEST : REQUEST;
    if (cell >= 0) cells[count] = cell;
  }

  #path(fastPath: FastPath): EvidencePath {
    if (fastPath.id < 0) return (this.#denying ??= new EvidencePath(fastPath));
    return (this.#paths[fastPath.id] ??= new EvidencePath(fastPath));
  }

  reserve(entries: number): boolean {
    const buffer = this.#buffer;
    buffer.evidence?.begin();
    if (buffer.lost === 0 && buffer.count + entries <= buffer.capacity) {
      buffer.records += 1;
      return (this.#hasRoom = true);
    }
    buffer.lost += 1;
    this.#hasRoom = false;
    return !buffer.denies;
  }

  put(kind: string, version: string | undefined, scope: string | undefined, action: string, id: string, principal: string, requestId: string | undefined, outcome: number): void {
    if (!this.#hasRoom) return;
    const { references, count } = this.#buffer;
    const at = count * REFERENCES;
    references[at] = kind;
    references[at + 1] = version;
    references[at + 2] = scope;
    references[at + 3] = action;
    references[at + 4] = id;
    references[at + 5] = principal;
    references[at + 6] = requestId;
    this.#finish(count, outcome);
  }

  search(kind: string, version: string | undefined, scope: string | undefined, action: string, asked: number, allowed: number): void {
    if (!this.#hasRoom) return;
    const { count } = this.#buffer;
    this.#buffer.asked[count] = asked;
    this.#buffer.allowed[count] = allowed;
    this.put(kind, version, scope, action, "", "", undefined, SEARCH);
  }

  #finish(count: number, outcome: number): void {
    const buffer = this.#buffer;
    // A clock takes longer than all else: in one turn of the event loop, it is read once for some decisions. With evidence it was
    // read before the decision, which has this time.
    if (buffer.evidence === undefined) {
      if (this.#timed === 0) this.#readTime();
      this.#timed -= 1;
    }
    buffer.times[count] = this.#time;
    buffer.policies[count] = this.#policies;
    buffer.outcomes[count] = outcome;
    buffer.count = count + 1;
    if (count === 0 || count === buffer.capacity >>> 1) buffer.wake();
  }

  #readTime(): void {
    // Conditions read whole milliseconds.
    this.#time = this.hasEvidence ? Math.floor(this.#clock()) : this.#clock();
    this.#timed = DECISIONS_OF_A_TIME;
    if (this.#isForgetting) return;
    this.#isForgetting = true;
    queueMicrotask(this.#forgetTime);
  }
}

/** The target of the last evidence, and its path. */
interface LastTarget {
  readonly kind: string;
  readonly action: string;
  readonly scope: string | undefined;
  readonly version: string | undefined;
  readonly path: EvidencePath | null;
}

const NO_TARGET: LastTarget = { kind: "", action: "", scope: undefined, version: undefined, path: null };

/** The references of an entry: kind, version, scope, action, ids of the resource, of the principal and of the request. */
export const REFERENCES = 7;
/** The outcome of a search. */
export const SEARCH = 8;
/** The evidence of an entry: none, what was read, the request, a request of which the record has the digest, left out. */
export const NO_EVIDENCE = 0;
export const READ = 1;
export const REQUEST = 2;
export const DIGEST = 3;
export const LEFT_OUT = 255;
const DECISIONS_OF_A_TIME = 64;
