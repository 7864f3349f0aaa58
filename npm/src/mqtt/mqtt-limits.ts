// The bounds of packets and gates, the mirror of `crates/mqtt/src/limits.rs`.

import { describe } from "../base/describe.ts";
import type { LimitNumbers } from "./mqtt-abi.ts";
import type { GateLimits, Limits } from "./mqtt-types.ts";

/** Returns the numbers of limits. Equal limits of two calls in succession are the same list. */
export function readLimits(limits: Limits | GateLimits | undefined, names = PACKET_NAMES): LimitNumbers {
  if (limits === undefined) return DEFAULT;
  if (typeof limits !== "object" || limits === null) {
    throw new TypeError(`option \`limits\` must be an object, found ${describe(limits)}`);
  }
  for (const name in limits) if (!names.includes(name)) throw new TypeError(`unknown limit \`${name}\``);
  const given = limits as { readonly [name: string]: unknown };
  const numbers = GATE_NAMES.map((name, at) => readLimit(given[name], name, at));
  return numbers.every((number, at) => number === last[at]) ? last : (last = numbers);
}

function readLimit(value: unknown, name: string, at: number): number {
  if (value === undefined) return DEFAULT[at]!;
  if (typeof value !== "number") throw new TypeError(`limit \`${name}\` must be a number, found ${describe(value)}`);
  if (Number.isInteger(value) && value >= 0 && value <= WIDEST[at]!) return value;
  throw new RangeError(`limit \`${name}\` must be a whole number from 0 to ${WIDEST[at]}, found ${value}`);
}

const PACKET_NAMES = ["packetBytes", "connectBytes", "topicBytes", "topicLevels", "filters", "userProperties", "userPropertyBytes"];
export const GATE_NAMES = [...PACKET_NAMES, "aliases", "receiveMaximum", "subscriptions", "subscriptionBytes"];
const DEFAULT: LimitNumbers = [262_144, 16_384, 1024, 32, 64, 32, 8192, 16, 64, 1000, 262_144];
const WIDEST: LimitNumbers = [268_435_460, 268_435_460, 65_535, 128, 65_535, 65_535, 2 ** 32 - 1, 65_535, 65_535, 65_535, 2 ** 32 - 1];
let last = DEFAULT;
