//! The same work in Node: see `node/crypto.mjs`.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::measure::Figure;
use crate::node;

/// Measures in a fresh process, so that no work runs on what other work has trained in the
/// just-in-time compiler.
pub(super) fn measure(
    root: &Path,
    modules: &Path,
    mut job: Json,
    quick: bool,
) -> Result<Vec<Figure>, String> {
    if let Some(job) = job.as_object_mut() {
        job.insert("modules".to_owned(), json!(modules));
        job.insert("quick".to_owned(), json!(quick));
    }
    node::figures(&node::ask(root, "crypto.mjs", &[], &job)?, "rows")
}
