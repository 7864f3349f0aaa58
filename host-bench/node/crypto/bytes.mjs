// Bytes: those of the workloads, and comparisons of them.

/** Returns the bytes of one message, as `bytes` in src/crypto.rs makes them. */
export function bytesOf(message, length) {
  return Uint8Array.from({ length }, (_, at) => (message + at) % 251);
}

/** Reads Base64. */
export function read(text) {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Compares every byte. */
export function equal(a, b) {
  return Buffer.compare(a, b) === 0;
}

/** Ends the run if a condition does not hold. */
export function must(condition, name, what) {
  if (!condition) throw new Error(`${name}: ${what}`);
}
