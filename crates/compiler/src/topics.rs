//! Conditions about MQTT topics read the topic through `matchesTopic` alone.
//!
//! A SUBSCRIBE asks about all topics of a filter at once. A condition that read the filter as a text
//! would compare wildcards with words: `R.attr.topic == "secret"` in a deny rule is false for `+`,
//! without an error, and would let the subscription through. So where policies are about
//! `mqtt:topic`, whatever can decide about it reads `R.attr.topic` only before `.matchesTopic`
//! or in `has`, and neither `R.id` nor `R.attr` as a whole.

use std::collections::BTreeSet;

use wardgate_engine::glob;
use wardgate_engine::names::sanitized;

use crate::cel::ast::{ExprKind, Literal};
use crate::cel::{self, Expr, Span};
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::policy::model::{Condition, LimitBody};
use crate::resolve::model::{Resolved, Variable};

/// The kind of resource whose attribute `topic` is a topic, or all topics of a filter.
const TOPIC_KIND: &str = "mqtt:topic";

/// The function that reads a topic.
pub const MATCHES_TOPIC: &str = "matchesTopic";

/// Returns the errors of conditions that read a topic as a text.
pub(crate) fn read_as_text(resolved: &Resolved) -> Vec<Diagnostic> {
    let mut check = Check { seen: BTreeSet::new(), errors: Vec::new() };
    if is_about_topics(resolved) {
        check.policies(resolved);
    }
    check.errors
}

/// Returns true if a policy is about topics. Globs of every kind, such as `*`, do not count.
fn is_about_topics(resolved: &Resolved) -> bool {
    let names = |pattern: &str| pattern != "*" && pattern != "**" && fits(pattern);
    let principal = resolved.principal.iter().flat_map(|policy| &policy.rules);
    let role = resolved.role.iter().flat_map(|policy| &policy.rules);
    resolved.resource.iter().any(|policy| is_topic_kind(&policy.head.name))
        || principal.map(|rule| &rule.resource).any(|pattern| names(pattern))
        || role.map(|rule| &rule.resource).any(|pattern| names(pattern))
        || resolved.limit.iter().any(|limit| names(&limit.body.resource))
}

/// Returns true if a rule for the resources of `pattern` can decide about topics.
fn fits(pattern: &str) -> bool {
    let is_glob = glob::is_glob(pattern);
    is_topic_kind(pattern) || is_glob && glob::matches(pattern, &sanitized(TOPIC_KIND))
}

/// Returns true if requests about topics find a policy of this name: names of the old form are looked
/// up in one spelling, so that `mqtt_topic` is one of them.
fn is_topic_kind(name: &str) -> bool {
    sanitized(name) == sanitized(TOPIC_KIND)
}

struct Check<'p> {
    /// The expressions that were checked: imported variables recur in many policies.
    seen: BTreeSet<(&'p str, usize)>,
    errors: Vec<Diagnostic>,
}

impl<'p> Check<'p> {
    fn policies(&mut self, resolved: &'p Resolved) {
        for policy in resolved.resource.iter().filter(|policy| is_topic_kind(&policy.head.name)) {
            let conditions = policy.rules.iter().filter_map(|rule| rule.condition.as_ref());
            self.conditions(conditions, &policy.head.variables);
            for role in policy.derived_roles.values() {
                self.conditions(role.condition.iter(), &role.variables);
            }
        }
        for policy in &resolved.principal {
            let rules = policy.rules.iter().filter(|rule| fits(&rule.resource));
            let actions = rules.flat_map(|rule| &rule.actions);
            let conditions = actions.filter_map(|action| action.condition.as_ref());
            self.conditions(conditions, &policy.head.variables);
        }
        for policy in &resolved.role {
            let rules = policy.rules.iter().filter(|rule| fits(&rule.resource));
            let conditions = rules.filter_map(|rule| rule.condition.as_ref());
            self.conditions(conditions, &policy.head.variables);
        }
        for limit in resolved.limit.iter().filter(|limit| fits(&limit.body.resource)) {
            let LimitBody { condition, cost, quota, .. } = &limit.body;
            let condition = condition.iter().flat_map(Condition::expressions);
            self.expressions(condition.chain(cost).chain([quota]).collect(), &limit.variables);
        }
    }

    /// Checks conditions, and the variables that they use in any number of steps.
    fn conditions(
        &mut self,
        conditions: impl Iterator<Item = &'p Condition>,
        variables: &'p [Variable],
    ) {
        self.expressions(conditions.flat_map(Condition::expressions).collect(), variables);
    }

    /// Checks expressions, and the variables that they use in any number of steps.
    fn expressions(&mut self, mut pending: Vec<&'p ExprSource>, variables: &'p [Variable]) {
        let mut used = BTreeSet::new();
        while let Some(source) = pending.pop() {
            // An expression that does not parse is reported where it is compiled.
            let Ok(expr) = cel::parse(&source.text) else { continue };
            if self.seen.insert((&source.at.file.path, source.scalar.offset)) {
                self.expression(source, &expr);
            }
            for name in cel::references(&expr).variables {
                let defined = variables.iter().find(|variable| variable.name == name);
                pending
                    .extend(defined.filter(|_| used.insert(name)).map(|variable| &variable.expr));
            }
        }
    }

