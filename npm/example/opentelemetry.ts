// A PDP with spans and counters of OpenTelemetry. The program that registers an SDK is another one.

import { open, type Pdp, type PublicJwk } from "wardgate";
import { telemetry } from "wardgate/opentelemetry";

export function openTraced(bundle: Uint8Array, trust: PublicJwk | "unsigned"): Promise<Pdp> {
  return open(bundle, { trust, onDecision: telemetry() });
}
