// Exchanges messages through the parent port, in a thread of Node.

import { parentPort } from "node:worker_threads";

import type { Port } from "../../pool/threads.ts";

export const port: Port = {
  listen(hear) {
    parentPort?.on("message", hear);
  },
  post(message) {
    parentPort?.postMessage(message);
  },
};
