// The ends of connections: reason codes of MQTT, and close codes of WebSocket (RFC 6455, 7.4).

import type { Close } from "wardgate/mqtt";

import { cut } from "../decision-log.ts";

/** Reason codes of 5.0 (section 2.4). */
export const REASON = {
  success: 0,
  noSubscriptionExisted: 0x11,
  unspecified: 0x80,
  serverBusy: 0x89,
  badAuthenticationMethod: 0x8c,
  notAuthorized: 0x87,
  keepAliveTimeout: 0x8d,
  sessionTakenOver: 0x8e,
  packetIdentifierNotFound: 0x92,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  qosNotSupported: 0x9b,
} as const;

/** The code of 3.1.1 for a server that cannot serve a client. */
export const SERVER_UNAVAILABLE_OF_3 = 3;

/** Returns the code with which the connection of a client is closed. */
export function closeCode({ reason, isRegular }: Pick<Close, "reason" | "isRegular">): number {
  if (isRegular) return NORMAL;
  if (reason === REASON.packetTooLarge) return TOO_BIG;
  return MALFORMED.has(reason) ? PROTOCOL_ERROR : POLICY_VIOLATION;
}

/** Closes a connection, which may be closed already. */
export function closeQuietly(socket: WebSocket, code: number): void {
  try {
    socket.close(code);
  } catch {
    // It is closed, which is what is wanted.
  }
}

/** Logs the end of a connection that is not regular. The client id is a claim. */
export function logEnd(client: string, { side, reason, offset, message }: Omit<Close, "isRegular">): void {
  console.log(JSON.stringify({ event: "mqtt-end", client: cut(client), side, reason, offset, message }));
}

/** The end of a connection that has sent a text [MQTT-6.0.0-1]. */
export const TEXT = { reason: 0x81, offset: 0, message: "a message of WebSocket that is a text" };
export const UNSUPPORTED_DATA = 1003;
export const INTERNAL_ERROR = 1011;
export const TRY_AGAIN_LATER = 1013;
export const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
export const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;
const MALFORMED: ReadonlySet<number> = new Set([0x81, 0x82, 0x84, 0x85, 0x8f, 0x90, 0x93, 0x94]);
