//! Reads a JavaScript object into a request.
//!
//! The names are those of the Cerbos API. An unknown name is an error: a misspelt `attr` that was
//! ignored would change the decision.
//!
//! A caller that decides on many requests may state which of their parts are the same each time.
//! Such a part is read once and moves from one request to the next. Only a caller with sole access
//! to the objects may do so.

use alloc::boxed::Box;
use alloc::vec;
use core::cell::RefCell;
use core::mem;

use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wasm_bindgen::JsValue;

use crate::failure::Result;
use crate::path::Path;
use crate::shared::shared;
use crate::steps;
use crate::value::Reader;

/// The field that names the actions of a request.
#[derive(Clone, Copy)]
pub(crate) enum ActionField {
    /// One action, under `action`.
    Action,
    /// Several actions, under `actions`.
    Actions,
}

/// The bits of a `shared` argument: the parts that a request shares with others, as the sum of
/// these; a bit for the first request; and above these bits the number of the sharer, or 0 if there
/// is none. `npm/src/pdp/sharing.ts` has the same numbers.
const PRINCIPAL: u32 = 1;
const RESOURCE: u32 = 2;
const AUX_DATA: u32 = 4;
const FIRST: u32 = 8;
const SHARER: u32 = 4;

/// The steps that one value costs in a check with a bound: reading one takes 0.25 us, and a step
/// 0.05.
const STEPS_OF_A_VALUE: usize = 5;

/// The parts that were read, for the requests that share them.
#[derive(Default)]
pub(crate) struct Shared {
    parts: Request,
    /// The parts that are here, and not in a request.
    here: u32,
    /// The number of the sharer.
    sharer: u32,
}

shared!(static SHARED: RefCell<Option<Box<Shared>>> = RefCell::new(None));

impl Shared {
    /// Takes the parts that requests of the same sharer have left. Code of the caller may decide on
    /// requests of another sharer while a request is read, and the parts of those belong to them.
    pub(crate) fn taken(shared: u32) -> Box<Self> {
        let sharer = shared >> SHARER;
        if sharer == 0 {
            return Box::default();
        }
        let left = SHARED.with(|left| left.take());
        let mine = left.filter(|left| left.sharer == sharer && shared & FIRST == 0);
        mine.unwrap_or_else(|| Box::new(Self { sharer, ..Self::default() }))
    }

    /// Leaves these parts to the next requests of the same sharer.
    pub(crate) fn leave(self: Box<Self>) {
        if self.sharer != 0 {
            SHARED.with(|left| left.replace(Some(self)));
        }
    }

    /// Moves the `shared` parts of a request back.
    pub(crate) fn take_back(&mut self, request: &mut Request, shared: u32) {
        self.swap(request, shared);
        self.here |= shared & (PRINCIPAL | RESOURCE | AUX_DATA);
    }

    fn swap(&mut self, request: &mut Request, which: u32) {
        if which & PRINCIPAL != 0 {
            mem::swap(&mut self.parts.principal, &mut request.principal);
        }
        if which & RESOURCE != 0 {
            mem::swap(&mut self.parts.resource, &mut request.resource);
        }
        if which & AUX_DATA != 0 {
            mem::swap(&mut self.parts.aux_data, &mut request.aux_data);
        }
    }
}

/// Reads a request, except those of its `shared` parts that were read before. Charges the steps of
/// reading.
pub(crate) fn read(
    value: &JsValue,
    field: ActionField,
    shared: &mut Shared,
    which: u32,
) -> Result<Request> {
    let mut reader = Reader::new();
    let request = read_with(&mut reader, value, field, shared, which);
    steps::charge(reader.values().saturating_mul(STEPS_OF_A_VALUE));
    request
}

fn read_with(
    reader: &mut Reader,
    value: &JsValue,
    field: ActionField,
    shared: &mut Shared,
    which: u32,
) -> Result<Request> {
    let root = Path::ROOT;
    let fields = reader.fields(value, &root, field.fields())?;
    let known = shared.here & which;
    let mut request = Request {
        request_id: reader.optional_string(fields.member("requestId"), &root.key("requestId"))?,
        ..Request::default()
    };
    if known & PRINCIPAL == 0 {
        let path = root.key("principal");
        request.principal = principal(reader, fields.member("principal"), &path)?;
    }
    if known & RESOURCE == 0 {
        let path = root.key("resource");
        request.resource = resource(reader, fields.member("resource"), &path)?;
    }
    request.actions = match field {
        ActionField::Action => vec![reader.string(fields.member("action"), &root.key("action"))?],
        ActionField::Actions => reader.strings(fields.member("actions"), &root.key("actions"))?,
    };
    if known & AUX_DATA == 0 {
        request.aux_data = aux_data(reader, fields.member("auxData"), &root.key("auxData"))?;
    }
    shared.swap(&mut request, known);
    Ok(request)
}

impl ActionField {
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Action => &["principal", "resource", "action", "auxData", "requestId"],
            Self::Actions => &["principal", "resource", "actions", "auxData", "requestId"],
        }
    }
}

fn principal(reader: &mut Reader, value: &JsValue, path: &Path<'_>) -> Result<Principal> {
    let fields = reader.fields(value, path, &["id", "roles", "attr", "policyVersion", "scope"])?;
    Ok(Principal {
        id: reader.string(fields.member("id"), &path.key("id"))?,
        policy_version: reader
            .optional_string(fields.member("policyVersion"), &path.key("policyVersion"))?,
        scope: reader.optional_string(fields.member("scope"), &path.key("scope"))?,
        roles: reader.strings(fields.member("roles"), &path.key("roles"))?,
        attr: reader.attributes(fields.member("attr"), &path.key("attr"))?,
    })
}

fn resource(reader: &mut Reader, value: &JsValue, path: &Path<'_>) -> Result<Resource> {
    let fields = reader.fields(value, path, &["kind", "id", "attr", "policyVersion", "scope"])?;
    Ok(Resource {
        kind: reader.string(fields.member("kind"), &path.key("kind"))?,
        policy_version: reader
            .optional_string(fields.member("policyVersion"), &path.key("policyVersion"))?,
        id: reader.string(fields.member("id"), &path.key("id"))?,
        scope: reader.optional_string(fields.member("scope"), &path.key("scope"))?,
        attr: reader.attributes(fields.member("attr"), &path.key("attr"))?,
    })
}

fn aux_data(reader: &mut Reader, value: &JsValue, path: &Path<'_>) -> Result<AuxData> {
    if value.is_undefined() {
        return Ok(AuxData::default());
    }
    let fields = reader.fields(value, path, &["jwt", "jwts"])?;
    Ok(AuxData {
        jwt: reader.attributes(fields.member("jwt"), &path.key("jwt"))?,
        jwts: reader.attributes(fields.member("jwts"), &path.key("jwts"))?,
    })
}
