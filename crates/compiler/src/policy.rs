//! Policies as their authors wrote them.

pub mod model;
pub mod name;
pub mod parse;
