//! The data with which a host fills frames for fast paths, as JSON.
//!
//! A host requests it once for each kind, version and scope, and once for each fast path, and reads
//! it into tables of its own.

use alloc::string::String;

use wardgate_fastpath::layout::test;
use wardgate_fastpath::{FastPath, FastPathList, SlotRecord, Term, Verdict, schema, word};

use super::Json;
use crate::attr::Attr;
use crate::cel::pool::Root;
use crate::decision::Output;
use crate::fastpath::{Coverage, Subject};
use crate::limits::MAX_LISTED_KINDS;
use crate::table::PolicyTable;

/// Returns the fast paths for resources of one kind, with one version and scope of policies:
/// `{"other": fast_path, "actions": [[action, fast_path], ...]}`, where -1 means no fast path.
/// Returns the empty text if there are none at all.
#[must_use]
pub fn fast_path_list_json(table: &PolicyTable, kind: &str, version: &str, scope: &str) -> String {
    table.fast_path_list(kind, version, scope).map_or_else(String::new, |list| {
        let mut json = Json::default();
        json.open('{');
        json.key("other");
        fast_path_number(&mut json, list.set(0).filter(|_| list.patterns().is_empty()));
        json.key("actions");
        json.open('[');
        for (action, fast_path) in list.actions() {
            json.open('[');
            json.string(table.string(action));
            fast_path_number(&mut json, fast_path);
            json.close(']');
        }
        json.close(']');
        json.close('}');
        json.finish()
    })
}

/// Returns one fast path as [`fast_path_json`] does, for hosts that know neither tests nor auxiliary
/// data: the empty text if a slot needs them.
#[must_use]
pub fn untested_fast_path_json(table: &PolicyTable, fast_path: u32) -> String {
    let is_known = |slot: SlotRecord<'_>| {
        let root = table.slot_path(slot.slot).map(|(root, _)| root);
        slot.test.is_none() && !matches!(root, Some(Root::AuxDataJwt | Root::AuxDataJwts))
    };
    let is_plain = |found: FastPath<'_>| found.slots().all(is_known);
    let has_none = table.fast_path(fast_path).is_some_and(is_plain);
    if has_none { fast_path_json(table, fast_path) } else { String::new() }
}

/// Returns the list with verdicts: `{"other": [fast_path, with_verdicts], "grants": fast_path,
/// "actions": [[action, fast_path, with_verdicts], ...]}`; and `null` if no policy is about the
/// kind: then only a policy of the principal itself can allow an action. It is `false` instead if the
/// table has no policies of roles, so that every check of a table without policies of principals says
/// that no policy matched. If patterns decide about the actions
/// that are not listed, the member `at` is the offset of the list, for
/// [`PolicyTable::fast_path_of_action`]. With a principal, the list is the one for that principal,
/// which has no scope.
#[must_use]
pub fn coverage_json(table: &PolicyTable, names: [&str; 3], principal: Option<&str>) -> String {
    let has_role_policies = table.has_role_policies();
    // One closure, so that there is one copy of the search.
    let known = || has_role_policies;
    let coverage = match principal {
        Some(principal) => table.own_coverage(principal, names, known),
        None => table.coverage(names, known),
    };
    match coverage {
        Coverage::List(offset) => {
            table.fast_paths().list(offset).map_or_else(String::new, |list| {
                let mut json = Json::default();
                write_list(&mut json, table, &list);
                if !list.patterns().is_empty() {
                    number(&mut json, "at", offset);
                }
                json.close('}');
                json.finish()
            })
        }
        Coverage::NoPolicy if has_role_policies => String::from("null"),
        Coverage::NoPolicy => String::from("false"),
        Coverage::General => String::new(),
    }
}

/// Writes the members of a list, without the end of the object.
fn write_list(json: &mut Json, table: &PolicyTable, list: &FastPathList<'_>) {
    json.open('{');
    json.key("other");
    json.open('[');
    fast_path_number(json, list.set(0).filter(|_| list.patterns().is_empty()));
    fast_path_number(json, list.verdict_set(0).filter(|_| list.patterns().is_empty()));
    json.close(']');
    json.key("grants");
    fast_path_number(json, list.grants());
    json.key("actions");
    json.open('[');
    for ((action, fast_path), (_, verdicts)) in list.actions().zip(list.actions_with_verdicts()) {
        json.open('[');
        json.string(table.string(action));
        fast_path_number(json, fast_path);
        fast_path_number(json, verdicts);
        json.close(']');
    }
    json.close(']');
}

