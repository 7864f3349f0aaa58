//! Conditions that read attributes or compare values that the schemas of their policy exclude.
//!
//! A schema lists the attributes that a resource or a principal has. A condition that reads another
//! one can only fail, or the schema is incomplete; a comparison with a value that the schema
//! excludes is never equal. Where a schema leaves attributes open on purpose, with patterns,
//! alternatives or `additionalProperties`, unlisted ones are not reported.

mod reads;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use super::logic::Logic;
use super::{Lint, Linter};
use reads::{AttributeRead, reads};
use shape::{NotListed, Shape, Shapes};
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{Condition, Schemas};
use wardgate_compiler::resolve::model::{DerivedRole, Resolved, ResourcePolicy, Variable};
use wardgate_compiler::schema::Load;

impl<'p> Linter<'p> {
    pub(super) fn schemas(&self, load: &Load<'_>) -> Vec<Diagnostic> {
        let roots = self.resolved.resource.iter().filter(|policy| policy.head.scope.is_empty());
        let in_effect: BTreeMap<(&str, &str), &Schemas> =
            wardgate_engine::order::in_order(roots.map(|policy| {
                ((policy.head.name.as_str(), policy.head.version.as_str()), &policy.schemas)
            }));
        let shapes = Shapes::new(load);
        let mut found = Vec::new();
        for policy in &self.resolved.resource {
            let named = (policy.head.name.as_str(), policy.head.version.as_str());
            let Some(schemas) = in_effect.get(&named) else { continue };
            let principal = schemas.principal.as_ref().and_then(|schema| shapes.of(schema));
            let resource = schemas.resource.as_ref().and_then(|schema| shapes.of(schema));
            if principal.is_some() || resource.is_some() {
                let against =
                    Against { kind: &policy.head.name, shapes: &shapes, principal, resource };
                found.extend(self.compared(policy, &against));
            }
        }
        found
    }

    fn compared(&self, policy: &'p ResourcePolicy, against: &Against<'_, '_>) -> Vec<Diagnostic> {
        let conditions = policy.rules.iter().filter_map(|rule| rule.condition.as_ref());
        let outputs = policy.rules.iter().flat_map(|rule| rule.output.expressions());
        let own = of(&policy.head.variables, conditions).chain(outputs);
        let mut found = against.examine(&self.logic(&policy.head), own);
        for role in policy.derived_roles.values() {
            let DerivedRole { variables, condition, .. } = role;
            let own = of(variables, condition.iter());
            found.extend(against.examine(&self.role_logic(role), own));
        }
        found
    }
}

/// Returns the attributes that are there in every request that fits the schemas of a policy.
pub(super) fn required(
    resolved: &Resolved,
    policy: &ResourcePolicy,
    load: &Load<'_>,
) -> Vec<[String; 3]> {
    let is_in_effect = |other: &&ResourcePolicy| {
        let (head, of) = (&other.head, &policy.head);
        head.scope.is_empty() && head.name == of.name && head.version == of.version
    };
    let Some(root) = resolved.resource.iter().find(is_in_effect) else { return Vec::new() };
    let shapes = Shapes::new(load);
    let mut found = Vec::new();
    for (whose, schema) in [("P", &root.schemas.principal), ("R", &root.schemas.resource)] {
        // Some actions are decided without the schema.
        let schema = schema.as_ref().filter(|schema| schema.ignore_when_actions.is_empty());
        let Some(shape) = schema.and_then(|schema| shapes.of(schema)) else { continue };
        let named = shape.required().into_iter();
        found.extend(named.map(|name| [whose.to_owned(), "attr".to_owned(), name.to_owned()]));
    }
    found
}

fn of<'e>(
    variables: &'e [Variable],
    conditions: impl Iterator<Item = &'e Condition>,
) -> impl Iterator<Item = &'e ExprSource> {
    let conditions = conditions.flat_map(Condition::expressions);
    variables.iter().map(|variable| &variable.expr).chain(conditions)
}

/// The schemas that the attributes of a request must satisfy.
struct Against<'a, 's> {
    kind: &'a str,
    shapes: &'a Shapes<'s>,
    principal: Option<Shape>,
    resource: Option<Shape>,
}

impl Against<'_, '_> {
    fn examine<'e>(
        &self,
        logic: &Logic<'_>,
        expressions: impl Iterator<Item = &'e ExprSource>,
    ) -> Vec<Diagnostic> {
        let mut read = Vec::new();
        for expr in expressions {
            if let Some(tree) = logic.tree(&expr.text) {
                read.extend(reads(&tree).into_iter().map(|found| (expr, found)));
            }
        }
        let tested = read
            .iter()
            .filter(|(_, found)| found.is_presence_test)
            .map(|(_, found)| found.keys.clone());
        let tested: BTreeSet<Vec<String>> = wardgate_engine::order::in_order(tested);
        read.iter().filter_map(|(expr, found)| self.finding(expr, found, &tested)).collect()
    }

    fn finding(
        &self,
        expr: &ExprSource,
        found: &AttributeRead,
        tested: &BTreeSet<Vec<String>>,
    ) -> Option<Diagnostic> {
        let (root, keys) = found.keys.split_first()?;
        let (whose, shape) = match root.as_str() {
            "P" => ("principal", self.principal.as_ref()?),
            _ => ("resource", self.resource.as_ref()?),
        };
        let attribute = format!("{root}.attr.{}", keys.join("."));
        let at = expr.locate(found.span.start);
        let kind = self.kind;
        let inner = match self.shapes.inside(shape, keys) {
            Ok(inner) => inner,
            Err(NotListed { is_refused }) => {
                if !is_refused && is_guarded(&found.keys, tested) {
                    return None;
                }
                let verb = if is_refused { "refuses" } else { "does not list" };
                let message =
                    format!("the {whose} schema of `{kind}` {verb} the attribute `{attribute}`");
                return Some(Diagnostic::lint(Lint::UnknownAttribute, &expr.at, message).at(at));
            }
        };
        let value = found.compared.iter().find_map(|value| Some((value, inner.excludes(value)?)));
        let (value, expected) = value?;
        let message = format!(
            "by the {whose} schema of `{kind}`, `{attribute}` is never {}",
            value.display()
        );
        let finding = Diagnostic::lint(Lint::SchemaMismatch, &expr.at, message).at(at);
        Some(finding.expected(expected))
    }
}

/// Returns true if a condition tests the presence of it, or of a value around it: then it is known
/// to be optional.
fn is_guarded(keys: &[String], tested: &BTreeSet<Vec<String>>) -> bool {
    let lengths = 2..=keys.len();
    lengths.filter_map(|length| keys.get(..length)).any(|keys| tested.contains(keys))
}
