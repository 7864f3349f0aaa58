// The worker with `DECISION_LOG = "frames"`: name this file as `main` in `wrangler.jsonc`.
//
// Frames need the module of the decision log, a sixth of the upload, which other workers do without. If the worker
// consumes its queue too, it stores each frame once.

import { decisionLog } from "wardgate/log";

import { provideFrames } from "./decision-log.ts";
import type { Env } from "./env.ts";
import { storeFrames } from "./frame-store.ts";
import worker from "./index.ts";

provideFrames(decisionLog);

export { LimitObject } from "./index.ts";

export default {
  ...worker,
  async queue(batch, env): Promise<void> {
    await storeFrames(batch, env.DECISIONS_R2);
  },
} satisfies ExportedHandler<Env>;
