//! Bundles without explanations, compared with whole ones.

use wardgate_bundle::{pack, strip};
use wardgate_compiler::compile_files;
use wardgate_engine::decision::Decision;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::{cases, check};

#[test]
fn no_decision_depends_on_explanations() {
    let mut compared = 0;
    for case in cases::all().unwrap() {
        let Ok(compiled) = compile_files(&case.files, &case.options) else { continue };
        let bundle = pack(&compiled.parts);
        let whole = Compiled::opened(bundle.clone()).unwrap().table;
        let stripped = Compiled::opened(strip(&bundle).unwrap()).unwrap().table;
        for check in &case.checks {
            let request = check::request(&check.json).unwrap();
            let [expected, found] =
                [&whole, &stripped].map(|table| unexplained(table.check(&request, case.now)));
            assert_eq!(found, expected, "{}", case.name);
            compared += 1;
        }
    }
    assert!(compared > 250, "only {compared} requests");
}

/// Returns a decision without the texts of expressions.
fn unexplained(mut decision: Decision) -> Decision {
    let errors = &mut decision.evaluation_errors;
    errors.iter_mut().for_each(|error| error.expression.clear());
    errors.sort_unstable();
    errors.dedup();
    decision
}
