//! The rules of a directory, for commands that compare them.

use std::path::Path;

use wardgate_analysis::index::Place;
use wardgate_compiler::compile::{resolve_and_emit, schema_in};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::model::Resolved;

use crate::arguments::TableOptions;
use crate::failure::{Failure, Result};
use crate::output::{counted, shown};
use crate::policies;

/// Reads the policies of a directory, which must compile.
pub(crate) fn read(directory: &Path, options: &TableOptions) -> Result<(Repository, Resolved)> {
    policies::must_be_directory(directory)?;
    let options = policies::table_options(options)?;
    let repository = Repository::read(directory);
    let read = resolve_and_emit(&repository, &options, &|path| schema_in(directory, path));
    let (resolved, _) = read.map_err(|found| policies::below(directory, found))?;
    if repository.policies.is_empty() {
        let message = format!("`{}` holds no policies", directory.display());
        return Err(Failure::policies(message));
    }
    Ok((repository, resolved))
}

/// Returns the name of a rule as decisions have it.
pub(crate) fn name(place: &Place) -> String {
    match &*place.rule {
        "" => place.policy.to_string(),
        rule => format!("{}#{rule}", place.policy),
    }
}

/// Returns a rule and its line, in a text for persons.
pub(crate) fn shown_place(directory: &Path, place: &Place) -> String {
    let at = &place.location;
    let file = directory.join(&at.file.path);
    let (line, column) = (at.position.line, at.position.column);
    let text = format!("{} ({}:{line}:{column})", name(place), file.display());
    shown(&text).into_owned()
}

/// Returns the name of a file of a directory, as programs can open it.
pub(crate) fn file_name(directory: &Path) -> impl Fn(&str) -> String {
    |file| directory.join(file).display().to_string()
}

/// Returns a list for persons, at most a few of its entries.
pub(crate) fn few<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let texts: Vec<&str> = texts.into_iter().collect();
    let mut text = texts.iter().take(FEW).copied().collect::<Vec<_>>().join(", ");
    if texts.len() > FEW {
        text.push_str(&format!(" and {}", counted(texts.len() - FEW, "other", "others")));
    }
    match text.as_str() {
        "" => "nothing".to_owned(),
        text => shown(text).into_owned(),
    }
}

/// Entries of a list that are shown.
const FEW: usize = 6;
