//! From files to the results of their tests, as the command has them.

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_tooling::suite::{Native, Sources, files, run};

use crate::answer::{Answer, Tested};
use crate::asked::{AskedTests, File};
use crate::failure::Failure;

/// Runs the suites among files.
pub(crate) fn test(given: Vec<File>, asked: &AskedTests) -> Result<Tested, Failure> {
    let (options, filter) = (asked.table()?, asked.filter()?);
    let given: Vec<(String, Vec<u8>)> =
        given.into_iter().map(|(path, bytes)| (path, bytes.into_vec())).collect();
    let sources = match Sources::from_files(&given, &options) {
        Ok(sources) if sources.repository.policies.is_empty() => {
            return Ok(refused(vec![Diagnostic::no_policies()]));
        }
        Ok(sources) => sources,
        Err(diagnostics) => return Ok(refused(diagnostics)),
    };
    let suites = files::pick(given.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
    let suites = files::load(&suites);
    let results = run(&suites, &filter, &mut Native::new(&sources, options));
    let results = results.map_err(Failure::internal)?;
    let junit = asked.emit_junit.then(|| results.junit());
    Ok(Tested { results: Some(results.json()), junit, ..Tested::default() })
}

fn refused(diagnostics: Vec<Diagnostic>) -> Tested {
    Tested { diagnostics: Answer::refused(diagnostics).diagnostics, ..Tested::default() }
}

#[cfg(test)]
mod tests {
    use serde_bytes::ByteBuf;

    use super::*;

    const POLICY: &str = "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {resource: a, version: default, rules: [{actions: [x], roles: [r], effect: EFFECT_ALLOW}]}\n";
    const SUITE: &str = "name: s\nprincipals: {p: {id: p, roles: [r]}}\nresources: {r: {kind: a, id: r}}\ntests: [{name: t, input: {principals: [p], resources: [r], actions: [x]}, expected: [{principal: p, resource: r, actions: {x: EFFECT_ALLOW}}]}]\n";

    fn tested(files: &[(&str, &str)], options: &str) -> Result<Tested, Failure> {
        let files =
            files.iter().map(|(path, text)| ((*path).to_owned(), ByteBuf::from(*text))).collect();
        test(files, &serde_json::from_str(options).unwrap())
    }

    #[test]
    fn suites_are_run_and_told() {
        let files = [("a.yaml", POLICY), ("a_test.yaml", SUITE)];
        let tested = tested(&files, r#"{"emitJunit": true}"#).unwrap();
        let (results, junit) = (tested.results.unwrap(), tested.junit.unwrap());
        assert!(results.contains(r#""overallResult":"RESULT_PASSED","testsCount":1"#), "{results}");
        assert!(junit.contains(r#"<testsuite name="s" file="a_test.yaml""#), "{junit}");
    }

    #[test]
    fn policies_that_do_not_compile_are_diagnostics() {
        let told = |files: &[(&str, &str)]| {
            let tested = tested(files, "{}").unwrap();
            assert_eq!(tested.results, None);
            tested.diagnostics.is_empty()
        };
        assert!(!told(&[("a.yaml", "apiVersion: 1"), ("a_test.yaml", SUITE)]));
        assert!(!told(&[("a_test.yaml", SUITE)]));
    }

    #[test]
    fn patterns_that_are_none_are_failures() {
        for options in [r#"{"run": "("}"#, r#"{"filter": "x=y"}"#] {
            assert!(tested(&[("a.yaml", POLICY)], options).is_err());
        }
    }
}
