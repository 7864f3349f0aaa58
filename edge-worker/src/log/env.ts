// The environment of the worker that makes one log of the frames of all instances; `wrangler.log.jsonc` lists it with examples.

import type { DecisionSequencer } from "./sequencer.ts";

export interface LogEnv {
  /** The Durable Object of `DecisionSequencer`. */
  readonly SEQUENCER?: DurableObjectNamespace<DecisionSequencer>;
  /** The bucket of the log, and of nothing else. */
  readonly LOG_R2?: R2Bucket;
  /** Secret: the private key of the log, the file that `wardgate log keys` writes. */
  readonly LOG_KEY?: string;
  /** The seconds between two checkpoints, from 1 to 3,600. Default: 1. */
  readonly LOG_CHECKPOINT_SECONDS?: string | number;
}
