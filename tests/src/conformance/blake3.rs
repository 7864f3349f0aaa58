//! Suite `blake3`: the vectors of the authors of BLAKE3.
//!
//! Each case is a length and an extended output of three modes. Where this project gives 32 bytes
//! in a mode, they are the beginning of the vector's output.

use std::path::Path;

use serde_json::Value as Json;
use wardgate_crypto::blake3::{self, DIGEST_BYTES, Digest};

use super::vectors::{self, bytes, items, json, same, settled, unreadable, word};
use super::{Case, Outcome};

/// Reads the cases.
///
/// # Errors
/// If the folder is missing or a file is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in vectors::files(&corpora.join("blake3"))? {
        let (title, file) = (vectors::title(&path), json(&path)?);
        match Keys::of(&file) {
            Ok(keys) => {
                cases.extend(items(&file, "cases").iter().flat_map(|one| of_case(&keys, one)));
            }
            Err(why) => cases.push(unreadable(&title, why)),
        }
    }
    Ok(cases)
}

/// The keys that all cases of a file share.
#[derive(Clone)]
struct Keys {
    key: [u8; 32],
    context: String,
}

impl Keys {
    fn of(file: &Json) -> Result<Self, String> {
        let key = word(file, "key").as_bytes().try_into();
        let key = key.map_err(|_| "`key` has not 32 bytes".to_owned())?;
        Ok(Self { key, context: word(file, "context_string").to_owned() })
    }
}

fn of_case(keys: &Keys, case: &Json) -> Vec<Case> {
    MODES
        .iter()
        .map(|(field, mode)| {
            let (keys, case) = (keys.clone(), case.clone());
            let length = case.get("input_len").and_then(Json::as_u64);
            Case::new(format!("{field}/{}", length.unwrap_or_default()), move || {
                let length = length.and_then(|length| usize::try_from(length).ok());
                let expected = length
                    .ok_or_else(|| "no `input_len`".to_owned())
                    .and_then(|length| Ok((length, bytes(&case, field)?)));
                settled(expected.map(|(length, expected)| mode(&keys, &message(length), &expected)))
            })
        })
        .collect()
}

/// Returns the bytes 0, 1, .. 250, again and again, as the vectors define.
fn message(length: usize) -> Vec<u8> {
    (0u8..=250).cycle().take(length).collect()
}

fn plain(_: &Keys, message: &[u8], expected: &[u8]) -> Outcome {
    let mut extended = vec![0; expected.len()];
    blake3::xof(message, &mut extended);
    // A batch of its own, and among others of all kinds of lengths.
    let others: [&[u8]; 5] =
        [message, &[], message, message.split_at(message.len() / 2).1, message];
    let mut digests = [[0; DIGEST_BYTES]; 5];
    let fits = blake3::hash_many(&others, &mut digests);
    let [first, _, third, _, last] = digests;
    let found = (fits, extended, [blake3::hash(message), first, third, last]);
    same(&(Ok(()), expected.to_vec(), [beginning(expected); 4]), &found)
}

fn keyed(keys: &Keys, message: &[u8], expected: &[u8]) -> Outcome {
    same(&beginning(expected), &blake3::keyed(&keys.key, message))
}

fn derived(keys: &Keys, message: &[u8], expected: &[u8]) -> Outcome {
    same(&beginning(expected), &blake3::derive_key(&keys.context, message))
}

fn beginning(extended: &[u8]) -> Digest {
    extended.first_chunk().copied().unwrap_or_default()
}

type Mode = fn(&Keys, &[u8], &[u8]) -> Outcome;

const MODES: [(&str, Mode); 3] = [("hash", plain), ("keyed_hash", keyed), ("derive_key", derived)];
