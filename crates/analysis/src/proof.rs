//! Proofs that edits change no decision: the policies before and after, compiled and compared.
//!
//! An edit is shown only if the comparison of both tables has no difference and nothing unknown.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use wardgate_compiler::Options;
use wardgate_compiler::compile::resolve_and_emit;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::schema::Load;
use wardgate_compiler::source::SourceFile;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_tooling::edit;

use crate::compare::compare;
use crate::limits::{MAX_PROOF_BYTES, MAX_PROOFS};

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The path of the file below the directory of the policies. A file that is not there is new.
    pub path: String,
    /// The bytes that are replaced, counted in the text of the file without a byte order mark.
    pub range: Range<usize>,
    /// The text in their place.
    pub text: String,
}

/// The reason why a text is not edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A rule that would go has a name.
    Name,
    /// A rule has an output, or one between or behind the rules has, which would name another rule.
    Output,
    /// A comment stands beside what would go.
    Comment,
    /// The text cannot be edited safely: anchors, or a layout that is not sure to be read as meant.
    Layout,
    /// The effective derived roles are read, which the edit changes.
    Runtime,
    /// Other edits of the file come first.
    Busy,
}

impl Refusal {
    /// Returns the reason in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Name => "a rule that would go has a name",
            Self::Output => "outputs name the rules",
            Self::Comment => "a comment stands beside what would go",
            Self::Layout => "the text cannot be edited safely",
            Self::Runtime => "the effective derived roles are read",
            Self::Busy => "other edits of the files come first",
        }
    }
}

/// Policies that edits are proved on.
pub struct Basis<'b> {
    pub(crate) repository: &'b Repository,
    files: BTreeMap<&'b str, &'b Arc<SourceFile>>,
    options: &'b Options,
    load: &'b Load<'b>,
    table: PolicyTable,
    /// Edits that are proved, beside which others are proved.
    accepted: Vec<Edit>,
    bytes: usize,
    left: usize,
}

impl<'b> Basis<'b> {
    /// Takes policies that compile; nothing if they do not.
    #[must_use]
    pub fn new(
        repository: &'b Repository,
        options: &'b Options,
        load: &'b Load<'b>,
    ) -> Option<Self> {
        let used = repository.policies.iter().map(|policy| &policy.location.file);
        let disabled = repository.disabled.iter().map(|policy| &policy.location.file);
        let files: BTreeMap<_, _> =
            used.chain(disabled).map(|file| (file.path.as_str(), file)).collect();
        let table = table(repository, options, load)?;
        let bytes = files.values().map(|file| file.text.len()).sum();
        let left = MAX_PROOF_BYTES;
        let accepted = Vec::new();
        Some(Self { repository, files, options, load, table, accepted, bytes, left })
    }

    /// Returns the file at a path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&'b Arc<SourceFile>> {
        self.files.get(path).copied()
    }

    /// Returns the text of each file that edits change; nothing if they do not fit.
    #[must_use]
    pub fn texts<'e>(
        &self,
        edits: impl IntoIterator<Item = &'e Edit>,
    ) -> Option<BTreeMap<&'e str, String>> {
        let mut by_path: BTreeMap<&str, Vec<edit::Edit>> = BTreeMap::new();
        for Edit { path, range, text } in edits {
            let edit = edit::Edit { range: range.clone(), text: text.clone() };
            by_path.entry(path).or_default().push(edit);
        }
        let apply = |(path, edits): (&'e str, Vec<edit::Edit>)| {
            let old = self.file(path).map_or("", |file| file.text.as_str());
            Some((path, edit::apply(old, &edits)?))
        };
        by_path.into_iter().map(apply).collect()
    }

    /// Says of each proposal whether its edits are proved to change no decision, together with those of
    /// all others that are.
    pub fn prove(&mut self, proposals: &[&[Edit]]) -> Vec<bool> {
        in_halves(proposals.len(), MAX_PROOFS, &mut |chosen| {
            let chosen = chosen.iter().filter_map(|at| proposals.get(*at).copied());
            let accepted = std::mem::take(&mut self.accepted);
            let is_equal =
                self.changes_nothing(&accepted.iter().chain(chosen.flatten()).collect::<Vec<_>>());
            self.accepted = accepted;
            is_equal
        })
    }

    /// Takes edits that are proved; others are proved beside them.
    pub(crate) fn accept(&mut self, edits: impl Iterator<Item = Edit>) {
        self.accepted.extend(edits);
    }

    /// Returns true if an edit of a file was taken.
    pub(crate) fn is_edited(&self, path: &str) -> bool {
        self.accepted.iter().any(|edit| edit.path == path)
    }

    /// Returns true if the policies decide every request the same with these edits.
    fn changes_nothing(&mut self, edits: &[&Edit]) -> bool {
        let Some(left) = self.left.checked_sub(self.bytes) else { return false };
        self.left = left;
        let Some(new) = self.edited(edits) else { return false };
        are_equal(&self.table, &new)
    }

    /// Returns true if other policies decide every request the same; nothing if the bound was reached.
    pub(crate) fn is_equal(&mut self, new: &Repository) -> Option<bool> {
        self.left = self.left.checked_sub(self.bytes)?;
        let Some(new) = table(new, self.options, self.load) else { return Some(false) };
        Some(are_equal(&self.table, &new))
    }

    /// Returns true if two sets of policies decide every request the same.
    pub(crate) fn are_equal(&self, old: &Repository, new: &Repository) -> Option<bool> {
        let [old, new] = [old, new].map(|policies| table(policies, self.options, self.load));
        Some(are_equal(&old?, &new?))
    }

    fn edited(&self, edits: &[&Edit]) -> Option<PolicyTable> {
        let texts = self.texts(edits.iter().copied())?;
        let mut files: BTreeMap<&str, &[u8]> =
            self.files.iter().map(|(path, file)| (*path, file.text.as_bytes())).collect();
        files.extend(texts.iter().map(|(path, text)| (*path, text.as_bytes())));
        table(&Repository::from_files(files), self.options, self.load)
    }
}

