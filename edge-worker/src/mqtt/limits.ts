// The bounds of MQTT, beside those of packets: see `docs/MQTT.md`.

/** The time until a client has sent CONNECT and was accepted, in milliseconds. */
export const CONNECT_MILLIS = 5000;
/** The bytes of CONNECT. */
export const CONNECT_BYTES = 16_384;

/** Gate: the bytes that wait for the policies or for the connection to the broker. */
export const WAITING_BYTES = 262_144;

/** Hub: the clients, and the connections without an accepted CONNECT. */
export const CLIENTS = 10_000;
export const BEGINNERS = 256;
/** Hub: the subscriptions of all clients. */
export const SUBSCRIPTIONS = 100_000;
/** Hub: the retained messages, and the bytes of their packets and publishers. */
export const RETAINED_MESSAGES = 10_000;
export const RETAINED_BYTES = 16 * 2 ** 20;
/** Hub: the subscription identifiers of one delivery. */
export const IDENTIFIERS = 128;

/**
 * The bytes that were sent to a side since it last sent something. The platform tells nobody how
 * much of them waits in memory, so that this is a bound on it for a side that has stopped.
 */
export const UNANSWERED_BYTES = 32 * 2 ** 20;
/** Hub: the same for all clients together; the one with the most of it is closed. */
export const UNANSWERED_BYTES_OF_ALL = 64 * 2 ** 20;

/** The most origins of a list. */
export const ORIGINS = 100;
