//! The bundles that a host accepts.

use wardgate_bundle::Label;
use wardgate_wasmtime_host::{
    AfterExpiry, HostError, Moment, Pdp, PrincipalRef, Question, ResourceRef, Target, Terms,
    Timestamp, Trust,
};

use crate::{FORMS, Signer, album, bundle, now, request, terms};

fn label(revision: u64) -> Label {
    Label { name: "album".to_owned(), revision, ..Label::default() }
}

/// Checks the result of opening a bundle in every form.
fn check(bundle: &[u8], terms: &Terms, moment: Moment, expected: Result<(), &str>) {
    for (form, code) in FORMS.iter() {
        let clock = moment.now.map_or_else(now, |seconds| second(seconds.try_into().unwrap()));
        let outcome = match Pdp::open(code, bundle, terms, moment) {
            Ok(pdp) => {
                assert_eq!(pdp.is_allowed(request("view").as_bytes(), &clock), Ok(true), "{form}");
                Ok(())
            }
            Err(HostError::Refused { code, .. }) => Err(code),
            Err(other) => panic!("{form}: {other:?}"),
        };
        assert_eq!(outcome, expected.map_err(str::to_owned), "{form}");
    }
}

#[test]
fn only_trusted_keys_open_a_bundle() {
    let [release, audit] = ["release", "audit"].map(Signer::new);
    let signed = release.signed(&album("view"), &label(1));
    let moment = Moment::default();
    check(&signed, &terms(1, &[&release]), moment, Ok(()));
    check(&signed, &terms(1, &[&audit, &release]), moment, Ok(()));
    check(&signed, &terms(1, &[&audit]), moment, Err("unknown-signer"));
    check(&signed, &terms(2, &[&audit, &release]), moment, Err("too-few-signers"));
    check(&audit.also(&signed), &terms(2, &[&audit, &release]), moment, Ok(()));
    check(&bundle(&album("view")), &terms(1, &[&release]), moment, Err("not-signed"));
    let mut changed = signed.clone();
    *changed.last_mut().unwrap() ^= 1;
    check(&changed, &terms(1, &[&release]), moment, Err("wrong-digest"));
    let by_key = Terms::signed_by(&release.key().public_key);
    check(&signed, &by_key, moment, Err("unknown-signer"));
    check(&signed[..100], &by_key, moment, Err("wrong-length"));
}

#[test]
fn a_required_key_a_name_and_a_size_are_enforced() {
    let [release, audit] = ["release", "audit"].map(Signer::new);
    let signed = release.signed(&album("view"), &label(1));
    let mut required = terms(1, &[&audit, &release]);
    let Trust::Signed(set) = &mut required.trust else { unreachable!() };
    set.required = vec![b"audit".to_vec()];
    check(&signed, &required, Moment::default(), Err("missing-signer"));
    check(&audit.also(&signed), &required, Moment::default(), Ok(()));
    let terms = terms(1, &[&release]);
    let named = |name: &str| Terms { name: Some(name.to_owned()), ..terms.clone() };
    check(&signed, &named("album"), Moment::default(), Ok(()));
    check(&signed, &named("other"), Moment::default(), Err("wrong-name"));
    let small = Terms { max_bytes: 100, ..terms.clone() };
    check(&signed, &small, Moment::default(), Err("too-large"));
}

#[test]
fn dates_and_revisions_are_enforced_by_every_form() {
    let release = Signer::new("release");
    let dated = Label { not_before: Some(100), expires: Some(200), ..label(7) };
    let signed = release.signed(&album("view"), &dated);
    let terms = terms(1, &[&release]);
    let at = |now, min_revision| Moment { now, min_revision };
    check(&signed, &terms, at(Some(150), 7), Ok(()));
    check(&signed, &terms, at(Some(150), 8), Err("old-revision"));
    check(&signed, &terms, at(Some(99), 0), Err("not-yet-valid"));
    check(&signed, &terms, at(Some(200), 0), Err("expired"));
    check(&signed, &terms, at(None, 0), Err("time-required"));
    assert_eq!(Moment::at(&now()), at(Some(1_800_000_000), 0));
}

#[test]
fn a_bundle_that_expires_while_it_is_open_denies() {
    let release = Signer::new("release");
    let signed = release.signed(&album("view"), &Label { expires: Some(200), ..label(1) });
    let moment = Moment { now: Some(100), min_revision: 0 };
    let attributes = [("owner", "ada")].as_slice();
    let question = Question {
        principal: PrincipalRef::new("ada", &["member"], &()),
        action: "view",
        resource: ResourceRef::new("album", "a1", attributes),
    };
    let check = |after_expiry, after| {
        let terms = Terms { after_expiry, ..terms(1, &[&release]) };
        for (form, code) in FORMS.iter() {
            let pdp = Pdp::open(code, &signed, &terms, moment).unwrap();
            let mut session = pdp.session();
            let target = Target { kind: "album", action: "view", policy_version: "", scope: "" };
            let mut prepared = session.prepare(target).unwrap();
            for (seconds, expected) in [(199, true), (200, after), (199, true)] {
                let at = second(seconds);
                let text = pdp.is_allowed(request("view").as_bytes(), &at);
                let values = session.is_allowed_fields(&mut prepared, &question, &at);
                assert_eq!((text, values), (Ok(expected), Ok(expected)), "{form} at {seconds}");
            }
        }
    };
    check(AfterExpiry::Deny, false);
    check(AfterExpiry::Decide, true);
}

/// Returns the time `seconds` after 1970.
fn second(seconds: i64) -> Timestamp {
    Timestamp::new(seconds, 0).unwrap()
}

#[test]
fn invalid_terms_are_refused() {
    let release = Signer::new("release");
    let signed = release.signed(&album("view"), &label(1));
    check(&signed, &terms(0, &[&release]), Moment::default(), Err("invalid-terms"));
    check(&signed, &terms(0, &[]), Moment::default(), Err("invalid-terms"));
    check(&signed, &terms(2, &[&release]), Moment::default(), Err("invalid-terms"));
    check(&signed, &terms(1, &[&release, &release]), Moment::default(), Err("invalid-terms"));
    check(&signed, &Terms::signed_by(b"no key"), Moment::default(), Err("invalid-terms"));
}
