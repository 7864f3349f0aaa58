//! The texts of refusals that no accidental damage causes: of crafted bundles, of bounds, and of
//! times outside any calendar.
//!
//! The texts that the command can print are in `tests/commands`. Both together cover every text of
//! this crate.

use std::fmt::Display;

use wardgate_bundle::limits::{MAX_NUMBER, MAX_SIGNATURES, MAX_TRUSTED_KEYS};
use wardgate_bundle::{OpenError, PackError, ShortName, SigningError, TermsError, TrustError};
use wardgate_engine::table::Flaw;

#[test]
fn every_refusal_has_its_text() {
    check(OpenError::MalformedEnvelope, "the envelope is malformed");
    check(OpenError::MalformedHeader, "the header is malformed");
    check(OpenError::MalformedIndex, "the list of chunks is malformed");
    check(OpenError::MalformedContent, "a part of the table is malformed");
    check(OpenError::MalformedSeal, "the sealed bundle is malformed");
    check(OpenError::MalformedRules, "the rules of the bundle are malformed");
    check(OpenError::NotText, "the text of the bundle is not UTF-8");
    check(OpenError::WrongEvaluation, "header and table disagree about the mode of evaluation");
    check(
        OpenError::TimeRequired,
        "the bundle has a validity period, and no time was given to check it",
    );
    check(
        OpenError::TooLarge { bytes: 2, most: 1 },
        "the bundle has 2 bytes, at most 1 are accepted",
    );
    check(
        OpenError::WrongName {
            expected: ShortName::new("photos"),
            found: ShortName::new(&"x".repeat(57)),
        },
        &format!("the bundle is called `{}...`, expected `photos`", "x".repeat(56)),
    );
    check(
        OpenError::TooManySignatures { found: 17 },
        "the bundle has 17 signatures, at most 16 are verified",
    );
    check(
        OpenError::Expired { expires: 1_609_459_200, now: u64::MAX },
        "the bundle expired at 2021-01-01T00:00:00Z, and it is 18446744073709551615 seconds after 1970",
    );
}

#[test]
fn every_flaw_of_a_table_has_its_text() {
    let malformed = |flaw, flaw_text: &str| {
        check(OpenError::Malformed(flaw), &format!("the policy table is malformed: {flaw_text}"));
    };
    malformed(
        Flaw::Header,
        "the header is missing, of another version, or names a section outside",
    );
    malformed(Flaw::Strings, "the string offsets do not follow the text");
    malformed(Flaw::Index, "the index is malformed");
    malformed(Flaw::Programs, "a program is malformed");
    malformed(Flaw::Conditions, "a condition is malformed");
    malformed(Flaw::Blocks, "a rule block is malformed");
    malformed(Flaw::Policies, "the list of policies is malformed");
    malformed(Flaw::FastPaths, "a fast path is malformed");
    check(
        OpenError::Malformed(Flaw::FastPaths),
        "the policy table is malformed: a fast path is malformed",
    );
}

#[test]
fn every_error_of_packing_signing_and_trust_has_its_text() {
    check(
        PackError::Label,
        "expected a name of at most 256 bytes without control characters, \
         numbers up to 9007199254740991 and an expiry after the beginning",
    );
    check(
        PackError::TooLarge { bytes: 3 },
        "the bundle would have 3 bytes, at most 268435456 are allowed",
    );
    check(
        SigningError::SignatureLength { expected: 4627, found: 1 },
        "expected a signature of 4627 bytes, found 1",
    );
    check(
        SigningError::TooManySignatures,
        "the bundle has 16 signatures already, and more are not allowed",
    );
    check(SigningError::Failed, "signing with the key failed");
    check(TrustError::KeyCount { found: 65 }, "expected 1 to 64 trusted keys, found 65");
    check(TermsError::Malformed, "the terms are malformed");
    assert_eq!((MAX_NUMBER, MAX_SIGNATURES, MAX_TRUSTED_KEYS), (9_007_199_254_740_991, 16, 64));
}

fn check(error: impl Display, expected: &str) {
    assert_eq!(error.to_string(), expected);
}
