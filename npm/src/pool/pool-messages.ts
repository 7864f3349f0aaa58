// The messages between a pool and its workers.

import { WardgateError, type Code } from "../base/errors.ts";
import type { AcceptedBundle, AcceptedOpening } from "../pdp/accepted-bundle.ts";
import type { FilterRequest, Resource } from "../pdp/request-types.ts";
import type { CompiledModule } from "../base/web.ts";

/** An accepted bundle on its way to a worker. */
export interface Opening extends AcceptedOpening {
  /** The compiled code of the module. */
  readonly code: CompiledModule | undefined;
}

/** The part of an {@link Opening} that a `reload` changes. */
export type Reloading = AcceptedBundle;

export type ToWorker =
  | { readonly kind: "open"; readonly opening: Opening }
  | { readonly kind: "reload"; readonly reloading: Reloading }
  | {
      readonly kind: "filter";
      readonly id: number;
      readonly request: FilterRequest<Resource>;
      /** The time for which the part is decided. */
      readonly now: number;
      /** The digest of the policies that must decide. */
      readonly content: string;
    };

export type FromWorker =
  | { readonly kind: "ready" }
  /** The worker has no bundle, or not the right one. */
  | { readonly kind: "broken"; readonly error: Failure }
  /** A bit for each resource, the lowest of the first word for the first one. */
  | { readonly kind: "answer"; readonly id: number; readonly allowed: Uint32Array }
  | { readonly kind: "failed"; readonly id: number; readonly error: Failure };

/** An error as data: a clone of an error would lose its class and its code. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: Code | undefined;
}

/** Converts a thrown value to data. */
export function failureOf(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown), code: undefined };
  const code = thrown instanceof WardgateError ? thrown.code : undefined;
  return { name: thrown.name, message: thrown.message, code };
}

/** Converts the data of a failure to an error. */
export function errorOf({ name, message, code }: Failure): Error {
  if (code !== undefined) return new WardgateError(code, message);
  if (name === "TypeError") return new TypeError(message);
  return name === "RangeError" ? new RangeError(message) : new Error(message);
}

/** Returns the number of words that have a bit for each resource. */
export function wordsFor(resources: number): number {
  return Math.ceil(resources / 32);
}
