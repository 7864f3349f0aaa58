//! Decisions for Rust hosts.
//!
//! A [`Pdp`] opens a bundle and answers questions in the form in which the host has them: as a
//! [`Request`], with attributes found by name, as a JSON value, as JSON text, or with types of its own.
//! All forms give the same answer. What decides is read, and no more; nothing is allocated where no
//! condition builds a value.
//!
//! A `Pdp` can be shared by threads, and its policies replaced while they ask.
#![forbid(unsafe_code)]

mod ask;
mod attributes;
mod clock;
mod decide;
mod error;
mod field;
mod field_impls;
mod index;
mod json;
mod names;
mod pdp;
mod plan;
mod policies;
mod prepared;
mod question;
mod request;
mod value;

pub use attributes::{Accessor, AsPrincipal, AsResource, Attributes};
pub use clock::{Clock, SystemClock};
pub use error::RequestError;
pub use field::{AsField, Field, Items, Lookup};
pub use index::Target;
pub use pdp::{Pdp, Snapshot};
pub use policies::Policies;
pub use prepared::{Prepared, PreparedPrincipal};
pub use question::{PrincipalRef, Question, ResourceRef};

pub use wardgate_bundle::{OpenError, Trust};
pub use wardgate_engine::attr::{Attr, AttrMap};
pub use wardgate_engine::cel::Timestamp;
pub use wardgate_engine::decide::Explanation;
pub use wardgate_engine::decision::{Decision, Effect};
pub use wardgate_engine::request::{AuxData, Principal, Request, Resource};
