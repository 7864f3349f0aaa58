//! Generated policies: every kind, in few scopes and versions, over few names.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value as Json, json};

use super::expressions::Expressions;
use super::{ACTIONS, CROWD, DERIVED, PRINCIPALS, ROLES, SCOPES, crowd_role};

/// The name, the version and the scope.
type PolicyName = (&'static str, &'static str, &'static str);

/// The parts of policies by their names: their content besides their heads.
struct Parts {
    resource: BTreeMap<PolicyName, Part>,
    principal: BTreeMap<PolicyName, Part>,
    role: BTreeMap<PolicyName, (Part, Vec<&'static str>)>,
    shared: [String; 2],
    derived: Part,
    /// True for the scopes that need the consent of their parents, in the order of `SCOPES`.
    consent: [bool; 3],
    /// The conditions of the policy that distinguishes very many roles, if there is one.
    crowd: Option<Vec<String>>,
    /// True if the resource policies of the root name a schema.
    has_schemas: bool,
}

/// Rules, and the policy's own variable.
type Part = (Vec<Json>, String);

/// Returns policies of three sorts: those with usual expressions, those with any expressions, and
/// those with rules of both sorts.
pub(super) fn policies() -> BoxedStrategy<Vec<(String, Json)>> {
    prop_oneof![6 => with(Expressions::typical), 2 => with(Expressions::mixed), 1 => with(Expressions::new)]
        .boxed()
}

fn with(expressions: fn(&[&'static str]) -> Expressions) -> BoxedStrategy<Vec<(String, Json)>> {
    let shared = expressions(&[]);
    let own = expressions(&["V.base", "V.flag"]);
    let all = expressions(&["V.base", "V.flag", "V.mine"]);
    let variable = prop_oneof![own.value.clone(), own.condition.clone()].boxed();
    let part = |rules: BoxedStrategy<Vec<Json>>| (rules, variable.clone());
    let resource = part(vec(resource_rule(&all), 1..10).boxed());
    // Most requests are about this one.
    let main = part(vec(resource_rule(&all), 3..10).boxed());
    let resource = (btree_map(policy_name(&["doc", "album", "doc:page"]), resource, 0..5), main)
        .prop_map(|(mut policies, main)| {
            policies.insert(("doc", "default", ""), main);
            policies
        });
    let principal = part(principal_rules(&all));
    let role = part(vec(role_rule(&all), 1..4).boxed());
    let derived = part(derived_roles(&all).boxed());
    let parents = subsequence(ROLES.to_vec(), 0..3);
    let consent = [(); 3].map(|()| proptest::bool::weighted(0.15));
    let crowd = weighted(0.1, vec(own.condition.clone(), 3));
    (
        resource,
        btree_map(policy_name(&PRINCIPALS), principal, 0..3),
        prop_oneof![2 => Just(BTreeMap::new()), 1 => btree_map(policy_name(&ROLES), (role, parents), 1..3)],
        [shared.value, shared.condition],
        derived,
        (consent, crowd, proptest::bool::weighted(0.1)),
    )
        .prop_map(|(resource, principal, role, shared, derived, (consent, crowd, has_schemas))| {
            Parts { resource, principal, role, shared, derived, consent, crowd, has_schemas }
                .documents()
        })
        .boxed()
}

fn policy_name(names: &[&'static str]) -> impl Strategy<Value = PolicyName> + use<> {
    let version = prop_oneof![7 => Just("default"), 1 => Just("v2")];
    let scope = prop_oneof![1 => Just(""), 1 => select(SCOPES.to_vec())];
    (select(names.to_vec()), version, scope)
}

impl Parts {
    fn documents(mut self) -> Vec<(String, Json)> {
        with_ancestors(&mut self.resource);
        with_ancestors(&mut self.principal);
        let mut documents = vec![
            self.document("shared", "exportVariables", json!({"name": "shared", "definitions": {"base": self.shared[0], "flag": self.shared[1]}})),
            self.document("fixed", "exportConstants", json!({"name": "fixed", "definitions": {"limit": 2, "team": "red", "names": ["sam", "blue"]}})),
            self.document("roles", "derivedRoles", self.derived_roles()),
        ];
        if self.has_schemas {
            documents.push((format!("_schemas/{SCHEMA}"), super::schema()));
        }
        for (policy_name, (rules, mine)) in &self.resource {
            let mut body = self.head("resource", *policy_name, mine, true);
            if self.has_schemas && policy_name.2.is_empty() {
                let schema = json!({"ref": format!("cerbos:///{SCHEMA}")});
                body.insert("schemas".to_owned(), json!({"resourceSchema": schema}));
            }
            body.insert("importDerivedRoles".to_owned(), json!(["staff"]));
            body.insert("rules".to_owned(), json!(rules));
            documents.push(self.document(
                &file("resource", *policy_name),
                "resourcePolicy",
                body.into(),
            ));
        }
        for (policy_name, (rules, mine)) in &self.principal {
            let mut body = self.head("principal", *policy_name, mine, true);
            body.insert("rules".to_owned(), json!(rules));
            documents.push(self.document(
                &file("principal", *policy_name),
                "principalPolicy",
                body.into(),
            ));
        }
        for (policy_name, ((rules, mine), parents)) in &self.role {
            let mut body = self.head("role", *policy_name, mine, false);
            body.insert("parentRoles".to_owned(), json!(parents));
            body.insert("rules".to_owned(), json!(rules));
            documents.push(self.document(&file("role", *policy_name), "rolePolicy", body.into()));
        }
        documents.extend(self.crowd.as_ref().map(|conditions| self.crowd_policy(conditions)));
        documents
    }

    /// Returns the policy of the kind `crowd`. Every role has its own rule: on one action about an
    /// attribute of its own, on another about one of three conditions, so that neither the roles
    /// nor the attributes fit a small fast path.
    fn crowd_policy(&self, conditions: &[String]) -> (String, Json) {
        let rules = (0..CROWD).zip(conditions.iter().cycle()).flat_map(|(number, condition)| {
            let role = crowd_role(number);
            let own = format!("R.attr.f{number} == P.id || {condition}");
            let effect = if number % 7 == 0 { "EFFECT_DENY" } else { "EFFECT_ALLOW" };
            [("view", own, "EFFECT_ALLOW"), ("edit", condition.clone(), effect)].map(
                |(action, condition, effect)| {
                    let condition = json!({"match": {"expr": condition}});
                    json!({"actions": [action], "effect": effect, "roles": [role], "condition": condition})
                },
            )
        });
        let rules: Vec<Json> = rules.collect();
        let mut body = self.head("resource", ("crowd", "default", ""), "true", true);
        body.insert("rules".to_owned(), json!(rules));
        self.document("crowd", "resourcePolicy", body.into())
    }

    fn document(&self, name: &str, kind: &str, body: Json) -> (String, Json) {
        (format!("{name}.yaml"), json!({"apiVersion": "api.cerbos.dev/v1", kind: body}))
    }

    fn derived_roles(&self) -> Json {
        json!({
            "name": "staff",
            "variables": variables(&self.derived.1),
            "constants": {"import": ["fixed"]},
            "definitions": self.derived.0,
        })
    }

    fn head(
        &self,
        kind: &str,
        (name, version, scope): PolicyName,
        mine: &str,
        permits: bool,
    ) -> Map<String, Json> {
        let mut head = Map::new();
        head.insert(kind.to_owned(), name.into());
        head.insert("version".to_owned(), version.into());
        head.insert("variables".to_owned(), variables(mine));
        head.insert("constants".to_owned(), json!({"import": ["fixed"]}));
        if !scope.is_empty() {
            head.insert("scope".to_owned(), scope.into());
        }
        let consents =
            SCOPES.iter().zip(self.consent).any(|(known, consent)| *known == scope && consent);
        if permits && consents {
            head.insert("scopePermissions".to_owned(), CONSENT.into());
        }
        head
    }
}

fn variables(mine: &str) -> Json {
    json!({"import": ["shared"], "local": {"mine": mine}})
}

fn file(kind: &str, (name, version, scope): PolicyName) -> String {
    format!("{kind}.{}.{version}.{scope}", name.replace(':', "-"))
}

/// Adds the ancestors of each policy: a policy in a scope needs one in every scope above; one
/// without rules is enough.
fn with_ancestors(policies: &mut BTreeMap<PolicyName, Part>) {
    let names: Vec<PolicyName> = policies.keys().copied().collect();
    for (name, version, scope) in names {
        let above = SCOPES.iter().filter(|above| above.len() < scope.len());
        for above in above {
            let nothing = || (Vec::new(), "true".to_owned());
            policies.entry((name, version, above)).or_insert_with(nothing);
        }
    }
}

fn resource_rule(expressions: &Expressions) -> BoxedStrategy<Json> {
    let roles = prop_oneof![
        3 => subsequence(ROLES.to_vec(), 0..=2),
        1 => Just(vec!["*"]),
    ];
    let derived = subsequence(DERIVED.to_vec(), 0..=2);
    let actions = btree_set(action_pattern(), 1..3);
    (actions, roles, weighted(0.4, derived), effect(), suffix(expressions))
        .prop_map(|(actions, roles, derived, effect, suffix)| {
            let mut rule = json!({"actions": actions, "effect": effect});
            let derived = derived.unwrap_or_default();
            let roles = if roles.is_empty() && derived.is_empty() { vec!["member"] } else { roles };
            put(&mut rule, [("roles", list(&roles)), ("derivedRoles", list(&derived))]);
            put(&mut rule, suffix);
            rule
        })
        .boxed()
}

fn principal_rules(expressions: &Expressions) -> BoxedStrategy<Vec<Json>> {
    let action =
        (action_pattern(), effect(), suffix(expressions)).prop_map(|(action, effect, suffix)| {
            let mut rule = json!({"action": action, "effect": effect});
            put(&mut rule, suffix);
            rule
        });
    btree_map(resource_pattern(), vec(action, 1..3), 0..3)
        .prop_map(|rules| {
            let rule = |(resource, actions)| json!({"resource": resource, "actions": actions});
            rules.into_iter().map(rule).collect()
        })
        .boxed()
}

fn role_rule(expressions: &Expressions) -> BoxedStrategy<Json> {
    let actions = btree_set(action_pattern(), 1..4);
    (resource_pattern(), actions, suffix(expressions))
        .prop_map(|(resource, actions, suffix)| {
            let mut rule = json!({"resource": resource, "allowActions": actions});
            put(&mut rule, suffix);
            rule
        })
        .boxed()
}

fn derived_roles(expressions: &Expressions) -> impl Strategy<Value = Vec<Json>> + use<> {
    DERIVED
        .map(|name| {
            let parents = prop_oneof![
                3 => subsequence(ROLES.to_vec(), 1..=2),
                1 => Just(vec!["*"]),
            ];
            (parents, weighted(0.8, condition(expressions))).prop_map(
                move |(parents, condition)| {
                    let mut role = json!({"name": name, "parentRoles": parents});
                    put(&mut role, [("condition", condition)]);
                    role
                },
            )
        })
        .prop_map(Vec::from)
}

/// Returns the condition and the output of a rule.
fn suffix(expressions: &Expressions) -> BoxedStrategy<[(&'static str, Option<Json>); 2]> {
    let value = &expressions.value;
    let output = prop_oneof![
        value.clone().prop_map(|a| json!({"ruleActivated": a})),
        value.clone().prop_map(|a| json!({"conditionNotMet": a})),
        (value.clone(), value.clone())
            .prop_map(|(a, b)| json!({"ruleActivated": a, "conditionNotMet": b})),
    ];
    let output = output.prop_map(|when| json!({"when": when}));
    (weighted(0.6, condition(expressions)), weighted(0.25, output))
        .prop_map(|(condition, output)| [("condition", condition), ("output", output)])
        .boxed()
}

fn condition(expressions: &Expressions) -> BoxedStrategy<Json> {
    let leaf = expressions.condition.clone().prop_map(|expr| json!({"expr": expr}));
    leaf.prop_recursive(2, 6, 3, |inner| {
        let parts = vec(inner, 1..4);
        (select(vec!["all", "any", "none"]), parts).prop_map(|(how, of)| json!({how: {"of": of}}))
    })
    .prop_map(|of| json!({"match": of}))
    .boxed()
}

fn put(rule: &mut Json, fields: impl IntoIterator<Item = (&'static str, Option<Json>)>) {
    let Some(rule) = rule.as_object_mut() else { return };
    for (key, value) in fields {
        rule.extend(value.map(|value| (key.to_owned(), value)));
    }
}

fn list(names: &[&str]) -> Option<Json> {
    (!names.is_empty()).then(|| json!(names))
}

fn effect() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just("EFFECT_ALLOW"), 1 => Just("EFFECT_DENY")]
}

fn action_pattern() -> impl Strategy<Value = &'static str> {
    let patterns = select(vec!["*", "edit:*", "e*", "edit:**", "*:draft", "dr*p"]);
    prop_oneof![3 => select(ACTIONS.to_vec()), 1 => patterns]
}

fn resource_pattern() -> impl Strategy<Value = &'static str> {
    select(vec!["doc", "album", "doc:page", "*", "d*", "doc:*", "doc_*"])
}

const SCHEMA: &str = "doc.json";
const CONSENT: &str = "SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS";
