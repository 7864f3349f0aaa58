//! JSON of reports: objects, lists and counts.

use wardgate_engine::wire::Json;

/// Returns the text of an object with the members that `members` writes.
pub(crate) fn document(members: impl FnOnce(&mut Json)) -> String {
    let mut json = Json::default();
    json.open('{');
    members(&mut json);
    json.close('}');
    json.finish()
}

/// Writes a member that is an object.
pub(crate) fn object(json: &mut Json, key: &str, members: impl FnOnce(&mut Json)) {
    json.key(key);
    json.open('{');
    members(json);
    json.close('}');
}

/// Writes a member that is a list of objects, empty or not.
pub(crate) fn list<T>(
    json: &mut Json,
    key: &str,
    items: impl IntoIterator<Item = T>,
    mut members: impl FnMut(&mut Json, T),
) {
    json.key(key);
    json.open('[');
    for item in items {
        json.open('{');
        members(json, item);
        json.close('}');
    }
    json.close(']');
}

/// Writes a member that is a count.
#[expect(clippy::as_conversions, reason = "counts are far below what a double holds exactly")]
pub(crate) fn count(json: &mut Json, key: &str, count: impl TryInto<u64>) {
    json.key(key);
    json.number(count.try_into().unwrap_or(u64::MAX) as f64);
}
