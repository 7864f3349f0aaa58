//! The bytes that `docs/BUNDLE.md` prints: a change of the format must change its version.

use wardgate_bundle::pack_as;
use wardgate_engine::table::Parts;

use crate::tables::label;

#[test]
fn packing_gives_the_bytes_of_the_document() {
    let document = include_str!("../../../../docs/BUNDLE.md");
    let dump = document.split("```text dump\n").nth(1).and_then(|rest| rest.split("```").next());
    let digits = dump.unwrap().lines().filter_map(|line| line.get(7..54));
    let printed: Vec<u8> = digits
        .flat_map(str::split_whitespace)
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect();
    // These parts are no valid table, and still make a bundle: this format does not depend on the
    // content.
    let parts = Parts {
        words: vec![1, 2, 3, 400],
        text: "text text text text".into(),
        blob: [9, 9].into(),
        explanations: "why".into(),
    };
    assert_eq!(printed, pack_as(&parts, &label()).unwrap());
}
