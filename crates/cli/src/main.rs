//! (in construction)
#![forbid(unsafe_code)]
fn main() {}
