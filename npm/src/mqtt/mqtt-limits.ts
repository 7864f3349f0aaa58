// The bounds of packets and gates, the mirror of `crates/mqtt/src/limits.rs`.

import { describe } from "../base/describe.ts";
import type { LimitNumbers } from "./mqtt-abi.ts";

/** The bounds of packets that `decode` accepts. What is left out has its default. */
export interface Limits {
  /** The bytes of a packet; 262,144 unless given, at most 268,435,460. */
  readonly packetBytes?: number | undefined;
  /** The bytes of a CONNECT; 16,384 unless given. */
  readonly connectBytes?: number | undefined;
  /** The bytes of a topic name or filter, with `$share`; 1,024 unless given, at most 65,535. */
  readonly topicBytes?: number | undefined;
  /** The levels of a topic name or filter; 32 unless given, at most 128. */
  readonly topicLevels?: number | undefined;
  /** The filters of a SUBSCRIBE or UNSUBSCRIBE; 64 unless given. */
  readonly filters?: number | undefined;
  /** The user properties of a packet; 32 unless given. */
  readonly userProperties?: number | undefined;
  /** The bytes of the names and values of the user properties of a packet; 8,192 unless given. */
  readonly userPropertyBytes?: number | undefined;
}

/** The bounds of the packets of a client, and of what a gate holds for it. */
export interface GateLimits extends Omit<Limits, "packetBytes"> {
  /** The topic aliases of each direction; 16 unless given. */
  readonly aliases?: number | undefined;
  /** The unacknowledged messages of a client of 5.0; 64 unless given. */
  readonly receiveMaximum?: number | undefined;
  /** The subscriptions of a client, and the filters that wait for an answer; 1,000 unless given. */
  readonly subscriptions?: number | undefined;
  /** The bytes of the filters of all subscriptions of a client; 262,144 unless given. */
  readonly subscriptionBytes?: number | undefined;
}

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
