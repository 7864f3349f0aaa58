//! Bundles that are replaced while they serve.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use wardgate_bundle::Label;
use wardgate_native::Target;
use wardgate_wasmtime_host::{HostError, Moment, Pdp, PrincipalRef, Question, ResourceRef};

use crate::{FORMS, Signer, album, bundle, now, opened, request, terms};

fn allowed(pdp: &Pdp, action: &str) -> bool {
    pdp.is_allowed(request(action).as_bytes(), &now()).unwrap()
}

#[test]
fn threads_are_answered_by_one_bundle_or_the_other() {
    let bundles = ["view", "edit"].map(|action| bundle(&album(action)));
    for (form, code) in FORMS.iter() {
        let pdp = opened(code, &bundles[0]);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let both = r#"{"principal": {"id": "ada", "roles": ["member"]},
                        "actions": ["view", "edit"],
                        "resource": {"kind": "album", "id": "a", "attr": {"owner": "ada"}}}"#;
                    while !done.load(Ordering::Relaxed) {
                        let decision = pdp.decision_bytes(both.as_bytes(), &now()).unwrap();
                        let decision = String::from_utf8(decision).unwrap();
                        let count = decision.matches(r#""effect":"allow""#).count();
                        assert_eq!(count, 1, "{form}: {decision}");
                    }
                });
            }
            for round in 1..=20 {
                pdp.reload(&bundles[round % 2], Moment::default()).unwrap();
                assert_eq!(allowed(&pdp, "view"), round % 2 == 0, "{form}");
                assert_eq!(allowed(&pdp, "edit"), round % 2 == 1, "{form}");
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn sessions_and_prepared_targets_follow_a_reload() {
    for (form, code) in FORMS.iter() {
        let pdp = opened(code, &bundle(&album("view")));
        let (mut one, mut other) = (pdp.session(), pdp.session());
        let target = Target { kind: "album", action: "view", ..Target::default() };
        let mut prepared = one.prepare(target).unwrap();
        let owner = vec![("owner", "ada")];
        let question = Question {
            principal: PrincipalRef::new("ada", &["member"], &()),
            action: "view",
            resource: ResourceRef::new("album", "a", &owner),
        };
        assert_eq!(one.is_allowed_fields(&mut prepared, &question, &now()), Ok(true), "{form}");
        assert_eq!(other.is_allowed_fields(&mut prepared, &question, &now()), Ok(true), "{form}");
        pdp.reload(&bundle(&album("edit")), Moment::default()).unwrap();
        assert_eq!(one.is_allowed_fields(&mut prepared, &question, &now()), Ok(false), "{form}");
        assert_eq!(other.is_allowed(request("edit").as_bytes(), &now()), Ok(true), "{form}");
    }
}

#[test]
fn a_refused_bundle_leaves_the_old_one_in_use() {
    let [release, other] = ["release", "other"].map(Signer::new);
    let at = |signer: &Signer, revision, action| {
        let label = Label { revision, ..Label::default() };
        signer.signed(&album(action), &label)
    };
    for (form, code) in FORMS.iter() {
        let (first, terms) = (at(&release, 2, "view"), terms(1, &[&release]));
        let pdp = Pdp::open(code, &first, &terms, Moment::default()).unwrap();
        let refused = |bundle: &[u8], expected: &str| match pdp.reload(bundle, Moment::default()) {
            Err(HostError::Refused { code, .. }) => assert_eq!(code, expected, "{form}"),
            outcome => panic!("{form}: {outcome:?}"),
        };
        refused(&at(&other, 3, "edit"), "unknown-signer");
        refused(&at(&release, 1, "edit"), "old-revision");
        refused(b"policies", "not-a-bundle");
        refused(b"", "not-a-bundle");
        assert!(allowed(&pdp, "view") && !allowed(&pdp, "edit"), "{form}");
        pdp.reload(&at(&release, 3, "edit"), Moment::default()).unwrap();
        assert!(!allowed(&pdp, "view") && allowed(&pdp, "edit"), "{form}");
        assert_eq!(pdp.revision(), Ok(3), "{form}");
    }
}
