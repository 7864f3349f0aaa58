// The log of decisions: who was told what. Sampled, sent in batches, and never waited for. It holds ids and
// decisions, and nothing of properties, contexts or tokens.

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

/** Takes a batch somewhere. This is the hook: write one of your own, and name it in `sinkOf`. */
export type Sink = (events: readonly DecisionEvent[]) => Promise<void>;

/** The sink that the variable `DECISION_LOG` names; nothing without it. */
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
  /** Since when a batch is on its way. */
  #sending: number | undefined;
  #lost = 0;

  constructor(sink: Sink | undefined, sample: number) {
    this.#sink = sink;
    this.#sample = sample;
  }

  /** How many events were dropped, because there were too many or the sink failed. */
  get lost(): number {
    return this.#lost;
  }

  /** Takes an event, if it falls into the sample. Only then it is made: to write down the first date is slow. */
  record(event: () => DecisionEvent): void {
    if (this.#sink === undefined || Math.random() >= this.#sample) return;
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(event());
    else this.#lost += 1;
  }

  /** Sends what waits, soon and behind the answer. What arrives until then goes with it. */
  send(context: Pick<ExecutionContext, "waitUntil">): void {
    const now = Date.now();
    // The runtime ends what has run for too long without a word.
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

/** The part of an evaluation that is logged. */
export function logged({ subject, action, resource }: Evaluation): Partial<DecisionEvent> {
  const name = ({ type, id }: { type: string; id: string }) => ({ type: cut(type), id: cut(id) });
  return { subject: name(subject), action: cut(action.name), resource: name(resource) };
}

/** The beginning of a text that a caller chose: a line of a log has an end. */
export function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

/** Milliseconds in which a batch gathers. */
const GATHERING = 100;
/** What a queue takes at once. */
const BATCH = 100;
const GIVEN_UP = 30_000;
const MOST_WAITING = 10_000;
const LONGEST = 200;
