//! The proof of one record of a log in a folder.

use std::path::Path;

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::merkle;
use wardgate_decision_log::proof::Proof;
use wardgate_decision_log::tile::{Tile, Tiles};

use super::error::{LogError, Result};
use super::reading::LogReader;
use super::tree::read_tile;
use super::witnessed;

/// Makes the proof of the record with this number, under the newest checkpoint that enough witnesses have cosigned, or
/// under the newest one if that does not cover the record.
///
/// # Errors
/// The log has no such record, or no checkpoint covers it yet, or a file is damaged.
pub fn prove(path: &Path, number: u64) -> Result<Proof> {
    let mut reader = LogReader::open(path)?;
    let missing = |what: String| LogError::Missing(what);
    let note =
        reader.checkpoint()?.ok_or_else(|| missing("the log has no checkpoint yet".to_owned()))?;
    let key = LogKey::read(&reader.verifier()?);
    let key = key.ok_or_else(|| LogError::Foreign("its key is none of ML-DSA-44".to_owned()))?;
    let opened = key.open(&note).map_err(|error| LogError::Checkpoint(error.to_string()))?;
    let newest = (String::from_utf8_lossy(&note).into_owned(), opened.checkpoint.head.size);
    let none = || missing(format!("the log has no record {number}"));
    let stored = loop {
        let stored = reader.next_frame()?.ok_or_else(none)?;
        if stored.frame()?.head.next() > number {
            break stored;
        }
    };
    let witnessed = witnessed::read(path, &key)?.map(|(note, head)| (note.to_string(), head.size));
    let covers = |(_, size): &(String, u64)| stored.number < *size;
    let checkpoint = witnessed.filter(covers).or(Some(newest)).filter(covers);
    let Some((checkpoint, size)) = checkpoint else {
        return Err(missing(format!("no checkpoint covers record {number} yet")));
    };
    let read = |tile: Tile| read_tile(path, tile).ok().flatten();
    let inclusion = merkle::inclusion(stored.number, size, &Tiles { size, read });
    let inclusion = inclusion.ok_or_else(|| {
        missing("a tile is missing: the next start of the server makes it again".to_owned())
    })?;
    let frame = stored.frame()?;
    let position = number.checked_sub(frame.head.first).and_then(|at| u32::try_from(at).ok());
    let position = position.ok_or_else(none)?;
    Proof::new((&frame, position), (stored.number, inclusion), &checkpoint).ok_or_else(none)
}