fn are_equal(old: &PolicyTable, new: &PolicyTable) -> bool {
    let found = compare(old, new, Timestamp::default());
    found.differences.is_empty() && found.unknown.is_empty()
}

fn table(repository: &Repository, options: &Options, load: &Load<'_>) -> Option<PolicyTable> {
    let (_, parts) = resolve_and_emit(repository, options, load).ok()?;
    PolicyTable::from_parts(parts).ok()
}

/// Returns edits of the text of one file as edits of that file.
pub(crate) fn located(path: &str, edits: Vec<edit::Edit>) -> Vec<Edit> {
    let edit =
        |edit: edit::Edit| Edit { path: path.to_owned(), range: edit.range, text: edit.text };
    edits.into_iter().map(edit).collect()
}

/// Says of each of `count` things whether it passes a test, together with all others that do. They are tested all
/// at once, and where that fails, each half; at most `tests` times.
pub(crate) fn in_halves(
    count: usize,
    tests: usize,
    test: &mut dyn FnMut(&[usize]) -> bool,
) -> Vec<bool> {
    let (mut passed, mut left) = (Vec::new(), tests);
    let mut open: Vec<Range<usize>> = std::iter::once(0..count).collect();
    while let Some(range) = open.pop() {
        if range.is_empty() || left == 0 {
            continue;
        }
        left -= 1;
        let chosen: Vec<usize> = passed.iter().copied().chain(range.clone()).collect();
        if test(&chosen) {
            passed = chosen;
        } else if range.len() > 1 {
            let middle = range.start.midpoint(range.end);
            open.extend([middle..range.end, range.start..middle]);
        }
    }
    let mut passes = vec![false; count];
    for at in passed {
        passes.get_mut(at).into_iter().for_each(|one| *one = true);
    }
    passes
}

#[cfg(test)]
pub(crate) mod tests {
    use wardgate_compiler::compile::FilesByPath;
    use wardgate_compiler::resolve::model::Resolved;
    use wardgate_compiler::resolve::resolve;

    use super::*;
    use crate::index::Index;

    /// Returns what `act` finds in some policies, with the basis of its proofs.
    pub(crate) fn with_basis<T>(
        files: &[(&str, String)],
        options: &Options,
        act: impl FnOnce(&Index, &Resolved, &mut Basis<'_>) -> T,
    ) -> T {
        let bytes = |(path, text): &(&str, String)| ((*path).to_owned(), text.as_bytes().to_vec());
        let files: Vec<(String, Vec<u8>)> = files.iter().map(bytes).collect();
        let files = FilesByPath::of(&files);
        let repository = files.repository();
        assert!(repository.errors.is_empty(), "{:?}", repository.errors);
        let (resolved, _) = resolve(&repository);
        let load = |path: &str| files.schema(path);
        let mut basis = Basis::new(&repository, options, &load).unwrap();
        act(&Index::new(&resolved), &resolved, &mut basis)
    }

    #[test]
    fn what_fails_is_found_by_halves() {
        let check = |bad: &[usize], tests: usize, expected: &str| {
            let mut test = |chosen: &[usize]| !chosen.iter().any(|at| bad.contains(at));
            let found = in_halves(8, tests, &mut test);
            let found: String = found.iter().map(|one| if *one { '1' } else { '0' }).collect();
            assert_eq!(found, expected);
        };
        check(&[], 1, "11111111");
        check(&[3], 64, "11101111");
        check(&[0, 7], 64, "01111110");
        check(&[0, 1, 2, 3, 4, 5, 6, 7], 64, "00000000");
        // Without more tests nothing more is known to pass.
        check(&[3], 3, "11000000");
    }
}
