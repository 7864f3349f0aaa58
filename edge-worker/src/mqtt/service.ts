// The objects that an instance of the worker, or of the hub, has for MQTT.

import { expiryOf, type Pdp } from "wardgate";

import { readConfig, type Config } from "../config.ts";
import { DecisionLog, sinkOf } from "../decision-log.ts";
import { Problem } from "../http.ts";
import { lastGoodOf } from "../last-good.ts";
import { Policies } from "../policies.ts";
import { readSource } from "../source.ts";
import { readSettings, type MqttSettings } from "./config.ts";
import { Counts } from "./counts.ts";
import type { MqttEnv } from "./env.ts";

export interface MqttService {
  readonly config: Config;
  readonly settings: MqttSettings;
  readonly policies: Policies;
  readonly log: DecisionLog;
  readonly counts: Counts;
}

export async function createService(env: MqttEnv): Promise<MqttService> {
  try {
    const config = await readConfig(env);
    const { opening, refreshMilliseconds } = config;
    const policies = new Policies({ source: readSource(env), lastGood: lastGoodOf(env.BUNDLE ?? ""), opening, refreshMilliseconds });
    return { config, settings: readSettings(env), policies, log: new DecisionLog(sinkOf(env), config.sample), counts: new Counts() };
  } catch (thrown) {
    console.error(JSON.stringify({ event: "configuration", message: String(thrown) }));
    throw new Problem(503, "not-configured", "this worker is not configured");
  }
}

/** Returns the service of the worker. The hub has its own: it may be in another place. */
export async function serviceOf(env: MqttEnv): Promise<MqttService> {
  const known = services.get(env) ?? (await createService(env));
  // Another request may have created one in the meantime.
  const first = services.get(env) ?? known;
  services.set(env, first);
  return first;
}

/** Returns what decisions depend on beside their questions; another basis may decide otherwise. */
export function basisOf({ header }: Pdp): string {
  const isExpired = expiryOf(header, Date.now()).kind === "expired";
  return `${header.revision} ${header.content} ${isExpired}`;
}

const services = new WeakMap<MqttEnv, MqttService>();
