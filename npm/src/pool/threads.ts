// The parts of a pool that differ by runtime: starting a worker, and exchanging messages with it.
//
// `#spawn` and `#port` are the files `spawn-<runtime>.ts` and `port-<runtime>.ts`, chosen like
// `#load`. They are separate files because a bundler that found the start of a worker inside the
// worker would never end.

/** The side of the pool. */
export interface Threads {
  /** Returns the number of parallel workers on this machine; 0 on a runtime without workers. */
  count(): number;
  /** Starts `pool-worker.ts`. */
  spawn(events: ThreadEvents): Thread;
}

/** The events of a worker. */
export interface ThreadEvents {
  message(data: unknown): void;
  /** Reports that the worker has ended or failed. */
  end(cause: unknown): void;
}

/** A running worker. */
export interface Thread {
  post(message: unknown): void;
  terminate(): void;
  /** Sets whether this worker keeps the program running. */
  hold(isBusy: boolean): void;
}

/** The side of the worker. */
export interface Port {
  listen(hear: (data: unknown) => void): void;
  post(message: unknown): void;
}
