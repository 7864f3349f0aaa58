// Runs in a worker of a pool: it opens the bundle of the pool, and decides parts of batches.
//
// Law: messages are processed one after the other, in the order of their arrival. A part is decided
// by the policies that the pool names, or not at all.

import { WardgateError } from "../base/errors.ts";
import { runtime } from "../wasm/module.ts";
import { OpenedPdp } from "../pdp/pdp.ts";
import { failureOf, wordsFor, type FromWorker, type Opening, type ToWorker } from "./pool-messages.ts";
import type { Resource } from "../pdp/request-types.ts";

export class PoolExecutor {
  readonly #post: (message: FromWorker) => void;
  #last: Promise<void> = Promise.resolve();
  #pdp: OpenedPdp | undefined;
  /** The time of the clock: the one that came with the part. */
  #now = 0;

  constructor(post: (message: FromWorker) => void) {
    this.#post = post;
  }

  /** Processes a message after the earlier ones. */
  receive(message: ToWorker): Promise<void> {
    return (this.#last = this.#last.then(() => this.#do(message)));
  }

  async #do(message: ToWorker): Promise<void> {
    try {
      this.#post(await this.#answer(message));
    } catch (thrown) {
      const error = failureOf(thrown);
      this.#post(message.kind === "filter" ? { kind: "failed", id: message.id, error } : { kind: "broken", error });
    }
  }

  async #answer(message: ToWorker): Promise<FromWorker> {
    switch (message.kind) {
      case "open":
        this.#pdp = await this.#open(message.opening);
        return { kind: "ready" };
      case "reload": {
        const { bytes, ...conditions } = message.reloading;
        this.#mustHave().reload(bytes, conditions);
        return { kind: "ready" };
      }
      case "filter":
        return this.#filter(message);
    }
  }

  async #open({ code, bytes, ...terms }: Opening): Promise<OpenedPdp> {
    const own = { clock: () => this.#now, unsealKey: undefined, accessors: undefined, code: undefined };
    return new OpenedPdp(await runtime(code), bytes, { ...terms, ...own });
  }

  #filter({ id, request, now, content }: ToWorker & { readonly kind: "filter" }): FromWorker {
    const pdp = this.#mustHave();
    if (pdp.header.content !== content) throw new WardgateError("internal", "the policies of a worker are not those of its pool");
    this.#now = now;
    return { kind: "answer", id, allowed: bitsOf(request.resources, pdp.filter(request)) };
  }

  #mustHave(): OpenedPdp {
    if (this.#pdp !== undefined) return this.#pdp;
    throw new WardgateError("internal", "a worker has no policies");
  }
}

/** Returns a bit for each resource that is among the allowed ones, which are in the same order. */
function bitsOf(resources: readonly Resource[], allowed: readonly Resource[]): Uint32Array {
  const bits = new Uint32Array(wordsFor(resources.length));
  let next = 0;
  for (const [at, resource] of resources.entries()) {
    if (next === allowed.length || resource !== allowed[next]) continue;
    bits[at >>> 5]! |= 1 << (at & 31);
    next += 1;
  }
  return bits;
}
