//! Subjects, resources and actions.

use wardgate_engine::attr::AttrMap;

use super::AuthzenError;
use super::read::Object;

/// A subject or a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its type.
    pub kind: String,
    /// Its id, unique among those of its type.
    pub id: String,
    /// What is said of it; `None` where nothing is, not even that there is nothing.
    pub properties: Option<AttrMap>,
}

/// What a subject wants to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// How it is to be done.
    pub properties: AttrMap,
}

impl Entity {
    pub(super) fn read(position: &Object<'_>) -> Result<Self, AuthzenError> {
        Ok(Self {
            kind: position.text("type")?,
            id: position.text("id")?,
            properties: position.given("properties")?.cloned(),
        })
    }
}

impl Action {
    pub(super) fn read(position: &Object<'_>) -> Result<Self, AuthzenError> {
        Ok(Self {
            name: position.text("name")?,
            properties: position.object("properties")?.clone(),
        })
    }
}
