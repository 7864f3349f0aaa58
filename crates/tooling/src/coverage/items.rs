//! The parts of a policy that tests can exercise.

use super::{ExpressionCoverage, PolicyCoverage, RESOURCE, RoleCoverage, RuleCoverage};
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{Body, Condition, Policy, RoleDefinition};
use wardgate_compiler::policy::name::{DERIVED_ROLES, set_key};
use wardgate_compiler::source::Location;

/// Returns the parts of a policy; `None` for sets of variables and constants, which decide nothing.
pub(super) fn policy(policy: &Policy) -> Option<PolicyCoverage> {
    let (mut rules, mut derived_roles, mut imports) =
        (Vec::<RuleCoverage>::new(), Vec::new(), Vec::new());
    let kind = match &policy.body {
        Body::Resource(body) => {
            let own = body.rules.iter().map(|r| rule(&r.name, &r.location, r.condition.as_ref()));
            rules.extend(own);
            let sets = &body.import_derived_roles;
            imports.extend(sets.iter().map(|set| set_key(DERIVED_ROLES, &set.name)));
            RESOURCE
        }
        Body::Principal(body) => {
            let all = body.rules.iter().flat_map(|rule| &rule.actions);
            rules.extend(all.map(|r| rule(&r.name, &r.location, r.condition.as_ref())));
            "principal"
        }
        Body::Role(body) => {
            let own = body.rules.iter().map(|r| rule(&r.name, &r.location, r.condition.as_ref()));
            rules.extend(own);
            "role"
        }
        Body::DerivedRoles(body) => {
            derived_roles.extend(body.definitions.iter().map(derived_role));
            "derived roles"
        }
        Body::ExportVariables(_) | Body::ExportConstants(_) | Body::Limit(_) => return None,
    };
    for (number, rule) in (1..).zip(&mut rules).filter(|(_, rule)| rule.name.is_empty()) {
        rule.name = format!("rule {number}");
    }
    Some(PolicyCoverage {
        key: policy.key(),
        kind,
        source: policy.location.file.clone(),
        position: policy.location.position,
        rules,
        derived_roles,
        imports,
    })
}

fn rule(name: &str, location: &Location, condition: Option<&Condition>) -> RuleCoverage {
    RuleCoverage {
        name: name.to_owned(),
        position: location.position,
        applied: 0,
        not_applied: 0,
        failed: 0,
        expressions: expressions(condition),
        condition: condition.cloned(),
    }
}

fn derived_role(role: &RoleDefinition) -> RoleCoverage {
    let is_for_any = role.parent_roles.iter().any(|parent| parent == "*");
    RoleCoverage {
        name: role.name.clone(),
        position: role.location.position,
        granted: 0,
        not_granted: 0,
        failed: 0,
        is_for_all: is_for_any && role.condition.is_none(),
        expressions: expressions(role.condition.as_ref()),
        condition: role.condition.clone(),
    }
}

fn expressions(condition: Option<&Condition>) -> Vec<ExpressionCoverage> {
    let all = condition.into_iter().flat_map(Condition::expressions);
    all.map(expression).collect()
}

fn expression(source: &ExprSource) -> ExpressionCoverage {
    let before = source.text.len() - source.text.trim_start().len();
    ExpressionCoverage {
        text: source.text.clone(),
        start: source.locate(before),
        end: source.locate(source.text.len()),
        times_true: 0,
        times_false: 0,
        failed: 0,
    }
}
