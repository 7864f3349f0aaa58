// A decision log in a program, and its records in a page.

import { open, type Pdp, type PublicJwk } from "wardgate";
import { decisionLog, openSegment, replay, segmentStart, verifyProof, type DecisionLog, type LogRecord } from "wardgate/log";

export async function openLogged(
  bundle: Uint8Array,
  trust: PublicJwk | "unsigned",
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<{ pdp: Pdp; log: DecisionLog }> {
  await write(segmentStart());
  const log = decisionLog({ sink: write, onFull: "deny" });
  return { pdp: await open(bundle, { trust, log }), log };
}

export async function decisionsOf(segment: Uint8Array, principalId: string): Promise<LogRecord[]> {
  const records = [...(await openSegment(segment)).records()].map(([, record]) => record);
  return records.filter((it) => it.kind === "decision" && it.principal.kind === "clear" && it.principal.id === principalId);
}

export async function describeProof(proof: string, key: string): Promise<string> {
  const { record, number, checkpoint } = await verifyProof(proof, key);
  return `record ${number} of ${checkpoint.origin} is a ${record.kind}, as of ${new Date(checkpoint.time).toISOString()}`;
}

export async function changesBy(candidate: Uint8Array, segment: Uint8Array, bundles: Uint8Array[], trust: PublicJwk | "unsigned"): Promise<string[]> {
  const changes: string[] = [];
  for await (const { number, outcomes } of replay(segment, { bundles, trust, with: candidate })) {
    for (const outcome of outcomes) {
      if (outcome.kind === "different") changes.push(`${number}: ${outcome.target.action} would be ${outcome.isAllowed ? "allowed" : "denied"}`);
    }
  }
  return changes;
}
