//! Every decision case, natively.

use wardgate_engine::decision::Effect;
use wardgate_tests::cases;
use wardgate_tests::compiled::Compiled;

#[test]
fn every_case_comes_to_its_decisions() {
    let cases = cases::all().unwrap();
    let decisions: usize = cases.iter().map(cases::Case::decisions).sum();
    assert!(decisions >= 150, "{decisions} decisions");
    let failures: Vec<String> = cases.iter().flat_map(failures).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn failures(case: &cases::Case) -> Vec<String> {
    let table = match Compiled::new(&case.files, &case.options) {
        Ok(compiled) => compiled.table,
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
