//! Evidence: the bytes from which alone a decision can be made again.
//!
//! Of a decision by a fast path they are all that the fast path can read: the principal if it has policies of its own, the
//! number of the fast path, the roles that it tells from others, and the value of each slot. An attribute that no rule
//! reads is not in them. Of other decisions they are the request.

use wardgate_decision_log::limits::MAX_EVIDENCE_BYTES;
use wardgate_decision_log::record::request_digest;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Decision, Reason};
use wardgate_engine::limits::MAX_VALUE_DEPTH;
use wardgate_engine::request::{Request, Resource};

use super::entry::Evidence;
use crate::fast::decide::{Decider, select};
use crate::fast::index::Way;
use crate::fast::input::{FastInput, SlotValue, ToRequest, read};
use crate::fast::path::UnpackedPath;
use crate::fast::request::RequestInput;
use crate::fast::values::{END, LIST, MISSING, TEXT, ValueWriter, Written};
use crate::field::Lookup;
use crate::policies::Policies;
use crate::question::Question;

/// A question that can be recorded.
pub(super) trait Recordable: FastInput {
    /// Writes all of the question.
    fn write(&self, writer: &mut ValueWriter<'_>) -> Written;

    /// Returns the digest of the question, or `None` if it is too long even for that.
    fn digest(&self) -> Option<[u8; 32]>;

    /// Decides by the general path.
    fn decide_general(&self, policies: &Policies, now: Timestamp) -> bool;
}

impl<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized> Recordable for Question<'_, S, P, R> {
    fn write(&self, writer: &mut ValueWriter<'_>) -> Written {
        let (principal, resource) = (&self.principal, &self.resource);
        put_texts(writer, [self.action].into_iter())?;
        put_names(writer, [principal.id, principal.policy_version, principal.scope])?;
        put_texts(writer, self.roles())?;
        writer.map(&principal.attributes, MAX_VALUE_DEPTH)?;
        let names = [resource.kind, resource.policy_version, resource.id, resource.scope];
        put_names(writer, names)?;
        writer.map(&resource.attributes, MAX_VALUE_DEPTH)?;
        writer.map(&(), MAX_VALUE_DEPTH)?;
        writer.map(&(), MAX_VALUE_DEPTH)
    }

    fn digest(&self) -> Option<[u8; 32]> {
        digest_of(&self.request()?, &[self.action])
    }

    fn decide_general(&self, policies: &Policies, now: Timestamp) -> bool {
        let is_allowed = |request: Request| policies.table().is_allowed(&request, self.action, now);
        self.request().is_some_and(is_allowed)
    }
}

impl Recordable for RequestInput<'_> {
    fn write(&self, writer: &mut ValueWriter<'_>) -> Written {
        write_request(self.request, [self.action].into_iter(), writer)
    }

    fn digest(&self) -> Option<[u8; 32]> {
        digest_of(self.request, &[self.action])
    }

    fn decide_general(&self, policies: &Policies, now: Timestamp) -> bool {
        policies.table().is_allowed(self.request, self.action, now)
    }
}

/// Returns the evidence of a decision by the general path: its request, which is written into `bytes`, or its digest where it does
/// not fit. It is left out where steps did not suffice for an action, since another time they may.
pub fn request_evidence<'b>(
    request: &Request,
    decision: &Decision,
    bytes: &'b mut [u8],
) -> Evidence<'b> {
    let mut reasons = decision.actions.iter().map(|action| &action.reason);
    if reasons.any(|reason| matches!(reason, Reason::LimitReached(_) | Reason::RequestLimitReached))
    {
        return Evidence::TooLarge;
    }
    let actions: Vec<&str> = decision.actions.iter().map(|action| &*action.action).collect();
    whole(
        bytes,
        |writer| write_request(request, actions.iter().copied(), writer),
        || digest_of(request, &actions),
    )
}

/// Writes a question, and returns it as the evidence, or its digest if it does not fit.
pub(super) fn whole<'b>(
    bytes: &'b mut [u8],
    write: impl FnOnce(&mut ValueWriter<'_>) -> Written,
    digest: impl FnOnce() -> Option<[u8; 32]>,
) -> Evidence<'b> {
    let mut writer = ValueWriter::new(bytes);
    let written = write(&mut writer);
    let length = writer.length();
    if written.is_some() {
        return Evidence::Request(part(bytes, length));
    }
    let place = digest().zip(bytes.first_chunk_mut());
    place.map_or(Evidence::TooLarge, |(digest, place)| {
        *place = digest;
        Evidence::Digest(place)
    })
}

/// Returns a request in the form of an evidence, with the members of each object in the order of their names: its
/// [digest](wardgate_decision_log::record::request_digest) is in the records of requests that are too long. Returns `None` if it
/// has more than 1 MiB or nests deeper than a request may.
#[must_use]
pub fn canonical_request(request: &Request) -> Option<Vec<u8>> {
    let actions: Vec<&str> = request.actions.iter().map(String::as_str).collect();
    canonical(request, &actions)
}

fn digest_of(request: &Request, actions: &[&str]) -> Option<[u8; 32]> {
    Some(request_digest(&canonical(request, actions)?))
}