    fn expression(&mut self, source: &'p ExprSource, expr: &Expr) {
        let mut found = Vec::new();
        visit(expr, &mut found);
        for (span, what) in found {
            let message = format!("a condition about `{TOPIC_KIND}` reads {what} as a text");
            let error = Diagnostic::error(Code::TopicAsText, &source.at, message);
            let text = source.text.get(span.start..span.end).unwrap_or_default();
            self.errors.push(
                error
                    .at(source.locate(span.start))
                    .found(format!("`{text}`"))
                    .expected("`R.attr.topic.matchesTopic(...)`"),
            );
        }
    }
}

/// Notes the parts of `expr` that read a topic as a text.
fn visit(expr: &Expr, found: &mut Vec<(Span, &'static str)>) {
    if let ExprKind::Call { target: Some(target), function, args } = &expr.kind
        && function == MATCHES_TOPIC
        && let Read::Attribute(keys) = read(target)
        && keys == ["topic"]
    {
        return args.iter().for_each(|arg| visit(arg, found));
    }
    if let ExprKind::Has { operand, .. } = &expr.kind
        && matches!(read(operand), Read::Attributes)
    {
        return;
    }
    let what = match read(expr) {
        Read::Resource | Read::Request => "the whole resource",
        Read::Id => "the id of the resource",
        Read::Attributes => "all attributes of the resource",
        Read::Attribute(keys) if keys.first() == Some(&"topic") => "the topic",
        Read::Attribute(_) | Read::Harmless => return,
        Read::Nothing => {
            return expr.kind.children().into_iter().for_each(|child| visit(child, found));
        }
    };
    found.push((expr.span, what));
}

/// The part of the request that an expression names.
enum Read<'e> {
    Request,
    Resource,
    Id,
    Attributes,
    /// An attribute of the resource, or what is below it.
    Attribute(Vec<&'e str>),
    /// Another part of the resource, or the principal, or data about the request.
    Harmless,
    /// None: an operator, a call, a literal.
    Nothing,
}

fn read(expr: &Expr) -> Read<'_> {
    let (operand, key) = match &expr.kind {
        // A macro may hide these names; it is refused then, which is safe.
        ExprKind::Ident(name) | ExprKind::Global(name) => {
            return match name.trim_start_matches('.') {
                "request" => Read::Request,
                "R" => Read::Resource,
                _ => Read::Nothing,
            };
        }
        ExprKind::Select { operand, field, optional: false } => (operand, field.as_str()),
        ExprKind::Index { operand, index, optional: false } => match &index.kind {
            ExprKind::Literal(Literal::String(key)) => (operand, key.as_str()),
            _ => return Read::Nothing,
        },
        _ => return Read::Nothing,
    };
    match (read(operand), key) {
        (Read::Request, "resource") => Read::Resource,
        (Read::Resource, "id") => Read::Id,
        (Read::Resource, "attr") => Read::Attributes,
        (Read::Request | Read::Resource | Read::Harmless, _) => Read::Harmless,
        (Read::Attributes, key) => Read::Attribute(vec![key]),
        (Read::Attribute(mut keys), key) => {
            keys.push(key);
            Read::Attribute(keys)
        }
        (Read::Id | Read::Nothing, _) => Read::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_read_by_matches_topic_alone() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = Vec::new();
            visit(&cel::parse(text).unwrap(), &mut found);
            let found: Vec<_> =
                found.iter().filter_map(|(at, _)| text.get(at.start..at.end)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("R.attr.topic.matchesTopic('a')", &[]);
        check("request.resource.attr[\"topic\"].matchesTopic('a')", &[]);
        check("has(R.attr.topic) && R.attr.qos < 2 && R.kind == P.attr.topic", &[]);
        check("P.attr.a.exists(t, R.attr.topic.matchesTopic(t))", &[]);
        check("R.attr.topic == 'a'", &["R.attr.topic"]);
        check("R.attr.topic.filter.matchesTopic('a')", &["R.attr.topic.filter"]);
        check("R.attr.topic.startsWith('a')", &["R.attr.topic"]);
        check("'a'.matchesTopic(R.attr.topic)", &["R.attr.topic"]);
        check("R.attr.topic.matchesTopic(R.attr.topic)", &["R.attr.topic"]);
        check("dyn(R.attr.topic).matchesTopic('a')", &["R.attr.topic"]);
        check("cel.bind(t, R.attr.topic, t.matchesTopic('a'))", &["R.attr.topic"]);
        check(
            "R.id == 'a' || .R.id == 'a' || request.resource.id == 'a'",
            &["R.id", "R.id", "request.resource.id"],
        );
        check("R.attr == {}", &["R.attr"]);
        check("R.attr[P.attr.key] == 'a'", &["R.attr"]);
        check("R.attr.?topic.hasValue()", &["R.attr"]);
        check("R.?attr.topic.hasValue()", &["R"]);
        check("[R].exists(r, r.attr.topic == 'a')", &["R"]);
        check("R.attr.exists(k, k == 'topic')", &["R.attr"]);
        check("cel.bind(q, request, q.resource.id == 'a')", &["request"]);
        check("has(R.attr.topic.filter)", &["R.attr.topic"]);
    }
}
