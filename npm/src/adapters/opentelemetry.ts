// Spans and counters of OpenTelemetry: the entry `wardgate/opentelemetry`.
//
// It is a listener of decisions, and a PDP without one pays nothing for it. Names are those of the server's spans where both
// have the same: `docs/server.md`. Without `attributes`, nothing that names a principal or a resource leaves the program.

import { metrics, SpanKind, trace, type Attributes, type Counter, type Histogram, type MeterProvider, type Tracer, type TracerProvider } from "@opentelemetry/api";

import { describe } from "../base/describe.ts";
import { knownMembers, readFlag } from "../base/option.ts";
import { callListener } from "../base/report.ts";
import { TIMING, type Decided, type DecisionListener, type DecisionTiming } from "../pdp/recording.ts";

export type { Decided, DecisionListener } from "../pdp/recording.ts";

/** The options of `telemetry`. */
export interface TelemetryOptions {
  /** False for no spans. Default: a decision within a recorded span has one. */
  readonly spans?: boolean | undefined;
  /** False for no metrics. Default: decisions are counted and measured. */
  readonly metrics?: boolean | undefined;
  /** The provider of spans. Default: the global one, also if it is registered later. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** The provider of metrics. Default: the global one, which must be registered before `telemetry` is called. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Returns further attributes of the span, for each part of a decision. They may name persons and things.
   *
   * @example
   *     telemetry({ attributes: ({ principalId }) => ({ "enduser.pseudo.id": pseudonymOf(principalId) }) });
   */
  readonly attributes?: ((decided: Decided) => Attributes) | undefined;
  /** Gets each decision too: a PDP has one listener. */
  readonly onDecision?: DecisionListener | undefined;
}

/**
 * Returns a listener that makes spans and counters of decisions: the option `onDecision` of `open`.
 *
 * @throws TypeError if an option has the wrong type, or is unknown.
 *
 * @example
 *     const pdp = await open(bundle, { trust, onDecision: telemetry() });
 */
export function telemetry(options: TelemetryOptions = {}): DecisionListener {
  const settings = readOptions(options);
  const decisions = new DecisionTelemetry(settings);
  const listener = (decided: Decided): void => {
    decisions.add(decided);
    if (settings.onDecision !== undefined) callListener(settings.onDecision, decided);
  };
  return Object.assign(listener, { [TIMING]: decisions });
}

/** Counts and measures decisions. The parts of a decision come one after another, and then its end. */
class DecisionTelemetry implements DecisionTiming {
  readonly #tracer: Tracer | undefined;
  readonly #counter: Counter | undefined;
  readonly #durations: Histogram | undefined;
  readonly #attributesOf: TelemetryOptions["attributes"];
  #sum: Sum = NOTHING;

  constructor({ spans = true, metrics: isCounted = true, tracerProvider = trace, meterProvider = metrics, attributes }: TelemetryOptions) {
    this.#attributesOf = attributes;
    if (spans) this.#tracer = tracerProvider.getTracer(SCOPE);
    if (!isCounted) return;
    const meter = meterProvider.getMeter(SCOPE);
    this.#counter = meter.createCounter("wardgate.decisions", { description: "Decisions on an action and a resource", unit: "{decision}" });
    const description = "Time of calls that decide";
    this.#durations = meter.createHistogram("wardgate.decision.duration", { description, unit: "s", advice: { explicitBucketBoundaries: BUCKETS } });
  }

  /** Adds a part of a decision. */
  add(decided: Decided): void {
    const { resourceKind: kind, action } = decided;
    const [asked, allowed] = decided.kind === "search" ? [decided.asked, decided.allowed] : [1, decided.effect === "allow" ? 1 : 0];
    const denied = asked - allowed;
    if (allowed > 0) this.#counter?.add(allowed, { [KIND]: kind, [ACTION]: action, "wardgate.effect": "allow" });
    if (denied > 0) this.#counter?.add(denied, { [KIND]: kind, [ACTION]: action, "wardgate.effect": "deny" });
    const before = this.#sum;
    this.#sum = {
      kind: common(before.kind, kind),
      action: common(before.action, action),
      allowed: before.allowed + allowed,
      denied: before.denied + denied,
      attributes: before.attributes,
    };
    if (this.#attributesOf !== undefined) this.#sum.attributes = { ...before.attributes, ...this.#attributesOf(decided) };
  }

  begin(): number {
    return performance.now();
  }

  end(begun: number, resources: number, revision: number): void {
    const now = performance.now();
    const sum = this.#sum;
    this.#sum = NOTHING;
    const kind = sum.kind ? { [KIND]: sum.kind } : {};
    this.#durations?.record((now - begun) / 1000, kind);
    // Without a recorded span around it, each decision of a loop would be a trace.
    if (this.#tracer === undefined || trace.getActiveSpan()?.isRecording() !== true) return;
    const attributes: Attributes = {
      "wardgate.policies.revision": revision,
      "wardgate.resources": resources,
      "wardgate.actions": sum.allowed + sum.denied,
      "wardgate.allowed": sum.allowed,
      "wardgate.denied": sum.denied,
      ...kind,
      ...(sum.action && { [ACTION]: sum.action }),
      ...sum.attributes,
    };
    const { timeOrigin } = performance;
    this.#tracer.startSpan("decide", { kind: SpanKind.INTERNAL, startTime: timeOrigin + begun, attributes }).end(timeOrigin + now);
  }
}

/** The parts of a decision so far. A kind or action is `null` if there were several. */
interface Sum {
  readonly kind: string | null | undefined;
  readonly action: string | null | undefined;
  readonly allowed: number;
  readonly denied: number;
  attributes: Attributes | undefined;
}

function common(before: string | null | undefined, found: string): string | null {
  return before === undefined || before === found ? found : null;
}

function readOptions(options: TelemetryOptions): TelemetryOptions {
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, found ${describe(options)}`);
  const members = knownMembers(options, NAMES);
  for (const name of ["spans", "metrics"]) readFlag(members.get(name), name);
  for (const name of ["attributes", "onDecision"]) {
    const value = members.get(name);
    if (value !== undefined && typeof value !== "function") throw new TypeError(`option \`${name}\` must be a function, found ${describe(value)}`);
  }
  return options;
}

/** The name of the instrumentation scope. */
const SCOPE = "wardgate";
const KIND = "wardgate.resource.kind";
const ACTION = "wardgate.action";
const NOTHING: Sum = { kind: undefined, action: undefined, allowed: 0, denied: 0, attributes: undefined };
const NAMES: readonly string[] = ["spans", "metrics", "tracerProvider", "meterProvider", "attributes", "onDecision"];
/** Bounds in seconds: a decision in a table takes less than a microsecond, one with a long list some milliseconds. */
const BUCKETS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 1e-1];
