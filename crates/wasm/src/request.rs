//! Reads a request that JavaScript wrote into the room: the mirror of `npm/src/wasm/request.ts`,
//! which reads the objects of the caller and enforces the bounds of requests.
//!
//! A caller that decides on many requests may state which of their parts are the same each time.
//! Such a part is read once and moves from one request to the next. Only a caller with sole access
//! to the objects may do so.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem;

use wardgate_engine::limits::MAX_VALUE_DEPTH;
use wardgate_engine::request::{AuxData, Principal, Request, Resource};

use crate::failure::{Failure, Result};
use crate::reader::Reader;
use crate::room;
use crate::shared::shared;

/// The tags of the parts in a message, and the bits of a `shared` argument: the parts that a request
/// shares with others, as the sum of these; a bit for the first request; and above these bits the
/// number of the sharer, or 0 if there is none. `npm/src/pdp/sharing.ts` has the same numbers.
const PRINCIPAL: u32 = 1;
const RESOURCE: u32 = 2;
const AUX_DATA: u32 = 4;
const FIRST: u32 = 8;
const SHARER: u32 = 4;

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
    /// Takes the parts that requests of the same sharer have left; `None` without a sharer. Code of
    /// the caller may decide on requests of another sharer while a request is read, and the parts of
    /// those belong to them.
    pub(crate) fn taken(shared: u32) -> Option<Box<Self>> {
        let sharer = shared >> SHARER;
        if sharer == 0 {
            return None;
        }
        let left = SHARED.with(|left| left.take());
        let mine = left.filter(|left| left.sharer == sharer && shared & FIRST == 0);
        mine.or_else(|| Some(Box::new(Self { sharer, ..Self::default() })))
    }

    /// Leaves the `shared` parts of a request to the next ones of the same sharer.
    pub(crate) fn leave(mut self: Box<Self>, mut request: Request, shared: u32) {
        self.swap(&mut request, shared);
        self.here |= shared & (PRINCIPAL | RESOURCE | AUX_DATA);
        SHARED.with(|left| left.replace(Some(self)));
    }

    /// Returns the `shared` parts that are here.
    const fn known(&self, shared: u32) -> u32 {
        let is_same = self.sharer == shared >> SHARER && shared & FIRST == 0;
        if is_same { self.here & shared } else { 0 }
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

/// Returns the `shared` parts that a request of the same sharer need not contain.
#[unsafe(export_name = "sharedParts")]
extern "C" fn shared_parts(shared: u32) -> u32 {
    SHARED.with(|left| left.borrow().as_ref().map_or(0, |left| left.known(shared)))
}

/// Reads the request in the first `length` bytes of the room, and completes it with the parts that
/// its sharer has left.
pub(crate) fn read(length: usize, shared: Option<&mut Shared>, which: u32) -> Result<Request> {
    let read = room::with(|room| message(Reader::new(room.get(..length)?)));
    let malformed = || Failure::Range("the request changed in memory".into());
    let (mut request, mut parts) = read.ok_or_else(malformed)?;
    if let Some(shared) = shared {
        let known = !parts & which & shared.here;
        shared.swap(&mut request, known);
        parts |= known;
    }
    if parts & NEEDED == NEEDED { Ok(request) } else { Err(malformed()) }
}

/// Reads a message: parts, each behind its tag. Returns the request and the tags.
fn message(mut reader: Reader<'_>) -> Option<(Request, u32)> {
    let mut request = Request::default();
    let mut parts = 0;
    while let Some(part) = reader.byte().map(u32::from) {
        match part {
            PRINCIPAL => request.principal = principal(&mut reader)?,
            RESOURCE => request.resource = resource(&mut reader)?,
            AUX_DATA => request.aux_data = aux_data(&mut reader)?,
            ACTIONS => request.actions = texts(&mut reader)?,
            REQUEST_ID => request.request_id = text(&mut reader)?,
            _ => return None,
        }
        parts |= part;
    }
    Some((request, parts))
}

fn principal(reader: &mut Reader<'_>) -> Option<Principal> {
    Some(Principal {
        id: text(reader)?,
        policy_version: text(reader)?,
        scope: text(reader)?,
        roles: texts(reader)?,
        attr: reader.map(MAX_VALUE_DEPTH)?,
    })
}

fn resource(reader: &mut Reader<'_>) -> Option<Resource> {
    Some(Resource {
        kind: text(reader)?,
        policy_version: text(reader)?,
        id: text(reader)?,
        scope: text(reader)?,
        attr: reader.map(MAX_VALUE_DEPTH)?,
    })
}

fn aux_data(reader: &mut Reader<'_>) -> Option<AuxData> {
    Some(AuxData { jwt: reader.map(MAX_VALUE_DEPTH)?, jwts: reader.map(MAX_VALUE_DEPTH)? })
}

fn texts(reader: &mut Reader<'_>) -> Option<Vec<String>> {
    reader.counted(text)
}

fn text(reader: &mut Reader<'_>) -> Option<String> {
    reader.text().map(String::from)
}

/// The parts that every request has.
const NEEDED: u32 = PRINCIPAL | RESOURCE | ACTIONS;

/// The tags of the parts that requests do not share.
const ACTIONS: u32 = 8;
const REQUEST_ID: u32 = 16;

#[cfg(test)]
mod tests;