/// Returns the kinds that have fast paths of the default version without a scope, each followed by
/// the number of its list: `[kind, list, ...]`. Kinds with one number have equal lists. The list is
/// empty if there are more than [`MAX_LISTED_KINDS`]: a host then loads each list for its kind.
#[must_use]
pub fn fast_path_kinds_json(table: &PolicyTable) -> String {
    let mut json = Json::default();
    json.open('[');
    if table.kinds_with_fast_paths().nth(MAX_LISTED_KINDS).is_none() {
        for (kind, list) in table.kinds_with_fast_paths() {
            json.string(kind);
            json.number(list.into());
        }
    }
    json.close(']');
    json.finish()
}

/// Returns one fast path: `{"flags", "others", "slots": [{"root", "path", "uses", "constants":
/// [[text, word], ...]}, ...], "roles": [[role, mask], ...]}`. A slot with a test has its kind as
/// `test`, and `terms`: `[[member, bits, operand], ...]`, where an empty member is the element, and
/// the operand is a slot or a constant; those of a schema have operands
/// of their own. Returns the empty text if it does not exist.
#[must_use]
pub fn fast_path_json(table: &PolicyTable, fast_path: u32) -> String {
    table.fast_path(fast_path).map_or_else(String::new, |fast_path| written(table, &fast_path))
}

/// Returns the decision on an action that a verdict of a fast path stands for, as in
/// [`decision_json`](super::decision_json); empty if there is none.
#[must_use]
pub fn verdict_json(
    table: &PolicyTable,
    subject: Subject<'_>,
    fast_path: u32,
    verdict: Verdict,
) -> String {
    let mut json = Json::default();
    if let Some(decision) = table.decision_of(subject, fast_path, verdict) {
        json.action_decision(&decision);
    }
    json.finish()
}

/// Returns outputs as a list, as a decision has them.
#[must_use]
pub fn outputs_json(outputs: &[Output]) -> String {
    let mut json = Json::default();
    json.open('[');
    outputs.iter().for_each(|output| json.output(output));
    json.close(']');
    json.finish()
}

/// Returns the names of granted derived roles, as a list.
#[must_use]
pub fn granted_json(table: &PolicyTable, subject: Subject<'_>, granted: u32) -> String {
    names(&mut table.granted_names(subject, granted).into_iter())
}

/// Returns the ids of the principals that have policies of their own, as a list. Fast paths do not
/// cover those policies.
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

fn written(table: &PolicyTable, fast_path: &FastPath<'_>) -> String {
    let mut json = Json::default();
    json.open('{');
    number(&mut json, "flags", fast_path.flags());
    number(&mut json, "others", fast_path.others());
    json.key("slots");
    json.open('[');
    for slot in fast_path.slots() {
        write_slot(&mut json, table, &slot);
    }
    json.close(']');
    json.key("roles");
    pairs(&mut json, table, &mut fast_path.roles().iter().map(|[role, mask]| (*role, *mask)));
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
    if let Some(test) = &slot.test {
        number(json, "test", test.kind);
        json.key("terms");
        json.open('[');
        let is_schema = test.kind == test::FITS;
        test.terms.iter().for_each(|term| write_term(json, table, term, is_schema));
        json.close(']');
    }
    json.close('}');
}

fn write_term(
    json: &mut Json,
    table: &PolicyTable,
    [member, bits, operand]: &Term,
    is_schema: bool,
) {
    let text = |id: Option<u32>| id.map_or("", |id| table.string(id));
    json.open('[');
    json.string(text(member.checked_sub(1)));
    json.number((*bits).into());
    match *operand {
        number if is_schema && bits >> 8 != schema::EQUAL => {
            json.number(schema::signed(number).into());
        }
        slot if !is_schema && bits & test::SLOT != 0 => json.number(slot.into()),
        word::NULL => json.attr(&Attr::Null),
        word::FALSE | word::TRUE => json.boolean(*operand == word::TRUE),
        word => json.string(text(word.checked_sub(word::FIRST_STRING))),
    }
    json.close(']');
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

fn fast_path_number(json: &mut Json, fast_path: Option<u32>) {
    json.number(fast_path.map_or(-1.0, f64::from));
}

/// Returns the name of a root. Roots without a name here are in no fast path.
const fn root_name(root: Root) -> &'static str {
    match root {
        Root::PrincipalId => "principal.id",
        Root::PrincipalRoles => "principal.roles",
        Root::PrincipalAttr => "principal.attr",
        Root::ResourceKind => "resource.kind",
        Root::ResourceId => "resource.id",
        Root::ResourceAttr => "resource.attr",
        Root::AuxDataJwt => "auxData.jwt",
        Root::AuxDataJwts => "auxData.jwts",
        _ => "",
    }
}
