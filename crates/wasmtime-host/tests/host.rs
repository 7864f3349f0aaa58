//! The modules for hosts, as a Rust host runs them: `cargo xtask build-hosts` makes them.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod host {
    pub(crate) mod answers;
    pub(crate) mod bounds;
    pub(crate) mod reload;
    pub(crate) mod replay;
    pub(crate) mod trust;
    pub(crate) mod values;
}

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use wardgate_bundle::{KeyId, Label, pack, pack_as, sign};
use wardgate_compiler::{Options, compile_files};
use wardgate_crypto::ml_dsa::SigningKey;
use wardgate_engine::table::Parts;
use wardgate_wasmtime_host::{
    Code, Key, Level, Limits, Moment, Pdp, Terms, Timestamp, Trust, TrustSet,
};

/// The forms of the code, each compiled once. Answers are compared with them, not times: a busy
/// machine must not end a call.
static FORMS: LazyLock<[(&str, Code); 3]> = LazyLock::new(|| {
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    ["wardgate_abi.wasm", "wardgate_abi_nosimd.wasm", "wardgate.component.wasm"]
        .map(|name| (name, Code::compile(&file(name), limits).unwrap()))
});

/// Returns the bytes of a module for hosts.
fn file(name: &str) -> Vec<u8> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target.join("hosts").join(name);
    fs::read(&path).unwrap_or_else(|error| {
        panic!("cannot read {}: {error}; `cargo xtask build-hosts` makes it", path.display())
    })
}

/// Returns an unsigned bundle of one policy.
fn bundle(policy: &str) -> Vec<u8> {
    pack(&parts(policy))
}

fn parts(policy: &str) -> Parts {
    let files = [("policy.yaml".to_owned(), policy.as_bytes().to_vec())];
    compile_files(&files, &Options::default()).unwrap().parts
}

fn opened(code: &Code, bundle: &[u8]) -> Pdp {
    Pdp::open(code, bundle, &Terms::unsigned(), Moment::default()).unwrap()
}

/// A signer of bundles.
struct Signer {
    key: SigningKey,
    id: KeyId,
}

impl Signer {
    fn new(name: &str) -> Self {
        let mut seed = [0; 32];
        seed.iter_mut().zip(name.bytes()).for_each(|(position, byte)| *position = byte);
        let id = KeyId::new(name.as_bytes()).unwrap();
        Self { key: SigningKey::from_seed(Level::MlDsa44, &seed), id }
    }

    /// Returns a bundle of one policy, signed by this signer.
    fn signed(&self, policy: &str, label: &Label) -> Vec<u8> {
        self.also(&pack_as(&parts(policy), label).unwrap())
    }

    /// Returns the bundle with the signature of this signer added.
    fn also(&self, bundle: &[u8]) -> Vec<u8> {
        sign(bundle, &self.id, &self.key, Some(&[7; 32])).unwrap()
    }

    fn key(&self) -> Key {
        let id = Some(self.id.as_bytes().to_vec());
        Key { id, level: Level::MlDsa44, public_key: self.key.public_key() }
    }
}

/// Returns terms under which `at_least` of these signers must have signed.
fn terms(at_least: u8, signers: &[&Signer]) -> Terms {
    let keys = signers.iter().map(|signer| signer.key()).collect();
    let set = TrustSet { keys, at_least, required: Vec::new() };
    Terms { trust: Trust::Signed(set), ..Terms::unsigned() }
}

/// Returns a policy under which members may do this with albums of their own.
fn album(action: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - actions: [{action}]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: {{ match: {{ expr: R.attr.owner == P.id }} }}
"
    )
}

/// Returns a request of Ada's about an album of hers.
fn request(action: &str) -> String {
    format!(
        r#"{{"principal": {{"id": "ada", "roles": ["member"]}}, "action": "{action}",
            "resource": {{"kind": "album", "id": "a", "attr": {{"owner": "ada"}}}}}}"#
    )
}

fn now() -> Timestamp {
    Timestamp::new(1_800_000_000, 0).unwrap()
}
