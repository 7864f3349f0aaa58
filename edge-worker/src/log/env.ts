// The environment of the worker that makes one log of the frames of all instances; `wrangler.log.jsonc` lists it with examples.

import type { DecisionSequencer } from "./sequencer.ts";

export interface LogEnv {
  /** The Durable Object of `DecisionSequencer`. */
  readonly SEQUENCER?: DurableObjectNamespace<DecisionSequencer>;
  /** The bucket of the log, and of nothing else. */
  readonly LOG_R2?: R2Bucket;
  /** What becomes of ids and evidence in frames: `committed`, or `clear` to leave them as they are. Default: `committed`. */
  readonly LOG_VALUES?: string;
  /** The bucket of the keys of subjects and of the sealed values, for values that are `committed`. */
  readonly LOG_PRIVATE_R2?: R2Bucket;
  /** Secret: the bearer token of who may erase subjects, 16 characters or more. Without it nobody may. */
  readonly LOG_TOKEN?: string;
  /** Secret: the private key of the log, the file that `wardgate log keys` writes. */
  readonly LOG_KEY?: string;
  /** The seconds between two checkpoints, from 1 to 3,600. Default: 1. */
  readonly LOG_CHECKPOINT_SECONDS?: string | number;
}
