// Starts workers as threads of Node, in the form of the package for `require`.

import { join } from "node:path";

import { nodeThreads } from "./node-threads.ts";
import type { Threads } from "../../pool/threads.ts";

export const threads: Threads = nodeThreads(() => join(__dirname, "pool-worker.js"));
