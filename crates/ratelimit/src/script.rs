//! The algorithms as a script for Redis and its relatives.

/// The text of a script that charges several limits at once, all or none; run it with `EVALSHA`.
///
/// All keys are of one slot and differ. The first argument is `charge`, `look`, `refund` or `reset`;
/// then come five for each key: algorithm (`gcra`, `fixed`, `sliding`), quota, window in microseconds
/// or `month`, burst (read for `gcra` only), and cost. They are those of a checked
/// [`Rule`](crate::Rule): the script checks only that they are there. The key names the algorithm
/// and the window.
///
/// The answer has three integers for each key: the wait (0 if the cost is there, -1 if it never
/// will be, otherwise microseconds), what remains, and the duration until the key is full. A
/// charge was done if each wait is 0; otherwise nothing was written, and the other numbers are those
/// of a look. An error comes before the first write.
///
/// **A batch** does many checks in one call, at one time, as if they followed each other: the first
/// argument is `batch`; then come the number of rules, algorithm, quota, window and burst of each; then
/// three for each key: what to do, or `and` if the key belongs to the check of the key before it; the
/// number of its rule, from 1; and the cost. A check names each key once, and other checks may name it
/// too. The answer is the same, and everything is written after the last check. A batch has at most
/// 4,000 keys: the server reads them with one command.
///
/// **Time** is the server's. The script takes no time from its caller, not even in tests: one that
/// could be given would be a way to forge it. A test replaces the first line, which is the only one
/// that reads the clock and says how long a value outlives its state: one millisecond, since the
/// server rounds its own clock down when it sets the time to live.
///
/// **Values** are a word and integers: `gcra` with the whole microseconds and 1/128 of the theoretical
/// arrival time; `fixed` with the end of the window and the count; `sliding` with the start of the
/// window, the count before it, and its own. One `PSETEX` writes value and time to live.
pub const CHARGE_SCRIPT: &str = include_str!("charge.lua");
