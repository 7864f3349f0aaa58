//! The attributes of the principal and of the resource, as far as expressions read them.

use super::places::{Place, Step, Whose};
use super::shape::Shape;

/// The attributes of one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    pub(super) principal: Shape,
    pub(super) resource: Shape,
}

impl Attributes {
    /// Returns the shape at a place, which is then known to be read.
    pub(super) fn at(&mut self, place: &Place) -> &mut Shape {
        let root = match place.whose {
            Whose::Principal => &mut self.principal,
            Whose::Resource => &mut self.resource,
        };
        place.steps.iter().fold(root, |shape, step| match step {
            Step::Member(name) => shape.member(name),
            Step::Element => shape.elements(),
        })
    }
}
