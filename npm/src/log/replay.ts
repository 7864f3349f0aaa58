// Decides again what a log records: by the policies of then, or by others.
//
// Decides by the same fast paths and the same module as `open` does, at the time of each record. No error gives an
// answer: what the evidence does not tell is not decided, and the outcome says why.

import { partsOf, readPart, replayPart, replayPartWith, type Part } from "../fast/replay.ts";
import type { FastPaths } from "../fast/fast-paths.ts";
import type { Pdp } from "../pdp/types.ts";
import { FAST_PATHS } from "../pdp/recording.ts";
import type { DecisionRecord, Identity, LogRecord, RecordedOutcome, Segment, TargetRecord } from "./log-types.ts";
import type { ReplayBundles } from "./replay-bundles.ts";
import { recordedRequest, replayRequest } from "./replay-request.ts";
import type { Absence, ReplayedDecision, ReplayedOutcome } from "./replay-types.ts";

/** Returns the decisions of a segment with the answers that are given again. */
export async function* replayed(segment: Segment, bundles: ReplayBundles): AsyncIterableIterator<ReplayedDecision> {
  const names = new Names();
  for (const [number, record] of segment.records()) {
    if (record.kind === "policies") await bundles.inForce(record);
    names.add(record);
    if (record.kind === "decision") yield { number, record, outcomes: outcomesOf(record, names, bundles) };
  }
}

/** An answer that was given again, or the reason why there is none. */
type Again = boolean | Absence;

function outcomesOf(record: DecisionRecord, names: Names, bundles: ReplayBundles): ReplayedOutcome[] {
  const targets = record.outcomes.map(({ target }) => names.target(record.policies, target));
  const answers = answersOf(record, targets, bundles);
  return record.outcomes.map((outcome, at) => outcomeOf(outcome, targets[at], answers[at]!));
}

function outcomeOf({ answer }: RecordedOutcome, target: TargetRecord | undefined, again: Again): ReplayedOutcome {
  if (typeof again === "string") return { kind: "not-replayed", answer, target, why: again };
  // A rate limit refuses only what the policies allow.
  return { kind: again === (answer !== "denied") ? "same" : "different", answer, target: target!, isAllowed: again };
}

/** Returns the answer again for each target. */
function answersOf(record: DecisionRecord, targets: readonly (TargetRecord | undefined)[], bundles: ReplayBundles): Again[] {
  const absent = (why: Absence): Again[] => targets.map(() => why);
  const { evidence } = record;
  if (evidence === undefined) return absent(record.isCut ? "too-large" : "no-evidence");
  if (evidence.kind === "digest") return absent("digest");
  if (evidence.kind !== "read" && evidence.kind !== "request") return absent("sealed");
  if (targets.includes(undefined)) return absent("no-target");
  const all = targets as readonly TargetRecord[];
  const policies = bundles.of(record.policies);
  // A request says all, so another bundle decides it without the policies of then.
  const decider = evidence.kind === "request" ? (bundles.candidate ?? policies) : policies;
  if (decider === undefined) return absent("no-policies");
  const decide = evidence.kind === "request" ? () => byRequest(decider, evidence.bytes, all) : () => byRead(decider, bundles.candidate, record, evidence.bytes, all);
  return atTime(bundles, record.time, decide);
}

/** Decides at a time. Conditions read whole milliseconds here, so both that are around a fraction must give the answer. */
function atTime(bundles: ReplayBundles, time: number, decide: () => Again[]): Again[] {
  bundles.time = Math.floor(time);
  const answers = decide();
  if (bundles.time === time) return answers;
  bundles.time += 1;
  const later = decide();
  return answers.map((answer, at) => (answer === later[at] ? answer : "time"));
}

function byRequest(decider: Pdp, bytes: Uint8Array, targets: readonly TargetRecord[]): Again[] {
  const request = recordedRequest(bytes);
  return targets.map((target) => (request === undefined ? undefined : replayRequest(decider, request, target)) ?? "unreadable");
}

function byRead(recorded: Pdp, candidate: Pdp | undefined, record: DecisionRecord, bytes: Uint8Array, targets: readonly TargetRecord[]): Again[] {
  const parts = partsOf(bytes, targets.length);
  return targets.map((target, at) => {
    const { resourceKind: kind, policyVersion: version, scope, action } = target;
    const asked = { kind, version, scope, action };
    const part: Part | undefined = parts === undefined ? undefined : readPart(fastPathsOf(recorded), asked, parts[at]!);
    if (part === undefined) return "unreadable";
    if (candidate === undefined) return replayPart(fastPathsOf(recorded), part) ?? "unreadable";
    const ids = { principal: idOf(record, record.principal), resource: idOf(record, record.resource) };
    return replayPartWith(fastPathsOf(candidate), asked, part, ids) ?? "not-known";
  });
}

/** Returns an id that the record has as a whole. */
function idOf({ isCut }: DecisionRecord, identity: Identity): string | undefined {
  return identity.kind === "clear" && !isCut ? identity.id : undefined;
}

function fastPathsOf(pdp: Pdp): FastPaths {
  return (pdp as unknown as { readonly [FAST_PATHS]: FastPaths })[FAST_PATHS];
}

/** The targets that a segment has defined so far. */
class Names {
  readonly #targets = new Map<number, Map<number, TargetRecord>>();

  add(record: LogRecord): void {
    if (record.kind !== "target") return;
    const targets = this.#targets.get(record.policies) ?? new Map<number, TargetRecord>();
    this.#targets.set(record.policies, targets.set(record.number, record));
  }

  target(policies: number, number: number): TargetRecord | undefined {
    return this.#targets.get(policies)?.get(number);
  }
}
