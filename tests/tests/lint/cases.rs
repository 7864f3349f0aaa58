//! Cases as data: policies, and all that is found in them.

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::lint::Lint;
use wardgate_compiler::lint_files;
use wardgate_tests::{cases, yaml};

use crate::root;

/// Each file of `tests/lint` has the name of a code, and cases of policies and all that is found in them.
#[test]
fn every_case_has_the_findings_that_it_lists() {
    let folder = root().join("lint");
    let mut failures = Vec::new();
    for lint in Lint::ALL {
        let (mut found, mut not_found) = (0, 0);
        let text = std::fs::read_to_string(folder.join(format!("{}.yaml", lint.name()))).unwrap();
        let cases = yaml::parse(&text).unwrap();
        for case in cases.as_array().unwrap() {
            let expected: Vec<&str> = case["findings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap())
                .collect();
            let options = cases::options(case.get("options").unwrap_or(&Json::Null)).unwrap();
            let diagnostics = lint_files(&files(&case["files"]), &options);
            let texts: Vec<String> = diagnostics.iter().map(shown).collect();
            if texts != expected {
                let whole: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
                let name = format!("{}: {}", lint.name(), case["description"]);
                failures.push(format!(
                    "{name}\nexpected {expected:#?}\nfound {texts:#?}\n{}",
                    whole.join("\n")
                ));
            }
            match diagnostics.iter().any(|one| one.code == Code::Lint(*lint)) {
                true => found += 1,
                false => not_found += 1,
            }
        }
        assert!(found > 0 && not_found > 0, "{} needs a case with and one without", lint.name());
    }
    let cases = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(cases, Lint::ALL.len() + 1, "a file of cases has the name of no code");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn shown(one: &Diagnostic) -> String {
    let at = one.position.map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
    format!("{}{at} {}", one.file, one.code.name())
}

fn files(of: &Json) -> Vec<(String, Vec<u8>)> {
    let file = |(name, text): (&String, &Json)| (name.clone(), text.as_str().unwrap().into());
    of.as_object().unwrap().iter().map(file).collect()
}
