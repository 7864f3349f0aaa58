//! (in construction)
fn main() {}
