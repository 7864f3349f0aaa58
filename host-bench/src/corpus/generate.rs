//! Requests that are generated from what the rules of a folder name: kinds, actions, roles, and
//! values near the constants of their conditions. Some names are unknown, some attributes are
//! missing, and a few values are odd. A folder always gets the same requests.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_compiler::cel::parse;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{
    Body, Common, Condition, Definition, Definitions, Policy, ResourceBody, RoleDefinition,
};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wardgate_tests::random::Random;

use super::shapes::{Names, Shape, Shapes};

/// Returns the requests about some policies.
pub(crate) fn requests(policies: &[Policy]) -> Vec<Request> {
    let topics = topics(policies);
    let principals: Vec<&str> = policies.iter().filter_map(principal_of).collect();
    let mut draw = Draw { random: Random::new(SEED), principals };
    let mut requests = Vec::new();
    while requests.len() < REQUESTS {
        let Some(topic) = pick(&mut draw.random, &topics) else { break };
        requests.push(draw.request(topic));
    }
    requests
}

/// What the rules about one kind, version and scope name.
struct Topic {
    kind: String,
    version: String,
    scope: String,
    actions: Vec<String>,
    roles: Vec<String>,
    shapes: Shapes,
}

fn principal_of(policy: &Policy) -> Option<&str> {
    match &policy.body {
        Body::Principal(body) => Some(&body.common.name),
        _ => None,
    }
}

fn topics(policies: &[Policy]) -> Vec<Topic> {
    let exported = Exported::new(policies);
    let bodies = policies.iter().filter_map(|policy| match &policy.body {
        Body::Resource(body) => Some(body),
        _ => None,
    });
    bodies.map(|body| Topic::new(body, &exported)).collect()
}

impl Topic {
    fn new(body: &ResourceBody, exported: &Exported<'_>) -> Self {
        let (mut actions, mut roles) = (BTreeSet::new(), BTreeSet::new());
        let (mut shapes, names) = (Shapes::default(), exported.names_of(&body.common));
        for rule in &body.rules {
            actions.extend(rule.actions.iter().map(|pattern| instance(pattern)));
            roles.extend(rule.roles.iter().map(|pattern| instance(pattern)));
            read(&mut shapes, rule.condition.as_ref(), &names);
        }
        let sets = body.import_derived_roles.iter().map(|set| set.name.as_str());
        for role in sets.filter_map(|set| exported.derived.get(set)).flatten() {
            roles.extend(role.parents.iter().map(|pattern| instance(pattern)));
            read(&mut shapes, role.condition.as_ref(), &role.names);
        }
        let Common { name, version, scope, .. } = &body.common;
        Self {
            kind: name.clone(),
            version: version.clone(),
            scope: scope.clone(),
            actions: actions.into_iter().collect(),
            roles: roles.into_iter().collect(),
            shapes,
        }
    }
}

/// Returns an action or a role that a pattern matches.
fn instance(pattern: &str) -> String {
    pattern.replace("**", "deep:er").replace('*', "any").replace('?', "x")
}

fn read(shapes: &mut Shapes, condition: Option<&Condition>, names: &Names) {
    for source in condition.into_iter().flat_map(Condition::expressions) {
        if let Ok(expr) = parse(&source.text) {
            shapes.condition(&expr, names);
        }
    }
}

/// The definitions that policies import.
struct Exported<'p> {
    variables: BTreeMap<&'p str, &'p [Definition<ExprSource>]>,
    constants: BTreeMap<&'p str, &'p [Definition<Attr>]>,
    derived: BTreeMap<&'p str, Vec<DerivedRole>>,
}

struct DerivedRole {
    parents: Vec<String>,
    condition: Option<Condition>,
    names: Names,
}

impl<'p> Exported<'p> {
    fn new(policies: &'p [Policy]) -> Self {
        let mut exported = Self {
            variables: BTreeMap::new(),
            constants: BTreeMap::new(),
            derived: BTreeMap::new(),
        };
        for policy in policies {
            match &policy.body {
                Body::ExportVariables(set) => {
                    exported.variables.insert(&set.name, &set.definitions);
                }
                Body::ExportConstants(set) => {
                    exported.constants.insert(&set.name, &set.definitions);
                }
                _ => {}
            }
        }
        for policy in policies {
            let Body::DerivedRoles(body) = &policy.body else { continue };
            let names = exported.names(&body.variables, &body.constants);
            let role = |role: &RoleDefinition| DerivedRole {
                parents: role.parent_roles.clone(),
                condition: role.condition.clone(),
                names: names.clone(),
            };
            let roles = body.definitions.iter().map(role).collect();
            exported.derived.insert(&body.name, roles);
        }
        exported
    }

    fn names_of(&self, common: &Common) -> Names {
        self.names(&common.variables, &common.constants)
    }

    fn names(&self, variables: &Definitions<ExprSource>, constants: &Definitions<Attr>) -> Names {
        let imported = variables.imports.iter().filter_map(|set| self.variables.get(&*set.name));
        let all = imported.copied().flatten().chain(&variables.local);
        let parsed = all.filter_map(|one| Some((one.name.clone(), parse(&one.value.text).ok()?)));
        let imported = constants.imports.iter().filter_map(|set| self.constants.get(&*set.name));
        let values = imported.copied().flatten().chain(&constants.local);
        Names {
            variables: parsed.collect(),
            constants: values.map(|one| (one.name.clone(), one.value.clone())).collect(),
        }
    }
}

/// The source of requests.
struct Draw<'p> {
    random: Random,
    /// Principals with policies of their own.
    principals: Vec<&'p str>,
}

