//! The same five rules for each of many kinds of resource.
//!
//! Viewers view and list; all roles view public resources; editors edit; owners delete and share;
//! locked resources are neither edited nor deleted.

use serde_json::{Value as Json, json};

use super::{Objects, REQUESTS, Random, Rivals, RuleSet, Workload, pick, policies, user};

/// The amount of attributes that no rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Small,
    /// Ten roles and twenty attributes more.
    Large,
}

/// Returns the workload with this many kinds.
pub(super) fn workload(kinds: usize, size: Size) -> Workload {
    let mut random = Random::new();
    let names: Vec<String> = (0..kinds).map(kind).collect();
    let (name, carries) = match size {
        Size::Small => (format!("five-rules-{kinds}"), ""),
        Size::Large => ("large".to_owned(), ", 20 more attributes and 10 roles in a request"),
    };
    Workload {
        name,
        title: format!("Five rules for each of {kinds} kinds ({} rules){carries}", kinds * 5),
        rules: RuleSet::FiveRules,
        policies: policies(&names, RULES),
        kinds: names,
        actions: ACTIONS.len(),
        requests: (0..REQUESTS).map(|at| request(&mut random, at, kinds, size)).collect(),
        expected: Vec::new(),
        objects: Objects::Reused,
        rivals: Rivals::All,
    }
}

/// Returns the workload with objects that are new in every pass.
pub(super) fn fresh(objects: Objects) -> Workload {
    let how = match objects {
        Objects::Parsed => "from JSON.parse before",
        _ => "written anew for",
    };
    Workload {
        name: if objects == Objects::Parsed { "parsed" } else { "fresh" }.to_owned(),
        title: format!("Five rules for each of 200 kinds, objects and strings {how} each pass"),
        objects,
        ..workload(200, Size::Small)
    }
}

fn request(random: &mut Random, at: usize, kinds: usize, size: Size) -> Json {
    let principal = random.below(PRINCIPALS);
    let owner = if random.one_in(2) { principal } else { random.below(PRINCIPALS) };
    let mut roles: Vec<String> = pick(ROLES, principal).iter().map(ToString::to_string).collect();
    let action = random.pick(ACTIONS);
    let kind = kind(random.below(kinds));
    let (public, locked) = (random.one_in(4), random.one_in(4));
    let mut attributes = json!({ "owner": user(owner), "public": public, "locked": locked });
    let mut own = json!({ "department": format!("department_{}", principal % 7) });
    if size == Size::Large {
        roles.extend((roles.len()..10).map(|number| format!("team_{number}")));
        add_unread(&mut attributes, at);
        add_unread(&mut own, principal);
    }
    json!({
        "principal": { "id": user(principal), "roles": roles, "attr": own },
        "action": action,
        "resource": { "kind": kind, "id": format!("resource_{at}"), "attr": attributes },
    })
}

/// Adds ten attributes that no rule reads.
fn add_unread(attributes: &mut Json, seed: usize) {
    for number in 0..10 {
        let value = match number % 3 {
            0 => json!(format!("value_{}", seed + number)),
            1 => json!(seed + number),
            _ => json!(number % 2 == 0),
        };
        if let Some(fields) = attributes.as_object_mut() {
            fields.insert(format!("extra_{number}"), value);
        }
    }
}

/// Returns the name of a kind.
fn kind(number: usize) -> String {
    format!("kind_{number}")
}

const RULES: &str = r#"    - { name: viewer, actions: [view, list], effect: EFFECT_ALLOW, roles: [viewer] }
    - { name: public, actions: [view], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.public == true } } }
    - { name: editor, actions: [edit], effect: EFFECT_ALLOW, roles: [editor] }
    - { name: owner, actions: [delete, share], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.owner == P.id } } }
    - { name: locked, actions: [edit, delete], effect: EFFECT_DENY, roles: ["*"], condition: { match: { expr: R.attr.locked == true } } }
"#;

const ACTIONS: &[&str] = &["view", "list", "edit", "delete", "share"];
const ROLES: &[&[&str]] = &[&["viewer"], &["editor", "viewer"], &["member"]];
const PRINCIPALS: usize = 100;
