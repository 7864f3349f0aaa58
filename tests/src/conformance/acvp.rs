//! Suite `acvp`: the vectors with which NIST validates ML-DSA.
//!
//! A file of questions stands beside a file of answers, or one file has both. Files are recognised
//! by their `algorithm` and `mode`. The hash variants of ML-DSA are not offered, so their vectors
//! are skipped.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_crypto::ml_dsa::{Level, PreparedKey, SigningKey};

use super::vectors::{
    self, bytes, field, items, json, level, optional_bytes, same, settled, unreadable, word,
};
use super::{Case, Outcome};

/// Reads the cases.
///
/// # Errors
/// If the folder is missing or a file is not JSON.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in vectors::files(&corpora.join("acvp-mldsa"))? {
        let title = vectors::title(&path);
        if title.contains(ANSWERS) {
            continue;
        }
        let questions = json(&path)?;
        let answers = match answers_to(&path) {
            Some(answers) => json(&answers)?,
            None => questions.clone(),
        };
        match mode(&questions) {
            Ok(mode) => add(&mut cases, &title, (&questions, &answers), mode),
            Err(why) => cases.push(unreadable(&title, why)),
        }
    }
    Ok(cases)
}

/// Returns the file of answers beside a file of questions.
fn answers_to(questions: &Path) -> Option<PathBuf> {
    let name = questions.file_name()?.to_string_lossy().replace(QUESTIONS, ANSWERS);
    let other = |name: &str| Some(questions.with_file_name(name)).filter(|path| path.is_file());
    let found = other(&name).or_else(|| other(name.strip_suffix(".gz")?));
    found.or_else(|| other(&format!("{name}.gz"))).filter(|path| path != questions)
}

/// Decides one vector: its group, its question and its answer.
type Mode = fn(&Json, &Json, &Json) -> Result<Outcome, String>;

fn mode(file: &Json) -> Result<Mode, String> {
    match (word(file, "algorithm"), word(file, "mode")) {
        ("ML-DSA", "keyGen") => Ok(key_gen),
        ("ML-DSA", "sigGen") => Ok(sig_gen),
        ("ML-DSA", "sigVer") => Ok(sig_ver),
        (algorithm, mode) => Err(format!("unknown mode `{mode}` of `{algorithm}`")),
    }
}

fn add(cases: &mut Vec<Case>, title: &str, (questions, answers): (&Json, &Json), mode: Mode) {
    let answer_of = |group: &Json, test: &Json| {
        let group =
            items(answers, "testGroups").iter().find(|one| same_field("tgId", one, group))?;
        items(group, "tests").iter().find(|one| same_field("tcId", one, test)).cloned()
    };
    for (group, tests) in vectors::groups(questions) {
        for test in tests {
            let name = format!("{title}/{}", field(test, "tcId"));
            let Some(answer) = answer_of(&group, test) else {
                cases.push(unreadable(&name, "a question without an answer".to_owned()));
                continue;
            };
            let (group, test) = (Rc::clone(&group), test.clone());
            cases.push(Case::new(name, move || settled(mode(&group, &test, &answer))));
        }
    }
}

fn same_field(name: &str, left: &Json, right: &Json) -> bool {
    field(left, name) == field(right, name)
}

fn key_gen(group: &Json, test: &Json, answer: &Json) -> Result<Outcome, String> {
    let seed = bytes(test, "seed")?;
    let seed = seed.as_array().ok_or("`seed` has not 32 bytes")?;
    let key = SigningKey::from_seed(parameter_set(group)?, seed);
    let expected = (bytes(answer, "pk")?, bytes(answer, "sk")?);
    Ok(same(&expected, &(key.public_key(), key.to_expanded())))
}

