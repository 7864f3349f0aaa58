//! Coverage as JSON, for programs.

use wardgate_engine::wire::Json;

use super::{
    Coverage, ExpressionCoverage, PolicyCoverage, RoleCoverage, RuleCoverage, Share, Summary,
};

/// Returns the report on one line.
#[must_use]
pub fn report(coverage: &Coverage) -> String {
    let mut json = Json::default();
    json.open('{');
    json.key("summary");
    sums(&mut json, coverage.summary());
    json.key("policies");
    json.open('[');
    coverage.policies.iter().for_each(|one| policy(&mut json, one));
    json.close(']');
    json.key("gaps");
    json.open('[');
    for gap in coverage.gaps() {
        json.open('{');
        json.field("file", gap.file);
        count(&mut json, "line", gap.place.line.into());
        json.field("what", &gap.what);
        json.field("missing", &gap.missing);
        json.close('}');
    }
    json.close(']');
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
    count(json, "line", policy.place.line.into());
    json.key("summary");
    sums(json, policy.summary());
    json.key("rules");
    json.open('[');
    policy.rules.iter().for_each(|one| rule(json, one));
    json.close(']');
    json.key("derivedRoles");
    json.open('[');
    policy.derived_roles.iter().for_each(|one| derived_role(json, one));
    json.close(']');
    json.close('}');
}

fn rule(json: &mut Json, rule: &RuleCoverage) {
    json.open('{');
    json.field("rule", &rule.name);
    count(json, "line", rule.place.line.into());
    count(json, "applied", rule.applied);
    count(json, "notApplied", rule.not_applied);
    count(json, "failed", rule.failed);
    expressions(json, &rule.expressions);
    json.close('}');
}

fn derived_role(json: &mut Json, role: &RoleCoverage) {
    json.open('{');
    json.field("derivedRole", &role.name);
    count(json, "line", role.place.line.into());
    count(json, "granted", role.granted);
    count(json, "notGranted", role.not_granted);
    count(json, "failed", role.failed);
    expressions(json, &role.expressions);
    json.close('}');
}

fn expressions(json: &mut Json, expressions: &[ExpressionCoverage]) {
    json.key("conditions");
    json.open('[');
    for expression in expressions {
        json.open('{');
        json.field("expression", &expression.text);
        count(json, "line", expression.start.line.into());
        count(json, "column", expression.start.column.into());
        count(json, "true", expression.held);
        count(json, "false", expression.did_not_hold);
        count(json, "failed", expression.failed);
        json.close('}');
    }
    json.close(']');
}

#[expect(clippy::as_conversions, reason = "counts are far below what a double holds exactly")]
fn count(json: &mut Json, name: &str, count: u64) {
    json.key(name);
    json.number(count as f64);
}
