//! Subjects of NATS: `allow` and `deny`, of which `deny` wins.
//!
//! `/` becomes `.`, `+` becomes `*`, and `a/#` becomes `a` and `a.>`. The server turns an empty first
//! level into `/`; it has had several spellings for other empty levels and for `.`, so such filters
//! are refused. A list `allow` that is empty allows everything there: without filters, `>` is denied.

use serde_json::{Value, json};
use wardgate_mqtt::{Filter, Level};

use super::{ClientGrants, Dropped, Side, Untranslatable};

pub(super) fn lists(
    grants: &ClientGrants,
    dropped: &mut Vec<Dropped>,
) -> Result<Value, Untranslatable> {
    let [publish, subscribe] = grants.each();
    let publish = permissions(&publish, dropped)?;
    Ok(json!({ "pub": publish, "sub": permissions(&subscribe, dropped)? }))
}

fn permissions(side: &Side<'_>, dropped: &mut Vec<Dropped>) -> Result<Value, Untranslatable> {
    let (mut allow, mut deny) = (Vec::new(), Vec::new());
    for filter in &side.allow {
        match side.door(*filter) {
            None => subjects(*filter, &mut allow)?,
            Some(door) => dropped.push(side.dropped(*filter, door)),
        }
    }
    if allow.is_empty() {
        return Ok(json!({ "deny": [">"] }));
    }
    for filter in &side.deny {
        subjects(*filter, &mut deny)?;
    }
    Ok(json!({ "allow": allow, "deny": deny }))
}

/// Adds the subjects of the topics of a filter.
fn subjects(filter: Filter<'_>, subjects: &mut Vec<String>) -> Result<(), Untranslatable> {
    let mut tokens: Vec<&str> = Vec::new();
    for (number, level) in filter.levels().enumerate() {
        let refused = |reason| Untranslatable { filter: filter.text().to_owned(), reason };
        let token = match level {
            Level::Any => "*",
            Level::Rest => ">",
            Level::Word("") if number == 0 && filter.text().len() > 1 => "/",
            Level::Word("") => return Err(refused(EMPTY)),
            Level::Word(word) => token(word).ok_or_else(|| refused(SPECIAL))?,
        };
        if level == Level::Rest && !tokens.is_empty() {
            subjects.push(tokens.join("."));
        }
        tokens.push(token);
    }
    subjects.push(tokens.join("."));
    Ok(())
}

/// Returns the word, if it means itself in a subject.
fn token(word: &str) -> Option<&str> {
    let is_special = |c: char| matches!(c, '.' | '*' | '>') || c.is_whitespace() || c.is_control();
    (!word.contains(is_special)).then_some(word)
}

const EMPTY: &str = "an empty level, which NATS has no subject for";
const SPECIAL: &str =
    "a level with `.`, `*`, `>`, whitespace or a control character, which NATS has no subject for";
