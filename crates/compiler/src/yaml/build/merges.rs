//! Merge keys: the entries of one map under those of another.

use std::collections::HashMap;
use std::sync::Arc;

use super::Builder;
use crate::expression::Style;
use crate::source::Position;
use crate::yaml::{Entry, Kind};

impl Builder<'_> {
    /// Resolves merge keys. Merged entries come first, and an entry of the map itself replaces a
    /// merged one.
    pub(super) fn resolve_merges(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut index: HashMap<Arc<str>, (usize, bool)> = HashMap::new();
        let (merges, own): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_merge);
        for merge in merges {
            match merge.value.kind {
                Kind::Map(merged) => {
                    for entry in merged {
                        let _ = put(&mut out, &mut index, entry, false);
                    }
                }
                _ => {
                    let error = self.error(merge.value.position, "only a map can be merged");
                    self.read.errors.push(*error);
                }
            }
        }
        for entry in own {
            if let Err((key, first, again)) = put(&mut out, &mut index, entry, true) {
                let Position { line, column } = first;
                let message = format!("duplicate key `{key}`, first at {line}:{column}");
                let error = self.error(again, message);
                self.read.errors.push(*error);
            }
        }
        out
    }
}

fn is_merge(entry: &Entry) -> bool {
    matches!(&entry.key.kind, Kind::String(text, Style::Plain) if text.as_ref() == "<<")
}

type Clash = (Arc<str>, Position, Position);

fn put(
    out: &mut Vec<Entry>,
    index: &mut HashMap<Arc<str>, (usize, bool)>,
    entry: Entry,
    own: bool,
) -> Result<(), Clash> {
    let Kind::String(key, _) = &entry.key.kind else {
        out.push(entry);
        return Ok(());
    };
    let key = Arc::clone(key);
    match index.get(&key).and_then(|&(at, owned)| Some((out.get_mut(at)?, owned))) {
        Some((there, true)) if own => Err((key, there.key.position, entry.key.position)),
        Some((there, _)) => {
            *there = entry;
            if let Some(slot) = index.get_mut(&key) {
                slot.1 = own;
            }
            Ok(())
        }
        None => {
            index.insert(key, (out.len(), own));
            out.push(entry);
            Ok(())
        }
    }
}
