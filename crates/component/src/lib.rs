//! The border for hosts of WebAssembly that are not JavaScript.
//!
//! One module with two doors. [`abi`] is for hosts that run plain modules: numbers in, numbers out, bytes in
//! memory, as `docs/ABI.md` describes. `component` is for hosts of the component model, as
//! `wit/wardgate-pdp.wit` describes. Behind both stands [`opened`], and nothing is decided here: requests are
//! read by the crate that reads them for Rust hosts.
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
#[cfg(feature = "component")]
mod values;
