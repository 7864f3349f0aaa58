// The environment of a deployment that speaks MQTT; `wrangler.mqtt.jsonc` lists it with examples.

import type { Env } from "../env.ts";

export interface MqttEnv extends Env {
  /** The hub: the Durable Object of `MqttHub`. */
  readonly MQTT_HUB?: DurableObjectNamespace;
  /** The URL of the broker behind the gate, with `wss:`. */
  readonly MQTT_UPSTREAM?: string;
  /** A service that reaches the broker at that URL, instead of the network. */
  readonly MQTT_BROKER?: Fetcher;
  /** The origins of the pages that may connect, as a JSON list. Default: pages of this host. */
  readonly MQTT_ORIGINS?: unknown;
  /** `allow` admits clients that prove nothing, as the principal `anonymous`. Default: `refuse`. */
  readonly MQTT_ANONYMOUS?: string;
  /** The end of a denied PUBLISH of 3.1.1: `close` or `drop`. Default: `close`. */
  readonly MQTT_DENIED?: string;
  /** The decisions about deliveries: `subscribed` or `each`. Default: `subscribed`. */
  readonly MQTT_DELIVER?: string;
  /** The bytes of a packet; 262,144 unless given. */
  readonly MQTT_MAX_PACKET_BYTES?: string | number;
  /** Gate: `pass` gives the broker the passwords of clients. Default: `withhold`. */
  readonly MQTT_PASSWORD?: string;
  /** Hub: the keep-alive that clients of 5.0 are told; 1,200 unless given, 0 for none. */
  readonly MQTT_KEEP_ALIVE_SECONDS?: string | number;
  /** Hub: the longest time without a look at the policies; 300 unless given. */
  readonly MQTT_RECHECK_SECONDS?: string | number;
}
