//! Names and texts of policies as TypeScript.

use std::collections::BTreeSet;

use wardgate_engine::wire::Json;

/// Returns a string literal. JSON is one in TypeScript too.
pub(super) fn quoted(text: &str) -> String {
    let mut json = Json::default();
    json.string(text);
    json.finish()
}

/// Returns the name of a member, in quotes unless it is a plain identifier.
pub(super) fn name(text: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    let is_plain =
        text.starts_with(is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Returns the part of a template literal that stands for this text.
pub(super) fn in_template(text: &str) -> String {
    let json = quoted(text);
    let inner = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    inner.replace("\\\"", "\"").replace('`', "\\`").replace("${", "\\${")
}

/// Returns the union of these texts, and `string` if there are none.
pub(super) fn texts(texts: &BTreeSet<String>) -> String {
    if texts.is_empty() {
        return "string".to_owned();
    }
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" | ")
}
