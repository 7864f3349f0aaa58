//! The objects and lists of answers, with their brackets.

use wardgate_engine::wire::Json;

/// Returns an object with the members that `members` writes.
#[must_use]
pub fn document(members: impl FnOnce(&mut Json)) -> String {
    let mut json = Json::default();
    object(&mut json, members);
    json.finish()
}

/// Writes an object.
pub fn object(json: &mut Json, members: impl FnOnce(&mut Json)) {
    json.open('{');
    members(json);
    json.close('}');
}

/// Writes a member that is an object.
pub fn member(json: &mut Json, name: &str, members: impl FnOnce(&mut Json)) {
    json.key(name);
    object(json, members);
}

/// Writes a member that is a list, empty or not.
pub fn list<T>(
    json: &mut Json,
    name: &str,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Json, T),
) {
    json.key(name);
    json.open('[');
    items.into_iter().for_each(|item| write(json, item));
    json.close(']');
}
