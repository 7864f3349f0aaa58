//! Plans: what can be decided about a request before it is made.
//!
//! For each kind, version and scope with a resource policy, and for each action that its rules name,
//! [`build`] walks the table once as [`PolicyTable::is_allowed`] would and writes down what is left to
//! ask of a request: see [`wardgate_fastpath`]. A plan answers as the general path does or says that it is
//! Unsure; what it cannot hold (derived roles as values, patterns over names that nobody knows yet,
//! whole maps of attributes, limits) has no plan.

mod fill;
pub mod footprint;
mod frame;
mod verify;

use wardgate_fastpath::{Frame, NoPrograms, Plan, PlanList, Plans};

pub use fill::{Filled, Roles};
pub use frame::Contents;
pub(crate) use verify::verify;
pub use wardgate_fastpath::Answer;
pub use wardgate_fastpath::layout::BY_CLASS;

use crate::cel::Timestamp;
use crate::cel::pool::Root;
use crate::names::{sanitized, trimmed_scope};
use crate::table::layout::Key;
use crate::table::{PolicyTable, Section, at, word};
use frame::Running;

impl PolicyTable {
    /// Returns the plans of the table.
    #[inline]
    #[must_use]
    pub fn plans(&self) -> Plans<'_> {
        Plans::new(self.section(Section::Plans))
    }

    /// Returns the plans for resources of `kind`, as a request names it, with this version and scope of
    /// policies; an empty version is the default one. Nothing means that the general path decides.
    #[must_use]
    pub fn plan_list(&self, kind: &str, version: &str, scope: &str) -> Option<PlanList<'_>> {
        let version = if version.is_empty() { self.default_version() } else { version };
        let kind = self.string_id(&sanitized(kind))?;
        let key = [kind, self.string_id(version)?, self.string_id(trimmed_scope(scope))?];
        self.plans().list(self.find(Key::Plans, key)?)
    }

    /// Returns plan `id`.
    #[inline]
    #[must_use]
    pub fn plan(&self, id: u32) -> Option<Plan<'_>> {
        self.plans().get(id)
    }

    /// Returns where the path of a slot starts and the names that it follows from there. `slot` is what
    /// the record of a plan calls it.
    pub fn slot_path(&self, slot: u32) -> Option<(Root, impl Iterator<Item = &str>)> {
        let words = self.section(Section::Slots).get(at(slot)..)?;
        let root = Root::from_code(word(words, 0))?;
        let path = words.get(2..2_usize.checked_add(at(word(words, 1)))?)?;
        Some((root, path.iter().map(|id| self.string(*id))))
    }

    /// Decides by a plan that runs no programs. `roles` unites the masks of the principal's roles.
    #[inline]
    #[must_use]
    pub fn decide(&self, plan: u32, roles: u32, frame: &Frame) -> Answer {
        self.plans().decide(plan, roles, frame)
    }

    /// Decides by a plan by class that runs no programs.
    #[must_use]
    pub fn decide_classes(&self, plan: u32, classes: &[u32], frame: &Frame) -> Answer {
        match self.plan(plan) {
            Some(plan) => plan.decide_classes(classes, frame, &NoPrograms),
            None => Answer::Unsure,
        }
    }

    /// Decides by any plan but one by class. `contents` holds what words cannot; `now` is what `now()`
    /// means.
    #[must_use]
    pub fn decide_with(
        &self,
        plan: u32,
        roles: u32,
        (frame, contents): (&Frame, &dyn Contents),
        now: Timestamp,
    ) -> Answer {
        let Some(plan) = self.plan(plan) else { return Answer::Unsure };
        let pool = self.pool();
        plan.decide(roles, frame, &Running::new(&pool, (plan, frame, contents), now))
    }

    /// Decides by any plan by class.
    #[must_use]
    pub fn decide_classes_with(
        &self,
        plan: u32,
        classes: &[u32],
        (frame, contents): (&Frame, &dyn Contents),
        now: Timestamp,
    ) -> Answer {
        let Some(plan) = self.plan(plan) else { return Answer::Unsure };
        let pool = self.pool();
        let running = Running::new(&pool, (plan, frame, contents), now);
        plan.decide_classes(classes, frame, &running)
    }
}
