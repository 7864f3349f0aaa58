// One worker of a pool, from its start to its end, with its unanswered parts.

import { WardgateError } from "../base/errors.ts";
import { errorOf, wordsFor, type FromWorker, type Opening, type Reloading, type ToWorker } from "./pool-messages.ts";
import type { FilterRequest, Resource } from "../pdp/request-types.ts";
import type { Thread, Threads } from "./threads.ts";

/** A part of a batch that a worker decides. */
interface Part {
  readonly words: number;
  readonly resolve: (allowed: Uint32Array) => void;
  readonly reject: (error: unknown) => void;
}

export class Member {
  /** Fulfilled when the worker can decide, or rejected when it has ended. */
  readonly ready: Promise<void>;
  readonly #thread: Thread;
  readonly #parts = new Map<number, Part>();
  readonly #onEnd: () => void;
  #begin: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #isReady = false;
  #wasReady = false;
  #hasEnded = false;
  #next = 0;

  /** Starts a worker; `onEnd` is called once, when it has ended. */
  constructor(threads: Threads, opening: Opening, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.ready = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.#fail = reject;
    });
    this.ready.catch(() => {});
    this.#thread = threads.spawn({
      message: (data) => this.#receive(data as FromWorker),
      end: (cause) => this.end(cause),
    });
    this.#open(opening);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Returns true if it has ever been ready. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** The number of unanswered parts. */
  get load(): number {
    return this.#parts.size;
  }

  /** Sends it a part of a batch. A value that cannot be cloned throws, and the part is not sent. */
  filter(request: FilterRequest<Resource>, now: number, content: string): Promise<Uint32Array> {
    const id = (this.#next += 1);
    this.#post({ kind: "filter", id, request, now, content });
    return new Promise((resolve, reject) => {
      this.#parts.set(id, { words: wordsFor(request.resources.length), resolve, reject });
      this.#hold();
    });
  }

  reload(reloading: Reloading): void {
    this.#post({ kind: "reload", reloading });
  }

  /** Ends the worker. Unanswered parts are rejected. */
  end(cause: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isReady = false;
    const isOurs = cause instanceof WardgateError;
    const error = isOurs ? cause : new WardgateError("internal", "a worker of the pool ended; no decision was made", { cause });
    this.#fail(error);
    for (const { reject } of this.#parts.values()) reject(error);
    this.#parts.clear();
    this.#thread.terminate();
    this.#onEnd();
  }

  #open(opening: Opening): void {
    try {
      this.#post({ kind: "open", opening });
    } catch {
      // Some runtimes cannot send compiled code; then the worker loads it itself.
      this.#post({ kind: "open", opening: { ...opening, code: undefined } });
    }
  }

  #post(message: ToWorker): void {
    this.#thread.post(message);
  }

  #receive(message: FromWorker): void {
    if (this.#hasEnded) return;
    switch (message.kind) {
      case "ready":
        this.#isReady = true;
        this.#wasReady = true;
        this.#begin();
        return this.#hold();
      case "broken":
        return this.end(errorOf(message.error));
      case "answer":
        return this.#take(message.id, (part) => {
          if (message.allowed.length === part.words) part.resolve(message.allowed);
          else part.reject(new WardgateError("internal", "a worker of the pool gave an incomplete answer"));
        });
      case "failed":
        return this.#take(message.id, ({ reject }) => reject(errorOf(message.error)));
    }
  }

  #take(id: number, settle: (part: Part) => void): void {
    const part = this.#parts.get(id);
    if (part === undefined) return;
    this.#parts.delete(id);
    settle(part);
    this.#hold();
  }

  /** Keeps the program running while a part is unanswered, but not for an idle worker. */
  #hold(): void {
    this.#thread.hold(!this.#isReady || this.#parts.size > 0);
  }
}
