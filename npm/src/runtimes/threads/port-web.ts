// Exchanges messages through the global object, in a Web Worker.

import type { Port } from "../../pool/threads.ts";

const worker = globalThis as unknown as Pick<Worker, "postMessage"> & { onmessage: unknown };

export const port: Port = {
  listen(hear) {
    worker.onmessage = ({ data }: { readonly data: unknown }) => hear(data);
  },
  post(message) {
    worker.postMessage(message);
  },
};
