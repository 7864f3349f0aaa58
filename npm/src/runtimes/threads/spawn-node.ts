// Starts workers as threads of Node.

import { nodeThreads } from "./node-threads.ts";
import type { Threads } from "../../pool/threads.ts";

export const threads: Threads = nodeThreads(() => new URL("./pool-worker.js", import.meta.url));
