//! Requests that are as much work as a caller can make of them: long lists, wide and deep objects,
//! many actions, resources and evaluations, searches, doubled members, and texts that are no JSON.
//!
//! Made from a seed, so that a body that does harm can be made again by its number.

mod bodies;

use std::path::Path;

use wardgate_compiler::{Options, compile_files};

use bodies::Maker;

/// A request that is meant to do harm.
#[derive(Clone, Debug)]
pub struct Hostile {
    /// Its large part.
    pub name: &'static str,
    /// The path of the endpoint.
    pub path: &'static str,
    /// At most [`MAX_BYTES`] bytes.
    pub body: Vec<u8>,
}

/// The longest body: the limit of the server's default configuration.
pub const MAX_BYTES: usize = 4 << 20;

/// Makes request `number` of those that follow from `seed`. Every entrance gets every kind.
#[must_use]
pub fn request(seed: u64, number: u64) -> Hostile {
    let mut maker = Maker::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut hostile = maker.request(number);
    hostile.body.truncate(MAX_BYTES);
    hostile
}

/// Compiles the policies that these requests are about to a table.
///
/// # Errors
/// If they cannot be read or compiled.
pub fn bundle() -> Result<Vec<u8>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile");
    let read = |name: &str| {
        let file = folder.join(name);
        let text = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok::<_, String>((name.to_owned(), text))
    };
    let files = [read("doc.yaml")?, read("sam.yaml")?, read("teams.yaml")?];
    let compiled = compile_files(&files, &Options::default())
        .map_err(|found| found.iter().map(ToString::to_string).collect::<String>())?;
    Ok(wardgate_bundle::pack(&compiled.parts))
}
