//! Decisions for Rust hosts.
//!
//! A [`Pdp`] opens a bundle and answers questions in the form in which the host has them: as a
//! [`Request`], with attributes found by name, as a JSON value, as JSON text, or with types of its
//! own. All forms give the same answer. A decision reads the attributes that its conditions use and
//! no others; it allocates only where a condition builds a value.
//!
//! Threads can share a `Pdp`, and its policies can be replaced while they decide.
//!
//! ```
//! use wardgate_native::{
//!     AsPrincipal, AsResource, Pdp, PrincipalRef, Question, ResourceRef, SystemClock, Trust,
//!     attributes,
//! };
//!
//! struct Person {
//!     name: String,
//!     roles: Vec<String>,
//! }
//!
//! struct Document {
//!     id: String,
//!     owner: String,
//! }
//!
//! attributes! { Person {} }
//! attributes! { Document { owner } }
//!
//! impl AsPrincipal for Person {
//!     fn id(&self) -> &str {
//!         &self.name
//!     }
//!
//!     fn roles(&self) -> impl Iterator<Item = &str> {
//!         self.roles.iter().map(String::as_str)
//!     }
//! }
//!
//! impl AsResource for Document {
//!     fn id(&self) -> &str {
//!         &self.id
//!     }
//! }
//!
//! # let policy = br#"
//! # apiVersion: api.cerbos.dev/v1
//! # resourcePolicy:
//! #   version: default
//! #   resource: document
//! #   rules:
//! #     - actions: [delete]
//! #       effect: EFFECT_ALLOW
//! #       roles: [member]
//! #       condition: { match: { expr: R.attr.owner == P.id } }
//! # "#;
//! # let files = [("document.yaml".to_owned(), policy.to_vec())];
//! # let compiled = wardgate_compiler::compile_files(&files, &Default::default()).unwrap();
//! # let bundle = wardgate_bundle::pack(&compiled.parts);
//! let pdp = Pdp::open(&bundle, Trust::Unsigned)?;
//!
//! // With types of the host: the attributes that the policies name are found once.
//! let may_delete = pdp.prepare::<Person, Document>("document", "delete");
//! let ada = Person { name: "ada".into(), roles: vec!["member".into()] };
//! let hers = Document { id: "d1".into(), owner: "ada".into() };
//! let his = Document { id: "d2".into(), owner: "bob".into() };
//! assert!(may_delete.is_allowed(&ada, &hers, SystemClock));
//! let of_ada = may_delete.principal(&ada);
//! assert!(!of_ada.is_allowed(&his, SystemClock));
//!
//! // With attributes that are found by their names.
//! let attributes = vec![("owner", "ada")];
//! let question = Question {
//!     principal: PrincipalRef::new("ada", &["member"], &()),
//!     action: "delete",
//!     resource: ResourceRef::new("document", "d1", &attributes),
//! };
//! assert!(pdp.is_allowed_fields(&question, SystemClock));
//!
//! // With a request as JSON text.
//! let request = br#"{
//!     "principal": { "id": "ada", "roles": ["member"] },
//!     "action": "delete",
//!     "resource": { "kind": "document", "id": "d2", "attr": { "owner": "bob" } }
//! }"#;
//! assert!(!pdp.is_allowed_json(request, SystemClock)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod attributes;
mod clock;
#[cfg(feature = "decision-log")]
pub mod decision_log;
mod error;
mod fast;
mod field;
mod field_impls;
#[cfg(feature = "ratelimit")]
pub mod limited;
mod limits;
#[cfg(feature = "grants")]
pub mod mqtt;
mod names;
mod pdp;
#[cfg(feature = "ratelimit")]
mod plain_limits;
mod policies;
mod prepared;
pub mod protocol;
mod question;
mod request;
mod text_set;
mod value;

pub use attributes::{Accessor, AsPrincipal, AsResource, Attributes};
pub use clock::{Clock, SystemClock};
pub use error::RequestError;
pub use fast::index::Target;
pub use field::{AsField, Field, Items, Lookup};
pub use names::{Known, Names};
pub use pdp::{Pdp, Snapshot};
pub use policies::Policies;
pub use prepared::{Prepared, PreparedPrincipal};
pub use protocol::cerbos::fast::{Answered, CallLimits};
pub use question::{PrincipalRef, Question, ResourceRef};
pub use text_set::TextSet;

pub use wardgate_bundle::{
    AfterExpiry, Conditions, Header, KeyId, Level, OpenError, Quorum, Trust, TrustError, TrustSet,
    TrustedKey,
};
pub use wardgate_engine::attr::{Attr, AttrMap};
pub use wardgate_engine::budget::Budget;
pub use wardgate_engine::cel::Timestamp;
pub use wardgate_engine::decide::Explanation;
#[cfg(feature = "grants")]
pub use wardgate_engine::decide::Sourced;
pub use wardgate_engine::decision::{Decision, Effect};
pub use wardgate_engine::request::{AuxData, Principal, Request, Resource};
