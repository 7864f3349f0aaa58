// The PDP that a caller holds: one bundle, and the handle under which the module knows it.

import { check, close, explain, isAllowed, open, principals, reload } from "./abi.ts";
import { filterRows, type Backing } from "./batch.ts";
import type { Decision, Explanation } from "./decision.ts";
import { decideRequest } from "./encoder.ts";
import { WardgateError } from "./errors.ts";
import { ALLOW, UNSURE } from "./frame.ts";
import { describe, type Settings } from "./options.ts";
import { isObject } from "./plain.ts";
import { Plans } from "./plans.ts";
import { ActionAsking, PrincipalAsking } from "./prepared.ts";
import type { Runtime } from "./runtime.ts";
import type {
  Accessors,
  ActionRequest,
  AuxData,
  Bundle,
  CheckRequest,
  FilterRequest,
  Pdp,
  PreparedAction,
  PreparedPrincipal,
  Principal,
  Resource,
  Topic,
} from "./types.ts";
import { Who } from "./who.ts";

/** What the module holds for a PDP. It outlives the PDP, so that the net below can free it. */
interface Lease {
  readonly runtime: Runtime;
  handle: number;
  generation: number;
}

export class OpenedPdp implements Pdp {
  readonly #settings: Settings;
  readonly #lease: Lease;
  readonly #plans: Plans;
  readonly #decide: typeof decideRequest;
  readonly #backing: Backing;
  // The last good bundle, for a fresh instance after a trap.
  #bundle: Uint8Array;
  #disposed = false;

  constructor(runtime: Runtime, bundle: Bundle, settings: Settings) {
    this.#settings = settings;
    this.#bundle = copyOf(bundle);
    const { accessors } = settings;
    checkFit(accessors, this.#bundle);
    const handle = runtime.call(() => open(this.#bundle, settings.trust));
    this.#lease = { runtime, handle, generation: runtime.generation };
    net.register(this, this.#lease, this.#lease);
    this.#decide = (accessors?.decideRequest as typeof decideRequest | undefined) ?? decideRequest;
    this.#plans = new Plans(runtime, settings.clock, accessors?.names);
    this.#backing = {
      plans: this.#plans,
      general: (request) => this.#general(request),
      failure: (thrown) => runtime.failure(thrown),
    };
    this.#begin(this.#call((handle) => principals(handle)));
  }

  isAllowed(request: ActionRequest): boolean {
    let answer: number;
    try {
      answer = this.#decide(this.#plans, request);
      if (answer === UNSURE && this.#plans.refresh()) answer = this.#decide(this.#plans, request);
    } catch (thrown) {
      throw this.#lease.runtime.failure(thrown);
    }
    return answer === UNSURE ? this.#general(request) : answer === ALLOW;
  }

  isAllowedMany(requests: readonly ActionRequest[]): boolean[] {
    this.#mustBeOpen();
    return listed(requests).map((request) => this.isAllowed(request));
  }

  filter<R extends Resource>(request: FilterRequest<R>): R[] {
    this.#mustBeOpen();
    const { principal, action, resources, auxData } = readFilter(request);
    return filterRows(this.#backing, new Who(principal), action, resources, auxData);
  }

  for(principal: Principal, auxData?: AuxData): PreparedPrincipal {
    this.#mustBeOpen();
    return new PrincipalAsking(this.#backing, principal, auxData);
  }

  prepare(topic: Topic): PreparedAction {
    this.#mustBeOpen();
    return new ActionAsking(this.#backing, topic);
  }

  checkMany(requests: readonly CheckRequest[]): Decision[] {
    this.#mustBeOpen();
    return listed(requests).map((request) => this.check(request));
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
    const ids = this.#call((handle) => {
      reload(handle, bytes, this.#settings.trust);
      return principals(handle);
    });
    this.#bundle = bytes;
    this.#begin(ids);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#plans.forget();
    net.unregister(this.#lease);
    free(this.#lease);
    this.#bundle = new Uint8Array();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Decides a request by reading it completely. */
  #general(request: unknown): boolean {
    const now = this.#settings.clock();
    const answer = this.#call((handle) => isAllowed(handle, request, now));
    // The frame may have died since it was made: the memory grew, or a trap took it.
    if (!this.#disposed && !this.#plans.isLive) this.#plans.resume(this.#lease.handle);
    return answer;
  }

  #begin(principals: string): void {
    this.#plans.begin(JSON.parse(principals) as string[]);
    this.#plans.resume(this.#lease.handle);
  }

  #check(request: CheckRequest): string {
    const now = this.#settings.clock();
    return this.#call((handle) => check(handle, request, now));
  }

  #mustBeOpen(): void {
    if (this.#disposed) throw new WardgateError("disposed", "this PDP is disposed");
  }

  #call<T>(work: (handle: number) => T): T {
    this.#mustBeOpen();
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

/** A copy: code of the caller may change the list meanwhile. */
function listed<T>(requests: readonly T[]): T[] {
  if (!Array.isArray(requests)) throw new TypeError(`requests must be an array, found ${describe(requests)}`);
  // Every place, even an empty one: what is missing there is refused.
  return Array.from<T>(requests);
}

function readFilter<R extends Resource>(request: FilterRequest<R>): FilterRequest<R> {
  if (!isObject(request)) throw new TypeError(`request must be an object, found ${describe(request)}`);
  for (const name of Object.keys(request)) {
    if (!FILTER.includes(name)) {
      throw new TypeError(`unknown field \`${name}\` in request, expected one of ${FILTER.join(", ")}`);
    }
  }
  return request;
}

const FILTER: readonly string[] = ["principal", "action", "resources", "auxData"];

/** Refuses accessors of another bundle: they would work, but not as fast as their owner believes. */
function checkFit(accessors: Accessors | undefined, bundle: Uint8Array): void {
  if (accessors === undefined) return;
  const digest = Array.from(bundle.subarray(32, 64), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (accessors.bundle !== digest) {
    const found = `expected ${digest}, found ${accessors.bundle}`;
    throw new WardgateError("accessors", `the accessors were emitted for another bundle: ${found}`);
  }
}

/** A copy: the caller may write into its bytes while they are the last good bundle. */
function copyOf(bundle: unknown): Uint8Array {
  if (bundle instanceof Uint8Array) return bundle.slice();
  if (bundle instanceof ArrayBuffer) return new Uint8Array(bundle.slice(0));
  throw new TypeError(`a bundle must be a Uint8Array or an ArrayBuffer, found ${describe(bundle)}`);
}
