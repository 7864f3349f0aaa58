//! Verdicts: the entry that decides, role by role.
//!
//! This is the walk of the general path over the entries: the roles in their order, and for each
//! the entries of its class. So the order of the roles is no matter of doubt here. Any error is:
//! the general path reports it.

use crate::code::{Machine, Programs, Truth};
use crate::decide::End;
use crate::frame::Slots;
use crate::layout::{ALLOW, BY_CLASS, ORIGINS, origin};
use crate::record::{Entry, FastPath};

/// The decision on one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The entry with this number allows.
    Allow(u32),
    /// The entry with this number denies.
    Deny(u32),
    /// No rule applies, so the action is denied.
    Nothing,
}

/// A verdict, and how far the search for it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of scopes of the kind that were visited, the most specific ones; [`ALL_SCOPES`]
    /// if every scope was.
    pub scopes: u32,
    /// True if some rule emits an output.
    pub emits: bool,
}

/// Stands for the number of all scopes of any search.
pub const ALL_SCOPES: u32 = origin::MAX_SCOPE;

impl FastPath<'_> {
    /// Decides with a fast path that has origins, for roles with these masks in their order.
    /// Returns `None` if only the general path can decide.
    // Out of line: it has several callers, and most of its time is in the entries.
    #[inline(never)]
    #[must_use]
    pub fn verdict(
        &self,
        roles: &[u32],
        frame: &impl Slots,
        programs: &dyn Programs,
    ) -> Option<Searched> {
        let origins = self.origins();
        // Without roles no scope is visited.
        let mut machine = self.exact(frame, programs).filter(|_| !roles.is_empty())?;
        let (mut first, mut scopes) = (Verdict::Nothing, 0);
        for (position, role) in roles.iter().enumerate() {
            machine.role = position;
            let (number, verdict) = match machine.end(Steps::new(self), |mask| mask & role != 0)? {
                End::Failed => return None,
                End::Silent => {
                    scopes = ALL_SCOPES;
                    continue;
                }
                End::Allowed(number) => (number, Verdict::Allow(number)),
                End::Denied(number) => (number, Verdict::Deny(number)),
            };
            let [_, scope, _] = origin::parts(*origins.get(crate::at(number))?);
            scopes = scopes.max(if scope == origin::OWN { 0 } else { scope + 1 });
            if let Verdict::Allow(_) = verdict {
                return Some(Searched { verdict, scopes, emits: machine.has_emitted });
            }
            if first == Verdict::Nothing {
                first = verdict;
            }
        }
        Some(Searched { verdict: first, scopes, emits: machine.has_emitted })
    }

    /// Returns the derived roles that are granted in this number of scopes: a bit for each, the
    /// number in its origin. `roles` unites the masks of the principal's roles. Returns `None` if
    /// only the general path can tell.
    #[must_use]
    pub fn grants(
        &self,
        roles: u32,
        scopes: u32,
        frame: &impl Slots,
        programs: &dyn Programs,
    ) -> Option<u32> {
        let mut machine = self.exact(frame, programs)?;
        let mut granted = 0_u32;
        for (entry, word) in self.entries().iter().zip(self.origins()) {
            let [_, scope, number] = origin::parts(*word);
            if scope >= scopes || entry[2] & roles == 0 {
                continue;
            }
            match (machine.truth(entry)?, entry[0] >> 24) {
                (Truth::Error, _) => return None,
                (Truth::True, ALLOW) => granted |= 1_u32.checked_shl(number)?,
                _ => {}
            }
        }
        Some(granted)
    }

    /// Returns a machine to which every error is a doubt; `None` if there are no origins.
    fn exact<'a, S: Slots>(
        &'a self,
        frame: &'a S,
        programs: &'a dyn Programs,
    ) -> Option<Machine<'a, S>> {
        let is_complete = self.origins().len() >= self.entries().len();
        (self.flags() & (ORIGINS | BY_CLASS) == ORIGINS && is_complete)
            .then(|| Machine::new(*self, frame, programs).exact())
    }
}

/// The entries of a view of verdicts with their numbers, in the order in which they are tried.
struct Steps<'a> {
    entries: &'a [Entry],
    more: &'a [Entry],
    places: &'a [u32],
    /// The numbers of entries of each kind that are done.
    done: [usize; 2],
}

impl<'a> Steps<'a> {
    fn new(fast_path: &FastPath<'a>) -> Self {
        let (entries, more, _, places) = fast_path.parts_of_verdicts();
        Self { entries, more, places, done: [0; 2] }
    }
}

impl<'a> Iterator for Steps<'a> {
    type Item = (&'a Entry, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let [entries, more] = &mut self.done;
        let is_due = self.places.get(*more).is_some_and(|place| crate::at(*place) <= *entries);
        let (entry, number) = if is_due {
            *more += 1;
            (self.more.get(*more - 1)?, self.entries.len() + *more - 1)
        } else {
            *entries += 1;
            (self.entries.get(*entries - 1)?, *entries - 1)
        };
        Some((entry, u32::try_from(number).ok()?))
    }
}
