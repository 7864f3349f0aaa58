// The objects that live as long as an instance of the worker: configuration, policies, index, log
// and metrics.

import { PageTokens, type Directory } from "wardgate/authzen";

import { readConfig, type Config } from "./config.ts";
import { DecisionLog, framesOf, sinkOf } from "./decision-log.ts";
import { Index, type EntityType, type Snapshot } from "./directory.ts";
import type { Env } from "./env.ts";
import { Problem } from "./http.ts";
import { lastGoodOf } from "./last-good.ts";
import { readLimits, type Limits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { Policies } from "./policies.ts";
import { readSource } from "./source.ts";

export interface Service {
  readonly config: Config;
  readonly policies: Policies;
  readonly index: Index | undefined;
  readonly pages: PageTokens | undefined;
  /** The guards that charge rate limits; `undefined` if bundles with limits are refused. */
  readonly limits: Limits | undefined;
  readonly log: DecisionLog;
  readonly metrics: Metrics;
}

/**
 * Returns the service of this environment. The first request creates it, since only requests have
 * the environment.
 */
export async function serviceOf(env: Env): Promise<Service> {
  const known = services.get(env);
  if (known !== undefined) return known;
  const created = await create(env).catch((thrown: unknown) => {
    console.error(JSON.stringify({ event: "configuration", message: String(thrown) }));
    throw new Problem(503, "not-configured", "this worker is not configured");
  });
  // Another request may have created one in the meantime.
  const first = services.get(env) ?? created;
  services.set(env, first);
  return first;
}

/** Returns the entries of the index for these types; `undefined` without an index. */
export async function directoryOf(
  { index }: Service,
  needed: readonly EntityType[],
  context: Pick<ExecutionContext, "waitUntil">,
): Promise<(Directory & Pick<Snapshot, "all">) | undefined> {
  return index?.snapshot(needed, context);
}

async function create(env: Env): Promise<Service> {
  const config = await readConfig(env);
  const { refreshMilliseconds, pageKey } = config;
  const limits = readLimits(env);
  const frames = framesOf(env);
  const opening = { ...config.opening, ...(limits !== undefined && { limits: true }), ...(frames !== undefined && { log: frames }) };
  return {
    config,
    policies: new Policies({ source: readSource(env), lastGood: lastGoodOf(env.BUNDLE ?? ""), opening, refreshMilliseconds }),
    index: env.INDEX === undefined ? undefined : new Index(env.INDEX, refreshMilliseconds),
    pages: pageKey === undefined ? undefined : await PageTokens.create(pageKey),
    limits,
    log: new DecisionLog(frames === undefined ? sinkOf(env) : undefined, config.sample, frames),
    metrics: new Metrics(env.METRICS),
  };
}

const services = new WeakMap<Env, Service>();
