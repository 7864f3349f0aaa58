//! The attributes that policies read, as JSON: a host leaves the others out of its requests.

use alloc::string::String;
use alloc::vec::Vec;

use super::Json;
use crate::cel::pool::Root;
use crate::table::layout::{FLAG_SCHEMA_REJECT, FLAG_SCHEMA_WARN};
use crate::table::{PolicyTable, Section, at, list, word};

/// Returns the names of the attributes that some expression of the table reads: `{"principal",
/// "resource", "jwt", "jwts"}`, each a sorted list, or `null` if any attribute may be read: by
/// a schema, or as a whole map.
#[must_use]
pub fn read_names_json(table: &PolicyTable) -> String {
    let flags = table.header().flags;
    let is_validated = flags & (FLAG_SCHEMA_WARN | FLAG_SCHEMA_REJECT) != 0;
    let mut json = Json::default();
    json.open('{');
    for (name, root, whole) in ROOTS {
        json.key(name);
        match names(table, *root, *whole).filter(|_| !is_validated) {
            Some(names) => {
                json.open('[');
                names.iter().for_each(|name| json.string(name));
                json.close(']');
            }
            None => json.null(),
        }
    }
    json.close('}');
    json.finish()
}

/// Returns the first names of the paths from `root`, sorted; `None` if some path ends there or at
/// the message `whole`.
fn names(table: &PolicyTable, root: Root, whole: Root) -> Option<Vec<&str>> {
    let slots = table.section(Section::Slots);
    let mut names = Vec::new();
    let mut offset = 0_usize;
    while let Some(code) = slots.get(offset) {
        let path = list(slots, u32::try_from(offset).ok()?.checked_add(1)?);
        if *code == root.code() {
            let name = table.string(*path.first()?);
            if let Err(position) = names.binary_search(&name) {
                names.insert(position, name);
            }
        } else if [whole.code(), Root::Request.code()].contains(code) {
            return None;
        }
        offset = offset.checked_add(2)?.checked_add(at(word(slots, offset.checked_add(1)?)))?;
    }
    Some(names)
}

/// The names of the lists, the roots of the attributes, and the messages that hold them.
const ROOTS: &[(&str, Root, Root)] = &[
    ("principal", Root::PrincipalAttr, Root::Principal),
    ("resource", Root::ResourceAttr, Root::Resource),
    ("jwt", Root::AuxDataJwt, Root::AuxData),
    ("jwts", Root::AuxDataJwts, Root::AuxData),
];
