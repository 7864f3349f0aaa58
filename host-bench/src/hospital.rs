//! The time of a decision by the number of policies: 33 for each department of a hospital, and five more.
//!
//! A model of our own, with the numbers of policies of the curve that SAPL publishes. Each department has
//! eleven kinds of document with three grades each, and a policy for each of the 33: staff of the department
//! view, the doctor in charge edits, a head of the department with enough clearance releases, and nobody
//! edits or releases what is sealed. Four more policies are for the whole hospital, and one has the derived
//! roles.

use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_native::Pdp;

use crate::arguments::Arguments;
use crate::asked::{Questions, opened};
use crate::measure;
use crate::report::{NATIVE, Section};
use crate::results::digest;
use crate::workload::{Random, lines};

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "hospital";

/// Measures hospitals of each size.
pub(crate) fn sections(arguments: &Arguments) -> Result<Vec<Section>, String> {
    let sizes = DEPARTMENTS.iter().filter(|count| !arguments.quick || **count < LARGE);
    sizes.map(|departments| section(*departments, arguments)).collect()
}

fn section(departments: usize, arguments: &Arguments) -> Result<Section, String> {
    let count = policies(departments).len();
    let pdp = pdp(departments)?;
    let questions = questions(departments)?;
    let figures = measure::rows(&questions.rows(&pdp), arguments.bounds())?;
    let title = format!("A hospital of {departments} departments: {count} policies");
    let mut section = Section::new(format!("{NAME}-{count}"), title, NOTE);
    section.decisions = Some(digest(&questions.expected));
    section.parameters = parameters(departments, count);
    Ok(section.with(NATIVE, figures))
}

/// Opens the policies of a hospital.
fn pdp(departments: usize) -> Result<Pdp, String> {
    let compiled = compile_files(&policies(departments), &Options::default());
    opened(&pack(&compiled.map_err(|errors| lines(errors.iter().take(5)))?.parts))
}

/// Returns the digests of all decisions: name and parameters of each section.
#[cfg(test)]
pub(crate) fn all_decisions() -> impl Iterator<Item = (String, Json, String)> {
    DEPARTMENTS.iter().map(|departments| {
        let questions = questions(*departments).expect("the requests are sound");
        let policies = policies(*departments).len();
        let parameters = parameters(*departments, policies);
        (format!("{NAME}-{policies}"), parameters, digest(&questions.expected))
    })
}

fn parameters(departments: usize, policies: usize) -> Json {
    json!({ "departments": departments, "policies": policies })
}

/// Returns the requests with the answers of the rules by hand.
fn questions(departments: usize) -> Result<Questions, String> {
    let mut random = Random::of_part(2);
    let mut questions = Questions::default();
    for _ in 0..REQUESTS {
        let person = random.below(PEOPLE);
        let of_department = random.below(departments);
        let home = if random.one_in(2) { of_department } else { random.below(departments) };
        let in_charge = if random.one_in(2) { person } else { random.below(PEOPLE) };
        let (grade, clearance) = (random.below(GRADES), random.below(GRADES));
        let (is_head, is_sealed) = (random.one_in(3), random.one_in(5));
        let action = random.pick(ACTIONS);
        let kind = kind(random.pick(DOCUMENTS), grade, of_department);
        let works_here = home == of_department;
        let allowed = match action {
            "view" => works_here,
            "edit" => in_charge == person && !is_sealed,
            _ => is_head && works_here && clearance >= grade && !is_sealed,
        };
        let roles: &[&str] = if is_head { &["staff", "head"] } else { &["staff"] };
        let question: Json = json!({
            "principal": {
                "id": format!("person_{person}"),
                "roles": roles,
                "attr": { "department": format!("d{home}"), "clearance": clearance },
            },
            "action": action,
            "resource": {
                "kind": kind,
                "id": "r1",
                "attr": {
                    "department": format!("d{of_department}"),
                    "inCharge": format!("person_{in_charge}"),
                    "sealed": is_sealed,
                },
            },
        });
        questions.add(&question, allowed)?;
    }
    Ok(questions)
}

