//! The question of a host: a principal wants to perform actions on a resource.

use alloc::string::String;
use alloc::vec::Vec;

use crate::attr::AttrMap;

/// One question to the PDP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The id that the host chose; the decision repeats it.
    pub request_id: String,
    /// The principal.
    pub principal: Principal,
    /// The resource.
    pub resource: Resource,
    /// The actions, in the order in which the decision lists them.
    pub actions: Vec<String>,
    /// Verified data about the request itself.
    pub aux_data: AuxData,
}

/// A person, a service or a device that wants to act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Principal {
    /// Unique id of the principal.
    pub id: String,
    /// Version of the principal policies to use; empty means the default of the table.
    pub policy_version: String,
    /// Scope where the search for principal policies starts; empty is the root.
    pub scope: String,
    /// Roles, in the order in which they are tried.
    pub roles: Vec<String>,
    /// Attributes.
    pub attr: AttrMap,
}

/// An object of actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    /// Kind of the resource, such as `leave_request`.
    pub kind: String,
    /// Version of the resource policies to use; empty means the default of the table.
    pub policy_version: String,
    /// Id of this one resource.
    pub id: String,
    /// Scope where the search for resource policies starts; empty is the root.
    pub scope: String,
    /// Attributes.
    pub attr: AttrMap,
}

/// Data about the request that the host has verified already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuxData {
    /// Claims of a JSON Web Token whose signature the host has checked.
    pub jwt: AttrMap,
    /// Several tokens by name: each a map whose one key `claims` holds the claims, a map again.
    pub jwts: AttrMap,
}
