// The request that becomes a WebSocket with MQTT (3.1.1 and 5.0, chapter 6).

import { Problem } from "../http.ts";
import { isUrl } from "../text.ts";
import type { MqttSettings } from "./config.ts";

/** Checks a request before its WebSocket is accepted. @throws Problem */
export function mustUpgrade(request: Request, { origins }: Pick<MqttSettings, "origins">): void {
  if (request.method !== "GET") throw new Problem(405, "method-not-allowed", "the method must be GET", { Allow: "GET" });
  if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
    throw new Problem(426, "upgrade-required", "this is a WebSocket for MQTT", { Upgrade: "websocket" });
  }
  if (!isAdmitted(request, origins)) throw new Problem(403, "forbidden", "pages of this origin may not connect");
  const offered = request.headers.get("Sec-WebSocket-Protocol") ?? "";
  if (!offered.split(",").some((name) => name.trim() === SUBPROTOCOL)) {
    throw new Problem(400, "bad-request", `Sec-WebSocket-Protocol must offer \`${SUBPROTOCOL}\``);
  }
}

export function switchingProtocols(client: WebSocket): Response {
  return new Response(null, { status: 101, webSocket: client, headers: { "Sec-WebSocket-Protocol": SUBPROTOCOL } });
}

/**
 * Returns true if the page that connects may do so. A browser connects for any page, and names it;
 * programs may leave the header out.
 */
function isAdmitted({ headers, url }: Request, origins: ReadonlySet<string> | undefined): boolean {
  const origin = headers.get("Origin");
  if (origin === null) return true;
  if (origins !== undefined) return origins.has(origin);
  return isUrl(origin) && new URL(origin).host === new URL(url).host;
}

/** The subprotocol of MQTT [MQTT-6.0.0-3]. */
export const SUBPROTOCOL = "mqtt";
