//! Regular expressions that are literals in a policy: the engine's compiler with Unicode's tables.
//!
//! The tables come from `regex-syntax`; which names there are is RE2's matter, so a property that
//! `regex-syntax` knows and RE2 does not is refused here.

mod names;
mod plain;

#[cfg(test)]
mod tests;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind, Literal};
use wardgate_engine::regex::{ClassSource, Error, Missing, Range, Regex};

pub(crate) use plain::plain;

/// Compiles `pattern` with full Unicode.
///
/// # Errors
/// The first fault in the pattern; see [`wardgate_engine::regex::compile`].
pub fn compile(pattern: &str) -> Result<Regex, Error> {
    wardgate_engine::regex::compile(pattern, &Unicode)
}

/// Unicode's general categories, scripts and simple case folding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unicode;

impl ClassSource for Unicode {
    fn class(&self, name: &str) -> Result<Vec<Range>, Missing> {
        let name: String = name.to_ascii_lowercase().split(['_', '-', ' ']).collect();
        match name.as_str() {
            "any" => Ok(vec![(0, u32::from(char::MAX))]),
            "ascii" => Ok(vec![(0, 0x7F)]),
            "assigned" => property(r"\P{gc=Unassigned}"),
            "cs" | "surrogate" => Ok(vec![SURROGATES]),
            // No text contains surrogates, so they only matter to the complement.
            "c" | "other" => Ok([property(r"\p{gc=Other}")?, vec![SURROGATES]].concat()),
            _ if names::is_category(&name) => property(&format!(r"\p{{gc={name}}}")),
            _ if names::is_script(&name) => property(&format!(r"\p{{sc={name}}}")),
            _ => Err(Missing::Name),
        }
    }

    fn folds(&self, range: Range, folds: &mut Vec<Range>) -> Result<(), Missing> {
        let mut class = ClassUnicode::new(scalar_parts(range));
        class.try_case_fold_simple().map_err(|_| Missing::Table)?;
        folds.extend(class.iter().map(pair));
        Ok(())
    }
}

fn property(pattern: &str) -> Result<Vec<Range>, Missing> {
    let hir = regex_syntax::parse(pattern).map_err(|_| Missing::Name)?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Ok(class.iter().map(pair).collect()),
        // A class of one character, such as `\p{Zl}`.
        HirKind::Literal(Literal(text)) => Ok(points(&text)),
        _ => Err(Missing::Name),
    }
}

fn points(text: &[u8]) -> Vec<Range> {
    String::from_utf8_lossy(text).chars().map(u32::from).map(|point| (point, point)).collect()
}

/// Cuts the surrogates out of `range`.
fn scalar_parts((first, last): Range) -> impl Iterator<Item = ClassUnicodeRange> {
    let below = (first, last.min(SURROGATES.0 - 1));
    let above = (first.max(SURROGATES.1 + 1), last);
    [below, above].into_iter().filter(|(first, last)| first <= last).filter_map(|(first, last)| {
        Some(ClassUnicodeRange::new(char::from_u32(first)?, char::from_u32(last)?))
    })
}

fn pair(range: &ClassUnicodeRange) -> Range {
    (u32::from(range.start()), u32::from(range.end()))
}

const SURROGATES: Range = (0xD800, 0xDFFF);
