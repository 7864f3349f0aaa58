//! The native host.

use serde_json::Value as Json;
use wardgate_bundle::delta::apply;
use wardgate_bundle::sealed::unseal;
use wardgate_bundle::{Conditions, Kind, OpenError, Trust, open_with_rules};
use wardgate_crypto::blake3::hash_many;
use wardgate_crypto::ml_dsa::PreparedKey;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::wire::decision_json;
use wardgate_native::Pdp;
use wardgate_native::decision_log::{replay, replay_with};

use super::read::{Crypto, Opening};
use super::replay::{ActionRequest, Host, Recorded};
use crate::check;
use crate::parity::hosts::{self, Forms};
use crate::rules::answer;

/// Decides with `wardgate_native`.
pub struct Native;

/// A PDP, and the same policies in all the forms in which a host asks, where unsigned bundles are
/// trusted.
pub struct Opened {
    pdp: Pdp,
    forms: Option<hosts::Host>,
}

impl Host for Native {
    type Pdp = Opened;

    fn open(&self, opening: &Opening) -> Result<Opened, String> {
        let pdp = opened(opening).map_err(|error| error.code().to_owned())?;
        let is_unsigned = opening.trust.is_none();
        Ok(Opened { pdp, forms: is_unsigned.then(|| hosts::Host::open(&opening.bundle)).flatten() })
    }

    fn decide(&self, opened: &Opened, request: &Json, now: Timestamp) -> Result<Vec<u8>, String> {
        let decision = opened.pdp.check(&check::request(request)?, now);
        Ok(decision_json(&decision).into_bytes())
    }

    fn ways(
        &self,
        opened: &Opened,
        one: &ActionRequest<'_>,
        take: &mut dyn FnMut(&str, Result<bool, String>),
    ) {
        let (Some(host), Ok(request)) = (&opened.forms, check::request(one.request)) else {
            take("request", Err("cannot be asked".to_owned()));
            return;
        };
        let forms = Forms::new(&request, one.request, one.action);
        host.ask(&forms, one.now, |way, answer, _| {
            if !TYPED.contains(&way) {
                take(way, answer.map_err(|error| error.to_string()));
            }
        });
    }

    fn crypto(&self, questions: &Crypto) -> Option<Vec<Vec<u8>>> {
        match questions {
            Crypto::Digests(messages) => {
                let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                let mut digests = vec![[0; 32]; messages.len()];
                hash_many(&messages, &mut digests).ok()?;
                Some(digests.iter().map(|digest| digest.to_vec()).collect())
            }
            Crypto::Signatures { level, key, all } => {
                let key = PreparedKey::new(*level, key).ok()?;
                let verify = |[message, context, signature]: &[Vec<u8>; 3]| {
                    key.verify(message, context, signature).to_string().into_bytes()
                };
                Some(all.iter().map(verify).collect())
            }
        }
    }

    fn replay(&self, opened: &Opened, recorded: &Recorded<'_>) -> Result<Option<bool>, String> {
        let Recorded { targets, evidence, micros, .. } = *recorded;
        let again = replay(&opened.pdp.snapshot(), targets, evidence, micros);
        Ok(again.first().copied().flatten())
    }

    fn replay_with(
        &self,
        made_by: &Opened,
        opened: &Opened,
        recorded: &Recorded<'_>,
    ) -> Option<bool> {
        let (made_by, candidate) = (made_by.pdp.snapshot(), opened.pdp.snapshot());
        replay_with(&made_by, &candidate, recorded).first().copied().flatten()
    }

    fn rules(&self, bundle: &[u8], queries: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
        let (_, rules) = open_with_rules(bundle, Trust::Unsigned, &Conditions::default())
            .map_err(|error| error.code().to_owned())?;
        Ok(queries.iter().map(|query| answer(&rules, query)).collect())
    }
}

/// Opens a bundle as the package does: a sealed one is unsealed, and a delta is applied to its
/// base.
fn opened(opening: &Opening) -> Result<Pdp, OpenError> {
    let now = u64::try_from(opening.now.seconds()).ok();
    let min_revision = opening.min_revision;
    let conditions = Conditions { now, min_revision, ..Conditions::default() };
    let trust =
        opening.trust.as_ref().map_or(Trust::Unsigned, |trusted| Trust::Signed(&trusted.set));
    let inside = |bytes: &[u8]| match &opening.unseal_key {
        Some(key) => unseal(bytes, key, &conditions),
        None => Ok(bytes.to_vec()),
    };
    let Some(base) = &opening.base else {
        return Pdp::open_under(&inside(&opening.bundle)?, trust, &conditions, 0);
    };
    let base = inside(base)?;
    let pdp = Pdp::open_under(&base, trust, &conditions, 0)?;
    let bytes = inside(&opening.bundle)?;
    let whole = match Kind::of(&bytes) {
        Ok(Kind::Delta) => apply(&base, &bytes, trust, &conditions)?,
        _ => bytes,
    };
    pdp.reload_under(&whole, trust, &conditions)?;
    Ok(pdp)
}

/// Forms with types of the host, which know the attributes of generated requests and no others.
const TYPED: [&str; 2] = ["native typed", "native principal"];
