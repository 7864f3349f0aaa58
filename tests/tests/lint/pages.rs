//! The page that explains the codes: each has a section, and its examples hold.

use std::collections::BTreeSet;

use wardgate_compiler::Options;
use wardgate_compiler::diagnostics::{Code, Severity};
use wardgate_engine::table::Evaluation;
use wardgate_tooling::lint::Lint;
use wardgate_tooling::lint_files;

use crate::root;

/// The section of each code in `docs/lints.md` is true: the wrong example has the finding, and the
/// right one has none.
#[test]
fn every_code_is_explained_with_examples_that_hold() {
    let text = std::fs::read_to_string(root().join("../docs/lints.md")).unwrap();
    let sections: Vec<&str> = text.split("\n## ").skip(1).collect();
    let names: BTreeSet<&str> = sections
        .iter()
        .filter_map(|section| section.lines().next()?.strip_prefix('`')?.strip_suffix('`'))
        .collect();
    let known: BTreeSet<&str> = Lint::ALL.iter().map(|lint| lint.name()).collect();
    assert_eq!(names, known);
    for section in sections.iter().filter(|section| section.starts_with('`')) {
        let lint = Lint::from_name(section.lines().next().unwrap().trim_matches('`')).unwrap();
        let options = Options {
            evaluation: match lint {
                Lint::LenientDeny => Evaluation::Lenient,
                _ => Evaluation::Strict,
            },
            ..Options::default()
        };
        let wrong = lint_files(&example(section, "Wrong:"), &options);
        assert!(wrong.iter().all(|one| one.severity == Severity::Warning), "{wrong:#?}");
        let codes: BTreeSet<Code> = wrong.iter().map(|one| one.code).collect();
        assert_eq!(codes, [Code::Lint(lint)].into(), "{}: {wrong:#?}", lint.name());
        assert_eq!(lint_files(&example(section, "Right:"), &options), [], "{}", lint.name());
    }
}

/// Returns the files of the example that follows a word; each begins with a comment that names it,
/// or is the only one.
fn example(section: &str, word: &str) -> Vec<(String, Vec<u8>)> {
    let block = section.split_once(word).unwrap_or_else(|| panic!("no {word} in {section}")).1;
    let block = block.split("```").nth(1).unwrap().split_once('\n').unwrap().1;
    let mut files: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("# file: ") {
            Some(name) => files.push((name.to_owned(), String::new())),
            None => {
                if files.is_empty() {
                    files.push(("policy.yaml".to_owned(), String::new()));
                }
                let file = &mut files.last_mut().unwrap().1;
                file.push_str(line);
                file.push('\n');
            }
        }
    }
    files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect()
}
