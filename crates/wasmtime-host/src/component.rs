//! An instance of the component: the host's side of `wit/wardgate-pdp.wit`.

use wardgate_native::decision_log::Evidence;
use wardgate_native::{AfterExpiry, Level, Target, Timestamp};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::calls::{Calls, TextQuestion};
use crate::error::{HostError, Result};
use crate::terms::{Key, Moment, Terms, Trust};
use crate::values::Value;
pub(crate) use glue::WardgatePre;
pub(crate) use glue::exports::wardgate::pdp::types;

/// The code generated from the description. Its lints are not ours.
#[allow(missing_docs, unreachable_pub, clippy::all)]
#[allow(clippy::as_conversions, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
mod glue {
    wasmtime::component::bindgen!({ world: "wardgate", path: "../component/wit" });
}

/// An instance of the component.
pub(crate) struct ComponentInstance {
    store: Store<()>,
    calls: glue::Wardgate,
    /// The number of ticks that one call may see.
    ticks: u64,
    pdp: Option<ResourceAny>,
    /// The values of one question, reused so that writing them allocates no memory.
    values: Vec<types::Value>,
}

/// Makes a call with its time limit, and distinguishes refusals from traps.
macro_rules! call {
    ($this:ident.$method:ident($($argument:expr),*)) => {{
        let pdp = $this.pdp.ok_or(HostError::Confused)?;
        $this.store.set_epoch_deadline($this.ticks);
        let calls = $this.calls.wardgate_pdp_decisions().pdp();
        let outcome = calls.$method(&mut $this.store, pdp, $($argument),*);
        outcome.map_err(|error| HostError::trapped(&error))
    }};
}

impl ComponentInstance {
    pub(crate) fn new(mut store: Store<()>, pre: &WardgatePre<()>, ticks: u64) -> Result<Self> {
        let calls = pre.instantiate(&mut store).map_err(|error| HostError::busy(&error))?;
        Ok(Self { store, calls, ticks, pdp: None, values: Vec::new() })
    }

    /// Returns the fast path of a target, or `None` if it has none.
    pub(crate) fn prepare(&mut self, target: Target<'_>) -> Result<Option<types::Plan>> {
        call!(self.call_prepare(&target.into()))
    }

    /// Returns the principals with principal policies.
    pub(crate) fn principals(&mut self) -> Result<Vec<String>> {
        call!(self.call_principals())
    }

    /// Decides by a fast path for roles with these masks, on the values that `fill` writes. Returns
    /// `None` if the question must be sent as text, or `fill` returns `None`.
    #[inline]
    pub(crate) fn decide(
        &mut self,
        fast_path: u64,
        roles: u32,
        seconds: Option<i64>,
        fill: impl FnOnce(&mut Vec<types::Value>) -> Option<()>,
    ) -> Result<Option<bool>> {
        self.values.clear();
        if fill(&mut self.values).is_none() {
            return Ok(None);
        }
        Ok(match call!(self.call_decide(fast_path, roles, &self.values, seconds))? {
            types::Answer::Allow => Some(true),
            types::Answer::Deny => Some(false),
            types::Answer::Unsure | types::Answer::Stale => None,
        })
    }
}

impl Calls for ComponentInstance {
    fn open(&mut self, bundle: &[u8], terms: &Terms, moment: Moment) -> Result<()> {
        self.store.set_epoch_deadline(self.ticks);
        let calls = self.calls.wardgate_pdp_decisions().pdp();
        let terms = types::Terms::from(terms);
        let outcome = calls.call_open(&mut self.store, bundle, &terms, moment.into());
        self.pdp = Some(outcome.map_err(|error| HostError::trapped(&error))??);
        Ok(())
    }

    fn reload(&mut self, bundle: &[u8], moment: Moment) -> Result<()> {
        Ok(call!(self.call_reload(bundle, moment.into()))??)
    }

    fn revision(&mut self) -> Result<u64> {
        Ok(call!(self.call_header())?.revision)
    }

    fn can_expire(&mut self) -> Result<bool> {
        Ok(call!(self.call_header())?.expires.is_some())
    }

