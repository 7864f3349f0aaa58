//! Opening a signed bundle of ten thousand rules: the steps of a host before it trusts any of them.
//!
//! The bundle is opened once beforehand, and its policies answer every request of the workload
//! rightly.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use wardgate_bundle::{
    Conditions, KeyId, Level, Opened, Quorum, Trust, TrustSet, TrustedKey, open, sign,
};
use wardgate_crypto::ml_dsa::SigningKey;

use crate::arguments::Arguments;
use crate::measure::{self, Figure, Side};
use crate::node;
use crate::report::Section;
use crate::rows::wardgate::{self, Compiled};
use crate::workload::Workload;

/// The name of the section in `--only`.
pub(crate) const NAME: &str = "open-signed";

/// Measures.
pub(crate) fn section(root: &Path, arguments: &Arguments) -> Result<Section, String> {
    let signed = Signed::new()?;
    let title = "A signed bundle of 10,000 rules: from bytes to the first possible decision";
    Section::new(NAME, title, NOTE)
        .native(arguments, || signed.native(arguments.bounds()))?
        .node(arguments, || signed.node(root, arguments.quick))
}

/// The bundle and its signer.
struct Signed {
    workload: Workload,
    bundle: Vec<u8>,
    key: Vec<u8>,
}

impl Signed {
    fn new() -> Result<Self, String> {
        let workload = Workload::generate(WORKLOAD)?;
        workload.confirm()?;
        let compiled = Compiled::new(&workload)?;
        let signer = SigningKey::from_seed(LEVEL, &[5; 32]);
        let key = signer.public_key();
        let bundle = sign(&compiled.bundle, &KeyId::of(LEVEL, &key), &signer, None);
        let bundle = bundle.map_err(|error| error.to_string())?;
        Ok(Self { workload, bundle, key })
    }

    fn trusted(&self) -> Result<TrustSet, String> {
        let key = TrustedKey::new(KeyId::of(LEVEL, &self.key), LEVEL, &self.key);
        let key = key.map_err(|error| error.to_string())?;
        TrustSet::new(vec![key], Quorum::default()).map_err(|error| error.to_string())
    }

    fn open(&self, trusted: &TrustSet) -> Result<Opened, String> {
        open(&self.bundle, Trust::Signed(trusted), &Conditions::default())
            .map_err(|error| error.to_string())
    }

    fn native(&self, bounds: measure::Bounds) -> Result<Vec<Figure>, String> {
        let trusted = self.trusted()?;
        let (requests, table) = (self.workload.engine_requests()?, self.open(&trusted)?.table);
        let compiled = Compiled { bundle: Vec::new(), table };
        for row in wardgate::rows(&self.workload, &compiled, &requests) {
            row.pass()?;
        }
        let prepared = || self.open(&trusted).map(drop);
        let anew = || self.open(&self.trusted()?).map(drop);
        Ok(vec![
            measure::action("Wardgate, open", Side::Ours, bounds, prepared)?,
            measure::action("Wardgate, prepare the key and open", Side::Ours, bounds, anew)?,
        ])
    }

    fn node(&self, root: &Path, quick: bool) -> Result<Vec<Figure>, String> {
        let job = json!({
            "bundle": STANDARD.encode(&self.bundle),
            "key": STANDARD.encode(&self.key),
            "requests": self.workload.requests,
            "expected": self.workload.expected,
            "quick": quick,
        });
        node::figures(&node::ask(root, "signed.mjs", &[], &job)?, "rows")
    }
}

const NOTE: &str = "Five rules for each of 2000 kinds, signed with ML-DSA-87, verification included. The first \
    opening in Node also starts the module and prepares the key.";

/// Two thousand kinds with five rules each.
const WORKLOAD: &str = "five-rules-2000";

const LEVEL: Level = Level::MlDsa87;
