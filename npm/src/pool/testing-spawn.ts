// Starts workers for tests of sources: a thread of Node runs the built program.

import { nodeThreads } from "../runtimes/threads/node-threads.ts";
import type { Threads } from "./threads.ts";

export const threads: Threads = nodeThreads(() => new URL("../../dist/node/pool-worker.js", import.meta.url));
