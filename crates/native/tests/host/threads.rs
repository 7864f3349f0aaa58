//! Many threads decide while one reloads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use wardgate_native::{Pdp, Timestamp, Trust};

use crate::policies::{DOCUMENTS, Document, Person, bundle, owned_by, person};

/// The two sets of policies give opposite answers to two questions. Within one snapshot they must
/// agree.
#[test]
fn a_decision_is_made_by_one_set_of_policies() {
    let policies = [
        bundle(DOCUMENTS),
        bundle(&DOCUMENTS.replace("[viewer]", "[nobody]").replace("[editor]", "[viewer]")),
    ];
    let pdp = Pdp::open(&policies[0], Trust::Unsigned).unwrap();
    let prepared = pdp.prepare::<Person, Document>("document", "list");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let askers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut questions = 0_u32;
                    while questions < 2000
                        || !is_done.load(Ordering::Relaxed) && questions < 2_000_000
                    {
                        agree(&pdp);
                        let _ = prepared.is_allowed(&ada(), &owned_by("bob"), now());
                        questions += 1;
                    }
                })
            })
            .collect();
        for round in 1..=60 {
            pdp.reload(&policies[round % 2], Trust::Unsigned).unwrap();
            assert!(pdp.reload(b"no bundle", Trust::Unsigned).is_err());
            // A question that was prepared before the reload uses the policies of the reload.
            let lists = prepared.is_allowed(&ada(), &owned_by("bob"), now());
            assert_eq!(lists, round % 2 == 0);
        }
        is_done.store(true, Ordering::Relaxed);
        askers.into_iter().for_each(|asker| asker.join().unwrap());
    });
}

/// The first policies let a viewer list and not edit, the second ones edit and not list.
fn agree(pdp: &Pdp) {
    let snapshot = pdp.snapshot();
    let may = |action: &str| {
        let text = format!(
            r#"{{"principal":{{"id":"ada","roles":["viewer"]}},"action":"{action}",
                "resource":{{"kind":"document","id":"d1","attr":{{"locked":false}}}}}}"#
        );
        snapshot.is_allowed_json(text.as_bytes(), now()).unwrap()
    };
    assert_ne!(may("list"), may("edit"));
    assert!(!may("share"));
}

fn ada() -> Person {
    person("ada", &["viewer"])
}

fn now() -> Timestamp {
    Timestamp::default()
}
