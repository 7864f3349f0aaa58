//! The unmet needs of a rule: the parts of its condition that keep it from applying.

use wardgate_engine::decide::Outcome;
use wardgate_engine::decide::observe::{Finding, Read, Truth};
use wardgate_engine::table::layout::Junction;

use super::gather::Met;

/// An unmet need.
#[derive(Debug, PartialEq)]
pub(crate) enum Need {
    /// The principal has none of these roles.
    Role(Vec<String>),
    /// The principal does not have this derived role, because of the rest.
    DerivedRole(String, Vec<Need>),
    /// An expression must evaluate to `wanted`.
    Expression(Expression),
    /// One of these.
    AnyOf(Vec<Need>),
    /// All of these.
    AllOf(Vec<Need>),
    /// A scope above this one must allow the action too.
    Consent(String),
    /// Unattainable: one of no conditions never holds.
    Never,
}

/// An expression, and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) truth: Truth,
    pub(crate) trouble: Option<String>,
    pub(crate) reads: Vec<Read>,
    pub(crate) wanted: bool,
}

impl Expression {
    /// Returns the expression at a leaf of a condition; `None` at a junction.
    fn at(finding: &Finding, wanted: bool) -> Option<Self> {
        let Finding::Expression { text, truth, trouble, reads } = finding else { return None };
        let (text, trouble, reads) = (text.clone(), trouble.clone(), reads.clone());
        Some(Self { text, truth: *truth, trouble, reads, wanted })
    }
}

/// Returns the unmet needs of `met`, in the author's terms. In a lenient table a failing expression
/// does not hold.
pub(crate) fn needs(met: &Met, is_lenient: bool) -> Vec<Need> {
    let mut needs = Vec::new();
    let lacks_role = met.outcome == Outcome::OtherRole;
    if let Some(derived) = &met.derived_role {
        let mut behind: Vec<Need> =
            lacks_role.then(|| Need::Role(met.roles.clone())).into_iter().collect();
        behind.extend(wanted(met.role_condition.as_ref(), is_lenient));
        if !behind.is_empty() {
            needs.push(Need::DerivedRole(derived.clone(), behind));
        }
    } else if lacks_role {
        needs.push(Need::Role(met.roles.clone()));
    }
    needs.extend(wanted(met.condition.as_ref(), is_lenient));
    if needs.is_empty() && met.outcome == Outcome::Applied && met.needs_consent {
        needs.push(Need::Consent(met.scope.clone()));
    }
    needs
}

/// Returns the unmet needs of a condition.
fn wanted(condition: Option<&Finding>, is_lenient: bool) -> Vec<Need> {
    match condition.and_then(|condition| want(condition, true, is_lenient)) {
        Some(Need::AllOf(needs)) => needs,
        need => need.into_iter().collect(),
    }
}

/// Returns the needs of `finding` to evaluate to `wanted`.
fn want(finding: &Finding, wanted: bool, is_lenient: bool) -> Option<Need> {
    match finding {
        Finding::Expression { truth, .. } => {
            let is_so = match truth {
                Truth::True => wanted,
                Truth::False => !wanted,
                Truth::Partly => false,
                Truth::Error => is_lenient && !wanted,
            };
            if is_so { None } else { Expression::at(finding, wanted).map(Need::Expression) }
        }
        Finding::Junction { junction, parts } => {
            let inner = if *junction == Junction::None { !wanted } else { wanted };
            let needs_all = match junction {
                Junction::All | Junction::Expr => wanted,
                Junction::Any => !wanted,
                Junction::None => wanted,
            };
            let needs = parts.iter().map(|part| want(part, inner, is_lenient));
            if needs_all { all_of(needs) } else { any_of(needs) }
        }
    }
}

fn all_of(needs: impl Iterator<Item = Option<Need>>) -> Option<Need> {
    let mut all: Vec<Need> = Vec::new();
    for need in needs.flatten() {
        match need {
            Need::AllOf(more) => all.extend(more),
            need => all.push(need),
        }
    }
    joined(all, Need::AllOf)
}

/// One alternative without unmet needs is enough.
fn any_of(needs: impl Iterator<Item = Option<Need>>) -> Option<Need> {
    let any: Option<Vec<Need>> = needs.collect();
    let any = any?;
    if any.is_empty() { Some(Need::Never) } else { joined(any, Need::AnyOf) }
}

fn joined(mut needs: Vec<Need>, join: fn(Vec<Need>) -> Need) -> Option<Need> {
    if needs.len() > 1 { Some(join(needs)) } else { needs.pop() }
}

/// Returns the expressions of a condition, in the order in which they are written.
pub(crate) fn expressions(condition: &Finding) -> Vec<Expression> {
    match condition {
        Finding::Expression { .. } => Expression::at(condition, true).into_iter().collect(),
        Finding::Junction { parts, .. } => parts.iter().flat_map(expressions).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(text: &str) -> Finding {
        let truth = match text.chars().next() {
            Some('t') => Truth::True,
            Some('f') => Truth::False,
            _ => Truth::Error,
        };
        Finding::Expression { text: text.to_owned(), truth, trouble: None, reads: Vec::new() }
    }

    fn join(junction: Junction, parts: &[Finding]) -> Finding {
        Finding::Junction { junction, parts: parts.to_vec() }
    }

    fn text(need: &Need) -> String {
        let list = |needs: &[Need]| needs.iter().map(text).collect::<Vec<_>>().join(" ");
        match need {
            Need::Expression(leaf) if leaf.wanted => leaf.text.clone(),
            Need::Expression(leaf) => format!("!{}", leaf.text),
            Need::AnyOf(needs) => format!("any({})", list(needs)),
            Need::AllOf(needs) => format!("all({})", list(needs)),
            Need::Never => "never".to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn only_what_stands_in_the_way_is_needed() {
        use Junction::{All, Any, None};
        let check = |finding: Finding, expected: &str| {
            let found = want(&finding, true, false);
            assert_eq!(found.as_ref().map(text).unwrap_or_default(), expected);
        };
        check(leaf("t"), "");
        check(leaf("f"), "f");
        check(leaf("e"), "e");
        check(join(All, &[leaf("t"), leaf("f1"), leaf("f2")]), "all(f1 f2)");
        check(join(All, &[leaf("f1"), join(All, &[leaf("f2"), leaf("f3")])]), "all(f1 f2 f3)");
        check(join(Any, &[leaf("f1"), leaf("e")]), "any(f1 e)");
        check(join(Any, &[leaf("f1"), leaf("t")]), "");
        check(join(None, &[leaf("t1"), leaf("f"), leaf("t2")]), "all(!t1 !t2)");
        check(join(None, &[join(All, &[leaf("t1"), leaf("t2")])]), "any(!t1 !t2)");
        check(join(None, &[join(All, &[leaf("t1"), leaf("f")])]), "");
        check(join(None, &[join(None, &[leaf("f1"), leaf("f2")])]), "any(f1 f2)");
        check(join(None, &[leaf("e")]), "!e");
        check(join(Any, &[]), "never");
        check(join(All, &[]), "");
        check(join(None, &[join(All, &[])]), "never");
    }

    #[test]
    fn failing_expressions_do_not_hold_in_a_lenient_table() {
        let none = join(Junction::None, &[leaf("e")]);
        assert_eq!(want(&none, true, true), Option::None);
        assert!(want(&leaf("e"), true, true).is_some());
    }
}
