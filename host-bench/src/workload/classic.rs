//! Policies of the shape of Cerbos's classic load test: copies of one set under numbered names.
//!
//! A set has two lists of derived roles, a policy of one principal, an employee record, and a leave
//! request in a version and in four scopes one below the other. Only the shape is Cerbos's.

use serde_json::{Value as Json, json};

use super::{Objects, REQUESTS, Random, Rivals, RuleSet, Workload, user};

/// Returns the workload.
pub(super) fn workload() -> Workload {
    let mut random = Random::new();
    let mut policies: Vec<(String, Vec<u8>)> = (0..SETS).flat_map(set).collect();
    // The last set lacks its policy of a principal, which comes last and which no other policy
    // needs.
    policies.truncate(POLICIES);
    Workload {
        name: "classic".to_owned(),
        title: format!("{POLICIES} policies of the shape of Cerbos's classic load test"),
        rules: RuleSet::Classic,
        kinds: (0..SETS).map(kind).collect(),
        actions: ACTIONS.len(),
        policies,
        requests: (0..REQUESTS).map(|at| request(&mut random, at)).collect(),
        expected: Vec::new(),
        objects: Objects::Reused,
        rivals: Rivals::None,
    }
}

fn request(random: &mut Random, at: usize) -> Json {
    let principal = random.below(100);
    let owner = if random.one_in(2) { principal } else { random.below(100) };
    let geography = random.pick(&["GB", "GB", "US"]);
    let (version, scope) =
        random.pick(&[("20210210", ""), ("default", "acme.hr"), ("default", "acme.hr.uk")]);
    json!({
        "principal": {
            "id": user(principal),
            "roles": [random.pick(&["employee", "employee", "manager", "admin"])],
            "attr": {
                "department": "marketing", "geography": "GB", "team": "design",
                "managed_geographies": random.pick(&["GB", "US"]),
                "ip_address": random.pick(&["10.20.5.5", "10.30.5.5"]),
            },
        },
        "action": random.pick(ACTIONS),
        "resource": {
            "kind": kind(random.below(SETS)),
            "policyVersion": version,
            "scope": scope,
            "id": format!("request_{at}"),
            "attr": {
                "department": "marketing", "geography": geography, "id": format!("request_{at}"),
                "owner": user(owner), "team": "design",
                "status": random.pick(&["PENDING_APPROVAL", "DRAFT"]),
            },
        },
    })
}

/// Returns the kind of resource that the requests are about.
fn kind(set: usize) -> String {
    format!("leave_request_{set:05}")
}

/// Returns the policies of one set.
fn set(number: usize) -> Vec<(String, Vec<u8>)> {
    let n = format!("{number:05}");
    let leave = |version: &str, scope: &str, rules: &str| {
        let scope = if scope.is_empty() { String::new() } else { format!("  scope: {scope}\n") };
        format!(
            "{HEAD}{VARIABLES}resourcePolicy:\n  resource: leave_request_{n}\n  \
             version: \"{version}\"\n{scope}  importDerivedRoles: [alpha_{n}, beta_{n}]\n  \
             rules:\n{rules}"
        )
    };
    let record = format!(
        "{HEAD}resourcePolicy:\n  resource: employee_record_{n}\n  version: default\n  \
         importDerivedRoles: [alpha_{n}, beta_{n}]\n  rules:\n{ADMIN}"
    );
    let principal = format!(
        "{HEAD}principalPolicy:\n  principal: donald_{n}\n  version: \"20210210\"\n{PRINCIPAL}"
    );
    [
        ("alpha", format!("{HEAD}derivedRoles:\n  name: alpha_{n}\n{ALPHA}")),
        ("beta", format!("{HEAD}{GEOGRAPHY}derivedRoles:\n  name: beta_{n}\n{BETA}")),
        ("record", record),
        (
            "version",
            leave("20210210", "", &[ADMIN, CREATE, PUBLIC, VIEW, APPROVE, DELETE].concat()),
        ),
        ("root", leave("default", "", ADMIN)),
        ("acme", leave("default", "acme", &[CREATE, PUBLIC].concat())),
        ("acme.hr", leave("default", "acme.hr", &[VIEW, DELETE, APPROVE].concat())),
        ("acme.hr.uk", leave("default", "acme.hr.uk", &[DELETE_IN_UK, DEFER].concat())),
        ("principal", principal),
    ]
    .into_iter()
    .map(|(name, text)| (format!("{name}_{n}.yaml"), text.into_bytes()))
    .collect()
}

const HEAD: &str = "apiVersion: api.cerbos.dev/v1\n";

const GEOGRAPHY: &str = "variables:\n  same_geography: R.attr.geography == P.attr.geography\n";

const VARIABLES: &str = r#"variables:
  pending_approval: '"PENDING_APPROVAL"'
  principal_location: 'P.attr.ip_address.inIPAddrRange("10.20.0.0/16") ? "GB" : ""'
"#;

const ALPHA: &str = "  definitions:
    - { name: admin, parentRoles: [admin] }
    - { name: tester, parentRoles: [dev, qa] }
    - name: employee_that_owns_the_record
      parentRoles: [employee]
      condition: { match: { expr: R.attr.owner == P.id } }
";

const BETA: &str = "  definitions:
    - { name: any_employee, parentRoles: [employee] }
    - name: direct_manager
      parentRoles: [manager]
      condition:
        match:
          all:
            of:
              - expr: V.same_geography
              - expr: R.attr.geography == P.attr.managed_geographies
";

const PRINCIPAL: &str = "  rules:
    - resource: leave_request
      actions:
        - { action: \"*\", effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.dev_record == true } } }
    - resource: salary_record
      actions:
        - { action: \"*\", effect: EFFECT_DENY }
";

const ADMIN: &str = "    - { actions: [\"*\"], effect: EFFECT_ALLOW, roles: [admin] }\n";

const CREATE: &str = "    - { actions: [create], effect: EFFECT_ALLOW, derivedRoles: [employee_that_owns_the_record] }\n";

const PUBLIC: &str =
    "    - { actions: [\"view:public\"], effect: EFFECT_ALLOW, derivedRoles: [any_employee] }\n";

const VIEW: &str = "    - { actions: [\"view:*\"], effect: EFFECT_ALLOW, derivedRoles: [employee_that_owns_the_record, direct_manager] }\n";

const APPROVE: &str = "    - { actions: [approve], effect: EFFECT_ALLOW, derivedRoles: [direct_manager], condition: { match: { expr: R.attr.status == V.pending_approval } } }\n";

const DELETE: &str = "    - { actions: [delete], effect: EFFECT_ALLOW, derivedRoles: [direct_manager], condition: { match: { expr: R.attr.geography == V.principal_location } } }\n";

const DELETE_IN_UK: &str = "    - { actions: [delete], effect: EFFECT_ALLOW, derivedRoles: [direct_manager, employee_that_owns_the_record], condition: { match: { expr: R.attr.geography == V.principal_location } } }\n";

const DEFER: &str = "    - { actions: [defer], effect: EFFECT_ALLOW, derivedRoles: [direct_manager, employee_that_owns_the_record] }\n";

const ACTIONS: &[&str] = &["view:public", "approve", "create", "delete", "view:private"];
const SETS: usize = 89;
const POLICIES: usize = 800;
