//! Rules of SPOCP in bundles.

use wardgate_bundle::{
    Conditions, OpenError, Trust, delta, open, open_with_rules, pack_as, pack_with_rules,
};
use wardgate_spocp::{Normal, RuleSet};

use crate::tables::{label, noon, parts, redigested};

fn rules(texts: &[&str]) -> RuleSet {
    let mut set = RuleSet::new();
    for text in texts {
        set.insert(&Normal::from_advanced(text.as_bytes()).unwrap()).unwrap();
    }
    set
}

fn packed(texts: &[&str]) -> Vec<u8> {
    pack_with_rules(&parts(), &rules(texts), &label()).unwrap()
}

fn reopened(bundle: &[u8]) -> Result<Vec<String>, OpenError> {
    let (_, rules) = open_with_rules(bundle, Trust::Unsigned, &noon())?;
    let text = |rule: Normal| String::from_utf8(rule.expression().to_advanced()).unwrap();
    Ok(rules.iter().map(|(_, rule)| text(rule)).collect())
}

#[test]
fn packed_rules_are_opened_unchanged() {
    let texts = ["(a (* prefix x))", "(http)", "(a (* range numeric ge 2 le 3))", "(b #ff00#)"];
    assert_eq!(reopened(&packed(&texts)), Ok(texts.map(str::to_owned).to_vec()));
    let mut some = rules(&["(a)", "(b)", "(c)"]);
    assert!(some.remove(some.first(&Normal::from_advanced(b"(b)").unwrap()).unwrap()));
    let bundle = pack_with_rules(&parts(), &some, &label()).unwrap();
    assert_eq!(reopened(&bundle), Ok(vec!["(a)".to_owned(), "(c)".to_owned()]));
}

#[test]
fn a_bundle_without_rules_has_no_bytes_for_them() {
    let plain = pack_as(&parts(), &label()).unwrap();
    assert_eq!(packed(&[]), plain);
    assert_eq!(reopened(&plain), Ok(Vec::new()));
}

#[test]
fn open_skips_rules() {
    let bundle = packed(&["(a)"]);
    assert!(open(&bundle, Trust::Unsigned, &noon()).is_ok());
    let mut damaged = bundle.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for refused in
        [open(&damaged, Trust::Unsigned, &noon()).map(drop), reopened(&damaged).map(drop)]
    {
        assert_eq!(refused, Err(OpenError::WrongDigest));
    }
}

#[test]
fn malformed_rules_are_refused() {
    let one = packed(&["(t (* set a b))"]);
    let at = one.len() - "(1:t(1:*3:set1:a1:b))".len();
    for (position, byte) in [
        (at - 4, 20),    // one byte is left over
        (at - 4, 22),    // one byte is missing
        (at - 1, 0xFF),  // far too long
        (at + 1, b'0'),  // an atom of zero bytes
        (at + 18, b'a'), // an element twice: not the normal form
        (at + 15, b'c'), // not in order
        (at, b')'),
    ] {
        let mut changed = one.clone();
        changed[position] = byte;
        let refused = reopened(&rerooted(&changed));
        assert_eq!(refused, Err(OpenError::MalformedRules), "{position} {byte}");
    }
    let twice = packed(&["(a)", "(b)"]);
    let changed: Vec<u8> = [&twice[..twice.len() - 2], b"a)"].concat();
    assert_eq!(reopened(&rerooted(&changed)), Err(OpenError::MalformedRules));
}

#[test]
fn a_delta_carries_rules() {
    let (old, new) = (packed(&["(a)"]), packed(&["(a)", "(b)"]));
    let change = delta::delta(&old, &new).unwrap();
    let conditions = Conditions::default();
    assert_eq!(delta::apply(&old, &change, Trust::Unsigned, &conditions), Ok(new));
}

/// Makes the unsigned digests fit, and the header name the new root.
fn rerooted(bundle: &[u8]) -> Vec<u8> {
    let old = bundle[32..64].to_vec();
    let changed = redigested(bundle);
    let envelope = crate::tables::envelope(&changed);
    let at = envelope.windows(32).position(|window| window == old).unwrap();
    let named = [&envelope[..at], &changed[32..64], &envelope[at + 32..]].concat();
    crate::tables::with_envelope(&changed, &named)
}
