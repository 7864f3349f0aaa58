//! Requests about rate limits alone, as JSON.
//!
//! A request is `{"principal", "action", "resource", "auxData", "limits"}`, with `limits` as a list of names.
//! It has no number: keys, costs and quotas are those of the policies. The host reads `auxData`, as it
//! does for a call of Cerbos.

use wardgate_engine::attr::Attr;
use wardgate_engine::request::{AuxData, Request};

use super::cerbos::{Message, principal, resource};

/// A request about the limits that an action meets.
#[derive(Debug)]
pub struct LimitsCall {
    /// The principal and the resource.
    pub request: Request,
    /// The action.
    pub action: String,
    /// The limits that are meant; all that the action meets if empty.
    pub names: Vec<String>,
}

impl LimitsCall {
    /// Reads a request, and its `auxData` with `aux_data`.
    ///
    /// # Errors
    /// The value is not a request; the message is for its sender.
    pub fn read(
        value: &Attr,
        aux_data: impl FnOnce(&Attr) -> Result<AuxData, String>,
    ) -> Result<Self, String> {
        let call = Message::read(value, String::new(), CALL)?;
        let action = call.name("action")?;
        let names = call.field("limits").map_or(Ok(Vec::new()), |_| call.names("limits"))?;
        let request = Request {
            principal: principal(call.required("principal")?)?,
            resource: resource(call.required("resource")?, call.at("resource"))?,
            aux_data: call.field("auxData").map_or(Ok(AuxData::default()), aux_data)?,
            actions: vec![action.clone()],
            ..Request::default()
        };
        Ok(Self { request, action, names })
    }
}

const CALL: &[&str] = &["principal", "action", "resource", "auxData", "limits"];
