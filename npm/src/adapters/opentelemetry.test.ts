// Spans and counters of decisions, as the SDK of OpenTelemetry exports them.

import { context, SpanKind, trace, type Attributes } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { AggregationTemporality, DataPointType, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";

import { telemetry, type Decided, type TelemetryOptions } from "./opentelemetry.ts";
import { open } from "../pdp/open.ts";
import { album, atNoon, onLists, onOne, viewing, withActions } from "../testing.ts";
import type { Pdp } from "../pdp/types.ts";

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
afterEach(() => exporter.reset());
afterAll(() => {
  context.disable();
  trace.disable();
});

const openWith = (options: TelemetryOptions): Promise<Pdp> => open(album, { ...atNoon, onDecision: telemetry({ tracerProvider, metrics: false, ...options }) });

/** Decides within a span, and returns the spans of decisions. */
function spansOf(decide: () => unknown): readonly ReadableSpan[] {
  tracerProvider.getTracer("app").startActiveSpan("request", (span) => {
    decide();
    span.end();
  });
  return exporter.getFinishedSpans().filter(({ name }) => name === "decide");
}

const owned = viewing({ resource: { attr: { owner: "ada" } } });
const counts = (resources: number, allowed: number, denied: number): Attributes => ({
  "wardgate.resources": resources, "wardgate.actions": allowed + denied, "wardgate.allowed": allowed, "wardgate.denied": denied,
});

describe("a span", () => {
  it("is within the one of the request, with what was decided, and names neither principal nor resource", async () => {
    using pdp = await openWith({});
    const [span, ...more] = spansOf(() => pdp.isAllowed(owned));
    const [request] = exporter.getFinishedSpans().filter(({ name }) => name === "request");
    expect(more).toEqual([]);
    expect([span!.kind, span!.parentSpanContext?.spanId, span!.instrumentationScope.name]).toEqual([SpanKind.INTERNAL, request!.spanContext().spanId, "wardgate"]);
    expect(span!.attributes).toEqual({ "wardgate.policies.revision": 0, "wardgate.resource.kind": "album", "wardgate.action": "view", ...counts(1, 1, 0) });
    expect(JSON.stringify([span!.attributes, span!.events, span!.name])).not.toMatch(/ada|a1|user/);
  });

  it("lasts as long as the decision", async () => {
    using pdp = await openWith({});
    const clock = vi.spyOn(performance, "now");
    const [span] = spansOf(() => {
      clock.mockReturnValueOnce(1000).mockReturnValueOnce(1000.25);
      pdp.isAllowed(owned);
    });
    clock.mockRestore();
    expect(span!.duration).toEqual([0, expect.closeTo(250_000, -4)]);
    expect(span!.startTime[0]).toBe(Math.floor((performance.timeOrigin + 1000) / 1000));
  });

  it.each([...onOne, ...onLists])("is one for each call of %s", async (_, decide) => {
    using pdp = await openWith({});
    const spans = spansOf(() => decide(pdp, () => owned, { kind: "album", action: "view" }));
    expect(spans.map(({ attributes: { "wardgate.denied": denied, "wardgate.action": action } }) => [denied, action])).toEqual([[0, "view"]]);
  });

  it("counts the actions and resources of check, checkMany and filter", async () => {
    using pdp = await openWith({});
    const several = withActions(owned, ["view", "edit", "burn"]);
    const [checked] = spansOf(() => pdp.check(several));
    expect(checked!.attributes).toEqual({ "wardgate.policies.revision": 0, "wardgate.resource.kind": "album", ...counts(1, 2, 1) });
    exporter.reset();
    const [many, ...more] = spansOf(() => pdp.checkMany([several, { ...several, resource: { kind: "safe", id: "s1" } }]));
    expect([many!.attributes, more]).toEqual([{ "wardgate.policies.revision": 0, ...counts(2, 2, 4) }, []]);
    exporter.reset();
    const { principal, resource } = owned;
    const [filtered] = spansOf(() => pdp.filter({ principal, action: "edit", resources: [resource, { ...resource, attr: { owner: "bo" } }] }));
    expect(filtered!.attributes).toMatchObject({ "wardgate.action": "edit", ...counts(2, 1, 1) });
  });

  it("is not made outside of a recorded span, after an exception, or if spans are not wanted", async () => {
    using pdp = await openWith({});
    pdp.isAllowed(owned);
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect(spansOf(() => expect(() => pdp.isAllowed({} as never)).toThrow(TypeError))).toEqual([]);
    using other = await openWith({ spans: false });
    expect(spansOf(() => other.isAllowed(owned))).toEqual([]);
  });

  it("has further attributes on request", async () => {
    using pdp = await openWith({ attributes: ({ principalId }) => ({ "enduser.pseudo.id": `p-${principalId.length}` }) });
    const [span] = spansOf(() => pdp.isAllowed(owned));
    expect(span!.attributes).toMatchObject({ "enduser.pseudo.id": "p-3" });
  });

  it("does not change a decision if its attributes fail", async () => {
    const reported = vi.fn();
    vi.stubGlobal("reportError", reported);
    const fail = (): never => { throw new Error("no pseudonym"); };
    using pdp = await openWith({ attributes: fail });
    expect(pdp.isAllowed(owned)).toBe(true);
    expect(reported.mock.calls).toMatchObject([[{ message: "no pseudonym" }]]);
    vi.unstubAllGlobals();
  });
});

describe("metrics", () => {
  it("count decisions by kind, action and effect, and measure calls", async () => {
    const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 1e8 });
    const meterProvider = new MeterProvider({ readers: [reader] });
    const heard: Decided[] = [];
    using pdp = await openWith({ metrics: true, spans: false, meterProvider, onDecision: (decided) => heard.push(decided) });
    pdp.isAllowed(owned);
    pdp.check(withActions(owned, ["view", "burn"]));
    await reader.forceFlush();
    const found = metrics.getMetrics().at(-1)!.scopeMetrics[0]!.metrics;
    const decided = found.find(({ descriptor }) => descriptor.name === "wardgate.decisions")!;
    const of = (action: string, effect: string): Attributes => ({ "wardgate.resource.kind": "album", "wardgate.action": action, "wardgate.effect": effect });
    expect(decided.descriptor).toMatchObject({ unit: "{decision}" });
    expect(decided.dataPoints.map(({ attributes, value }) => [attributes, value])).toEqual([[of("view", "allow"), 2], [of("burn", "deny"), 1]]);
    const measured = found.find(({ descriptor }) => descriptor.name === "wardgate.decision.duration")!;
    expect([measured.descriptor.unit, measured.dataPointType]).toEqual(["s", DataPointType.HISTOGRAM]);
    expect(measured.dataPoints).toMatchObject([{ attributes: { "wardgate.resource.kind": "album" }, value: { count: 2 } }]);
    expect(heard.map(({ action }) => action)).toEqual(["view", "view", "burn"]);
    await meterProvider.shutdown();
  });
});

describe("telemetry", () => {
  it("does nothing without an SDK", async () => {
    using pdp = await open(album, { ...atNoon, onDecision: telemetry() });
    expect(pdp.isAllowed(owned)).toBe(true);
  });

  it.each<[options: unknown, message: string]>([
    [{ span: true }, "unknown option `span`"],
    [{ spans: 1 }, "option `spans` must be true or false"],
    [{ attributes: {} }, "option `attributes` must be a function"],
    [null, "options must be an object"],
  ])("refuses %j", (options, message) => {
    expect(() => telemetry(options as TelemetryOptions)).toThrow(message);
  });
});
