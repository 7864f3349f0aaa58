//! Suite `wycheproof`: vectors that were made to find the mistakes of others.
//!
//! A file names its subject by its `algorithm` and `schema`, not by its name, so any further one
//! can be put beside the others. A file about an algorithm that this project does not offer is
//! counted as skipped, one of an unknown form as failed: no file is dropped.

use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;

use super::vectors::{self, field, json, settled, unreadable, word};
use super::{Case, Outcome};

mod aead;
mod ml_dsa;

/// Reads the cases.
///
/// # Errors
/// If the folder is missing or a file is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in vectors::files(&corpora.join("wycheproof"))? {
        let (title, file) = (vectors::title(&path), json(&path)?);
        match recognized(&file) {
            Ok(run) => add(&mut cases, &title, &file, &run),
            Err(why) => cases.push(unreadable(&title, why)),
        }
    }
    Ok(cases)
}

/// Decides one vector, given the group that holds it and the vector.
type Run = Rc<dyn Fn(&Json, &Json) -> Result<Outcome, String>>;

fn recognized(file: &Json) -> Result<Run, String> {
    let (algorithm, schema) = (word(file, "algorithm"), word(file, "schema"));
    let known = aead::recognize(algorithm, schema).or_else(|| ml_dsa::recognize(algorithm, schema));
    known.unwrap_or_else(|| Ok(not_offered(algorithm)))
}

fn not_offered(algorithm: &str) -> Run {
    let why = match algorithm {
        "" => "a file that names no algorithm".to_owned(),
        name => format!("{name} is not offered"),
    };
    Rc::new(move |_, _| Ok(Outcome::Skipped(why.clone())))
}

fn add(cases: &mut Vec<Case>, title: &str, file: &Json, run: &Run) {
    let before = cases.len();
    for (group, tests) in vectors::groups(file) {
        let case = |test: &Json| case(title, Rc::clone(&group), test.clone(), Rc::clone(run));
        cases.extend(tests.iter().map(case));
    }
    let declared = file.get("numberOfTests").and_then(Json::as_u64);
    let found = u64::try_from(cases.len() - before).ok();
    if declared.is_some_and(|_| declared != found) || found == Some(0) {
        cases.push(unreadable(title, format!("{found:?} tests instead of {declared:?}")));
    }
}

fn case(title: &str, group: Rc<Json>, test: Json, run: Run) -> Case {
    let name = format!("{title}/{} {}", field(&test, "tcId"), word(&test, "comment"));
    Case::new(name, move || settled(run(&group, &test)))
}

/// Returns true if the vector is a good one.
fn is_valid(test: &Json) -> Result<bool, String> {
    match word(test, "result") {
        "valid" => Ok(true),
        "invalid" => Ok(false),
        other => Err(format!("unknown result `{other}`")),
    }
}