/// Writes a request about some actions. The maps of a request have their members in the order of their names.
fn canonical(request: &Request, actions: &[&str]) -> Option<Vec<u8>> {
    let mut bytes = vec![0; MAX_EVIDENCE_BYTES];
    while bytes.len() < MAX_DIGESTED_BYTES {
        bytes.resize(bytes.len().saturating_mul(4), 0);
        let mut writer = ValueWriter::new(&mut bytes);
        if write_request(request, actions.iter().copied(), &mut writer).is_some() {
            let length = writer.length();
            bytes.truncate(length);
            return Some(bytes);
        }
    }
    None
}

pub(super) fn part(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or_default()
}

/// Writes a request about some actions.
fn write_request<'r>(
    request: &Request,
    actions: impl Iterator<Item = &'r str>,
    writer: &mut ValueWriter<'_>,
) -> Written {
    let Request { principal, resource, aux_data, .. } = request;
    put_texts(writer, actions)?;
    put_names(writer, [&principal.id, &principal.policy_version, &principal.scope])?;
    put_texts(writer, principal.roles.iter().map(String::as_str))?;
    writer.map(&principal.attr, MAX_VALUE_DEPTH)?;
    let Resource { kind, policy_version, id, scope, attr } = resource;
    put_names(writer, [kind, policy_version, id, scope])?;
    writer.map(attr, MAX_VALUE_DEPTH)?;
    writer.map(&aux_data.jwt, MAX_VALUE_DEPTH)?;
    writer.map(&aux_data.jwts, MAX_VALUE_DEPTH)
}

fn put_names<const N: usize>(writer: &mut ValueWriter<'_>, names: [&str; N]) -> Written {
    names.into_iter().try_for_each(|name| writer.text(TEXT, name))
}

fn put_texts<'t>(
    writer: &mut ValueWriter<'_>,
    mut texts: impl Iterator<Item = &'t str>,
) -> Written {
    writer.put(&[LIST])?;
    texts.try_for_each(|text| writer.text(TEXT, text))?;
    writer.put(&[END])
}

/// Decides by the fast path of a question. Returns the answer, or `None` if only the general path can decide; and the
/// number of bytes of its part of an evidence, if it fits into `bytes`.
pub(super) fn decide_fast(
    policies: &Policies,
    input: &impl FastInput,
    now: Timestamp,
    bytes: Option<&mut [u8]>,
) -> (Option<bool>, Option<usize>) {
    if policies.has_expired(&now) {
        return (None, None);
    }
    let (table, index) = (policies.table(), policies.index());
    let fast_path = match select(table, index, input) {
        Way::FastPath(fast_path) => Some(&**fast_path),
        Way::Denied => None,
        Way::General => return (None, None),
    };
    let decided = fast_path.map_or(Some(false), |fast_path| {
        let value = |at: usize| {
            fast_path.slots.get(at).map_or(SlotValue::Unsupported, |slot| read(input, slot))
        };
        Decider { table, fast_path, clock: &now }.decide(input, value)
    });
    let own = index.has_own_policies(input.principal()).then(|| input.principal());
    let write =
        |bytes| put_part(bytes, |bytes| write_read(ValueWriter::new(bytes), own, fast_path, input));
    (decided, decided.and(bytes).and_then(write))
}

/// Writes the part of one outcome after its length. Returns the length of both; `None` if they do not fit.
fn put_part(bytes: &mut [u8], write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<usize> {
    let (head, part) = bytes.split_first_chunk_mut()?;
    let most = part.len().min(MAX_PART_BYTES);
    let length = write(part.get_mut(..most)?)?;
    *head = u16::try_from(length).ok()?.to_le_bytes();
    length.checked_add(head.len())
}

/// Writes all that a fast path can read of a question; `None` if it is too long or unreadable. Without a fast path, no
/// policy is about the target.
fn write_read(
    mut writer: ValueWriter<'_>,
    own: Option<&str>,
    fast_path: Option<&UnpackedPath>,
    input: &impl FastInput,
) -> Option<usize> {
    match own {
        Some(principal) => writer.text(TEXT, principal)?,
        None => writer.put(&[MISSING])?,
    }
    let Some(fast_path) = fast_path else {
        writer.number(NO_FAST_PATH)?;
        return Some(writer.length());
    };
    writer.number(fast_path.id)?;
    writer.put(&[LIST])?;
    for role in input.roles() {
        match fast_path.lists(role) {
            true => writer.text(TEXT, role)?,
            false => writer.put(&[MISSING])?,
        }
    }
    writer.put(&[END])?;
    let mut slots = fast_path.slots.iter();
    slots.try_for_each(|slot| writer.value(read(input, slot), input))?;
    Some(writer.length())
}

/// The most bytes of a request whose digest is recorded: sixty-four times as many as a record holds.
const MAX_DIGESTED_BYTES: usize = 1 << 20;

/// The most bytes of one part; of what is longer the request is the evidence.
const MAX_PART_BYTES: usize = 512;

/// The most bytes of one part with its length.
pub(super) const MAX_OUTCOME_BYTES: usize = MAX_PART_BYTES + 2;

/// The number in the place of that of a fast path, where no policy is about the target.
pub(super) const NO_FAST_PATH: u32 = u32::MAX;
