//! Looks up what policies import, and leaves nothing to be looked up.

pub mod model;
