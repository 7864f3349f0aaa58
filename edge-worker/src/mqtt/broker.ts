// The connection of the gate to its broker.

import type { GateMode } from "./config.ts";
import { closeQuietly, NORMAL } from "./ends.ts";
import { SUBPROTOCOL } from "./upgrade.ts";

/** Returns a WebSocket to the broker, or `undefined` if it cannot be reached. */
export async function callBroker({ url, broker }: GateMode): Promise<WebSocket | undefined> {
  const headers = { "Upgrade": "websocket", "Sec-WebSocket-Protocol": SUBPROTOCOL };
  try {
    const response = await (broker === undefined ? fetch(url, { headers }) : broker.fetch(url, { headers }));
    const { webSocket } = response;
    if (webSocket === null) {
      await response.body?.cancel();
      throw new Error(`the answer has status ${response.status}, and is no WebSocket`);
    }
    if (response.headers.get("Sec-WebSocket-Protocol") === SUBPROTOCOL) return webSocket;
    webSocket.accept();
    closeQuietly(webSocket, NORMAL);
    throw new Error("the WebSocket does not speak MQTT");
  } catch (thrown) {
    console.error(JSON.stringify({ event: "mqtt-broker", message: String(thrown) }));
    return undefined;
  }
}
