//! Wardgate in wasmtime.
//!
//! [`Code`] is the module or the component, compiled once for the process. A [`Pdp`] serves one
//! bundle with it: many threads decide at the same time, each with an instance of its own out of a
//! pool, and the bundle is replaced while they decide. No policy can hang the host or exhaust its
//! memory: every call has a deadline and every instance a bound. Its decisions equal those of
//! `wardgate-native`, byte for byte; a host runs the sandbox if it does not trust the deciding code
//! with the rest of the process.
//!
//! ```no_run
//! use wardgate_wasmtime_host::{Code, Limits, Moment, Pdp, SystemClock, Terms};
//!
//! let code = Code::compile(&std::fs::read("wardgate_abi.wasm")?, Limits::default())?;
//! let terms = Terms::signed_by(&std::fs::read("release.pub")?);
//! let pdp = Pdp::open(&code, &std::fs::read("album.bundle")?, &terms, Moment::at(&SystemClock))?;
//! let request = br#"{
//!     "principal": { "id": "ada", "roles": ["member"] },
//!     "action": "view",
//!     "resource": { "kind": "album", "id": "a", "attr": { "public": true } }
//! }"#;
//! assert!(pdp.is_allowed(request, &SystemClock)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod calls;
mod code;
mod component;
mod encoding;
mod error;
mod fast_path;
mod instance;
mod limits;
mod module;
mod pdp;
mod prepared;
mod recorded;
mod session;
mod terms;
mod ticker;
mod values;

pub use code::Code;
pub use error::HostError;
pub use limits::Limits;
pub use pdp::Pdp;
pub use prepared::Prepared;
pub use session::Session;
pub use terms::{Key, Moment, Terms, Trust, TrustSet};

pub use wardgate_native::decision_log::Evidence;
pub use wardgate_native::{
    AfterExpiry, AsField, Clock, Field, Items, Level, Lookup, PrincipalRef, Question, ResourceRef,
    SystemClock, Target, Timestamp,
};
