//! Policies as their authors wrote them.

pub mod model;
