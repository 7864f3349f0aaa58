// What a PDP hands to a decision log and to the listener of decisions.
//
// The log is in an entry of its own: the PDP knows it by the method of this symbol alone.

import type { Effect } from "./decision.ts";
import type { FastPaths } from "../fast/fast-paths.ts";
import type { BundleHeader } from "./header.ts";
import type { ActionRequest, CheckRequest } from "./request-types.ts";

/** The key of the method of a decision log that returns a {@link DecisionWriter}. It is not part of the public API. */
export const WRITER: unique symbol = Symbol.for("wardgate.decision-writer");

/** The key of the member of a listener that measures decisions: {@link DecisionTiming}. It is not part of the public API. */
export const TIMING: unique symbol = Symbol.for("wardgate.decision-timing");

/** The key of the member of a PDP with its fast paths, for whoever decides again what they have read. It is not part of the public API. */
export const FAST_PATHS: unique symbol = Symbol.for("wardgate.fast-paths");

/** A decision log: `decisionLog` of `wardgate/log` makes one. */
export interface DecisionLog {
  /**
   * Hands all decisions so far to the sink, as frames. Frames that the sink did not take are handed to it
   * again by the next call.
   *
   * @throws the error of the sink, and WardgateError as `load` of `wardgate/log` does.
   */
  flush(): Promise<void>;
  /** The number of decisions that wait for a flush. */
  readonly waiting: number;
  /** The number of decisions that were not recorded, since there was no room. A record tells of them too. */
  readonly lost: number;
  /** Returns the writer of a PDP that has this clock. */
  [WRITER](clock: () => number): DecisionWriter;
}

/** Writes the decisions of one PDP into a log. No method throws. */
export interface DecisionWriter {
  /** Puts policies into force, for the decisions that follow. */
  begin(header: BundleHeader): void;
  /**
   * Makes room for that many entries of one decision. Without room the decision is lost, which a record tells. Returns
   * false if it must be a denial then.
   */
  reserve(entries: number): boolean;
  /**
   * Writes one action of a decision, if there was room: the names of its target, the ids, and the outcome. `CONTINUES` is
   * part of the outcome for all actions but the first one.
   */
  put(kind: string, version: string | undefined, scope: string | undefined, action: string, id: string, principal: string, requestId: string | undefined, outcome: number): void;
  /** True if decisions have evidence. The methods below are for those alone. */
  readonly hasEvidence: boolean;
  /** Sets the time of the decision that follows: the one given, or that of the clock, in whole milliseconds. */
  tick(time?: number): void;
  /** Returns that time, which the decision reads; between decisions that of the clock. */
  time(): number;
  /**
   * Makes what the fast path has just read of a request the evidence of the next action that is written. Returns false
   * if it has no room in an evidence; then the request is the evidence.
   */
  read(fastPaths: FastPaths, request: ActionRequest): boolean;
  /** Returns a request about some actions as an evidence; `undefined` if it is too long, or has a value that JSON has not. */
  bytesOf(request: Omit<CheckRequest, "actions">, actions: readonly string[]): Uint8Array | undefined;
  /** Makes a request the evidence of the decision whose next action is written; `undefined` leaves it out, which the record says. */
  whole(bytes: Uint8Array | undefined): void;
  /** Writes a search, if there was room. */
  search(kind: string, version: string | undefined, scope: string | undefined, action: string, asked: number, allowed: number): void;
}

/** The outcome of an entry: `ALLOWED`, `LIMITED` or 0, and `CONTINUES` for a further action of the decision before. */
export const ALLOWED = 1;
export const LIMITED = 2;
export const CONTINUES = 4;

/** A decision, as the listener `onDecision` gets it: ids and names, and no attributes. */
export type Decided = DecidedAction | DecidedSearch;

/** One action was decided. */
export interface DecidedAction {
  readonly kind: "action";
  readonly principalId: string;
  readonly resourceKind: string;
  readonly resourceId: string;
  readonly action: string;
  readonly effect: Effect;
  readonly requestId: string | undefined;
}

/** A `filter` was asked about consecutive resources of one kind. */
export interface DecidedSearch {
  readonly kind: "search";
  readonly principalId: string;
  readonly resourceKind: string;
  readonly action: string;
  /** The number of resources, and of the allowed ones among them. */
  readonly asked: number;
  readonly allowed: number;
}

/** Gets each decision of a PDP. */
export type DecisionListener = (decided: Decided) => unknown;

/** Measures decisions, for a listener that has it as its member {@link TIMING}. */
export interface DecisionTiming {
  /** Returns the time at which a decision begins. */
  begin(): number;
  /** Ends a decision that began then, after the listener got its parts: it was about some resources, by policies of a revision. */
  end(begun: number, resources: number, revision: number): void;
}

/** Returns true for a decision log. */
export function isDecisionLog(value: unknown): value is DecisionLog {
  return typeof value === "object" && value !== null && typeof (value as Partial<DecisionLog>)[WRITER] === "function";
}
