//! The border for hosts of WebAssembly that are not JavaScript.
//!
//! One module with two interfaces. [`abi`] is for hosts that run plain modules: numbers in, numbers
//! out, bytes in memory, as `docs/ABI.md` describes. `component` is for hosts of the component
//! model, as `wit/wardgate-pdp.wit` describes. Both call [`opened`], and this crate makes no
//! decisions: the crate that reads requests for Rust hosts reads them here too.
//!
//! The module imports nothing. Time and trust are arguments.

mod abi;
mod blocks;
#[cfg(feature = "component")]
mod component;
mod failure;
mod handles;
mod limits;
mod opened;
mod recorded;
#[cfg(feature = "component")]
mod values;
