// The same as for Node, for the form of the package that `require` loads.

import { join } from "node:path";

import { nodeThreads } from "./node-threads.ts";
import type { Threads } from "../../pool/threads.ts";

export const threads: Threads = nodeThreads(() => join(__dirname, "pool-worker.js"));
