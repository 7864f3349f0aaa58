//! The component: `wit/wardgate-pdp.wit` in Rust.

use std::cell::RefCell;

use wardgate_bundle::{
    AfterExpiry, Conditions, KeyId, Level, Quorum, Trust, TrustError, TrustSet, TrustedKey, limits,
};
use wardgate_engine::decision::{ActionDecision, Effect};
use wardgate_engine::table::Evaluation;
use wardgate_engine::wire;
use wardgate_native::Target;
use wardgate_native::decision_log::Evidence;

use crate::failure::{Failure, Kind};
use crate::opened::{Opened, time};
use crate::recorded::RecordedDecision;
use crate::values;
use glue::exports::wardgate::pdp::decisions;
pub(crate) use glue::exports::wardgate::pdp::types;

/// The code generated from the description. Its lints and its `unsafe` are not ours.
#[allow(missing_docs, unreachable_pub, rust_2018_idioms, unsafe_op_in_unsafe_fn, clippy::all)]
#[allow(clippy::as_conversions, clippy::undocumented_unsafe_blocks, clippy::indexing_slicing)]
mod glue {
    wit_bindgen::generate!({ world: "wardgate", path: "wit" });
    use super::Component;
    export!(Component with_types_in self);
}

/// A value, or the refusal as the description has it.
type Result<T, E = types::Error> = std::result::Result<T, E>;

/// The component itself.
struct Component;

/// An opened bundle and the terms under which it and its successors are opened.
struct Pdp {
    opened: RefCell<Opened>,
    trusted: Option<TrustSet>,
    name: Option<String>,
    max_bytes: usize,
    after_expiry: AfterExpiry,
}

impl decisions::Guest for Component {
    type Pdp = Pdp;
}

impl decisions::GuestPdp for Pdp {
    fn open(bundle: Vec<u8>, terms: types::Terms, at: types::Moment) -> Result<decisions::Pdp> {
        Ok(decisions::Pdp::new(Self::opened(&bundle, terms, at)?))
    }

    fn reload(&self, bundle: Vec<u8>, at: types::Moment) -> Result<()> {
        let mut opened = self.opened.borrow_mut();
        let trust = trust(self.trusted.as_ref());
        let bounds = (self.max_bytes, self.after_expiry);
        let conditions = conditions(self.name.as_deref(), bounds, at);
        Ok(opened.reload(&bundle, trust, &conditions)?)
    }

    fn header(&self) -> types::Header {
        let opened = self.opened.borrow();
        let (header, signers) = opened.header();
        types::Header {
            name: header.label.name.clone(),
            revision: header.label.revision,
            created: header.label.created,
            not_before: header.label.not_before,
            expires: header.label.expires,
            strict: header.evaluation == Evaluation::Strict,
            content: header.content.to_vec(),
            signers: signers.iter().map(|key| key.as_bytes().to_vec()).collect(),
        }
    }

    fn is_allowed(&self, request: String, now: types::Datetime) -> Result<bool> {
        let now = time(now.seconds, now.nanoseconds)?;
        Ok(self.opened.borrow().is_allowed(request.as_bytes(), now)?)
    }

    fn check(&self, request: String, now: types::Datetime) -> Result<Vec<types::ActionDecision>> {
        let now = time(now.seconds, now.nanoseconds)?;
        let decision = self.opened.borrow().check(request.as_bytes(), now)?;
        Ok(decision.actions.into_iter().map(types::ActionDecision::from).collect())
    }

    fn filter(&self, request: String, now: types::Datetime) -> Result<Vec<u32>> {
        let now = time(now.seconds, now.nanoseconds)?;
        Ok(self.opened.borrow().filter(request.as_bytes(), now)?)
    }

    fn explain(&self, request: String, now: types::Datetime) -> Result<String> {
        let now = time(now.seconds, now.nanoseconds)?;
        Ok(self.opened.borrow().explain(request.as_bytes(), now)?)
    }

    fn decision_bytes(&self, request: String, now: types::Datetime) -> Result<Vec<u8>> {
        let now = time(now.seconds, now.nanoseconds)?;
        let decision = self.opened.borrow().check(request.as_bytes(), now)?;
        Ok(wire::decision_json(&decision).into_bytes())
    }

    fn authzen_evaluate(&self, request: String, now: types::Datetime) -> Result<String> {
        let now = time(now.seconds, now.nanoseconds)?;
        Ok(self.opened.borrow().evaluate(request.as_bytes(), now)?)
    }

