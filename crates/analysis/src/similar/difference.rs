//! What is the same in two rules, and what differs.

use std::rc::Rc;

use super::{Parts, Query};
use crate::index::{Body, Holder, Place};

/// A part of a rule or of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The effect.
    Effect,
    /// The actions.
    Actions,
    /// The roles, derived roles or principal.
    Roles,
    /// The condition: how it compares and joins.
    Condition,
    /// The constants of conditions that are otherwise the same.
    Constants,
    /// The outputs.
    Output,
    /// The kind of the resource.
    Kind,
    /// The version of the policy.
    Version,
    /// The scope of the policy.
    Scope,
}

impl Part {
    /// Returns the part as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Effect => "effect",
            Self::Actions => "actions",
            Self::Roles => "roles",
            Self::Condition => "condition",
            Self::Constants => "constants",
            Self::Output => "output",
            Self::Kind => "kind",
            Self::Version => "version",
            Self::Scope => "scope",
        }
    }
}

/// A part that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<'i> {
    /// The part.
    pub part: Part,
    /// What only the rule of the query has.
    pub query: Vec<&'i str>,
    /// What only the other has.
    pub other: Vec<&'i str>,
}

/// Returns the parts that are the same, and the differences.
pub(super) fn between<'i>(query: &'i Query, body: &'i Body, place: &'i Place) -> Parts<'i> {
    let ours = &query.body;
    let mut found = Parts { same: Vec::with_capacity(PARTS), differs: Vec::with_capacity(PARTS) };
    found.one(Part::Effect, ours.effect.name(), body.effect.name());
    found.actions(&ours.actions, &body.actions);
    found.holders(&ours.holders, &body.holders);
    found.condition(ours, body);
    if !ours.output.is_empty() || !body.output.is_empty() {
        found.one(Part::Output, &ours.output, &body.output);
    }
    found.one(Part::Kind, &query.place.kind, &place.kind);
    found.one(Part::Version, &query.place.version, &place.version);
    found.one(Part::Scope, &query.place.scope, &place.scope);
    found
}

impl<'i> Parts<'i> {
    fn one(&mut self, part: Part, ours: &'i str, theirs: &'i str) {
        if ours == theirs {
            return self.same.push(part);
        }
        let (query, other) = (vec![ours], vec![theirs]);
        self.differs.push(Difference { part, query, other });
    }

    fn actions(&mut self, ours: &'i [Rc<str>], theirs: &'i [Rc<str>]) {
        let (query, other) = (only(ours, theirs), only(theirs, ours));
        if query.is_empty() && other.is_empty() {
            return self.same.push(Part::Actions);
        }
        self.differs.push(Difference { part: Part::Actions, query, other });
    }

    fn holders(&mut self, ours: &'i [Holder], theirs: &'i [Holder]) {
        let query: Vec<&'i str> = names(ours, theirs).collect();
        let other: Vec<&'i str> = names(theirs, ours).collect();
        if query.is_empty() && other.is_empty() {
            return self.same.push(Part::Roles);
        }
        self.differs.push(Difference { part: Part::Roles, query, other });
    }

    fn condition(&mut self, ours: &'i Body, theirs: &'i Body) {
        let (ours, theirs) = (&*ours.condition, &*theirs.condition);
        if ours.text == theirs.text {
            return self.same.push(Part::Condition);
        }
        if ours.shape == theirs.shape {
            self.same.push(Part::Condition);
            let pairs = || ours.constants.iter().zip(&theirs.constants).filter(|(a, b)| a != b);
            self.differs.push(Difference {
                part: Part::Constants,
                query: pairs().map(|(ours, _)| ours.as_str()).collect(),
                other: pairs().map(|(_, theirs)| theirs.as_str()).collect(),
            });
            return;
        }
        let query = only(&ours.atoms, &theirs.atoms);
        let other = only(&theirs.atoms, &ours.atoms);
        let is_joined_otherwise = query.is_empty() && other.is_empty();
        self.differs.push(if is_joined_otherwise {
            let (query, other) = (vec![ours.shown()], vec![theirs.shown()]);
            Difference { part: Part::Condition, query, other }
        } else {
            Difference { part: Part::Condition, query, other }
        });
    }
}

/// Returns the texts that only `these` have.
fn only<'t>(these: &'t [Rc<str>], those: &[Rc<str>]) -> Vec<&'t str> {
    let lacks = |one: &&Rc<str>| !those.contains(one);
    these.iter().filter(lacks).map(|one| &**one).collect()
}

/// Returns the names of the holders that only `these` have.
fn names<'t>(these: &'t [Holder], those: &[Holder]) -> impl Iterator<Item = &'t str> {
    let lacks = |one: &&Holder| !those.iter().any(|other| other.meaning == one.meaning);
    these.iter().filter(lacks).map(Holder::name)
}

/// The parts of a rule and of its place.
const PARTS: usize = 9;
