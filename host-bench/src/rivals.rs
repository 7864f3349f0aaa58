//! The rules of the workloads in the languages of the rivals.
//!
//! Each gets the form that is best for it. Rego comes in two forms: all rules in one package, and a
//! package for each kind, found by the kind of the resource, which is the usual form for many
//! kinds.

use std::fmt::Write;

use crate::workload::{RuleSet, Workload};

/// Rego modules, each with the path of its file.
pub(crate) type Modules = Vec<(String, String)>;

/// Returns the forms of a workload in Rego, by their names in a report; none where it has none.
pub(crate) fn rego(workload: &Workload) -> Vec<(&'static str, Modules)> {
    let rules = match workload.rules {
        RuleSet::FiveRules => REGO_FIVE_RULES,
        RuleSet::Conditions => REGO_CONDITIONS,
        RuleSet::SingleKind | RuleSet::Classic => return Vec::new(),
    };
    vec![
        ("one package", one_package(&workload.kinds, rules)),
        ("a package for each kind", package_for_each(&workload.kinds, rules)),
    ]
}

fn one_package(kinds: &[String], rules: &[(&str, &str)]) -> Modules {
    // OPA refuses a name without any rule.
    let main =
        format!("{REGO_PACKAGE}{REGO_ALLOW}\tgranted\n\tnot forbidden\n}}\n\nforbidden if false\n");
    let module = |(at, kinds): (usize, &[String])| {
        let mut text = REGO_PACKAGE.to_owned();
        for kind in kinds {
            write_rules(&mut text, rules, &format!("\tinput.resource.kind == \"{kind}\"\n"));
        }
        (format!("rules_{at}.rego"), text)
    };
    let mut modules = vec![("authz.rego".to_owned(), main)];
    modules.extend(kinds.chunks(KINDS_OF_A_FILE).enumerate().map(module));
    modules
}

fn package_for_each(kinds: &[String], rules: &[(&str, &str)]) -> Modules {
    let found = "data.kinds[input.resource.kind]";
    let main =
        format!("{REGO_PACKAGE}{REGO_ALLOW}\t{found}.granted\n\tnot {found}.forbidden\n}}\n");
    let module = |kind: &String| {
        let mut text = format!("package kinds.{kind}\n\nforbidden if false\n");
        write_rules(&mut text, rules, "");
        (format!("{kind}.rego"), text)
    };
    let mut modules = vec![("authz.rego".to_owned(), main)];
    modules.extend(kinds.iter().map(module));
    modules
}

fn write_rules(text: &mut String, rules: &[(&str, &str)], guard: &str) {
    for (name, body) in rules {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{name} if {{\n{guard}{body}}}");
    }
}

/// Returns the rules in Cedar: an entity type for each kind, roles as parents of the principal.
pub(crate) fn cedar(workload: &Workload) -> Option<String> {
    let policies = |kind: &String| {
        format!(
            r#"
permit (principal in Role::"viewer", action in [Action::"view", Action::"list"], resource is {kind});
permit (principal, action == Action::"view", resource is {kind}) when {{ resource.public }};
permit (principal in Role::"editor", action == Action::"edit", resource is {kind});
permit (principal, action in [Action::"delete", Action::"share"], resource is {kind})
when {{ resource.owner == principal }};
forbid (principal, action in [Action::"edit", Action::"delete"], resource is {kind})
when {{ resource.locked }};
"#
        )
    };
    (workload.rules == RuleSet::FiveRules).then(|| workload.kinds.iter().map(policies).collect())
}

/// Returns the rules as rows of a casbin policy: kind, two actions, a condition by name, an effect.
pub(crate) fn casbin(workload: &Workload) -> Option<String> {
    let rows = |kind: &String| {
        format!(
            "p, {kind}, view, list, viewer, allow\n\
             p, {kind}, view, -, public, allow\n\
             p, {kind}, edit, -, editor, allow\n\
             p, {kind}, delete, share, owner, allow\n\
             p, {kind}, edit, delete, locked, deny\n"
        )
    };
    (workload.rules == RuleSet::FiveRules).then(|| workload.kinds.iter().map(rows).collect())
}

/// Returns a model of casbin over those rows.
pub(crate) fn casbin_model(request: &str, matcher: &str) -> String {
    format!(
        "[request_definition]\nr = {request}\n\n\
         [policy_definition]\np = kind, act, other, cond, eft\n\n\
         [policy_effect]\ne = some(where (p.eft == allow)) && !some(where (p.eft == deny))\n\n\
         [matchers]\nm = {matcher}\n"
    )
}

const REGO_PACKAGE: &str = "package authz\n\n";

/// regorus takes a megabyte in one file.
const KINDS_OF_A_FILE: usize = 500;

const REGO_ALLOW: &str = "default allow := false\n\nallow if {\n";

const REGO_FIVE_RULES: &[(&str, &str)] = &[
    ("granted", "\tinput.action in {\"view\", \"list\"}\n\t\"viewer\" in input.principal.roles\n"),
    ("granted", "\tinput.action == \"view\"\n\tinput.resource.attr.public\n"),
    ("granted", "\tinput.action == \"edit\"\n\t\"editor\" in input.principal.roles\n"),
    (
        "granted",
        "\tinput.action in {\"delete\", \"share\"}\n\
         \tinput.resource.attr.owner == input.principal.id\n",
    ),
    ("forbidden", "\tinput.action in {\"edit\", \"delete\"}\n\tinput.resource.attr.locked\n"),
];

const REGO_CONDITIONS: &[(&str, &str)] = &[
    (
        "granted",
        "\tinput.action == \"read\"\n\
         \tregex.match(`^/srv/[a-z]+/v[0-9]+/.*\\.json$`, input.resource.attr.path)\n",
    ),
    (
        "granted",
        "\tinput.action == \"mail\"\n\
         \tregex.match(`^[a-z][a-z0-9-]{2,30}@(example|sample)\\.(com|org)$`, input.resource.attr.mail)\n\
         \tnot net.cidr_contains(\"10.20.30.0/24\", input.principal.attr.address)\n",
    ),
    (
        "granted",
        "\tinput.action == \"connect\"\n\
         \tsome range in [\"10.20.0.0/16\", \"192.168.0.0/24\"]\n\
         \tnet.cidr_contains(range, input.principal.attr.address)\n",
    ),
    (
        "granted",
        "\tinput.action == \"join\"\n\
         \tsome team in input.resource.attr.teams\n\
         \tteam in input.principal.attr.teams\n",
    ),
    (
        "granted",
        "\tinput.action == \"deploy\"\n\
         \tnet.cidr_contains(\"10.20.0.0/16\", input.principal.attr.address)\n\
         \tregex.match(`^/srv/[a-z]+/v[0-9]+/.*\\.json$`, input.resource.attr.path)\n\
         \tevery team in input.resource.attr.teams {\n\
         \t\tteam in {\"team_0\", \"team_1\", \"team_2\", \"team_3\", \"team_4\", \"team_5\"}\n\
         \t}\n",
    ),
];
