// The log of decisions: sampled, sent in batches, and never awaited by a response. It contains ids
// and decisions; properties, contexts and claims of tokens only in the evidence of frames, for which there is a variable.

import type { DecisionLog as FrameLog } from "wardgate";
import type { Evaluation } from "wardgate/authzen";
import type { DecisionLogOptions } from "wardgate/log";

import { ConfigError } from "./config.ts";
import type { Env } from "./env.ts";
import { fromBase64Url } from "./text.ts";

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
      throw new ConfigError("DECISION_LOG must be `console`, `queue` or, for other decisions than those of MQTT, `frames`");
  }
}

/** Makes a log of frames. */
type FrameLogger = (options: DecisionLogOptions) => FrameLog;

/** Makes `DECISION_LOG = "frames"` possible. */
export function provideFrames(logger: FrameLogger): void {
  frameLogger = logger;
}

/** Returns the log of frames, if the variable `DECISION_LOG` wants one. */
export function framesOf({ DECISION_LOG, DECISION_SAMPLE, DECISION_IDS, DECISION_KEY, DECISION_EVIDENCE, DECISIONS }: Env): FrameLog | undefined {
  if (DECISION_LOG !== "frames") {
    // An operator who wants evidence would miss it only when he needs it.
    if (DECISION_EVIDENCE !== undefined) throw new ConfigError("DECISION_EVIDENCE is for DECISION_LOG = `frames`");
    return undefined;
  }
  if (frameLogger === undefined) throw new ConfigError("DECISION_LOG can be `frames` only with src/frames.ts as `main`");
  if (DECISIONS === undefined) throw new ConfigError("the binding DECISIONS is missing");
  if (DECISION_SAMPLE !== undefined) throw new ConfigError("DECISION_SAMPLE is for `console` and `queue`: frames have every decision");
  // The timers of an instance run only during requests.
  const sink = (frame: Uint8Array) => DECISIONS.send(frame, { contentType: "bytes" });
  return frameLogger({ sink, flushMillis: 0, independent: true, evidence: evidenceOf(DECISION_EVIDENCE), ...idsOf(DECISION_IDS, DECISION_KEY) });
}

/** Returns the form of the evidence in frames. */
function evidenceOf(form: string | undefined): "absent" | "clear" {
  if (form === undefined || form === "absent") return "absent";
  if (form === "clear") return form;
  throw new ConfigError("DECISION_EVIDENCE must be `absent` or `clear`");
}

/** Returns the form of ids in frames. */
function idsOf(form: string | undefined, key: string | undefined): Pick<DecisionLogOptions, "principal" | "resource" | "key"> {
  switch (form) {
    case undefined:
    case "clear":
    case "absent":
      if (key !== undefined) throw new ConfigError("DECISION_KEY is for DECISION_IDS = `pseudonym`");
      return { principal: form ?? "clear", resource: form ?? "clear" };
    case "pseudonym": {
      const bytes = key === undefined ? undefined : fromBase64Url(key);
      if (bytes?.length !== 32) throw new ConfigError("DECISION_KEY must be 32 random bytes in base64url");
      return { principal: form, resource: form, key: bytes };
    }
    default:
      throw new ConfigError("DECISION_IDS must be `clear`, `pseudonym` or `absent`");
  }
}

let frameLogger: FrameLogger | undefined;

export class DecisionLog {
  readonly #sink: Sink | undefined;
  readonly #sample: number;
  #waiting: DecisionEvent[] = [];
  /** The start time of the batch that is being sent. */
  #sending: number | undefined;
  #lost = 0;
  /** The log of frames, in which the PDP records. */
  readonly #frames: FrameLog | undefined;

  constructor(sink: Sink | undefined, sample: number, frames?: FrameLog) {
    this.#sink = sink;
    this.#sample = sample;
    this.#frames = frames;
  }

  /** The number of dropped events, because of too many events or a failure of the sink. */
  get lost(): number {
    return this.#lost + (this.#frames?.lost ?? 0);
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
    if (isSending) return;
    if (this.#frames !== undefined) {
      this.#sending = now;
      context.waitUntil(this.#sendFrames(this.#frames));
    } else if (this.#sink !== undefined && this.#waiting.length > 0) {
      this.#sending = now;
      context.waitUntil(this.#sendAll(this.#sink));
    }
  }

  /** Sends the frames of all decisions so far. After a failure they wait for the next request. */
  async #sendFrames(frames: FrameLog): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, GATHERING));
    try {
      await frames.flush();
    } catch (thrown) {
      console.error(JSON.stringify({ event: "decision-log", waiting: frames.waiting, message: String(thrown) }));
    }
    this.#sending = undefined;
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
