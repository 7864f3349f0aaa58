// Detects support for vectors. The build of the module without vectors is slower.

/**
 * Returns true if the engine accepts a module with vectors. It validates a module and runs nothing.
 */
export function hasSimd(): boolean {
  return WebAssembly.validate(WITH_A_VECTOR);
}

/** A module with one function, which returns a vector of sixteen zeros. */
const WITH_A_VECTOR = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  // One type, () -> v128; one function of it.
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00],
  // i32.const 0, i8x16.splat, end.
  ...[0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x0b],
);
