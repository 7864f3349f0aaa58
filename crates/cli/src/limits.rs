//! Every bound on input of the command, beside those of the engine and the compiler.

use std::time::Duration;

use wardgate_engine::limits::MAX_VALUE_DEPTH;

/// Levels of a request above its deepest attributes: the call, `resources`, an entry, `resource`,
/// `attr`; or the call, `auxData`, `jwts`, a name, `claims`.
const ENVELOPE_DEPTH: usize = 5;

/// The deepest nesting of a request's JSON. It is lower than the limit of the JSON reader.
pub(crate) const MAX_REQUEST_DEPTH: usize = MAX_VALUE_DEPTH + ENVELOPE_DEPTH;

/// Bytes of the longest file of keys: more than as many keys as can be trusted at once.
pub(crate) const MAX_KEY_FILE_BYTES: u64 = 1 << 20;

/// Bytes of the longest checkpoint, which is a signed note.
pub(crate) const MAX_CHECKPOINT_BYTES: u64 = 256 << 10;

/// Bytes of the longest policy of witnesses, and one more: it is then found to be too long.
pub(crate) const MAX_POLICY_FILE_BYTES: u64 = (512 << 10) + 1;

/// Bytes of the longest proof that is read.
pub(crate) const MAX_PROOF_BYTES: u64 = 1 << 20;

/// Memory that the requests of one measurement may take, roughly, for they are all held at once.
pub(crate) const MAX_MEASURED_BYTES: usize = 256 << 20;

/// The longest measurement of one host.
pub(crate) const MAX_MEASURING: Duration = Duration::from_secs(600);

/// The shortest measurement that has room for warming up.
pub(crate) const MIN_MEASURING: Duration = Duration::from_millis(50);

/// Bytes of the longest line of `wardgate repl`.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 10;

/// Names of expressions in `wardgate repl`.
pub(crate) const MAX_NAMES: usize = 64;
