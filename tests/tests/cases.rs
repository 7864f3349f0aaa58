//! Every decision case, natively.

use std::path::Path;

use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::compile_files;
use wardgate_engine::decision::Effect;
use wardgate_tests::cases;

#[test]
fn every_case_comes_to_its_decisions() {
    let cases = cases::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")).unwrap();
    let decisions: usize = cases.iter().map(cases::Case::decisions).sum();
    assert!(decisions >= 150, "{decisions} decisions");
    let failures: Vec<String> = cases.iter().flat_map(failures).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn failures(case: &cases::Case) -> Vec<String> {
    let compiled = match compile_files(&case.files, &case.options) {
        Ok(compiled) => compiled,
        Err(errors) => return errors.iter().map(|e| format!("{}: {e}", case.name)).collect(),
    };
    let table = match open(&pack(&compiled.parts), Trust::Unsigned, &Conditions::default()) {
        Ok(opened) => opened.table,
        Err(error) => return vec![format!("{}: {error}", case.name)],
    };
    let mut failures = Vec::new();
    for (number, check) in case.checks.iter().enumerate() {
        let decision = table.check(&check.request, case.now);
        let differences = check.differences(&decision).into_iter();
        failures
            .extend(differences.map(|line| format!("{} check {}: {line}", case.name, number + 1)));
        for decided in &decision.actions {
            let alone = table.is_allowed(&check.request, &decided.action, case.now);
            if alone != (decided.effect == Effect::Allow) {
                failures.push(format!("{}: is_allowed differs from check: {decided:?}", case.name));
            }
        }
        assert_eq!(table.explain(&check.request, case.now).decision, decision, "{}", case.name);
    }
    failures
}
