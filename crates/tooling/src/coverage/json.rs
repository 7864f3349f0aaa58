//! Coverage as JSON, for programs.

use wardgate_engine::wire::Json;

use super::{
    Coverage, ExpressionCoverage, PolicyCoverage, RoleCoverage, RuleCoverage, Share, Summary,
};
use crate::json::{count, list};

/// Returns the report on one line.
#[must_use]
pub fn report(coverage: &Coverage) -> String {
    let mut json = Json::default();
    json.open('{');
    json.key("summary");
    sums(&mut json, coverage.summary());
    list(&mut json, "policies", &coverage.policies, policy);
    list(&mut json, "gaps", coverage.gaps(), |json, gap| {
        json.open('{');
        json.field("file", gap.file);
        count(json, "line", gap.position.line);
        json.field("what", &gap.what);
        json.field("missing", &gap.missing);
        json.close('}');
    });
    json.close('}');
    json.finish()
}

fn sums(json: &mut Json, summary: Summary) {
    json.open('{');
    share(json, "total", summary.total());
    share(json, "rules", summary.rules);
    share(json, "conditions", summary.outcomes);
    share(json, "derivedRoles", summary.grants);
    json.close('}');
}

fn share(json: &mut Json, name: &str, share: Share) {
    json.key(name);
    json.open('{');
    count(json, "covered", share.covered);
    count(json, "all", share.all);
    json.close('}');
}

fn policy(json: &mut Json, policy: &PolicyCoverage) {
    json.open('{');
    json.field("policy", &policy.key);
    json.field("kind", policy.kind);
    json.field("file", &policy.source.path);
    count(json, "line", policy.position.line);
    json.key("summary");
    sums(json, policy.summary());
    list(json, "rules", &policy.rules, rule);
    list(json, "derivedRoles", &policy.derived_roles, derived_role);
    json.close('}');
}

fn rule(json: &mut Json, rule: &RuleCoverage) {
    json.open('{');
    json.field("rule", &rule.name);
    count(json, "line", rule.position.line);
    count(json, "applied", rule.applied);
    count(json, "notApplied", rule.not_applied);
    count(json, "failed", rule.failed);
    list(json, "conditions", &rule.expressions, expression);
    json.close('}');
}

fn derived_role(json: &mut Json, role: &RoleCoverage) {
    json.open('{');
    json.field("derivedRole", &role.name);
    count(json, "line", role.position.line);
    count(json, "granted", role.granted);
    count(json, "notGranted", role.not_granted);
    count(json, "failed", role.failed);
    list(json, "conditions", &role.expressions, expression);
    json.close('}');
}

fn expression(json: &mut Json, expression: &ExpressionCoverage) {
    json.open('{');
    json.field("expression", &expression.text);
    count(json, "line", expression.start.line);
    count(json, "column", expression.start.column);
    count(json, "true", expression.times_true);
    count(json, "false", expression.times_false);
    count(json, "failed", expression.failed);
    json.close('}');
}
