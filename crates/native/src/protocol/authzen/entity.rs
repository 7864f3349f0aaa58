//! Subjects, resources and actions.

use wardgate_engine::attr::AttrMap;

use super::Result;
use super::read::Object;

/// A subject or a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its type.
    pub kind: String,
    /// Its id, unique among those of its type.
    pub id: String,
    /// Its properties in the request; `None` if the member is missing.
    pub properties: Option<AttrMap>,
}

/// An action of a subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Its properties.
    pub properties: AttrMap,
}

impl Entity {
    pub(super) fn read(position: &Object<'_>) -> Result<Self> {
        Ok(Self {
            kind: position.text("type")?,
            id: position.text("id")?,
            properties: position.given("properties")?.cloned(),
        })
    }
}

impl Action {
    pub(super) fn read(position: &Object<'_>) -> Result<Self> {
        Ok(Self {
            name: position.text("name")?,
            properties: position.object("properties")?.clone(),
        })
    }
}
