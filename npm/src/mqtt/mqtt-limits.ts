// The bounds of packets, the mirror of `crates/mqtt/src/limits.rs`.

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

/** Returns the numbers of limits. Equal limits of two calls in succession are the same list. */
export function readLimits(limits: Limits | undefined): LimitNumbers {
  if (limits === undefined) return DEFAULT;
  if (typeof limits !== "object" || limits === null) {
    throw new TypeError(`option \`limits\` must be an object, found ${describe(limits)}`);
  }
  for (const name in limits) if (!NAMES.includes(name as keyof Limits)) throw new TypeError(`unknown limit \`${name}\``);
  const numbers = NAMES.map((name, at) => readLimit(limits[name], name, at)) as unknown as LimitNumbers;
  return numbers.every((number, at) => number === last[at]) ? last : (last = numbers);
}

function readLimit(value: unknown, name: string, at: number): number {
  if (value === undefined) return DEFAULT[at]!;
  if (typeof value !== "number") throw new TypeError(`limit \`${name}\` must be a number, found ${describe(value)}`);
  if (Number.isInteger(value) && value >= 0 && value <= WIDEST[at]!) return value;
  throw new RangeError(`limit \`${name}\` must be a whole number from 0 to ${WIDEST[at]}, found ${value}`);
}

const NAMES = ["packetBytes", "connectBytes", "topicBytes", "topicLevels", "filters", "userProperties", "userPropertyBytes"] as const;
const DEFAULT: LimitNumbers = [262_144, 16_384, 1024, 32, 64, 32, 8192];
const WIDEST: LimitNumbers = [268_435_460, 268_435_460, 65_535, 128, 65_535, 65_535, 2 ** 32 - 1];
let last = DEFAULT;
