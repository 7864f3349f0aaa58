//! One instance of the code, in either form.

use wardgate_native::Timestamp;

use crate::component::ComponentInstance;
use crate::error::HostError;
use crate::module::ModuleInstance;
use crate::terms::{Moment, Terms};

/// One instance of the code, with at most one open bundle. One thread at a time uses it.
pub(crate) enum Instance {
    Module(Box<ModuleInstance>),
    Component(Box<ComponentInstance>),
}

/// A question as text with an answer in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextQuestion {
    /// A decision.
    Check,
    /// A decision and every rule that was considered.
    Explain,
    /// A response of AuthZEN.
    Evaluate,
}

impl Instance {
    /// Opens a bundle.
    pub(crate) fn open(
        &mut self,
        bundle: &[u8],
        terms: &Terms,
        moment: Moment,
    ) -> Result<(), HostError> {
        match self {
            Self::Module(instance) => instance.open(bundle, terms, moment),
            Self::Component(instance) => instance.open(bundle, terms, moment),
        }
    }

    /// Opens a bundle in place of the open one.
    pub(crate) fn reload(&mut self, bundle: &[u8], moment: Moment) -> Result<(), HostError> {
        match self {
            Self::Module(instance) => instance.reload(bundle, moment),
            Self::Component(instance) => instance.reload(bundle, moment),
        }
    }

    /// Returns the revision of the open bundle.
    pub(crate) fn revision(&mut self) -> Result<u64, HostError> {
        match self {
            Self::Module(instance) => instance.revision(),
            Self::Component(instance) => instance.revision(),
        }
    }

    /// Returns true if the open bundle has a date on which it expires.
    pub(crate) fn can_expire(&mut self) -> Result<bool, HostError> {
        match self {
            Self::Module(instance) => instance.can_expire(),
            Self::Component(instance) => instance.can_expire(),
        }
    }

    pub(crate) fn is_allowed(&mut self, json: &[u8], now: Timestamp) -> Result<bool, HostError> {
        match self {
            Self::Module(instance) => instance.is_allowed(json, now),
            Self::Component(instance) => instance.is_allowed(json, now),
        }
    }

    pub(crate) fn ask(
        &mut self,
        question: TextQuestion,
        json: &[u8],
        now: Timestamp,
    ) -> Result<Vec<u8>, HostError> {
        match self {
            Self::Module(instance) => instance.ask(question, json, now),
            Self::Component(instance) => instance.ask(question, json, now),
        }
    }

    pub(crate) fn filter(&mut self, json: &[u8], now: Timestamp) -> Result<Vec<u32>, HostError> {
        match self {
            Self::Module(instance) => instance.filter(json, now),
            Self::Component(instance) => instance.filter(json, now),
        }
    }
}
