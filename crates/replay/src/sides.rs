//! The two sides of a replay.

use wardgate_native::Policies;

/// The policies of a replay.
#[derive(Clone, Copy)]
pub struct Sides<'p> {
    /// The policies before the change. Without them the logged effects are the old decisions.
    pub old: Option<&'p Policies>,
    /// The policies after the change.
    pub new: &'p Policies,
}
