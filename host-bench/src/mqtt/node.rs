//! The same in Node: see `node/mqtt.mjs`.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::policies::{SITES, role};
use crate::arguments::Arguments;
use crate::measure::Figure;
use crate::node;

/// Measures packets of one version and size: encoding and decoding.
pub(super) fn packets(
    root: &Path,
    arguments: &Arguments,
    level: u8,
    size: usize,
) -> Result<[Vec<Figure>; 2], String> {
    let answer =
        ask(root, arguments, json!({ "work": "packets", "version": level, "size": size }))?;
    Ok([node::figures(&answer, "encode")?, node::figures(&answer, "decode")?])
}

/// Measures searches in a set of 10,000 filters.
pub(super) fn filters(root: &Path, arguments: &Arguments) -> Result<Vec<Figure>, String> {
    node::figures(&ask(root, arguments, json!({ "work": "filters" }))?, "rows")
}

/// Measures covers.
pub(super) fn covers(root: &Path, arguments: &Arguments) -> Result<Vec<Figure>, String> {
    node::figures(&ask(root, arguments, json!({ "work": "covers" }))?, "rows")
}

/// Measures gates with the policies of 200 sites.
pub(super) fn gate(
    root: &Path,
    arguments: &Arguments,
    sites: &[u8],
) -> Result<Vec<Figure>, String> {
    let roles: Vec<String> = (0..SITES).map(role).collect();
    let job = json!({ "work": "gate", "bundle": STANDARD.encode(sites), "roles": roles });
    node::figures(&ask(root, arguments, job)?, "rows")
}

/// Asks a fresh process, so that no work runs on what other work has trained in the just-in-time
/// compiler.
fn ask(root: &Path, arguments: &Arguments, mut job: Json) -> Result<Json, String> {
    if let Some(job) = job.as_object_mut() {
        job.insert("quick".to_owned(), json!(arguments.quick));
    }
    node::ask(root, "mqtt.mjs", &[], &job)
}
