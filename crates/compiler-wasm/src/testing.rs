//! From files to the results of their tests, as the command has them.

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_tooling::suite::{self, Native, Sources, run};

use crate::answer::{Answer, TestAnswer};
use crate::failure::Failure;
use crate::options::{File, TestOptions};

/// Runs the suites among files.
pub(crate) fn test(files: Vec<File>, call: &TestOptions) -> Result<TestAnswer, Failure> {
    let (options, filter) = (call.table()?, call.filter()?);
    let files: Vec<(String, Vec<u8>)> =
        files.into_iter().map(|(path, bytes)| (path, bytes.into_vec())).collect();
    let sources = match Sources::from_files(&files, &options) {
        Ok(sources) if sources.repository.policies.is_empty() => {
            return Ok(refused(vec![Diagnostic::no_policies()]));
        }
        Ok(sources) => sources,
        Err(diagnostics) => return Ok(refused(diagnostics)),
    };
    let suites =
        suite::files::pick(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
    let suites = suite::files::load(&suites);
    let results = run(&suites, &filter, &mut Native::new(&sources, options));
    let results = results.map_err(Failure::internal)?;
    let junit = call.emit_junit.then(|| results.junit());
    Ok(TestAnswer { results: Some(results.json()), junit, ..TestAnswer::default() })
}

fn refused(diagnostics: Vec<Diagnostic>) -> TestAnswer {
    TestAnswer { diagnostics: Answer::refused(diagnostics).diagnostics, ..TestAnswer::default() }
}

#[cfg(test)]
mod tests {
    use serde_bytes::ByteBuf;

    use super::*;

    const POLICY: &str = "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {resource: a, version: default, rules: [{actions: [x], roles: [r], effect: EFFECT_ALLOW}]}\n";
    const SUITE: &str = "name: s\nprincipals: {p: {id: p, roles: [r]}}\nresources: {r: {kind: a, id: r}}\ntests: [{name: t, input: {principals: [p], resources: [r], actions: [x]}, expected: [{principal: p, resource: r, actions: {x: EFFECT_ALLOW}}]}]\n";

    fn tested(files: &[(&str, &str)], options: &str) -> Result<TestAnswer, Failure> {
        let files =
            files.iter().map(|(path, text)| ((*path).to_owned(), ByteBuf::from(*text))).collect();
        test(files, &serde_json::from_str(options).unwrap())
    }

    #[test]
    fn suites_are_run_and_reported() {
        let files = [("a.yaml", POLICY), ("a_test.yaml", SUITE)];
        let tested = tested(&files, r#"{"emitJunit": true}"#).unwrap();
        let (results, junit) = (tested.results.unwrap(), tested.junit.unwrap());
        assert!(results.contains(r#""overallResult":"RESULT_PASSED","testsCount":1"#), "{results}");
        assert!(junit.contains(r#"<testsuite name="s" file="a_test.yaml""#), "{junit}");
    }

    #[test]
    fn policies_that_do_not_compile_are_diagnostics() {
        let is_clean = |files: &[(&str, &str)]| {
            let tested = tested(files, "{}").unwrap();
            assert_eq!(tested.results, None);
            tested.diagnostics.is_empty()
        };
        assert!(!is_clean(&[("a.yaml", "apiVersion: 1"), ("a_test.yaml", SUITE)]));
        assert!(!is_clean(&[("a_test.yaml", SUITE)]));
    }

    #[test]
    fn malformed_patterns_are_failures() {
        for options in [r#"{"run": "("}"#, r#"{"filter": "x=y"}"#] {
            assert!(tested(&[("a.yaml", POLICY)], options).is_err());
        }
    }
}
