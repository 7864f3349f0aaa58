//! The gate, by scripts: bytes of both sides in, steps out.
//!
//! A script has a line for each event, and after it a line for each packet that must come out.
//! Every script runs four times: as it stands, byte by byte, in random pieces, and with all that
//! one side sends in a row at once. The output must be the same.
//!
//! | line | meaning |
//! |---|---|
//! | `set denied drop`, `set deliver each`, `set packet 100` ... | settings, before all else |
//! | `deny publish a/#`, `allow publish a/#` | the judge denies what shares a name with the filter, or no longer |
//! | `connect4`, `connect5` | CONNECT and CONNACK of a client `c`, whose output is checked elsewhere |
//! | `c 30: 'a' "x"`, `s ...` | the client, or the broker, sends a packet: first byte and what follows the length |
//! | `c* 30 FF FF`, `s* ...` | the same as plain bytes |
//! | `c> ...`, `s< ...` | the same, and it is passed on as it is |
//! | `tick 5000`, `reconsider`, `lost client`, `lost server`, `close 8B` | other events |
//! | `> ...`, `< ...` | a packet to the broker, to the client |
//! | `x 87 publish is not allowed` | the end: reason code and text |
//!
//! Numbers are hexadecimal digits; `'a'` is a text with its length before it, `"a"` one without.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod aliases;
mod connecting;
mod defects;
mod delivering;
mod malformed;
mod notation;
mod publishing;
mod random;
mod script;
mod subscribing;
mod time;
mod withdrawing;
