//! Writing a policy table.

pub mod pool;
