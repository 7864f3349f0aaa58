//! Stores of rate limits: where the states of [`wardgate_ratelimit`] are, and what holds when that
//! place is away.
//!
//! | type | states are | exact over |
//! |---|---|---|
//! | [`Memory`] | in this process, in fixed memory | its threads |
//! | `Redis` (feature `redis`) | on Redis, Valkey or Dragonfly, by their clock | all who share it |
//! | `RedisCluster` (feature `redis`) | on the nodes of a cluster, by slot | all who share it |
//! | [`Leased`] | in another store; tokens paid there in advance, in this process | all who share it |
//! | [`Guarded`] | in another store; in [`Memory`] while that one is away | see [`Failure`] |
//!
//! No store admits more than a rule does. A check of several limits charges all of them or none.

#![forbid(unsafe_code)]

#[cfg(feature = "redis")]
mod breaker;
mod demand;
mod few;
mod guarded;
mod leased;
mod limits;
mod memory;
#[cfg(feature = "redis")]
mod remote;
mod store;

pub use demand::{Demand, DemandError, Demands, Failure, Key, KeyParts, Limit, Print, Terms};
pub use few::Few;
pub use guarded::{Answer, Guarded, Share, Standing};
pub use leased::Leased;
pub use limits::{MAX_DEMANDS, MAX_NAME_BYTES, MAX_SHORT_KEY_BYTES};
pub use memory::Memory;
#[cfg(feature = "redis")]
pub use remote::{ConnectError, Counts, Options, Redis, RedisCluster};
#[cfg(feature = "tls")]
pub use remote::{NoRoots, Roots};
pub use store::{Action, Away, Store};
