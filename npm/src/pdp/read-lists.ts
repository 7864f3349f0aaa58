// Reads the lists of requests and of resources that callers give.

import { describe } from "../base/describe.ts";
import { isObject } from "../base/plain.ts";
import { expected } from "../base/nearest.ts";
import type { FilterRequest, Resource, RowsRequest } from "./request-types.ts";

/** Returns a copy: code of the caller may change the list in the meantime. */
export function copyOfList<T>(requests: readonly T[]): T[] {
  if (!Array.isArray(requests)) throw new TypeError(`requests must be an array, found ${describe(requests)}`);
  // Empty places become `undefined`, which is refused.
  return Array.from<T>(requests);
}

/** A request of `filter` that was read. */
export interface ReadFilter<T> extends Omit<FilterRequest<Resource>, "resources"> {
  /** The resources to decide on. */
  readonly resources: readonly Resource[];
  /** The values to return for the allowed resources; `undefined` if those are the resources. */
  readonly rows: readonly T[] | undefined;
}

/** Reads a request of `filter`. Code of the caller makes the resources of rows, one for each. */
export function readFilter<T>(request: FilterRequest<T & Resource> | RowsRequest<T>): ReadFilter<T> {
  if (!isObject(request)) throw new TypeError(`request must be an object, found ${describe(request)}`);
  const isOfRows = Object.hasOwn(request, "rows");
  const known = isOfRows ? ROWS : FILTER;
  for (const name of Object.keys(request)) {
    if (!known.includes(name)) throw new TypeError(`unknown field \`${name}\` in request${expected(name, known)}`);
  }
  const { principal, action, auxData } = request;
  if (!isOfRows) return { principal, action, auxData, resources: (request as FilterRequest<T & Resource>).resources, rows: undefined };
  const { rows, resource } = request as RowsRequest<T>;
  if (!Array.isArray(rows)) throw new TypeError(`rows must be an array, found ${describe(rows)}`);
  if (typeof resource !== "function") throw new TypeError(`resource must be a function of a row, found ${describe(resource)}`);
  const own = Array.from<T>(rows);
  return { principal, action, auxData, resources: own.map((row) => resource(row)), rows: own };
}

const FILTER: readonly string[] = ["principal", "action", "resources", "auxData"];
const ROWS: readonly string[] = ["principal", "action", "rows", "resource", "auxData"];