    fn prepare(&self, target: types::Target) -> Option<types::Plan> {
        values::fast_path(&self.opened.borrow(), &target)
    }

    fn principals(&self) -> Vec<String> {
        self.opened.borrow().table().principals().map(str::to_owned).collect()
    }

    fn decide(
        &self,
        fast_path: u64,
        roles: u32,
        values: Vec<types::Value>,
        seconds: Option<i64>,
    ) -> types::Answer {
        let opened = self.opened.borrow();
        if opened.may_have_expired(seconds) {
            return types::Answer::Unsure;
        }
        values::decide(&opened, (fast_path, roles), &values)
    }

    fn replay(
        &self,
        targets: Vec<types::Target>,
        evidence: types::Evidence,
        micros: i64,
    ) -> Vec<Option<bool>> {
        let evidence = match &evidence {
            types::Evidence::Read(bytes) => Evidence::Read(bytes),
            types::Evidence::Request(bytes) => Evidence::Request(bytes),
        };
        let targets = targets.iter().map(|target| Target {
            kind: &target.kind,
            action: &target.action,
            policy_version: &target.policy_version,
            scope: &target.scope,
        });
        let decision = RecordedDecision { targets: targets.collect(), evidence };
        self.opened.borrow().replay(&decision, micros)
    }
}

impl Pdp {
    fn opened(bundle: &[u8], terms: types::Terms, at: types::Moment) -> Result<Self, Failure> {
        let trusted = match terms.trust {
            types::Trust::Unsigned => None,
            types::Trust::Signed(set) => Some(trust_set(set)?),
        };
        let max_bytes = terms.max_bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let max_bytes = max_bytes.unwrap_or(limits::MAX_BUNDLE_BYTES);
        let decides = terms.decides_after_expiry;
        let after_expiry = if decides { AfterExpiry::Decide } else { AfterExpiry::Deny };
        let conditions = conditions(terms.name.as_deref(), (max_bytes, after_expiry), at);
        let opened = Opened::open(bundle, trust(trusted.as_ref()), &conditions)?;
        Ok(Self {
            opened: RefCell::new(opened),
            trusted,
            name: terms.name,
            max_bytes,
            after_expiry,
        })
    }
}

fn trust(trusted: Option<&TrustSet>) -> Trust<'_> {
    trusted.map_or(Trust::Unsigned, Trust::Signed)
}

fn conditions(
    name: Option<&str>,
    (max_bytes, after_expiry): (usize, AfterExpiry),
    at: types::Moment,
) -> Conditions<'_> {
    Conditions { now: at.now, min_revision: at.min_revision, name, max_bytes, after_expiry }
}

fn trust_set(set: types::TrustSet) -> Result<TrustSet, Failure> {
    let keys: Vec<TrustedKey> = set.keys.into_iter().map(trusted_key).collect::<Result<_, _>>()?;
    let required = set.required.iter().map(|id| key_id(id)).collect::<Result<_, _>>()?;
    let at_least = usize::try_from(set.at_least).unwrap_or(usize::MAX);
    Ok(TrustSet::new(keys, Quorum { at_least, required })?)
}

fn trusted_key(key: types::TrustedKey) -> Result<TrustedKey, Failure> {
    let level = match key.level {
        types::Level::MlDsa44 => Level::MlDsa44,
        types::Level::MlDsa65 => Level::MlDsa65,
        types::Level::MlDsa87 => Level::MlDsa87,
    };
    let id = match key.id {
        Some(id) => key_id(&id)?,
        None => KeyId::of(level, &key.public_key),
    };
    let key: Result<_, TrustError> = TrustedKey::new(id, level, &key.public_key);
    Ok(key?)
}

fn key_id(id: &[u8]) -> Result<KeyId, Failure> {
    let most = limits::MAX_KEY_ID_BYTES;
    KeyId::new(id).ok_or_else(|| {
        Failure::new(
            Kind::Terms,
            format!("expected an id of 1 to {most} bytes, found {}", id.len()),
        )
    })
}

impl From<ActionDecision> for types::ActionDecision {
    fn from(decision: ActionDecision) -> Self {
        let (reason, rule) = wire::reason_parts(&decision.reason);
        let (reason, rule) = (reason.to_owned(), rule.map(str::to_owned));
        Self {
            action: decision.action,
            allowed: decision.effect == Effect::Allow,
            policy: decision.policy,
            scope: decision.scope,
            reason,
            rule,
        }
    }
}

impl From<Failure> for types::Error {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code.to_owned(), message: failure.message }
    }
}
