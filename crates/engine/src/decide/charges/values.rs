//! The limits that an action meets, with the values of their expressions.

use alloc::vec::Vec;

use super::super::session::Session;
use crate::cel::{Error, Value};
use crate::limits::MAX_MET_LIMITS;
use crate::table::Block;
use crate::table::limit::{Charged, Limit, Mode};

/// The programs of the parts of a key, of a cost if there is one, and of a quota, with their values. The
/// first error is the last value; it may be one of the condition, whose program is beside it. The list
/// is empty if the action meets more limits than are charged together.
pub(super) type Values<'a> = Vec<(u32, Value<'a>)>;

/// Receives each limit that an action meets.
pub(super) type Note<'n, 't, 'a> = dyn FnMut(Limit<'t>, Values<'a>) + 'n;

impl<'a> Session<'a> {
    /// Calls `note` with each limit of `block` that the action meets, in the order of their names.
    /// Returns false if the steps do not suffice to find them.
    pub(super) fn meet<'t>(
        &self,
        block: Block<'t>,
        (action, is_allowed): (&str, bool),
        note: &mut Note<'_, 't, 'a>,
    ) -> bool {
        let action = self.table.name(action);
        if self.charge_block(block, action, "", 1).is_err() {
            return false;
        }
        let mut candidates = block.candidates();
        block.narrow_actions(&mut candidates, action);
        block.narrow_resources(&mut candidates, self.kind_name());
        let mut counts = [0; 2];
        for limit in candidates.filter_map(|number| block.table().limit(number)) {
            if is_allowed || limit.charged() == Charged::Always {
                let [enforced, shadows] = &mut counts;
                let count = if limit.mode() == Mode::Enforce { enforced } else { shadows };
                self.note(limit, count, note);
            }
        }
        true
    }

    /// Notes a limit if its condition holds or fails. `count` is the number of limits of its mode
    /// before it.
    fn note<'t>(&self, limit: Limit<'t>, count: &mut usize, note: &mut Note<'_, 't, 'a>) {
        if *count > MAX_MET_LIMITS {
            return;
        }
        let mut values = Vec::new();
        match self.holds_for(&limit) {
            Ok(false) => return,
            Ok(true) if *count == MAX_MET_LIMITS => {}
            Ok(true) => self.evaluate_all(&limit, &mut values),
            Err((program, error)) => values.push((program, Value::Error(error))),
        }
        *count += 1;
        note(limit, values);
    }

    fn evaluate_all(&self, limit: &Limit<'_>, values: &mut Values<'a>) {
        let mut succeeds = |program| {
            let value = self.evaluate(program);
            let bytes = if let Value::String(text) = &value { text.len() } else { 0 };
            let is_paid = self.charge_text(bytes.saturating_add(1)).is_ok();
            values.push((program, if is_paid { value } else { Value::Error(Error::Limit) }));
            !matches!(values.last(), Some((_, Value::Error(_))))
        };
        let _ = limit.key().iter().all(|program| succeeds(*program))
            && limit.cost().is_none_or(&mut succeeds)
            && succeeds(limit.quota());
    }
}
