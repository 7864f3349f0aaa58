// What differs from runtime to runtime about workers: how one is started, and how it hears and answers.
//
// `#spawn` and `#port` are the files `spawn-<runtime>.ts` and `port-<runtime>.ts`, chosen like `#load`. They are two,
// because a bundler that finds in a worker how it is started would never come to an end.

/** The side of those who start workers. */
export interface Threads {
  /** How many run side by side here; 0 where there are none. */
  count(): number;
  /** Starts `pool-worker.ts`. */
  spawn(events: ThreadEvents): Thread;
}

/** What a worker makes known. */
export interface ThreadEvents {
  message(data: unknown): void;
  /** It is no more, or no use any more. */
  end(cause: unknown): void;
}

/** A worker that was started. */
export interface Thread {
  post(message: unknown): void;
  terminate(): void;
  /** Says whether the program must go on for the sake of this worker. */
  hold(isBusy: boolean): void;
}

/** The side of the worker. */
export interface Port {
  listen(hear: (data: unknown) => void): void;
  post(message: unknown): void;
}