/// Signs with the library for an expanded key, which this project takes in tests only, and verifies
/// the expected signature with the code that this project ships.
fn sig_gen(group: &Json, test: &Json, answer: &Json) -> Result<Outcome, String> {
    let level = parameter_set(group)?;
    let signing = match Signing::of(group, test)? {
        Ok(signing) => signing,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let secret = either(group, test, "sk")?;
    let key = SigningKey::from_expanded(level, &secret).ok_or("`sk` has a wrong length")?;
    let randomness = optional_bytes(test, "rnd")?.unwrap_or_else(|| vec![0; 32]);
    let randomness = randomness.as_array().ok_or("`rnd` has not 32 bytes")?;
    let expected = bytes(answer, "signature")?;
    let prepared = PreparedKey::new(level, &key.public_key()).map_err(|error| error.to_string())?;
    let found = (signing.sign(&key, randomness), signing.verified(&prepared, &expected));
    Ok(same(&(Some(expected), true), &found))
}

fn sig_ver(group: &Json, test: &Json, answer: &Json) -> Result<Outcome, String> {
    let signing = match Signing::of(group, test)? {
        Ok(signing) => signing,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let expected = answer.get("testPassed").and_then(Json::as_bool).ok_or("no `testPassed`")?;
    let (key, signature) = (either(group, test, "pk")?, bytes(test, "signature")?);
    let key = PreparedKey::new(parameter_set(group)?, &key);
    Ok(same(&expected, &key.is_ok_and(|key| signing.verified(&key, &signature))))
}

/// The interface of FIPS 204 that a vector uses, and the signed input.
enum Signing {
    /// Algorithms 2 and 3.
    External { message: Vec<u8>, context: Vec<u8> },
    /// Algorithms 7 and 8.
    Internal { message: Vec<u8> },
    /// The same from mu on.
    Mu([u8; 64]),
}

impl Signing {
    /// Reads the input of a vector; the inner error is the reason why a vector is skipped.
    fn of(group: &Json, test: &Json) -> Result<Result<Self, String>, String> {
        let interface = word(group, "signatureInterface");
        let prehash = word(group, "preHash");
        let mu = group.get("externalMu").and_then(Json::as_bool).unwrap_or_default();
        Ok(Ok(match (interface, prehash, mu) {
            ("external", "preHash", _) => {
                return Ok(Err("HashML-DSA is not offered".to_owned()));
            }
            ("external", "pure", _) => {
                let context = optional_bytes(test, "context")?.unwrap_or_default();
                Self::External { message: bytes(test, "message")?, context }
            }
            ("internal" | "", _, true) => {
                let mu = bytes(test, "mu")?;
                Self::Mu(*mu.as_array().ok_or("`mu` has not 64 bytes")?)
            }
            ("internal" | "", _, false) => Self::Internal { message: bytes(test, "message")? },
            _ => return Err(format!("unknown interface `{interface}` `{prehash}`")),
        }))
    }

    fn sign(&self, key: &SigningKey, randomness: &[u8; 32]) -> Option<Vec<u8>> {
        match self {
            Self::External { message, context } => {
                key.sign(message, context, Some(randomness)).ok()
            }
            Self::Internal { message } => Some(key.sign_internal(message, randomness)),
            Self::Mu(mu) => key.sign_mu(mu, randomness).ok(),
        }
    }

    fn verified(&self, key: &PreparedKey, signature: &[u8]) -> bool {
        match self {
            Self::External { message, context } => key.verify(message, context, signature),
            Self::Internal { message } => key.verify_internal(message, signature),
            Self::Mu(mu) => key.verify_mu(mu, signature),
        }
    }
}

fn parameter_set(group: &Json) -> Result<Level, String> {
    let name = word(group, "parameterSet");
    level(name).ok_or_else(|| format!("unknown parameter set `{name}`"))
}

/// Returns a field of the vector or of its group.
fn either(group: &Json, test: &Json, name: &str) -> Result<Vec<u8>, String> {
    match optional_bytes(test, name)? {
        Some(bytes) => Ok(bytes),
        None => bytes(group, name),
    }
}

/// The words in the names of the files of questions and of answers.
const QUESTIONS: &str = "prompt";
const ANSWERS: &str = "expectedResults";
