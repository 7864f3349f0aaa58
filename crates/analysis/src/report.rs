//! The answers as JSON: one spelling for the command and for the module of JavaScript.
//!
//! Files are named by the caller, who knows where they lie. Members stand in the order of their names, and
//! nothing here depends on the host.

mod comparison;
mod findings;
mod groups;
mod matches;
mod merges;
mod suggestions;

use serde_json::{Map, Value as Json, json};

use crate::index::Place;
use crate::proof::Edit;
use findings::{derivations, findings};
use merges::merges;

pub use comparison::{comparison, decided, request, word};
pub use groups::groups;
pub use matches::similar;
pub use suggestions::suggestions;

/// Returns the name of a file for the reader, given its path below the folder of the policies.
pub type FileName<'f> = &'f dyn Fn(&str) -> String;

/// Returns a rule and its line.
pub fn place(place: &Place, file: FileName<'_>) -> Map<String, Json> {
    let at = &place.location;
    let members: [(&str, Json); 5] = [
        ("policy", json!(&*place.policy)),
        ("rule", json!(&*place.rule)),
        ("file", json!(file(&at.file.path))),
        ("line", json!(at.position.line)),
        ("column", json!(at.position.column)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the edits of files.
fn edits(edits: &[Edit], file: FileName<'_>) -> Vec<Json> {
    let edit = |edit: &Edit| {
        json!({
            "file": file(&edit.path),
            "start": edit.range.start,
            "end": edit.range.end,
            "text": edit.text,
        })
    };
    edits.iter().map(edit).collect()
}

/// Returns an object without its members that are null.
fn present(mut object: Json) -> Json {
    if let Json::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}
