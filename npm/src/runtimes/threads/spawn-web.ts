// Starts Web Workers: in browsers, Deno and Bun. Bundlers recognise this form of address. Runtimes
// at the edge of a network have no workers.

import type { Threads } from "../../pool/threads.ts";

export const threads: Threads = {
  count() {
    return typeof Worker === "function" ? (globalThis.navigator?.hardwareConcurrency ?? 2) : 0;
  },
  spawn(events) {
    const worker = new Worker(new URL("./pool-worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => events.message(data);
    worker.onmessageerror = () => events.end(new Error("a message of the worker cannot be read"));
    worker.onerror = (event) => {
      // Some runtimes end the program otherwise.
      event.preventDefault();
      events.end(new Error(event.message || "the worker failed"));
    };
    const { ref, unref } = worker as Partial<Record<"ref" | "unref", () => void>>;
    return {
      post: (message) => worker.postMessage(message),
      terminate: () => worker.terminate(),
      hold: (isBusy) => (isBusy ? ref : unref)?.call(worker),
    };
  },
};
