//! Patterns of MQTT topics that do something else than they seem to.

use std::collections::BTreeMap;

use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, Literal};
use wardgate_compiler::cel::{Expr, not_a_filter};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{Condition, Effect};
use wardgate_compiler::resolve::model::Variable;
use wardgate_compiler::topics::MATCHES_TOPIC;
use wardgate_engine::attr::Attr;

use super::{Lint, Linter};

type Constants = BTreeMap<String, Attr>;

impl Linter<'_> {
    pub(super) fn topics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for policy in &self.resolved.resource {
            let head = &policy.head;
            self.variables_of_topics(&head.variables, &head.constants, &mut found);
            for rule in &policy.rules {
                let denies = rule.effect == Effect::Deny;
                self.condition_of_topics(&rule.condition, denies, &head.constants, &mut found);
            }
            for role in policy.derived_roles.values() {
                self.variables_of_topics(&role.variables, &role.constants, &mut found);
                self.condition_of_topics(&role.condition, false, &role.constants, &mut found);
            }
        }
        for policy in &self.resolved.principal {
            let head = &policy.head;
            self.variables_of_topics(&head.variables, &head.constants, &mut found);
            for rule in policy.rules.iter().flat_map(|rule| &rule.actions) {
                let denies = rule.effect == Effect::Deny;
                self.condition_of_topics(&rule.condition, denies, &head.constants, &mut found);
            }
        }
        for policy in &self.resolved.role {
            let head = &policy.head;
            self.variables_of_topics(&head.variables, &head.constants, &mut found);
            for rule in &policy.rules {
                self.condition_of_topics(&rule.condition, false, &head.constants, &mut found);
            }
        }
        found
    }

    fn variables_of_topics(
        &self,
        variables: &[Variable],
        constants: &Constants,
        found: &mut Vec<Diagnostic>,
    ) {
        for variable in variables {
            let Some(tree) = self.parsed.tree(&variable.expr.text) else { continue };
            Search { source: &variable.expr, constants, found }.visit(&tree, false);
        }
    }

    /// Searches a condition. `denies` is true if the rule denies where it is met.
    fn condition_of_topics(
        &self,
        condition: &Option<Condition>,
        denies: bool,
        constants: &Constants,
        found: &mut Vec<Diagnostic>,
    ) {
        if let Some(condition) = condition {
            self.part_of_topics(condition, denies, constants, found);
        }
    }

    fn part_of_topics(
        &self,
        condition: &Condition,
        denies: bool,
        constants: &Constants,
        found: &mut Vec<Diagnostic>,
    ) {
        let (parts, denies) = match condition {
            Condition::Expr(source) => {
                if let Some(tree) = self.parsed.tree(&source.text) {
                    Search { source, constants, found }.visit(&tree, denies);
                }
                return;
            }
            Condition::All(parts) | Condition::Any(parts) => (parts, denies),
            Condition::None(parts) => (parts, false),
        };
        parts.iter().for_each(|part| self.part_of_topics(part, denies, constants, found));
    }
}

struct Search<'s> {
    source: &'s ExprSource,
    constants: &'s Constants,
    found: &'s mut Vec<Diagnostic>,
}

impl Search<'_> {
    /// Searches an expression. `denies` is true if the rule denies where it is true.
    fn visit(&mut self, expr: &Expr, denies: bool) {
        let denies = match &expr.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => denies,
            ExprKind::Call { target: Some(_), function, args } if function == MATCHES_TOPIC => {
                if let Some(patterns) = args.first() {
                    self.patterns(patterns, denies);
                }
                false
            }
            _ => false,
        };
        expr.kind.children().into_iter().for_each(|child| self.visit(child, denies));
    }

    fn patterns(&mut self, arg: &Expr, denies: bool) {
        if is_built(arg) {
            let message = "this pattern of topics is put together from texts, so that a value with `/`, `+` or `#` changes it";
            self.report(
                Lint::BuiltTopicFilter,
                arg,
                message.to_owned(),
                "`{}` for a level and a list of values",
            );
        }
        let mut texts = Vec::new();
        self.texts(arg, &mut texts);
        for text in &texts {
            self.never_matches(arg, text);
        }
        let leaves_internal = |text: &&String| matches!(text.as_str(), "#" | "+/#");
        if denies
            && let Some(pattern) = texts.iter().find(leaves_internal)
            && !texts.iter().any(|text| text.starts_with('$'))
        {
            let message =
                format!("this denies `{pattern}`, which leaves topics that begin with `$`");
            self.report(
                Lint::DollarUncovered,
                arg,
                message,
                "a pattern for them too, such as `$SYS/#`",
            );
        }
    }

    /// Adds the patterns of an argument that are known: literals and constants.
    fn texts(&self, arg: &Expr, texts: &mut Vec<String>) {
        match &arg.kind {
            ExprKind::Literal(Literal::String(text)) => texts.push(text.clone()),
            ExprKind::List(elements) => {
                elements.iter().for_each(|element| self.texts(&element.value, texts));
            }
            ExprKind::Select { operand, field, .. } => {
                let is_constant = matches!(&operand.kind, ExprKind::Ident(name) if matches!(name.trim_start_matches('.'), "C" | "constants"));
                match self.constants.get(field).filter(|_| is_constant) {
                    Some(Attr::String(text)) => texts.push(text.to_string()),
                    Some(Attr::List(list)) => {
                        let strings = list.iter().filter_map(|one| match one {
                            Attr::String(text) => Some(text.to_string()),
                            _ => None,
                        });
                        texts.extend(strings);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn never_matches(&mut self, arg: &Expr, text: &str) {
        let message = match not_a_filter(text) {
            Some(error) => {
                format!("`{text}` is no pattern of topics, so that the condition fails: {error}")
            }
            None if text.starts_with("$share/") => {
                format!(
                    "`{text}` matches no topic: the group of a shared subscription is no part of it"
                )
            }
            None => return,
        };
        self.report(Lint::TopicNeverMatches, arg, message, "");
    }

    fn report(&mut self, lint: Lint, at: &Expr, message: String, expected: &str) {
        let location = self.source.locate(at.span.start);
        let finding = Diagnostic::lint(lint, &self.source.at, message).at(location);
        self.found.push(if expected.is_empty() { finding } else { finding.expected(expected) });
    }
}

/// Returns true if a pattern is put together from texts.
fn is_built(arg: &Expr) -> bool {
    match &arg.kind {
        ExprKind::Binary(BinaryOp::Add, left, right) => {
            // Lists may be put together; what they hold is looked at.
            let lists = |side: &Expr| matches!(side.kind, ExprKind::List(_));
            if lists(left) || lists(right) { is_built(left) || is_built(right) } else { true }
        }
        ExprKind::Call { function, .. } => matches!(function.as_str(), "format" | "join"),
        ExprKind::List(elements) => elements.iter().any(|element| is_built(&element.value)),
        _ => false,
    }
}
