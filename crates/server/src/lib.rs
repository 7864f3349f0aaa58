//! The native host: a policy decision point as a server.
//!
//! Every protocol answers from one [`State`], which is made as a whole and replaced as a whole, so that an
//! answer never mixes two revisions. Policies come from a [`Source`] and enter through `bundle::open`; where
//! they are compiled is none of the server's business. What goes wrong with a new bundle is told, and the last
//! good one stays.
#![forbid(unsafe_code)]

mod accept;
mod address;
mod auth;
mod aux_data;
mod awake;
pub mod config;
mod crew;
mod deciders;
mod expiry;
mod fetch;
mod files;
mod http;
mod index;
mod jwt;
mod limits;
mod listeners;
mod log;
mod metrics;
mod notify;
mod pages;
mod reload;
mod server;
mod shared;
mod source;
mod state;
pub mod store;
pub mod tcp;
mod tls;
mod token;
mod traces;

pub use auth::{Authenticator, Caller, Refusal};
pub use config::{Config, ConfigError};
pub use http::bodies::Bodies;
pub use metrics::Metrics;
pub use server::{Server, ServerError};
pub use shared::{Shared, Stopping};
pub use source::{FileSource, Found, Source, SourceError, UrlSource};
pub use state::{Origin, State};
