// The log of decisions: it is complete, contains no secrets, and delays no response.

import { beforeAll, describe, expect, it } from "vitest";

import { ask, bob, deployment, EVALUATION, EVALUATIONS, fill, metrics, reading, TOKEN } from "./testing.ts";

beforeAll(fill);

interface Sent {
  readonly body: { readonly [name: string]: unknown };
}

/** A queue that records its messages. */
function queue(): { readonly sent: Sent[]; readonly DECISIONS: object } {
  const sent: Sent[] = [];
  return { sent, DECISIONS: { sendBatch: async (batch: Sent[]) => void sent.push(...batch) } };
}

describe("the log", () => {
  it("records callers and decisions", async () => {
    const { sent, DECISIONS } = queue();
    const deployed = deployment({ DECISION_LOG: "queue", DECISIONS });
    const secret = { ...reading, subject: { ...reading.subject, properties: { secret: "hidden" } }, context: { secret: "hidden" } };
    await ask(deployed, EVALUATION, secret);
    await ask(deployed, EVALUATIONS, { ...reading, evaluations: [{}, { action: { name: "fly" } }, 7] });
    await ask(deployed, "/access/v1/search/action", { subject: bob, resource: reading.resource });
    const about = { caller: "tests", revision: 1, resource: { type: "record", id: "record-1" } };
    expect(sent.map(({ body }) => body)).toMatchObject([
      { ...about, endpoint: "evaluation", subject: { type: "user", id: "alice" }, action: "read", decision: true },
      { ...about, endpoint: "evaluations", action: "read", decision: true },
      { ...about, endpoint: "evaluations", action: "fly", decision: false },
      { ...about, endpoint: "search/action", subject: { type: "user", id: "bob" }, results: 1 },
    ]);
    expect(JSON.stringify(sent)).not.toMatch(new RegExp(`hidden|${TOKEN}`));
  });

  it("sends batches, as many as were sampled", async () => {
    const { sent, DECISIONS } = queue();
    const many = { ...reading, evaluations: Array.from({ length: 1000 }, () => ({})) };
    await ask(deployment({ DECISION_LOG: "queue", DECISIONS, DECISION_SAMPLE: 0.5 }), EVALUATIONS, many);
    // Twenty standard deviations.
    expect(Math.abs(sent.length - 500)).toBeLessThan(320);
    sent.length = 0;
    await ask(deployment({ DECISION_LOG: "queue", DECISIONS, DECISION_SAMPLE: 0 }), EVALUATIONS, many);
    expect(sent).toEqual([]);
  });

  it("changes no answer if its queue fails, and counts lost events", async () => {
    const DECISIONS = { sendBatch: () => Promise.reject(new Error("the queue is away")) };
    const deployed = deployment({ DECISION_LOG: "queue", DECISIONS });
    for (let time = 0; time < 2; time += 1) {
      expect(await ask(deployed, EVALUATION, reading)).toEqual({ status: 200, body: { decision: true } });
    }
    expect(await metrics(deployed)).toMatchObject({ log: { lost: 2 } });
  });
});
