//! Cryptography beside the libraries that one would use instead, natively and in Node.
//!
//! Every row gives the expected answer before it is timed, and in each pass that is timed; every
//! row that can refuse must first refuse a forged input.

mod aead;
mod hash;
mod ml_dsa;
mod node;
mod ratios;
mod versions;

use std::path::Path;
use std::time::Instant;

use serde_json::Value as Json;

use crate::arguments::{Arguments, CRYPTO};
use crate::entry::{Entry, figures};
use crate::report::Section;

pub(crate) use ratios::PROMISES;
pub(crate) use versions::all as versions;

/// Measures everything.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    if arguments.node && arguments.modules.is_none() {
        eprintln!("cryptography in Node is left out: there are no modules for it");
    }
    let start = Instant::now();
    let bench = Bench { root, arguments };
    let mut sections = vec![bench.measure(&ml_dsa::Signed::make()?)?];
    for hashes in hash::Hashes::all() {
        sections.push(bench.measure(&hashes)?);
    }
    for sealed in aead::Text::all()? {
        sections.push(bench.measure(&sealed)?);
    }
    eprintln!("{CRYPTO}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(sections)
}

/// Something that is measured on several libraries.
trait Work {
    /// The section without its figures.
    fn section(&self) -> Section;

    /// The native rows.
    fn rows(&self) -> Result<Vec<Entry<'_>>, String>;

    /// The input of Node.
    fn job(&self) -> Json;
}

/// A run.
struct Bench<'a> {
    root: &'a Path,
    arguments: &'a Arguments,
}

impl Bench<'_> {
    fn measure(&self, work: &impl Work) -> Result<Section, String> {
        let Self { root, arguments } = self;
        let section = work.section();
        let section = section.native(arguments, || figures(work.rows()?, arguments.bounds()))?;
        let Some(modules) = &arguments.modules else { return Ok(section) };
        section.node(arguments, || node::measure(root, modules, work.job(), arguments.quick))
    }
}

/// Returns bytes that are the same in every run and differ from message to message;
/// `node/crypto/bytes.mjs` makes them too.
fn bytes(message: usize, length: usize) -> Vec<u8> {
    (message..).take(length).map(|at| u8::try_from(at % 251).unwrap_or_default()).collect()
}

/// Spells a size as the documents do.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 0x10_0000),
    }
}
