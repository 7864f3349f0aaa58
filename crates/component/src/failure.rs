//! The reasons why a call was refused, for both interfaces.

use wardgate_bundle::{OpenError, TermsError, TrustError};
use wardgate_native::RequestError;
use wardgate_native::protocol::authzen::AuthzenError;
use wardgate_native::protocol::json::document;

/// The reason why a call was refused. It grants no permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// A stable name.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// Declares the kinds of refusal: each row is a kind, the result of a refused plain call, and the
/// stable name.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, $code:literal;)+) => {
        /// The kind of a refusal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// Returns the result of a refused plain call.
            pub(crate) const fn number(self) -> i32 {
                match self { $(Self::$kind => $number,)+ }
            }

            const fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }
        }
    };
}

kinds! {
    /// The bytes are in no block of the host.
    Address = -1, "invalid-address";
    /// No bundle has this handle.
    Handle = -2, "disposed";
    /// The terms of the host are invalid.
    Terms = -3, "invalid-terms";
    /// The bundle is refused.
    Bundle = -4, "invalid-bundle";
    /// The request is refused.
    Request = -5, "invalid-request";
    /// The time is invalid.
    Time = -6, "invalid-time";
    /// A bound of the module is reached.
    Limit = -7, "limit-reached";
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, code: kind.code(), message: message.into() }
    }

    /// Returns `{"code", "message"}`.
    pub(crate) fn json(&self) -> String {
        document(|json| {
            json.field("code", self.code);
            json.field("message", &self.message);
        })
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
