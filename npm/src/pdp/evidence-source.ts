// The evidence of the decisions of a PDP, for its log.
//
// An action that the fast path decides has what it read as evidence; other decisions have their request. The prepared forms, `check` and
// what is like it decide in other ways than `isAllowed`, so for their evidence each action is decided once more on the fast path: evidence of
// another answer is never written.

import type { FastPaths } from "../fast/fast-paths.ts";
import { ALLOW, DENY } from "../wasm/frame.ts";
import type { Decision } from "./decision.ts";
import type { DecisionWriter } from "./recording.ts";
import type { ActionRequest, CheckRequest } from "./request-types.ts";

/** The request of a decision that is settled later, as evidence, and the time of the decision. */
export interface WholeEvidence {
  readonly time: number;
  readonly bytes: Uint8Array | undefined;
}

export class EvidenceSource {
  /** Decides on the fast path; `undefined` if a limiter makes the decisions. */
  readonly fast: ((request: ActionRequest) => number) | undefined;
  readonly #writer: DecisionWriter;
  readonly #fastPaths: FastPaths;

  constructor(writer: DecisionWriter, fastPaths: FastPaths, fast: ((request: ActionRequest) => number) | undefined) {
    this.#writer = writer;
    this.#fastPaths = fastPaths;
    this.fast = fast;
  }

  /** Begins a decision: sets the time that it reads and that its record has. */
  begin(): void {
    this.#writer.tick();
  }

  /** Writes the evidence of a decision on one action. `isInFrame` says that the frame has what its fast path has just read. */
  one(request: ActionRequest, isAllowed: boolean, isInFrame: boolean): void {
    if (isInFrame ? this.#writer.read(this.#fastPaths, request) : this.#again(request, isAllowed)) return;
    this.#writer.whole(this.#writer.bytesOf(request, [request.action]));
  }

  /** Returns the evidence of a decision that is settled later. */
  whole(request: CheckRequest, decision: Decision): WholeEvidence {
    return { time: this.#writer.time(), bytes: this.#bytesOf(request, decision) };
  }

  /**
   * Returns a function that writes the evidence of each action, before the action is written. `isFirst` says that a record begins with it.
   */
  several(request: CheckRequest, decision: Decision, whole: WholeEvidence | undefined): (action: string, isAllowed: boolean, isFirst: boolean) => void {
    if (whole !== undefined) this.#writer.tick(whole.time);
    const { principal, resource, auxData } = request;
    let isRead = whole === undefined;
    let isWritten = false;
    return (action, isAllowed, isFirst) => {
      isWritten &&= !isFirst;
      isRead &&= this.#again({ principal, action, resource, auxData }, isAllowed);
      if (isRead || isWritten) return;
      this.#writer.whole(whole === undefined ? this.#bytesOf(request, decision) : whole.bytes);
      isWritten = true;
    };
  }

  /** Decides on the fast path, and writes what it read if the answer is the given one. */
  #again(request: ActionRequest, isAllowed: boolean): boolean {
    return this.fast?.(request) === (isAllowed ? ALLOW : DENY) && this.#writer.read(this.#fastPaths, request);
  }

  #bytesOf(request: CheckRequest, { actions }: Decision): Uint8Array | undefined {
    // At another time the steps may suffice.
    if (Object.values(actions).some(({ reason: { kind } }) => kind === "limit-reached")) return undefined;
    return this.#writer.bytesOf(request, Object.keys(actions));
  }
}
