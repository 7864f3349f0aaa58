//! Rules of SPOCP that change while the server runs, and survive its end.
//!
//! Readers share one set and never wait for the disk. One writer makes all changes: it writes them
//! to the journal, waits for the disk, and only then puts them into the set and answers. Protocols
//! use [`Rules`].

pub mod base;
mod batch;
pub(crate) mod change;
pub(crate) mod error;
mod key;
pub mod limits;
mod live;
mod store;
mod writer;

pub use crate::config::Durability;
pub use crate::journal::error::JournalError;
pub use batch::{Refusal, RuleChange};
pub use error::StoreError;
pub use key::Key;
pub use live::Live;
pub use store::{Outcome, Rules};
