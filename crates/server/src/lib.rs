//! The native host: a policy decision point as a server.
//!
//! Every protocol answers from one [`State`], which is made as a whole and replaced as a whole, so
//! that an answer never mixes two revisions. Policies come from a [`Source`] and enter through
//! `bundle::open`; the server knows no compiler. An error in a new bundle is logged, and the last
//! good one stays in use.
#![forbid(unsafe_code)]

mod address;
pub mod config;
mod deciders;
pub mod decision_log;
mod files;
pub mod health;
mod http;
mod identity;
mod journal;
mod limits;
mod mqtt;
mod net;
mod policies;
mod ratelimit;
pub mod rules;
mod server;
mod shared;
pub mod spocp;
mod telemetry;
pub mod witness;

pub use config::{Config, ConfigError};
pub use http::bodies::Bodies;
pub use identity::auth::{Authenticator, Caller, Refusal};
pub use net::stopping::Stopping;
pub use policies::source::{FileSource, Lookup, Source, SourceError, UrlSource};
pub use policies::state::{Origin, State};
pub use server::{Server, ServerError};
pub use shared::Shared;
pub use telemetry::metrics::Metrics;
