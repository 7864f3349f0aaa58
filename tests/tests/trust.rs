//! A host under attack: its policies stay as they are for all bytes that arrive.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;

use fastrand::Rng;
use wardgate_bundle::delta::{apply, delta};
use wardgate_bundle::{
    Conditions, KeyId, Label, Level, Quorum, Trust, TrustSet, TrustedKey, open, pack_as, sign,
};
use wardgate_compiler::{Options, compile_files};
use wardgate_crypto::ml_dsa::SigningKey;
use wardgate_engine::table::Parts;
use wardgate_native::{Attr, Pdp, Request, Timestamp};

#[test]
fn corrupted_bundles_and_deltas_leave_the_running_policies_alone() {
    let signer = Signer::new();
    let [old, new] = [(1, "read"), (2, "write")].map(|(revision, action)| {
        signer.signed(&parts(&[policy("document", 3, action)]), revision)
    });
    let delta = delta(&old, &new).unwrap();
    let trusted = signer.trusted();
    let pdp = Pdp::open(&old, Trust::Signed(&trusted)).unwrap();
    let mut random = Rng::with_seed(11);
    for round in 0..10_000 {
        let corrupted = corrupted(&mut random, &new);
        assert!(pdp.reload(&corrupted, Trust::Signed(&trusted)).is_err(), "bundle {round}");
    }
    for round in 0..1_000 {
        let corrupted = corrupted(&mut random, &delta);
        let trust = Trust::Signed(&trusted);
        let error = apply(&old, &corrupted, trust, &Conditions::default()).unwrap_err();
        assert!(!error.code().is_empty(), "delta {round}");
    }
    assert!(allowed(&pdp, "read0") && !allowed(&pdp, "write0"));
    let trust = Trust::Signed(&trusted);
    let bundle = apply(&old, &delta, trust, &Conditions::default()).unwrap();
    assert_eq!(bundle, new);
    pdp.reload(&bundle, Trust::Signed(&trusted)).unwrap();
    assert!(!allowed(&pdp, "read0") && allowed(&pdp, "write0"));
}

#[test]
fn an_old_bundle_does_not_come_back() {
    let signer = Signer::new();
    let [old, new] =
        [1, 2].map(|revision| signer.signed(&parts(&[policy("document", 1, "read")]), revision));
    let trusted = signer.trusted();
    let pdp = Pdp::open(&old, Trust::Signed(&trusted)).unwrap();
    let reload = |bundle: &[u8], min_revision: u64| {
        let conditions = Conditions { min_revision, ..Conditions::default() };
        let header = pdp.reload_under(bundle, Trust::Signed(&trusted), &conditions);
        header.map(|header| header.label.revision).map_err(|error| error.code())
    };
    assert_eq!(reload(&new, 1), Ok(2));
    assert_eq!(reload(&old, 2), Err("old-revision"));
    assert_eq!(reload(&old, 0), Err("old-revision"), "older than the one in use");
    assert_eq!(reload(&new, 0), Ok(2));
    assert_eq!(pdp.reload(&old, Trust::Unsigned), Ok(()), "who trusts anybody trusts the old one");
}

#[test]
fn a_small_change_makes_a_small_delta() {
    let kinds: Vec<String> = (0..100).map(|kind| format!("kind{kind:02}")).collect();
    let with = |limit: &str| {
        let policies = kinds.iter().map(|kind| policy(kind, 100, "read"));
        let mut policies: Vec<String> = policies.collect();
        let changed = policies.last_mut().unwrap();
        *changed = changed.replace("size < 77", limit);
        let label = Label { revision: 1, ..Label::default() };
        pack_as(&parts(&policies), &label).unwrap()
    };
    let (old, new) = (with("size < 77"), with("size < 78"));
    assert_ne!(old, new);
    let delta = delta(&old, &new).unwrap();
    assert_eq!(apply(&old, &delta, Trust::Unsigned, &Conditions::default()).unwrap(), new);
    println!("10,000 rules: {} bytes, delta {} bytes", new.len(), delta.len());
    assert!(delta.len() * 10 < new.len(), "{} of {}", delta.len(), new.len());
    assert!(open(&new, Trust::Unsigned, &Conditions::default()).is_ok());
}

fn allowed(pdp: &Pdp, action: &str) -> bool {
    let mut request = Request::default();
    request.principal.id = "sam".to_owned();
    request.principal.roles = vec!["role0".to_owned()];
    request.resource.kind = "document".to_owned();
    request.resource.id = "d1".to_owned();
    request.resource.attr = [("size".into(), Attr::Number(-1.0))].into_iter().collect();
    pdp.is_allowed(&request, action, Timestamp::default())
}

/// Returns a policy with this many rules about actions of this name.
fn policy(kind: &str, rules: usize, action: &str) -> String {
    let mut text = format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: {kind}\n  version: default\n  rules:\n"
    );
    for rule in 0..rules {
        writeln!(
            text,
            "    - actions: ['{action}{rule}']\n      effect: EFFECT_ALLOW\n      roles: [role{rule}]\n      \
             name: {kind}-rule{rule}\n      condition: {{ match: {{ expr: 'R.attr.size < {rule}' }} }}"
        )
        .unwrap();
    }
    text
}

fn parts(policies: &[String]) -> Parts {
    let file =
        |(number, text): (usize, &String)| (format!("p{number:03}.yaml"), text.as_bytes().to_vec());
    let files: Vec<_> = policies.iter().enumerate().map(file).collect();
    compile_files(&files, &Options::default()).unwrap().parts
}

struct Signer {
    key: SigningKey,
    id: KeyId,
}

impl Signer {
    fn new() -> Self {
        let key = SigningKey::from_seed(Level::MlDsa87, &[5; 32]);
        Self { id: KeyId::of(Level::MlDsa87, &key.public_key()), key }
    }

    fn signed(&self, parts: &Parts, revision: u64) -> Vec<u8> {
        let label = Label { revision, ..Label::default() };
        sign(&pack_as(parts, &label).unwrap(), &self.id, &self.key, None).unwrap()
    }

    fn trusted(&self) -> TrustSet {
        let key = TrustedKey::new(self.id, Level::MlDsa87, &self.key.public_key());
        TrustSet::new(vec![key.unwrap()], Quorum::default()).unwrap()
    }
}

/// Returns other bytes than `sound`.
fn corrupted(random: &mut Rng, sound: &[u8]) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    while bytes == sound {
        let (one, two) = (random.usize(..bytes.len()), random.usize(..bytes.len()));
        let bit = 1 << random.u8(..8);
        match random.u8(..5) {
            0 => bytes.get_mut(one).into_iter().for_each(|byte| *byte ^= bit),
            1 => bytes.truncate(one),
            2 => bytes.extend_from_within(one..),
            3 => bytes.swap(one, two),
            _ => drop(bytes.drain(one.min(two)..one.max(two))),
        }
    }
    bytes
}
