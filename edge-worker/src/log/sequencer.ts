// The Durable Object that writes the log. There is one, so frames of all consumers of the queue share its checkpoints; that no
// second one can fork the log is the bucket's doing, not the platform's.

import { DurableObject } from "cloudflare:workers";
import { logSequencer, type Appended, type LogSequencer } from "wardgate/log-sequencer";

import { ConfigError, readNumber } from "../config.ts";
import { bucketStore } from "./bucket.ts";
import type { LogEnv } from "./env.ts";

export class DecisionSequencer extends DurableObject<LogEnv> {
  #log: LogSequencer | undefined;

  /** Appends frames, and returns what became of each when a signed checkpoint is about them. */
  async append(frames: readonly Uint8Array[]): Promise<readonly Appended[]> {
    this.#log ??= openLog(this.env);
    const became = await this.#log.append(frames);
    const refused = became.flatMap((one) => (one.kind === "refused" || one.kind === "later" ? [one.message] : []));
    if (refused.length > 0) console.error(JSON.stringify({ event: "decision-log", messages: [...new Set(refused)], ...this.#log.counts }));
    return became;
  }
}

function openLog({ LOG_KEY, LOG_R2, LOG_CHECKPOINT_SECONDS }: LogEnv): LogSequencer {
  if (LOG_R2 === undefined) throw new ConfigError("the binding LOG_R2 is missing");
  if (LOG_KEY === undefined) throw new ConfigError("the secret LOG_KEY is missing");
  const seconds = readNumber("LOG_CHECKPOINT_SECONDS", LOG_CHECKPOINT_SECONDS, { otherwise: 1, most: 3600 });
  // R2 takes one write a second to one object.
  if (!Number.isInteger(seconds) || seconds < 1) throw new ConfigError("LOG_CHECKPOINT_SECONDS must be whole seconds, and 1 or more");
  return logSequencer({ key: LOG_KEY, store: bucketStore(LOG_R2), intervalMillis: seconds * 1000 });
}
