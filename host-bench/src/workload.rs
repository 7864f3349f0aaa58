//! The workload: the same five rules for each of many kinds of resource, and requests about them.
//!
//! Viewers view and list; everyone views what is public; editors edit; owners delete and share; what
//! is locked is neither edited nor deleted. The same number of kinds gives the same workload always.

use serde_json::{Value as Json, json};
use wardgate_engine::attr::Attr;
use wardgate_engine::request::{Principal, Request, Resource};

use crate::rows::floor;

/// Requests, their answers, and the number of kinds that policies are written for.
pub(crate) struct Workload {
    pub(crate) kinds: usize,
    pub(crate) requests: Vec<Asked>,
    /// Whether each request is allowed, by the hand-written rules.
    pub(crate) expected: Vec<bool>,
}

/// A request about one action, spelled so that each row can make its own form of it.
pub(crate) struct Asked {
    pub(crate) principal: String,
    pub(crate) department: String,
    pub(crate) roles: &'static [&'static str],
    pub(crate) action: &'static str,
    pub(crate) kind: String,
    pub(crate) resource: String,
    pub(crate) owner: String,
    pub(crate) public: bool,
    pub(crate) locked: bool,
}

impl Workload {
    pub(crate) fn generate(kinds: usize) -> Self {
        let mut random = Random(SEED);
        let requests: Vec<Asked> =
            (0..REQUESTS).map(|at| Asked::random(&mut random, at, kinds)).collect();
        let expected =
            requests.iter().map(|asked| floor::allows(kinds, &asked.request())).collect();
        Self { kinds, requests, expected }
    }

    /// Returns the policies as Cerbos writes them, one file for each kind.
    pub(crate) fn policies(&self) -> Vec<(String, Vec<u8>)> {
        let names = (0..self.kinds).map(kind);
        names.map(|kind| (format!("{kind}.yaml"), policy(&kind).into_bytes())).collect()
    }
}

impl Asked {
    fn random(random: &mut Random, at: usize, kinds: usize) -> Self {
        let principal = random.below(PRINCIPALS);
        let owner = if random.one_in(2) { principal } else { random.below(PRINCIPALS) };
        Self {
            principal: user(principal),
            department: format!("department_{}", principal % 7),
            roles: pick(ROLES, principal),
            action: pick(ACTIONS, random.below(ACTIONS.len())),
            kind: kind(random.below(kinds)),
            resource: format!("resource_{at}"),
            owner: user(owner),
            public: random.one_in(4),
            locked: random.one_in(4),
        }
    }

    /// Returns the request for the engine.
    pub(crate) fn request(&self) -> Request {
        let text = |text: &str| Attr::String(text.into());
        let resource = [
            ("owner".into(), text(&self.owner)),
            ("public".into(), Attr::Bool(self.public)),
            ("locked".into(), Attr::Bool(self.locked)),
        ];
        Request {
            principal: Principal {
                id: self.principal.clone(),
                roles: self.roles.iter().map(ToString::to_string).collect(),
                attr: [("department".into(), text(&self.department))].into_iter().collect(),
                ..Principal::default()
            },
            resource: Resource {
                kind: self.kind.clone(),
                id: self.resource.clone(),
                attr: resource.into_iter().collect(),
                ..Resource::default()
            },
            actions: vec![self.action.to_owned()],
            ..Request::default()
        }
    }

    /// Returns the request for JavaScript.
    pub(crate) fn json(&self) -> Json {
        json!({
            "principal": {
                "id": self.principal,
                "roles": self.roles,
                "attr": { "department": self.department },
            },
            "action": self.action,
            "resource": {
                "kind": self.kind,
                "id": self.resource,
                "attr": { "owner": self.owner, "public": self.public, "locked": self.locked },
            },
        })
    }
}

/// Numbers that look random (xorshift64), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits of a xorshift are its weakest.
        usize::try_from(self.0 >> 32).unwrap_or(0) % bound
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// Returns the name of a kind.
pub(crate) fn kind(number: usize) -> String {
    format!("{KIND_PREFIX}{number}")
}

fn user(number: usize) -> String {
    format!("user_{number}")
}

/// Returns an entry of a table that is not empty, counting round.
fn pick<T: Copy + Default>(table: &[T], at: usize) -> T {
    table.get(at % table.len()).copied().unwrap_or_default()
}

fn policy(kind: &str) -> String {
    format!(
        r#"apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: {kind}
  rules:
    - {{ name: viewer, actions: [view, list], effect: EFFECT_ALLOW, roles: [viewer] }}
    - name: public
      actions: [view]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: {{ match: {{ expr: R.attr.public == true }} }}
    - {{ name: editor, actions: [edit], effect: EFFECT_ALLOW, roles: [editor] }}
    - name: owner
      actions: [delete, share]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: {{ match: {{ expr: R.attr.owner == P.id }} }}
    - name: locked
      actions: [edit, delete]
      effect: EFFECT_DENY
      roles: ["*"]
      condition: {{ match: {{ expr: R.attr.locked == true }} }}
"#
    )
}

/// What the name of every kind begins with.
pub(crate) const KIND_PREFIX: &str = "kind_";

const ACTIONS: &[&str] = &["view", "list", "edit", "delete", "share"];
const ROLES: &[&[&str]] = &[&["viewer"], &["editor", "viewer"], &["member"]];
const PRINCIPALS: usize = 100;
const REQUESTS: usize = 2000;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::Workload;

    #[test]
    fn neither_answer_is_rare() {
        let allowed = Workload::generate(20).expected.iter().filter(|allowed| **allowed).count();
        assert!((400..1600).contains(&allowed), "{allowed} of 2000 are allowed");
    }
}
