//! JSON of reports: lists and counts, as members of an object.

use wardgate_engine::wire::Json;

/// Writes a member that is a list, empty or not.
pub(crate) fn list<T>(
    json: &mut Json,
    key: &str,
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(&mut Json, T),
) {
    json.key(key);
    json.open('[');
    items.into_iter().for_each(|each| item(json, each));
    json.close(']');
}

/// Writes a member that is a count.
#[expect(clippy::as_conversions, reason = "counts are far below what a double holds exactly")]
pub(crate) fn count(json: &mut Json, key: &str, count: impl TryInto<u64>) {
    json.key(key);
    json.number(count.try_into().unwrap_or(u64::MAX) as f64);
}
