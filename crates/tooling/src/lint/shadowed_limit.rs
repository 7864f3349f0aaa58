//! Rate limits that never refuse, since another one refuses whenever they would.
//!
//! The other limit is for all requests of the first, counts them under the same key in the same way, and has at
//! most its tokens. Both are charged together or not at all, so the other one never has more left.

use wardgate_compiler::cel;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::resolve::model::Limit;
use wardgate_engine::cel::Value;
use wardgate_engine::decide::{Rounded, tokens};
use wardgate_engine::table::limit::Mode;

use super::{Lint, Linter};

impl Linter<'_> {
    pub(super) fn shadowed_limits(&self) -> Vec<Diagnostic> {
        let limits: Vec<Plain<'_>> = self.resolved.limit.iter().filter_map(Plain::of).collect();
        let shadowed = limits.iter().enumerate().filter_map(|(at, limit)| {
            let mut others = limits.iter().enumerate();
            // Of two that are alike the later one is reported.
            let (_, other) = others.find(|(place, other)| {
                *place != at
                    && other.refuses_before(limit)
                    && (*place < at || !limit.refuses_before(other))
            })?;
            Some(finding(limit.limit, other.limit))
        });
        shadowed.collect()
    }
}

/// An enforced limit with constant numbers, whose expressions mean the same in every document.
struct Plain<'l> {
    limit: &'l Limit,
    quota: u64,
    /// The tokens of a full key.
    capacity: u64,
}

impl<'l> Plain<'l> {
    fn of(limit: &'l Limit) -> Option<Self> {
        let body = &limit.body;
        let is_plain = limit.constants.is_empty() && limit.variables.is_empty();
        if !is_plain || body.mode != Mode::Enforce {
            return None;
        }
        let parsed = cel::parse(&body.quota.text).ok()?;
        let quota = |value: Value<'_>| tokens(&value, Rounded::Down);
        let quota = cel::constant(&parsed, &limit.constants, quota)??;
        Some(Self { limit, quota, capacity: body.burst().unwrap_or(quota) })
    }

    /// Returns true if this limit refuses whenever `other` does.
    fn refuses_before(&self, other: &Self) -> bool {
        let (own, body) = (&self.limit.body, &other.limit.body);
        let is_one_kind =
            core::mem::discriminant(&own.algorithm) == core::mem::discriminant(&body.algorithm);
        is_one_kind
            && (own.window, own.charged) == (body.window, body.charged)
            && (own.consistency, own.failure) == (body.consistency, body.failure)
            && own.key.iter().map(text).eq(body.key.iter().map(text))
            && own.cost.as_ref().map(text) == body.cost.as_ref().map(text)
            && self.is_for_all_of(other)
            && self.quota <= other.quota
            && self.capacity <= other.capacity
    }

    fn is_for_all_of(&self, other: &Self) -> bool {
        let (own, body) = (&self.limit.body, &other.limit.body);
        let names = |pattern: &String| own.actions.iter().any(|own| own == "*" || own == pattern);
        own.condition.is_none()
            && (own.resource == "*" || own.resource == body.resource)
            && body.actions.iter().all(names)
    }
}

fn text(part: &ExprSource) -> &str {
    part.text.trim()
}

fn finding(limit: &Limit, other: &Limit) -> Diagnostic {
    let (name, other) = (&limit.body.name, &other.body.name);
    let message = format!(
        "the limit `{name}` never refuses: `{other}` counts the same requests and has no more tokens"
    );
    Diagnostic::lint(Lint::ShadowedLimit, &limit.body.quota.at, message)
        .expected("a smaller quota, or another key or window")
}
