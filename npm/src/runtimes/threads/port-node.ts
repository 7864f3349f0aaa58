// A thread of Node hears and answers by its parent port.

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
