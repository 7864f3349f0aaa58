// The log of decisions: sampled, sent in batches, and never awaited by a response. It contains ids
// and decisions, but no properties, contexts or tokens.

import type { Evaluation } from "wardgate/authzen";

import { ConfigError } from "./config.ts";
import type { Env } from "./env.ts";

/** One decision, or one search and the number of its results. */
export interface DecisionEvent {
  readonly time: string;
  readonly endpoint: string;
  readonly caller: string;
  readonly revision: number | undefined;
  readonly requestId?: string;
  readonly subject?: { readonly type: string; readonly id?: string };
  readonly action?: string;
  readonly resource?: { readonly type: string; readonly id?: string };
  readonly decision?: boolean;
  readonly results?: number;
}

/** Sends a batch. Write a sink of your own, and add it to `sinkOf`. */
export type Sink = (events: readonly DecisionEvent[]) => Promise<void>;

/** Returns the sink that the variable `DECISION_LOG` names; `undefined` without it. */
export function sinkOf({ DECISION_LOG, DECISIONS }: Env): Sink | undefined {
  switch (DECISION_LOG) {
    case undefined:
      return undefined;
    case "console":
      return async (events) => events.forEach((event) => console.log(JSON.stringify({ event: "decision", ...event })));
    case "queue":
      if (DECISIONS === undefined) throw new ConfigError("the binding DECISIONS is missing");
      return (events) => DECISIONS.sendBatch(events.map((body) => ({ body, contentType: "json" }))).then(() => {});
    default:
      throw new ConfigError("DECISION_LOG must be `console` or `queue`");
  }
}

export class DecisionLog {
  readonly #sink: Sink | undefined;
  readonly #sample: number;
  #waiting: DecisionEvent[] = [];
  /** The start time of the batch that is being sent. */
  #sending: number | undefined;
  #lost = 0;

  constructor(sink: Sink | undefined, sample: number) {
    this.#sink = sink;
    this.#sample = sample;
  }

  /** The number of dropped events, because of too many events or a failure of the sink. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Records an event if it falls into the sample. The event is created only then: formatting the
   * first date is slow.
   */
  record(event: () => DecisionEvent): void {
    if (this.#sink === undefined || Math.random() >= this.#sample) return;
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(event());
    else this.#lost += 1;
  }

  /** Sends the waiting events after the response. Events that arrive until then are included. */
  send(context: Pick<ExecutionContext, "waitUntil">): void {
    const now = Date.now();
    // The runtime silently ends work that runs too long.
    const isSending = this.#sending !== undefined && now - this.#sending < GIVEN_UP;
    if (this.#sink === undefined || this.#waiting.length === 0 || isSending) return;
    this.#sending = now;
    context.waitUntil(this.#sendAll(this.#sink));
  }

  async #sendAll(sink: Sink): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, GATHERING));
    while (this.#waiting.length > 0) await this.#sendBatch(sink, this.#waiting.splice(0, BATCH));
    this.#sending = undefined;
  }

  async #sendBatch(sink: Sink, batch: readonly DecisionEvent[]): Promise<void> {
    try {
      await sink(batch);
    } catch (thrown) {
      this.#lost += batch.length;
      console.error(JSON.stringify({ event: "decision-log", lost: batch.length, message: String(thrown) }));
    }
  }
}

/** Returns the part of an evaluation for the log. */
export function eventFields({ subject, action, resource }: Evaluation): Partial<DecisionEvent> {
  const name = ({ type, id }: { type: string; id: string }) => ({ type: cut(type), id: cut(id) });
  return { subject: name(subject), action: cut(action.name), resource: name(resource) };
}

/** Returns the start of a text from a caller, to bound the length of a line. */
export function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

/** The milliseconds for gathering a batch. */
const GATHERING = 100;
/** The largest batch of a queue. */
const BATCH = 100;
const GIVEN_UP = 30_000;
const MOST_WAITING = 10_000;
const LONGEST = 200;
