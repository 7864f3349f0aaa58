//! Reads cryptographic test vectors: JSON, gzipped or not, in folders of any depth, with bytes in
//! hexadecimal.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::GzDecoder;
use serde_json::Value as Json;
use wardgate_crypto::ml_dsa::Level;

use super::{Case, Outcome, files_below};

/// Returns every `.json` and `.json.gz` below `folder`, sorted by path.
///
/// # Errors
/// If a folder cannot be listed.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let is_vector =
        |path: &PathBuf| [".json", ".json.gz"].iter().any(|it| name(path).ends_with(it));
    Ok(files_below(folder)?.into_iter().filter(is_vector).collect())
}

/// Reads one file, unpacked if its name has the ending of a packed one.
///
/// # Errors
/// If it cannot be read or is not JSON.
pub fn json(path: &Path) -> Result<Json, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut file = File::open(path).map_err(|error| failed(&error))?;
    let mut text = String::new();
    let read = if name(path).ends_with(".gz") {
        GzDecoder::new(file).read_to_string(&mut text)
    } else {
        file.read_to_string(&mut text)
    };
    read.map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// Returns the name of a file without the endings of its storage.
#[must_use]
pub fn title(path: &Path) -> String {
    let name = name(path);
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}

/// Returns the text of a field, which may be missing.
#[must_use]
pub fn word<'a>(json: &'a Json, field: &str) -> &'a str {
    json.get(field).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the items of a field, none if it is missing.
#[must_use]
pub fn items<'a>(json: &'a Json, field: &str) -> &'a [Json] {
    json.get(field).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a field as it prints and compares: null if it is missing.
#[must_use]
pub fn field<'a>(json: &'a Json, name: &str) -> &'a Json {
    json.get(name).unwrap_or(&Json::Null)
}

/// Returns the bytes of a field, or `None` if it is missing or null.
///
/// # Errors
/// If it is there and is not hexadecimal.
pub fn optional_bytes(json: &Json, field: &str) -> Result<Option<Vec<u8>>, String> {
    match json.get(field) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => {
            unhex(text).map(Some).ok_or_else(|| format!("`{field}` is not hexadecimal"))
        }
        Some(_) => Err(format!("`{field}` is not text")),
    }
}

/// Returns the bytes of a field.
///
/// # Errors
/// If it is missing or is not hexadecimal.
pub fn bytes(json: &Json, field: &str) -> Result<Vec<u8>, String> {
    optional_bytes(json, field)?.ok_or_else(|| format!("no `{field}`"))
}

/// Returns bytes in hexadecimal.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the level that a standard calls by this name.
#[must_use]
pub fn level(name: &str) -> Option<Level> {
    match name {
        "ML-DSA-44" => Some(Level::MlDsa44),
        "ML-DSA-65" => Some(Level::MlDsa65),
        "ML-DSA-87" => Some(Level::MlDsa87),
        _ => None,
    }
}

/// Makes a case that cannot be run, which is a failure.
#[must_use]
pub fn unreadable(name: &str, why: String) -> Case {
    Case::new(name, move || Outcome::failed("a vector that the runner knows", &why))
}

/// Returns the outcome of a case, a failure if the case could not be read.
#[must_use]
pub fn settled(result: Result<Outcome, String>) -> Outcome {
    result.unwrap_or_else(|why| Outcome::failed("a vector that the runner knows", why))
}

/// Returns the groups of a file: each without its tests, and the tests.
pub fn groups(file: &Json) -> impl Iterator<Item = (Rc<Json>, &[Json])> {
    items(file, "testGroups").iter().map(|group| {
        let mut shared = group.clone();
        shared.as_object_mut().and_then(|fields| fields.remove("tests"));
        (Rc::new(shared), items(group, "tests"))
    })
}

/// Passes if `found` is the value of the vector.
pub fn same<T: PartialEq + std::fmt::Debug>(expected: &T, found: &T) -> Outcome {
    if expected == found {
        Outcome::Passed
    } else {
        Outcome::failed(shortened(expected), shortened(found))
    }
}

fn shortened(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}").chars().take(CHARACTERS_SHOWN).collect()
}

/// Reads hexadecimal digits; returns `None` if `text` is anything else.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A signature is thousands of bytes long, and its beginning shows enough.
const CHARACTERS_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::{title, unhex};
    use std::path::Path;

    #[test]
    fn hexadecimal_is_read_in_both_cases_and_nothing_else_is() {
        let check =
            |text: &str, expected: Option<&[u8]>| assert_eq!(unhex(text).as_deref(), expected);
        check("", Some(&[]));
        check("00fFa9", Some(&[0, 255, 0xa9]));
        check("0", None);
        check("0g", None);
        check("é", None);
    }

    #[test]
    fn titles_forget_how_a_file_is_stored() {
        let check = |path: &str, expected: &str| assert_eq!(title(Path::new(path)), expected);
        check("a/b.prompt.json.gz", "b.prompt");
        check("a/b_test.json", "b_test");
    }
}
