//! Verdicts: the entry that decides, role by role.
//!
//! This is the walk of the general path over the entries: the roles in their order, and for each
//! the entries of its class. So the order of the roles is no matter of doubt here. Any error is:
//! the general path reports it.

use core::iter;

use crate::code::{Machine, Programs, Truth};
use crate::decide::End;
use crate::frame::Frame;
use crate::layout::{ALLOW, BY_CLASS, ORIGINS, fast_path, origin};
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
}

/// Stands for the number of all scopes of any search.
pub const ALL_SCOPES: u32 = origin::MAX_SCOPE;

impl FastPath<'_> {
    /// Decides with a fast path that has origins, for roles with these masks in their order.
    /// Returns `None` if only the general path can decide.
    #[must_use]
    pub fn verdict(
        &self,
        roles: &[u32],
        frame: &Frame,
        programs: &dyn Programs,
    ) -> Option<Searched> {
        let origins = self.origins();
        // Without roles no scope is visited.
        let mut machine = self.exact(frame, programs).filter(|_| !roles.is_empty())?;
        let (mut first, mut scopes) = (Verdict::Nothing, 0);
        for role in roles {
            let (number, verdict) = match machine.end(self.steps(), |mask| mask & role != 0)? {
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
                return Some(Searched { verdict, scopes });
            }
            if first == Verdict::Nothing {
                first = verdict;
            }
        }
        Some(Searched { verdict: first, scopes })
    }

    /// Returns the derived roles that are granted in this number of scopes: a bit for each, the
    /// number in its origin. `roles` unites the masks of the principal's roles. Returns `None` if
    /// only the general path can tell.
    #[must_use]
    pub fn grants(
        &self,
        roles: u32,
        scopes: u32,
        frame: &Frame,
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

    /// Returns the entries with their numbers, in the order of verdicts.
    fn steps(&self) -> impl Iterator<Item = (&'_ Entry, u32)> {
        let entries = self.entries();
        let mut more = self.more().zip(self.start()[fast_path::ENTRIES]..).peekable();
        let mut next = 0;
        iter::from_fn(move || {
            if let Some(((entry, _), number)) = more.next_if(|((_, place), _)| *place <= next) {
                return Some((entry, number));
            }
            let entry = entries.get(crate::at(next))?;
            next += 1;
            Some((entry, next - 1))
        })
    }

    /// Returns a machine to which every error is a doubt; `None` if there are no origins.
    fn exact<'a>(&'a self, frame: &'a Frame, programs: &'a dyn Programs) -> Option<Machine<'a>> {
        let is_complete = self.origins().len() >= self.entries().len();
        (self.flags() & (ORIGINS | BY_CLASS) == ORIGINS && is_complete)
            .then(|| Machine::new(*self, frame, programs).exact())
    }
}