impl Draw<'_> {
    fn request(&mut self, topic: &Topic) -> Request {
        let id = self.name();
        let principal = Principal {
            id: id.clone(),
            roles: self.roles(topic),
            attr: self.attributes(&topic.shapes.principal, &id),
            ..Principal::default()
        };
        let resource = Resource {
            kind: self.usually(25, &topic.kind, "unknown_kind"),
            id: format!("{}-{}", topic.kind, self.below(50)),
            policy_version: if topic.version == "default" {
                String::new()
            } else {
                topic.version.clone()
            },
            scope: topic.scope.clone(),
            attr: self.attributes(&topic.shapes.resource, &id),
        };
        let count = 1 + self.below(4);
        let mut actions: Vec<String> = (0..count).map(|_| self.action(topic)).collect();
        actions.sort();
        actions.dedup();
        let jwt = match topic.shapes.token.members.is_empty() {
            true => AttrMap::default(),
            false => self.attributes(&topic.shapes.token, &id),
        };
        let aux_data = AuxData { jwt, ..AuxData::default() };
        Request { principal, resource, actions, aux_data, ..Request::default() }
    }

    fn action(&mut self, topic: &Topic) -> String {
        let named = pick(&mut self.random, &topic.actions).cloned().unwrap_or_default();
        self.usually(20, &named, "unknown_action")
    }

    fn roles(&mut self, topic: &Topic) -> Vec<String> {
        let count = match self.below(10) {
            0 => 3,
            1..=3 => 2,
            _ => 1,
        };
        let mut roles: Vec<String> = Vec::new();
        for _ in 0..count {
            let named = pick(&mut self.random, &topic.roles).cloned();
            let role = self.usually(12, named.as_deref().unwrap_or("user"), "stranger");
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
        roles
    }

    /// Returns attributes; sometimes none at all.
    fn attributes(&mut self, shape: &Shape, principal: &str) -> AttrMap {
        if self.one_in(25) {
            return AttrMap::default();
        }
        let mut members = self.members(shape, principal);
        // Hosts hand in more than rules read.
        members.push(("title".into(), Attr::String("a title".into())));
        members.into_iter().collect()
    }

    fn members(&mut self, shape: &Shape, principal: &str) -> Vec<(Box<str>, Attr)> {
        let mut members = Vec::new();
        for (name, shape) in &shape.members {
            if !self.one_in(20) {
                members.push((name.as_str().into(), self.value(shape, principal)));
            }
        }
        members
    }

    fn value(&mut self, shape: &Shape, principal: &str) -> Attr {
        if self.one_in(100) {
            let odd =
                [Attr::Null, Attr::Number(7.0), Attr::String("odd".into()), Attr::List(Vec::new())];
            return pick(&mut self.random, &odd).cloned().unwrap_or(Attr::Null);
        }
        if !shape.members.is_empty() {
            return Attr::Map(self.members(shape, principal).into_iter().collect());
        }
        if let Some(element) = &shape.element {
            let count = self.below(5);
            return Attr::List((0..count).map(|_| self.value(element, principal)).collect());
        }
        let is_name = shape.is_name && (shape.values.is_empty() || self.one_in(2));
        if is_name || shape.values.is_empty() {
            let name = if self.one_in(2) { principal.to_owned() } else { self.name() };
            return Attr::String(name.into());
        }
        match pick(&mut self.random, &shape.values).cloned() {
            Some(Attr::String(_)) if self.one_in(4) => Attr::String("another".into()),
            found => found.unwrap_or(Attr::Null),
        }
    }

    /// Returns the id of a principal.
    fn name(&mut self) -> String {
        if !self.principals.is_empty() && self.one_in(8) {
            let own = pick(&mut self.random, &self.principals);
            return own.map(|name| (*name).to_owned()).unwrap_or_default();
        }
        pick(&mut self.random, NAMES).map(|name| (*name).to_owned()).unwrap_or_default()
    }

    /// Returns `usual`, and once in so many times `other`.
    fn usually(&mut self, times: usize, usual: &str, other: &str) -> String {
        if self.one_in(times) { other.to_owned() } else { usual.to_owned() }
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn below(&mut self, bound: usize) -> usize {
        below(&mut self.random, bound)
    }
}

fn pick<'t, T>(random: &mut Random, from: &'t [T]) -> Option<&'t T> {
    from.get(below(random, from.len()))
}

fn below(random: &mut Random, bound: usize) -> usize {
    // The low bits of the generator are its weakest.
    let number = usize::try_from(random.number() >> 33).unwrap_or(0);
    number.checked_rem(bound).unwrap_or(0)
}

const NAMES: &[&str] = &["ann", "bob", "eve", "team-1"];

/// The number of requests for each folder.
const REQUESTS: usize = 200;

const SEED: u64 = 1919;

#[cfg(test)]
mod tests {
    use wardgate_compiler::repository::Repository;

    use super::requests;

    #[test]
    fn requests_are_always_the_same_and_about_what_rules_name() {
        let repository = Repository::from_files([("album.yaml", POLICY.as_bytes())]);
        let found = requests(&repository.policies);
        assert_eq!(found, requests(&repository.policies));
        let share = |is_in: &dyn Fn(&&wardgate_engine::request::Request) -> bool| {
            found.iter().filter(is_in).count() * 100 / found.len()
        };
        assert!((90..100).contains(&share(&|one| one.resource.kind == "album")));
        assert!(share(&|one| one.actions.iter().any(|action| action == "view:any")) > 50);
        assert!(share(&|one| one.principal.roles.iter().any(|role| role == "member")) > 80);
        assert!((75..100).contains(&share(&|one| one.resource.attr.get("owner").is_some())));
    }

    const POLICY: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: ['view:*'], roles: [member], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id } } }
";
}
