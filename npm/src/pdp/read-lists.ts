// Reads the lists of requests and of resources that callers give.

import { describe } from "../base/describe.ts";
import { isObject } from "../base/plain.ts";
import type { FilterRequest, Resource } from "./types.ts";

/** Returns a copy: code of the caller may change the list in the meantime. */
export function copyOfList<T>(requests: readonly T[]): T[] {
  if (!Array.isArray(requests)) throw new TypeError(`requests must be an array, found ${describe(requests)}`);
  // Empty places become `undefined`, which is refused.
  return Array.from<T>(requests);
}

export function readFilter<R extends Resource>(request: FilterRequest<R>): FilterRequest<R> {
  if (!isObject(request)) throw new TypeError(`request must be an object, found ${describe(request)}`);
  for (const name of Object.keys(request)) {
    if (!FILTER.includes(name)) {
      throw new TypeError(`unknown field \`${name}\` in request, expected one of ${FILTER.join(", ")}`);
    }
  }
  return request;
}

const FILTER: readonly string[] = ["principal", "action", "resources", "auxData"];
