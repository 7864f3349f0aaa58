//! The questions to every runtime, and the right answers.
//!
//! The questions stand in one file, a line of JSON each, and every runtime reads them from there.
//! Each question has the digests of its answers, so that a runtime finds its differences by itself.

mod bundles;
mod crypto;
mod decisions;
mod native;
mod read;
mod replay;
mod replays;
mod report;
mod rules;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use wardgate_crypto::blake3::hash;

use crate::conformance::vectors::hexadecimal;
use crate::generate::with;

pub use decisions::Size;
pub use native::Native;
pub use read::{Crypto, Opening, Trusted};
pub use replay::{ActionRequest, Host, Recorded, each_recorded, replay};
pub use report::Report;

/// Some questions about one bundle, or about cryptography, and their answers.
struct Entry {
    suite: Suite,
    name: String,
    /// The members of the line that hold the questions.
    question: Json,
    answers: Vec<Vec<u8>>,
}

/// The subject of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suite {
    /// The decisions of `tests/cases`.
    Cases,
    /// Decisions on generated requests.
    Generated,
    /// The bundles that are opened, and the decisions by them.
    Bundles,
    /// Queries to rules of SPOCP in bundles.
    Rules,
    /// Recorded decisions on generated requests, made again from their evidence.
    Replays,
    /// Digests and signatures of messages.
    Crypto,
}

impl Suite {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 6] = [
        Self::Cases,
        Self::Generated,
        Self::Bundles,
        Self::Rules,
        Self::Replays,
        Self::Crypto,
    ];

    /// Returns the name of the suite in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::Generated => "generated",
            Self::Bundles => "bundles",
            Self::Rules => "rules",
            Self::Replays => "replays",
            Self::Crypto => "crypto",
        }
    }
}

/// Writes the questions to `questions.jsonl` in `folder`, and the answers in words, a line each, to
/// `answers.txt`, in which the right answer to a difference can be looked up.
///
/// # Errors
/// If a file cannot be written, or a question cannot be made.
pub fn write(root: &Path, folder: &Path, size: &Size) -> Result<Report, String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(cannot)?;
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new).map_err(cannot);
    let (mut questions, mut answers) = (create("questions.jsonl")?, create("answers.txt")?);
    let mut report = Report::default();
    let mut put = |entry: Entry| {
        writeln!(questions, "{}", entry.line()).map_err(cannot)?;
        for answer in &entry.answers {
            writeln!(answers, "{}", shown(answer)).map_err(cannot)?;
            report.count(entry.suite, hash(answer), true);
        }
        Ok(())
    };
    decisions::cases(root, &mut put)?;
    decisions::generated(size, &mut put)?;
    bundles::entries(&mut put)?;
    rules::entries(root, size.seed, &mut put)?;
    replays::entries(size, &mut put)?;
    crypto::entries(&mut put)?;
    questions.flush().and_then(|()| answers.flush()).map_err(cannot)?;
    Ok(report)
}

/// Takes one entry after the other.
type Put<'a> = dyn FnMut(Entry) -> Result<(), String> + 'a;

impl Entry {
    fn line(&self) -> Json {
        let digests: Vec<u8> = self.answers.iter().flat_map(|answer| hash(answer)).collect();
        let line = with(&self.question, "suite", json!(self.suite.name()));
        let line = with(&line, "name", json!(self.name));
        with(&line, "digests", json!(STANDARD.encode(digests)))
    }
}

/// Returns an answer as one readable line: those of decisions are text, those of hashing are not.
fn shown(answer: &[u8]) -> String {
    match std::str::from_utf8(answer) {
        Ok(text) if !text.contains(['\n', '\0']) => text.to_owned(),
        _ => hexadecimal(answer),
    }
}
