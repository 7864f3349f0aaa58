//! The algorithms as a script for Redis and its relatives.

/// The text of a script that does many checks in one call, at one time, as if they followed each
/// other; run it with `EVALSHA`.
///
/// All keys are of one slot. The first argument is the number of rules; then come algorithm (`gcra`,
/// `fixed`, `sliding`), quota, window in microseconds or `month`, and burst (read for `gcra` only) of
/// each. They are those of a checked [`Rule`](crate::Rule): the script checks only that they are there.
/// Then come three arguments for each key: what to do, or `and` if the key belongs to the check of the
/// key before it; the number of its rule, from 1; and the cost. The key names the algorithm and the
/// window. A check names each key once, and other checks may name it too. A call has at most 4,000 keys:
/// the server reads them with one command.
///
/// What to do is `charge`, `look`, `refund` or `reset`. A refund may have a time behind a space, from
/// which on it does nothing: when the window of its charge is over, its tokens are back, and a refund
/// would give those of another charge.
///
/// The answer has three integers for each key: the wait (0 if the cost is there, -1 if it never
/// will be, otherwise microseconds), what remains, and the duration until the key is full; and at its
/// end the time. A charge was done if each wait of its check is 0; otherwise nothing was written for it, and
/// the other numbers are those of a look. Everything is written after the last check, and an error comes
/// before the first write.
///
/// **Time** is the server's. The script takes no time from its caller, not even in tests: one that
/// could be given would be a way to forge it. A test replaces the first line, which is the only one
/// that reads the clock and says how long a value outlives its state: one millisecond, since the
/// server rounds its own clock down when it sets the time to live.
///
/// **Values** are a letter and doubles, little-endian: `g` with the whole microseconds and 1/128 of the
/// theoretical arrival time; `f` with the end of the window and the count; `s` with the start of the
/// window, the count before it, and its own. One `PSETEX` writes value and time to live.
pub const CHARGE_SCRIPT: &str = include_str!("charge.lua");
