//! How the requests relate for which two rules are meant.
//!
//! Kind, version and scope are left out: the relation is what it would be in one policy. It is claimed only where
//! it follows from the normal forms: a conjunction holds where all of its parts do, so that the one with more of
//! the same parts holds only where the other does. All else is unknown, also what overlaps.

use std::rc::Rc;

use crate::index::{Body, Effect, Holder};

/// How the requests relate for which two rules are meant: the actions, for whom, and where the condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// They are the same.
    Equal,
    /// The first rule is meant for some of those of the second, or for all.
    Within,
    /// The first rule is meant for all of those of the second, and maybe more.
    Contains,
    /// The rules have no action in common.
    Disjoint,
    /// One allows and the other denies, and one of them is meant for all requests of the other.
    Contradict,
    /// None of these is proved.
    Unknown,
}

impl Relation {
    /// Returns the relation as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within => "within",
            Self::Contains => "contains",
            Self::Disjoint => "disjoint",
            Self::Contradict => "contradict",
            Self::Unknown => "unknown",
        }
    }
}

/// Returns the relation of two rules.
pub(super) fn between(first: &Body, second: &Body) -> Relation {
    if first.actions.iter().chain(&second.actions).all(|action| !is_pattern(action))
        && !first.actions.iter().any(|action| second.actions.contains(action))
    {
        return Relation::Disjoint;
    }
    if (first.effect == Effect::Narrow) != (second.effect == Effect::Narrow) {
        return Relation::Unknown;
    }
    match (is_within(first, second), is_within(second, first)) {
        (false, false) => Relation::Unknown,
        _ if first.effect != second.effect => Relation::Contradict,
        (true, true) => Relation::Equal,
        (true, false) => Relation::Within,
        (false, true) => Relation::Contains,
    }
}

/// Returns true if each request for which the first rule is meant is one of the second, for certain.
fn is_within(first: &Body, second: &Body) -> bool {
    let actions = &second.actions;
    let has_action =
        |action: &Rc<str>| actions.contains(action) || actions.iter().any(|a| **a == *"*");
    let has_holder = |holder: &Holder| {
        let is_role = !holder.meaning.starts_with("principal ");
        let covers =
            |other: &Holder| other.meaning == holder.meaning || (*other.meaning == *"*" && is_role);
        second.holders.iter().any(covers)
    };
    let parts = &first.condition.conjuncts;
    first.actions.iter().all(has_action)
        && first.holders.iter().all(has_holder)
        && second.condition.conjuncts.iter().all(|part| parts.contains(part))
}

/// Returns true if the name of an action stands for several.
fn is_pattern(action: &str) -> bool {
    action.contains(['*', '?', '[', '{', '\\'])
}
