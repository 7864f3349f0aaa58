// The Durable Object that writes the log. There is one, so frames of all consumers of the queue share its checkpoints; that no
// second one can fork the log is the bucket's doing, not the platform's.

import { DurableObject } from "cloudflare:workers";
import { logSequencer, type Appended, type LogSequencer, type LogSequencerOptions } from "wardgate/log-sequencer";

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

  /** Erases subjects, and returns how many of them had a key. */
  async erase(subjects: readonly string[]): Promise<number> {
    this.#log ??= openLog(this.env);
    return this.#log.erase(subjects);
  }
}

function openLog(env: LogEnv): LogSequencer {
  const { LOG_KEY, LOG_R2, LOG_CHECKPOINT_SECONDS } = env;
  if (LOG_R2 === undefined) throw new ConfigError("the binding LOG_R2 is missing");
  if (LOG_KEY === undefined) throw new ConfigError("the secret LOG_KEY is missing");
  const seconds = readNumber("LOG_CHECKPOINT_SECONDS", LOG_CHECKPOINT_SECONDS, { otherwise: 1, most: 3600 });
  // R2 takes one write a second to one object.
  if (!Number.isInteger(seconds) || seconds < 1) throw new ConfigError("LOG_CHECKPOINT_SECONDS must be whole seconds, and 1 or more");
  return logSequencer({ key: LOG_KEY, store: bucketStore(LOG_R2), ...valuesOf(env), intervalMillis: seconds * 1000 });
}

/** Returns what becomes of values in frames. */
export function valuesOf({ LOG_VALUES, LOG_PRIVATE_R2 }: LogEnv): Pick<LogSequencerOptions, "values" | "private"> {
  switch (LOG_VALUES) {
    case undefined:
    case "committed":
      if (LOG_PRIVATE_R2 === undefined) throw new ConfigError("the binding LOG_PRIVATE_R2 is missing; LOG_VALUES = `clear` needs none");
      return { private: bucketStore(LOG_PRIVATE_R2) };
    case "clear":
      if (LOG_PRIVATE_R2 !== undefined) throw new ConfigError("LOG_PRIVATE_R2 is for LOG_VALUES = `committed`");
      return { values: LOG_VALUES };
    default:
      throw new ConfigError("LOG_VALUES must be `committed` or `clear`");
  }
}
