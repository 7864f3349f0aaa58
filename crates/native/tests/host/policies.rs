//! Policies for the tests, and the types that a host might have.

use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_native::{AsPrincipal, AsResource, attributes};

/// Returns a bundle of one policy.
pub(crate) fn bundle(policy: &str) -> Vec<u8> {
    let files = [("policy.yaml".to_owned(), policy.as_bytes().to_vec())];
    pack(&compile_files(&files, &Options::default()).unwrap().parts)
}

pub(crate) struct Person {
    pub(crate) id: String,
    pub(crate) roles: Vec<String>,
    pub(crate) team: Option<String>,
    pub(crate) level: u32,
}

pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) public: bool,
    pub(crate) is_locked: Option<bool>,
    pub(crate) stars: f64,
    pub(crate) place: Location,
    pub(crate) tags: Vec<String>,
}

pub(crate) struct Location {
    pub(crate) team: String,
}

attributes! { Person { team, level } }
attributes! { Document { owner, public, is_locked as "locked", stars, place, tags } }
attributes! { Location { team } }

impl AsPrincipal for Person {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }
}

impl AsResource for Document {
    fn id(&self) -> &str {
        &self.id
    }
}

/// Returns a person with these roles.
pub(crate) fn person(id: &str, roles: &[&str]) -> Person {
    let roles = roles.iter().map(ToString::to_string).collect();
    Person { id: id.to_owned(), roles, team: Some("red".to_owned()), level: 3 }
}

/// Returns a document of this owner.
pub(crate) fn owned_by(owner: &str) -> Document {
    Document {
        id: "d1".to_owned(),
        owner: owner.to_owned(),
        public: false,
        is_locked: Some(false),
        stars: 2.5,
        place: Location { team: "red".to_owned() },
        tags: vec!["draft".to_owned(), "shared".to_owned()],
    }
}

/// Rules that read every kind of attribute.
pub(crate) const DOCUMENTS: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: document
  rules:
    - { actions: [view, list], effect: EFFECT_ALLOW, roles: [viewer] }
    - { actions: [view], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.public == true } } }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: [editor] }
    - { actions: [delete, share], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.owner == P.id } } }
    - { actions: [edit, delete], effect: EFFECT_DENY, roles: ["*"], condition: { match: { expr: R.attr.locked == true } } }
    - actions: [rate]
      effect: EFFECT_ALLOW
      roles: [viewer]
      condition: { match: { expr: R.attr.stars < P.attr.level && R.kind == "document" } }
    - actions: [visit]
      effect: EFFECT_ALLOW
      roles: [viewer]
      condition: { match: { expr: R.attr.place.team == P.attr.team } }
    - { actions: [name], effect: EFFECT_ALLOW, roles: [viewer], condition: { match: { expr: R.attr.owner.startsWith("a") } } }
    - { actions: [tag], effect: EFFECT_ALLOW, roles: [viewer], condition: { match: { expr: '"shared" in R.attr.tags' } } }
    - actions: [join]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: '"viewer" in P.roles && size(P.roles) < 3' } }
    - actions: [late]
      effect: EFFECT_ALLOW
      roles: [viewer]
      condition: { match: { expr: now() > timestamp("2020-01-01T00:00:00Z") } }
"#;

/// The actions of the rules, and one without a rule.
pub(crate) const ACTIONS: &[&str] = &[
    "view", "list", "edit", "delete", "share", "rate", "visit", "name", "tag", "join", "late",
    "unknown",
];
