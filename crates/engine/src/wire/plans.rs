//! What a host must know of plans to fill frames for them, as JSON.
//!
//! It asks once for each kind, version and scope, and once for each plan: what is written here is read
//! into tables of its own and never looked at again.

use alloc::string::String;

use wardgate_fastpath::{Plan, SlotRecord, word};

use super::Json;
use crate::cel::pool::Root;
use crate::table::PolicyTable;

/// Returns the plans for resources of one kind, with one version and scope of policies:
/// `{"other": plan, "actions": [[action, plan], ...]}`, where -1 stands for no plan. The empty text
/// says that there are none at all.
#[must_use]
pub fn plan_list_json(table: &PolicyTable, kind: &str, version: &str, scope: &str) -> String {
    let Some(list) = table.plan_list(kind, version, scope) else { return String::new() };
    let mut json = Json::default();
    json.open('{');
    json.key("other");
    plan_number(&mut json, list.other());
    json.key("actions");
    json.open('[');
    for (action, plan) in list.actions() {
        json.open('[');
        json.string(table.string(action));
        plan_number(&mut json, plan);
        json.close(']');
    }
    json.close(']');
    json.close('}');
    json.finish()
}

/// Returns one plan: `{"flags", "others", "slots": [{"root", "path", "uses", "constants": [[text, word],
/// ...]}, ...], "roles": [[role, mask], ...]}`. The empty text says that there is no such plan.
#[must_use]
pub fn plan_json(table: &PolicyTable, plan: u32) -> String {
    table.plan(plan).map_or_else(String::new, |plan| written(table, &plan))
}

/// Returns the ids of the principals that have policies of their own, as a list. Plans know nothing of
/// those policies.
#[must_use]
pub fn principals_json(table: &PolicyTable) -> String {
    names(&mut table.principals())
}

/// Returns the actions that rules about resources of this kind name, as a list.
#[must_use]
pub fn actions_json(table: &PolicyTable, kind: &str) -> String {
    names(&mut table.actions(kind).into_iter())
}

fn names(names: &mut dyn Iterator<Item = &str>) -> String {
    let mut json = Json::default();
    json.open('[');
    names.for_each(|name| json.string(name));
    json.close(']');
    json.finish()
}

fn written(table: &PolicyTable, plan: &Plan<'_>) -> String {
    let mut json = Json::default();
    json.open('{');
    number(&mut json, "flags", plan.flags());
    number(&mut json, "others", plan.others());
    json.key("slots");
    json.open('[');
    for slot in plan.slots() {
        write_slot(&mut json, table, &slot);
    }
    json.close(']');
    json.key("roles");
    pairs(&mut json, table, &mut plan.roles().iter().map(|[role, mask]| (*role, *mask)));
    json.close('}');
    json.finish()
}

fn write_slot(json: &mut Json, table: &PolicyTable, slot: &SlotRecord<'_>) {
    json.open('{');
    if let Some((root, path)) = table.slot_path(slot.slot) {
        json.field("root", root_name(root));
        json.key("path");
        json.open('[');
        path.for_each(|name| json.string(name));
        json.close(']');
    }
    number(json, "uses", slot.uses);
    json.key("constants");
    let word = |id: &u32| (*id, id.saturating_add(word::FIRST_STRING));
    pairs(json, table, &mut slot.constants.iter().map(word));
    json.close('}');
}

/// Writes pairs of a string, given by its id, and a number.
fn pairs(json: &mut Json, table: &PolicyTable, pairs: &mut dyn Iterator<Item = (u32, u32)>) {
    json.open('[');
    for (string, number) in pairs {
        json.open('[');
        json.string(table.string(string));
        json.number(number.into());
        json.close(']');
    }
    json.close(']');
}

fn number(json: &mut Json, name: &str, number: u32) {
    json.key(name);
    json.number(number.into());
}

fn plan_number(json: &mut Json, plan: Option<u32>) {
    json.number(plan.map_or(-1.0, f64::from));
}

/// Names where a path starts. What is not named here is in no plan.
const fn root_name(root: Root) -> &'static str {
    match root {
        Root::PrincipalId => "principal.id",
        Root::PrincipalRoles => "principal.roles",
        Root::PrincipalAttr => "principal.attr",
        Root::ResourceKind => "resource.kind",
        Root::ResourceId => "resource.id",
        Root::ResourceAttr => "resource.attr",
        _ => "",
    }
}
