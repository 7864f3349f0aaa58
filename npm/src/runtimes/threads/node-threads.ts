// Starts threads of Node.

import { availableParallelism } from "node:os";
import { Worker, type WorkerOptions } from "node:worker_threads";

import type { Threads } from "../../pool/threads.ts";

/** Returns threads that run a file. */
export function nodeThreads(file: () => URL | string): Threads {
  return {
    count: availableParallelism,
    spawn(events) {
      const worker = new Worker(file(), options());
      worker.on("message", (data) => events.message(data));
      worker.on("messageerror", (error) => events.end(error));
      worker.on("error", (error) => events.end(error));
      worker.on("exit", (code) => events.end(new Error(`the thread ended with code ${code}`)));
      return {
        post: (message) => worker.postMessage(message),
        terminate: () => void worker.terminate(),
        hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
      };
    },
  };
}

/**
 * Returns options for the flags of a thread. Threads inherit the flags of the program, and one that
 * describes the form of its program text is refused for a file.
 */
function options(): WorkerOptions {
  return process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {};
}
