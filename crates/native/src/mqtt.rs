//! What one principal may do with topics of MQTT, as lists of filters for brokers that take lists
//! when a client connects.
//!
//! [`Grants`] are computed by the engine: see [`Policies::grants`](crate::Policies::grants). What
//! the lists allow, the policies allow, for every topic and whatever is not known when a client
//! connects. A topic that the policies allow for some messages only, such as those of QoS 0, is not
//! in the lists, which are then not exact.

mod foreign;
mod grants;
mod lists;
mod regions;

pub use foreign::{ClientGrants, Door, Dropped, Target, Translated, Untranslatable};
pub(crate) use grants::of;
pub use grants::{Grants, Shortfall};
