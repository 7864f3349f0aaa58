//! The reasons why a call was refused, for both interfaces.

use wardgate_bundle::{OpenError, TermsError, TrustError};
use wardgate_engine::wire::Json;
use wardgate_native::RequestError;
use wardgate_native::protocol::authzen::AuthzenError;

/// The reason why a call was refused. It grants no permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// A stable name.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The bytes are in no block of the host.
    Address,
    /// No bundle has this handle.
    Handle,
    /// The terms of the host are invalid.
    Terms,
    /// The bundle is refused.
    Bundle,
    /// The request is refused.
    Request,
    /// The time is invalid.
    Time,
    /// A bound of the module is reached.
    Limit,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, code: kind.code(), message: message.into() }
    }

    /// Returns `{"code", "message"}`.
    pub(crate) fn json(&self) -> String {
        let mut json = Json::default();
        json.open('{');
        json.field("code", self.code);
        json.field("message", &self.message);
        json.close('}');
        json.finish()
    }
}

impl Kind {
    /// Returns the result of a refused plain call.
    pub(crate) const fn number(self) -> i32 {
        match self {
            Self::Address => -1,
            Self::Handle => -2,
            Self::Terms => -3,
            Self::Bundle => -4,
            Self::Request => -5,
            Self::Time => -6,
            Self::Limit => -7,
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::Address => "invalid-address",
            Self::Handle => "disposed",
            Self::Terms => "invalid-terms",
            Self::Bundle => "invalid-bundle",
            Self::Request => "invalid-request",
            Self::Time => "invalid-time",
            Self::Limit => "limit-reached",
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self { kind: Kind::Bundle, code: error.code(), message: error.to_string() }
    }
}

impl From<TermsError> for Failure {
    fn from(error: TermsError) -> Self {
        Self::new(Kind::Terms, error.to_string())
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        Self::new(Kind::Terms, error.to_string())
    }
}

impl From<AuthzenError> for Failure {
    fn from(error: AuthzenError) -> Self {
        Self { kind: Kind::Request, code: "bad-request", message: error.to_string() }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::new(Kind::Request, error.to_string())
    }
}