fn kind(document: &str, grade: usize, department: usize) -> String {
    format!("{document}_{grade}_d{department}")
}

fn policies(departments: usize) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("roles.yaml".to_owned(), ROLES.as_bytes().to_vec())];
    for name in ["directory", "menu", "rota", "audit"] {
        let text = OF_ALL.replace("KIND", name);
        files.push((format!("{name}.yaml"), text.into_bytes()));
    }
    for department in 0..departments {
        for document in DOCUMENTS {
            for grade in 0..GRADES {
                let kind = kind(document, grade, department);
                let text = OF_KIND.replace("KIND", &kind).replace("GRADE", &grade.to_string());
                files.push((format!("{kind}.yaml"), text.into_bytes()));
            }
        }
    }
    files
}

const NOTE: &str = "2000 requests about documents of all departments. The same work at every size, but for the number of policies.";

const DEPARTMENTS: &[usize] = &[1, 3, 10, 30, 100, LARGE];
const LARGE: usize = 300;
const GRADES: usize = 3;
const PEOPLE: usize = 200;
const REQUESTS: usize = 2000;
const ACTIONS: &[&str] = &["view", "edit", "release"];
const DOCUMENTS: &[&str] = &[
    "record",
    "prescription",
    "diagnosis",
    "image",
    "laboratory",
    "surgery",
    "therapy",
    "invoice",
    "consent",
    "referral",
    "note",
];

const ROLES: &str = "apiVersion: api.cerbos.dev/v1
derivedRoles:
  name: hospital
  definitions:
    - { name: colleague, parentRoles: [staff], condition: { match: { expr: P.attr.department == R.attr.department } } }
    - { name: chief, parentRoles: [head], condition: { match: { expr: P.attr.department == R.attr.department } } }
    - { name: doctor, parentRoles: [staff], condition: { match: { expr: R.attr.inCharge == P.id } } }
";
const OF_ALL: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: KIND
  version: default
  rules:
    - { actions: [view], roles: [staff], effect: EFFECT_ALLOW }
    - { actions: [edit], roles: [head], effect: EFFECT_ALLOW }
";
const OF_KIND: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: KIND
  version: default
  importDerivedRoles: [hospital]
  rules:
    - { actions: [view], derivedRoles: [colleague], effect: EFFECT_ALLOW }
    - { actions: [edit], derivedRoles: [doctor], effect: EFFECT_ALLOW }
    - { actions: [release], derivedRoles: [chief], effect: EFFECT_ALLOW, condition: { match: { expr: P.attr.clearance >= GRADE } } }
    - { actions: [edit, release], roles: [staff, head], effect: EFFECT_DENY, condition: { match: { expr: R.attr.sealed == true } } }
";

#[cfg(test)]
mod tests {
    use super::{DEPARTMENTS, pdp, policies, questions};

    #[test]
    fn the_numbers_of_policies_are_those_of_the_published_curve() {
        let counts: Vec<usize> = DEPARTMENTS.iter().map(|count| policies(*count).len()).collect();
        assert_eq!(counts, [38, 104, 335, 995, 3305, 9905]);
    }

    #[test]
    fn the_policies_say_what_the_rules_by_hand_say() {
        let (pdp, questions) = (pdp(3).unwrap(), questions(3).unwrap());
        let wrong = (0..questions.expected.len())
            .filter(|at| questions.is_allowed(&pdp, *at) != questions.expected[*at]);
        assert_eq!(wrong.count(), 0);
    }

    #[test]
    fn neither_answer_is_rare() {
        let expected = questions(3).unwrap().expected;
        let allowed = expected.iter().filter(|allowed| **allowed).count();
        assert!((400..1600).contains(&allowed), "{allowed} of 2000 are allowed");
    }
}
