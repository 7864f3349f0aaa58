// The PDP that a caller holds: one bundle, and the handle under which the module knows it.

import { check, close, explain, isAllowed, open, reload } from "./abi.ts";
import type { Decision, Explanation } from "./decision.ts";
import { WardgateError } from "./errors.ts";
import { describe, type Settings } from "./options.ts";
import type { Runtime } from "./runtime.ts";
import type { ActionRequest, Bundle, CheckRequest, Pdp } from "./types.ts";

/** What the module holds for a PDP. It outlives the PDP, so that the net below can free it. */
interface Lease {
  readonly runtime: Runtime;
  handle: number;
  generation: number;
}

export class OpenedPdp implements Pdp {
  readonly #settings: Settings;
  readonly #lease: Lease;
  // The last good bundle, for a fresh instance after a trap.
  #bundle: Uint8Array;
  #disposed = false;

  constructor(runtime: Runtime, bundle: Bundle, settings: Settings) {
    this.#settings = settings;
    this.#bundle = copyOf(bundle);
    const handle = runtime.call(() => open(this.#bundle, settings.trust));
    this.#lease = { runtime, handle, generation: runtime.generation };
    net.register(this, this.#lease, this.#lease);
  }

  isAllowed(request: ActionRequest): boolean {
    const now = this.#settings.clock();
    return this.#call((handle) => isAllowed(handle, request, now));
  }

  check(request: CheckRequest): Decision {
    return JSON.parse(this.#check(request)) as Decision;
  }

  decisionBytes(request: CheckRequest): Uint8Array {
    return new TextEncoder().encode(this.#check(request));
  }

  explain(request: ActionRequest): Explanation {
    const now = this.#settings.clock();
    return JSON.parse(this.#call((handle) => explain(handle, request, now))) as Explanation;
  }

  reload(bundle: Bundle): void {
    const bytes = copyOf(bundle);
    this.#call((handle) => reload(handle, bytes, this.#settings.trust));
    this.#bundle = bytes;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    net.unregister(this.#lease);
    free(this.#lease);
    this.#bundle = new Uint8Array();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #check(request: CheckRequest): string {
    const now = this.#settings.clock();
    return this.#call((handle) => check(handle, request, now));
  }

  #call<T>(work: (handle: number) => T): T {
    if (this.#disposed) throw new WardgateError("disposed", "this PDP is disposed");
    return this.#lease.runtime.call(() => work(this.#handle()));
  }

  /** The handle in the instance in use, which a trap may have replaced since the last call. */
  #handle(): number {
    const lease = this.#lease;
    if (lease.generation !== lease.runtime.generation) {
      lease.handle = open(this.#bundle, this.#settings.trust);
      lease.generation = lease.runtime.generation;
    }
    return lease.handle;
  }
}

// Only a net: memory of the module is freed when `dispose` is called, or some time after the PDP is
// forgotten.
const net = new FinalizationRegistry<Lease>(free);

function free(lease: Lease): void {
  lease.runtime.call(() => {
    if (lease.generation === lease.runtime.generation) close(lease.handle);
  });
}

/** A copy: the caller may write into its bytes while they are the last good bundle. */
function copyOf(bundle: unknown): Uint8Array {
  if (bundle instanceof Uint8Array) return bundle.slice();
  if (bundle instanceof ArrayBuffer) return new Uint8Array(bundle.slice(0));
  throw new TypeError(`a bundle must be a Uint8Array or an ArrayBuffer, found ${describe(bundle)}`);
}
