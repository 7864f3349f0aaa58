//! Edits as a patch that `patch -p1` and `git apply` take.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use wardgate_analysis::proof::{Basis, Edit};
use wardgate_compiler::reading;
use wardgate_tooling::edit;

use crate::failure::{Failure, Result};
use crate::output::{InOneLine, Output};
use crate::{diff, replace};

/// Writes the edits of the files of a directory to a file, or to standard output.
pub(super) fn write(
    (directory, path): (&Path, &Path),
    basis: &Basis<'_>,
    edits: &[&Edit],
    out: &mut Output,
) -> Result<()> {
    let mut by_file: BTreeMap<&str, Vec<edit::Edit>> = BTreeMap::new();
    for Edit { path, range, text } in edits {
        let edit = edit::Edit { range: range.clone(), text: text.clone() };
        by_file.entry(path).or_default().push(edit);
    }
    let mut patch = String::new();
    for (file, edits) in by_file {
        patch.push_str(&of_file((directory, file), basis, edits)?);
    }
    match path == Path::new("-") {
        true => out.bytes(patch.as_bytes()),
        false => replace::file(path, patch.as_bytes()),
    }
}

/// Returns the patch of one file. Edits count bytes of the text without a byte order mark.
fn of_file(
    (directory, file): (&Path, &str),
    basis: &Basis<'_>,
    mut edits: Vec<edit::Edit>,
) -> Result<String> {
    let path = directory.join(file);
    let unfit = || {
        let shown = path.in_one_line();
        Failure::system(format!(
            "`{shown}` cannot be patched: it has changed since it was read, or its name or its line ends do not fit"
        ))
    };
    let name = name(directory, file).ok_or_else(unfit)?;
    let Some(read) = basis.file(file) else {
        return match reading::exists(&path) {
            true => Err(unfit()),
            false => {
                let text: String = edits.into_iter().map(|edit| edit.text).collect();
                Ok(diff::of_new_file(&name, &text))
            }
        };
    };
    let bytes = reading::file(&path).map_err(|error| Failure::reading(&path, &error))?;
    let text = String::from_utf8(bytes).map_err(|_| unfit())?;
    let mark = text.len().saturating_sub(read.text.len());
    if text.get(mark..) != Some(&read.text) {
        return Err(unfit());
    }
    for edit in &mut edits {
        edit.range = edit.range.start + mark..edit.range.end + mark;
    }
    diff::of_edits(&name, &text, &edits).ok_or_else(unfit)
}

/// Returns the name of a file in a patch: its path from here, if the directory is below, or else from the directory.
/// A tab behind it marks the end of a name with spaces.
fn name(directory: &Path, file: &str) -> Option<String> {
    let is_plain = |part: Component<'_>| matches!(part, Component::CurDir | Component::Normal(_));
    let name = match directory.components().all(is_plain) {
        true => directory.join(file).components().collect::<std::path::PathBuf>(),
        false => Path::new(file).to_owned(),
    };
    let name = name.to_str()?;
    let name = name.strip_prefix("./").unwrap_or(name);
    let is_unfit = name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'));
    let end = if name.contains(' ') { "\t" } else { "" };
    (!is_unfit).then(|| format!("{name}{end}"))
}
