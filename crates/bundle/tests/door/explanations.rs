//! Bundles without their explanations.

use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::{Trust, digest, open, pack_as, strip};
use wardgate_engine::table::{Parts, Section};

use crate::keys::{set, signers};
use crate::tables::{label, noon, parts, redigested};

#[test]
fn explanations_may_be_left_out_and_come_back_in_a_delta() {
    let explained = Parts { explanations: "doc.yaml".into(), ..parts() };
    let ann = &signers()[0];
    let trusted = set(&[0], 1, &[]);
    let trust = Trust::Signed(&trusted);
    let whole = ann.signed(&pack_as(&with_explanation(explained), &label()).unwrap());
    let stripped = strip(&whole).unwrap();
    assert!(stripped.len() < whole.len());
    assert_eq!(digest(&stripped), digest(&whole));
    assert_eq!(strip(&stripped).unwrap(), stripped);
    let text = |bytes: &[u8]| {
        let table = open(bytes, trust, &noon()).unwrap().table;
        table.explanation(0).to_owned()
    };
    assert_eq!((text(&whole).as_str(), text(&stripped).as_str()), ("doc.yaml", ""));
    let missing = delta(&stripped, &whole).unwrap();
    assert_eq!(apply(&stripped, &missing, trust, &noon()).unwrap(), whole);
    let narrower = delta(&whole, &stripped).unwrap();
    assert_eq!(apply(&whole, &narrower, trust, &noon()).unwrap(), stripped);
    // The flag alone takes nothing out.
    let mut flagged = whole.clone();
    flagged[28] = 1;
    let flagged = redigested(&flagged);
    assert_eq!(open(&flagged, trust, &noon()).unwrap_err().code(), "wrong-length");
}

/// Returns the parts with the offsets of one explanation.
fn with_explanation(mut parts: Parts) -> Parts {
    let header = 4 + 2 * usize::try_from(Section::Explanations.code()).unwrap();
    let end = u32::try_from(parts.explanations.len()).unwrap();
    parts.words[header] = u32::try_from(parts.words.len()).unwrap();
    parts.words[header + 1] = 2;
    parts.words.extend([0, end]);
    parts
}
