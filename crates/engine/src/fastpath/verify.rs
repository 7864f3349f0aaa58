//! The proof, made when a table is opened, that its fast paths are sound.
//!
//! The crate `wardgate-fastpath` knows words only; this module supplies the slots, strings and
//! programs.

use alloc::vec;
use alloc::vec::Vec;

use wardgate_fastpath::{FastPaths, Known};

use super::footprint::{Footprints, is_all_attributes, is_readable};
use crate::cel::Pool;
use crate::order;
use crate::table::{PolicyTable, Section, at, word};

/// Checks all fast paths, and the lists of fast paths that the index names.
#[inline(never)]
pub(crate) fn verify(table: &PolicyTable, lists: &[u32]) -> Option<()> {
    let section = table.section(Section::FastPaths);
    if section.is_empty() {
        return lists.is_empty().then_some(());
    }
    let pool = table.pool();
    let names = Names { pool, slots: starts(table), footprints: Footprints::new(pool) };
    wardgate_fastpath::verify(section, &names)?;
    // Kinds may share a list, but lists do not share words: otherwise a small table could hold a
    // large list many times over, and every time would cost a walk.
    let mut lists = lists.to_vec();
    order::sort_by(&mut lists, u32::cmp);
    lists.dedup();
    let mut unread = section.len();
    for list in &lists {
        unread = unread.checked_sub(FastPaths::new(section).list(*list)?.words())?;
        wardgate_fastpath::verify_list(section, *list, &names)?;
    }
    Some(())
}

struct Names<'a> {
    pool: Pool<'a>,
    /// For each word of the slots: true if a slot starts there.
    slots: Vec<bool>,
    footprints: Footprints<'a>,
}

impl Known for Names<'_> {
    fn has_string(&self, id: u32) -> bool {
        self.pool.string(id).is_some()
    }

    fn has_slot(&self, slot: u32) -> bool {
        self.slots.get(at(slot)) == Some(&true) && is_readable(slot, &self.pool)
    }

    fn has_attributes(&self, slot: u32) -> bool {
        self.slots.get(at(slot)) == Some(&true) && is_all_attributes(slot, &self.pool)
    }

    fn reads_only(&self, program: u32, slots: &[u32]) -> bool {
        let footprint = self.footprints.of(program);
        footprint.is_some_and(|footprint| footprint.slots.iter().all(|slot| slots.contains(slot)))
    }
}

fn starts(table: &PolicyTable) -> Vec<bool> {
    let slots = table.section(Section::Slots);
    let mut starts = vec![false; slots.len()];
    let mut next = 0;
    while let Some(start) = starts.get_mut(next) {
        *start = true;
        next = next.saturating_add(2).saturating_add(at(word(slots, next + 1)));
    }
    starts
}
