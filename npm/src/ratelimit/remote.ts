// Calls to a store that may be away: each ends within a deadline, and after failures in a row the store is
// not asked, except by one check a second. Nothing is sent twice.

import { readWhole } from "../base/option.ts";
import { Breaker } from "./breaker.ts";
import { steady } from "./clock.ts";
import { MAX_DEADLINE_MS, MAX_WAITING } from "./limits.ts";
import type { Outcome } from "./state.ts";
import { Away } from "./store.ts";

/** The events of a store since it was made. */
export interface RemoteCounts {
  /** Checks that got outcomes. */
  readonly answered: number;
  /** Checks that were sent and got none. */
  readonly failures: number;
  /** Checks that were not sent, since the breaker was open or too many waited. */
  readonly turnedAway: number;
  /** Times that the breaker opened. */
  readonly opened: number;
}

export class Remote {
  /** The longest time of a check in milliseconds. */
  readonly #deadline: number;
  readonly #breaker = new Breaker();
  readonly #now = steady();
  #waiting = 0;
  #answered = 0;
  #failures = 0;
  #turnedAway = 0;

  constructor(deadline: number) {
    this.#deadline = deadline;
  }

  get isOpen(): boolean {
    return this.#breaker.isOpen;
  }

  get counts(): RemoteCounts {
    const { opened } = this.#breaker;
    return { answered: this.#answered, failures: this.#failures, turnedAway: this.#turnedAway, opened };
  }

  /** Makes a call for one check: see {@link Remote.call}. */
  async run<A>(call: (isLate: () => boolean) => Promise<A>): Promise<A> {
    this.admit();
    return this.call(call, 1);
  }

  /** Throws {@link Away} if a check may not be sent. */
  admit(): void {
    if (!this.#breaker.admits(this.#now())) throw this.#turned("open");
    if (this.#waiting >= MAX_WAITING) throw this.#turned("crowded");
  }

  /**
   * Makes a call for so many checks that were admitted. It is told by `isLate` if its callers have gone.
   * Rejects with {@link Away}, whatever the call rejects with.
   */
  async call<A>(call: (isLate: () => boolean) => Promise<A>, checks: number): Promise<A> {
    try {
      const answer = await this.#within(call, checks);
      this.#breaker.succeeded();
      this.#answered += checks;
      return answer;
    } catch (error) {
      this.#breaker.failed(this.#now(), checks);
      this.#failures += checks;
      throw awayOf(error);
    }
  }

  /** Rejects at the deadline. What comes later is ignored, but counts as waiting until then. */
  #within<A>(call: (isLate: () => boolean) => Promise<A>, checks: number): Promise<A> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new Away("late"));
      }, this.#deadline);
      const settled = <B>(settle: (value: B) => void) => (value: B) => {
        this.#waiting -= checks;
        clearTimeout(timer);
        settle(value);
      };
      this.#waiting += checks;
      call(() => isLate).then(settled(resolve), settled(reject));
    });
  }

  #turned(reason: "open" | "crowded"): Away {
    this.#turnedAway += 1;
    return new Away(reason);
  }
}

/** Returns the deadline among options, if there is one. */
export function readDeadline(members: ReadonlyMap<string, unknown>): number | undefined {
  const deadline = readWhole(members.get("deadline"), "deadline", MAX_DEADLINE_MS);
  if (deadline === 0) throw new RangeError("option `deadline` must be at least 1");
  return deadline;
}

/** Reads numbers as stores answer them: wait, remaining and reset for each demand. Throws if they are none. */
export function outcomesOf(reply: unknown, count: number): readonly Outcome[] {
  if (!Array.isArray(reply) || reply.length !== count * 3) throw new Away("garbled");
  const numbers = reply.map(numberOf);
  return Array.from({ length: count }, (_, at) => {
    const [wait = 0, remaining = 0, reset = 0] = numbers.slice(at * 3, at * 3 + 3);
    if (wait < -1 || remaining < 0 || reset < 0) throw new Away("garbled");
    return { wait, remaining, reset };
  });
}

function numberOf(value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) throw new Away("garbled");
  return number;
}

/** Returns what is told about a failure: the code of a refusal, and nothing else that was said. */
function awayOf(error: unknown): Away {
  if (error instanceof Away) return error;
  const code = codeOf(error);
  return code === undefined ? new Away("lost") : new Away("refused", code);
}

/** Returns the word in capitals that errors of a server begin with. */
export function codeOf(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : typeof error === "string" ? error : "";
  return /^(?:\w*Error: )?([A-Z]{2,16})\b/.exec(message.slice(0, 64))?.[1];
}
