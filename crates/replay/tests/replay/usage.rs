//! What decided nothing in the last days of a log.

use wardgate_engine::table::Evaluation;
use wardgate_native::Policies;
use wardgate_replay::source;
use wardgate_replay::usage::{Usage, What, usage};

use crate::generate::table;

const POLICY: &str = r#"apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: doc
  rules:
    - { actions: [view, print], effect: EFFECT_ALLOW, roles: [user, "team-*"], name: both }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: [user], name: old }
    - { actions: ["*"], effect: EFFECT_ALLOW, roles: [admin], name: never }"#;

fn used(log: &str, policies: &Policies) -> Usage {
    usage(policies, std::iter::once_with(|| source::open(log.as_bytes())), 2).unwrap()
}

fn line(day: u32, role: &str, action: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-10-{day:02}T00:00:00Z","checkResources":{{"inputs":[{{"principal":{{"id":"ann","roles":["{role}"]}},"resource":{{"kind":"doc","id":"a"}},"actions":["{action}"]}}],"outputs":[{{"actions":{{"{action}":{{"effect":"EFFECT_ALLOW"}}}}}}]}}}}"#
    )
}

#[test]
fn what_decided_nothing_in_the_last_days_is_unused() {
    let policies = Policies::of(table(POLICY, Evaluation::Strict));
    let log =
        [line(1, "user", "edit"), line(2, "user", "view"), line(9, "user", "view")].join("\n");
    let usage = used(&log, &policies);
    let found = |days| {
        let unused = usage.unused(policies.table(), days);
        unused
            .iter()
            .map(|one| (one.rule.to_owned(), format!("{:?}", one.what)))
            .collect::<Vec<_>>()
    };
    let expected = |parts: &[(&str, What<'_>)]| {
        parts
            .iter()
            .map(|(rule, what)| ((*rule).to_owned(), format!("{what:?}")))
            .collect::<Vec<_>>()
    };
    let both = [("both", What::Role("team-*")), ("both", What::Action("print"))];
    let all = [&both[..], &[("never", What::Rule)]].concat();
    assert_eq!(found(8), expected(&all));
    let all = [&both[..], &[("old", What::Rule), ("never", What::Rule)]].concat();
    assert_eq!(found(7), expected(&all));
    assert!(usage.covers(8) && !usage.covers(9));
    assert!(found(9).is_empty());
}
