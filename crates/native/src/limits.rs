//! Bounds on what deciding from JSON text may cost; those on requests are of the engine.

/// Bytes of values of one text that may be read again beyond its own length. A value is read again for each
/// question that a fast path with programs or nested paths is asked about it. What is past this is decided the
/// general way, which reads each value once. The number keeps usual calls on the short way: 50 questions
/// about a list of a kibibyte.
pub(crate) const MAX_SHORT_READ_BYTES: usize = 64 << 10;