    fn is_allowed(&mut self, json: &[u8], now: Timestamp) -> Result<bool> {
        Ok(call!(self.call_is_allowed(text(json)?, now.into()))??)
    }

    fn ask(&mut self, question: TextQuestion, json: &[u8], now: Timestamp) -> Result<Vec<u8>> {
        let (json, now) = (text(json)?, now.into());
        Ok(match question {
            TextQuestion::Check => call!(self.call_decision_bytes(json, now))??,
            TextQuestion::Explain => call!(self.call_explain(json, now))??.into_bytes(),
            TextQuestion::Evaluate => call!(self.call_authzen_evaluate(json, now))??.into_bytes(),
        })
    }

    fn filter(&mut self, json: &[u8], now: Timestamp) -> Result<Vec<u32>> {
        Ok(call!(self.call_filter(text(json)?, now.into()))??)
    }

    fn replay(
        &mut self,
        targets: &[Target<'_>],
        evidence: Evidence<'_>,
        micros: i64,
    ) -> Result<Vec<Option<bool>>> {
        let evidence = match evidence {
            Evidence::None | Evidence::Digest(_) | Evidence::TooLarge => {
                return Ok(vec![None; targets.len()]);
            }
            Evidence::Read(bytes) => types::Evidence::Read(bytes.to_vec()),
            Evidence::Request(bytes) => types::Evidence::Request(bytes.to_vec()),
        };
        let targets: Vec<_> = targets.iter().copied().map(types::Target::from).collect();
        let answers = call!(self.call_replay(&targets, &evidence, micros))?;
        if answers.len() == targets.len() { Ok(answers) } else { Err(HostError::Confused) }
    }
}

impl From<Target<'_>> for types::Target {
    fn from(target: Target<'_>) -> Self {
        let Target { kind, action, policy_version, scope } = target;
        Self {
            kind: kind.to_owned(),
            action: action.to_owned(),
            policy_version: policy_version.to_owned(),
            scope: scope.to_owned(),
        }
    }
}

fn text(json: &[u8]) -> Result<&str> {
    std::str::from_utf8(json).map_err(|error| HostError::Refused {
        code: "invalid-request".to_owned(),
        message: format!("malformed JSON at byte {}: expected UTF-8", error.valid_up_to()),
    })
}

impl From<types::Error> for HostError {
    fn from(types::Error { code, message }: types::Error) -> Self {
        Self::Refused { code, message }
    }
}

impl From<Moment> for types::Moment {
    fn from(Moment { now, min_revision }: Moment) -> Self {
        Self { now, min_revision }
    }
}

impl From<Timestamp> for types::Datetime {
    fn from(now: Timestamp) -> Self {
        Self { seconds: now.seconds(), nanoseconds: now.nanos() }
    }
}

impl From<Value> for types::Value {
    #[inline]
    fn from(value: Value) -> Self {
        match value {
            Value::Missing => Self::Missing,
            Value::Broken => Self::Broken,
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(value),
            Value::Number(number) => Self::Number(number),
            Value::Text(word) => Self::Text(word),
        }
    }
}

impl From<&Terms> for types::Terms {
    fn from(terms: &Terms) -> Self {
        let trust = match &terms.trust {
            Trust::Unsigned => types::Trust::Unsigned,
            Trust::Signed(set) => types::Trust::Signed(types::TrustSet {
                keys: set.keys.iter().map(types::TrustedKey::from).collect(),
                at_least: set.at_least.into(),
                required: set.required.clone(),
            }),
        };
        Self {
            trust,
            name: terms.name.clone(),
            max_bytes: Some(terms.max_bytes),
            decides_after_expiry: terms.after_expiry == AfterExpiry::Decide,
        }
    }
}

impl From<&Key> for types::TrustedKey {
    fn from(key: &Key) -> Self {
        let level = match key.level {
            Level::MlDsa44 => types::Level::MlDsa44,
            Level::MlDsa65 => types::Level::MlDsa65,
            Level::MlDsa87 => types::Level::MlDsa87,
        };
        Self { id: key.id.clone(), level, public_key: key.public_key.clone() }
    }
}
