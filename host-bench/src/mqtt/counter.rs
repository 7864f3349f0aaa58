//! Allocations of the codecs, which another program counts: the allocator that counts would slow the
//! rows that are timed.

use std::fmt::Write;
use std::path::Path;

use super::codec::Codec;
use crate::measure::Row;
use crate::program;

/// Hands each row that writes or reads a packet to `act`, with what it does; a pass of a row has a
/// thousand acts.
///
/// # Errors
/// If a row errs, or `act` fails.
pub fn allocations(
    mut act: impl FnMut(&str, &Row<'_>) -> Result<(), String>,
) -> Result<(), String> {
    for codec in Codec::all() {
        let (level, size) = (codec.version.level(), codec.payload.len());
        for (verb, entries) in [("encode", codec.encoders()?), ("decode", codec.decoders()?)] {
            let what = format!("{verb}, version {level}, {size} bytes");
            entries.iter().try_for_each(|entry| act(&what, entry.row()))?;
        }
    }
    Ok(())
}

/// Returns the table of what `counter` counts.
pub(super) fn table(counter: &Path) -> Result<String, String> {
    let text = program::text_of(counter, &["mqtt"]);
    if text.is_empty() {
        return Err(format!("{} counted nothing", counter.display()));
    }
    let mut table = "\nAllocations of a PUBLISH, counted by `wardgate-host-memory mqtt`:\n\n\
        | what | codec | allocations | bytes |\n|---|---|--:|--:|\n"
        .to_owned();
    for line in text.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {} |", line.split('\t').collect::<Vec<_>>().join(" | "));
    }
    Ok(table)
}
