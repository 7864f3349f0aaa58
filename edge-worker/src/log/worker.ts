// The worker that makes one signed log of the frames of all instances: a deployment of its own beside that for AuthZEN, so
// that what answers requests from outside never has the key of the log.
//
// It consumes the queue to which `DECISION_LOG = "frames"` sends, and erases subjects for an operator.

import type { Appended } from "wardgate/log-sequencer";

import { ConfigError } from "../config.ts";
import type { LogEnv } from "./env.ts";
import { answerErasure } from "./erasure.ts";

export { DecisionSequencer } from "./sequencer.ts";

export default {
  async fetch(request, env): Promise<Response> {
    return answerErasure(request, env);
  },
  async queue(batch, env): Promise<void> {
    await appendAll(batch, env);
  },
} satisfies ExportedHandler<LogEnv>;

/** Appends the frames of a batch. What is not in the log is left to the queue, which has a dead letter queue for what is refused. */
export async function appendAll({ messages }: MessageBatch, { SEQUENCER }: LogEnv): Promise<void> {
  try {
    if (SEQUENCER === undefined) throw new ConfigError("the binding SEQUENCER is missing");
    const sequencer = SEQUENCER.get(SEQUENCER.idFromName("log"));
    const became: readonly Appended[] = await sequencer.append(messages.map(({ body }) => bytesOf(body)));
    messages.forEach((message, at) => settle(message, became[at]));
  } catch (thrown) {
    console.error(JSON.stringify({ event: "decision-log", message: String(thrown) }));
    for (const message of messages) message.retry();
  }
}

function settle(message: Message, became: Appended | undefined): void {
  switch (became?.kind) {
    case "appended":
    case "known":
      return message.ack();
    case "refused":
    case "later":
    case undefined:
      return message.retry();
  }
}

/** Returns a frame; of another message no bytes, which a sequencer refuses. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return body instanceof Uint8Array ? body : new Uint8Array();
}
