//! Coverage as JSON, for programs.

use wardgate_engine::wire::Json;

use super::{
    Coverage, ExpressionCoverage, PolicyCoverage, RoleCoverage, RuleCoverage, Share, Summary,
};
use crate::json::{count, document, list, object};

/// Returns the report on one line.
#[must_use]
pub fn report(coverage: &Coverage) -> String {
    document(|json| {
        object(json, "summary", |json| sums(json, coverage.summary()));
        list(json, "policies", &coverage.policies, policy);
        list(json, "gaps", coverage.gaps(), |json, gap| {
            json.field("file", gap.file);
            count(json, "line", gap.position.line);
            json.field("what", &gap.what);
            json.field("missing", &gap.missing);
        });
    })
}

fn sums(json: &mut Json, summary: Summary) {
    share(json, "total", summary.total());
    share(json, "rules", summary.rules);
    share(json, "conditions", summary.outcomes);
    share(json, "derivedRoles", summary.grants);
}

fn share(json: &mut Json, name: &str, share: Share) {
    object(json, name, |json| {
        count(json, "covered", share.covered);
        count(json, "all", share.all);
    });
}

fn policy(json: &mut Json, policy: &PolicyCoverage) {
    json.field("policy", &policy.key);
    json.field("kind", policy.kind);
    json.field("file", &policy.source.path);
    count(json, "line", policy.position.line);
    object(json, "summary", |json| sums(json, policy.summary()));
    list(json, "rules", &policy.rules, rule);
    list(json, "derivedRoles", &policy.derived_roles, derived_role);
}

fn rule(json: &mut Json, rule: &RuleCoverage) {
    json.field("rule", &rule.name);
    count(json, "line", rule.position.line);
    count(json, "applied", rule.applied);
    count(json, "notApplied", rule.not_applied);
    count(json, "failed", rule.failed);
    list(json, "conditions", &rule.expressions, expression);
}

fn derived_role(json: &mut Json, role: &RoleCoverage) {
    json.field("derivedRole", &role.name);
    count(json, "line", role.position.line);
    count(json, "granted", role.granted);
    count(json, "notGranted", role.not_granted);
    count(json, "failed", role.failed);
    list(json, "conditions", &role.expressions, expression);
}

fn expression(json: &mut Json, expression: &ExpressionCoverage) {
    json.field("expression", &expression.text);
    count(json, "line", expression.start.line);
    count(json, "column", expression.start.column);
    count(json, "true", expression.times_true);
    count(json, "false", expression.times_false);
    count(json, "failed", expression.failed);
}
