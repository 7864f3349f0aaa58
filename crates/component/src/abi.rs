//! The plain calls: numbers in, numbers out, bytes in memory. `docs/ABI.md` describes them for
//! hosts.
//!
//! A result below zero is an error: the number gives its kind, and the answer contains code and
//! message as JSON. Zero or more is the result itself; where that is a length, it is the length of
//! the answer in bytes. The answer is valid until the next call that has one.

use std::cell::{RefCell, UnsafeCell};

use wardgate_engine::cel::Timestamp;
use wardgate_engine::wire;
use wardgate_fastpath::{Answer, Frame};

use crate::blocks;
use crate::failure::{Failure, Kind};
use crate::handles::{self, Moment};
use crate::opened::{Opened, time};
use crate::recorded::{self, RecordedDecision};

/// Returns the version of these calls.
#[unsafe(export_name = "wardgate_version")]
extern "C" fn version() -> i32 {
    VERSION
}

/// Returns the address of zeroed memory for `bytes`, which the host fills and frees; 0 if memory or
/// the number of blocks is exhausted.
#[unsafe(export_name = "wardgate_alloc")]
extern "C" fn alloc(bytes: usize) -> usize {
    blocks::allocate(bytes).unwrap_or(0)
}

/// Frees the memory at `address`.
#[unsafe(export_name = "wardgate_free")]
extern "C" fn free(address: usize) -> i32 {
    done(blocks::free(address))
}

/// Returns the address of the answer.
#[unsafe(export_name = "wardgate_answer")]
extern "C" fn answer() -> usize {
    ANSWER.with_borrow(|answer| answer.as_ptr().addr())
}

/// Returns the length of the answer.
#[unsafe(export_name = "wardgate_answer_length")]
extern "C" fn answer_length() -> usize {
    ANSWER.with_borrow(Vec::len)
}

/// Opens a bundle and returns its handle. A time below zero means that the host passes none.
#[unsafe(export_name = "wardgate_open")]
extern "C" fn open(
    bundle: usize,
    bundle_length: usize,
    terms: usize,
    terms_length: usize,
    now: i64,
    min_revision: i64,
) -> i32 {
    let opened = blocks::with((bundle, bundle_length), |bundle| {
        blocks::with((terms, terms_length), |terms| {
            handles::open(bundle, terms, moment(now, min_revision)?)
        })
    });
    number(opened.and_then(|opened| opened).and_then(|opened| opened))
}

/// Replaces an open bundle by another one.
#[unsafe(export_name = "wardgate_reload")]
extern "C" fn reload(
    handle: u32,
    bundle: usize,
    bundle_length: usize,
    now: i64,
    min_revision: i64,
) -> i32 {
    let reload = |bundle: &[u8]| handles::reload(handle, bundle, moment(now, min_revision)?);
    done(blocks::with((bundle, bundle_length), reload).and_then(|outcome| outcome))
}

/// Closes a bundle.
#[unsafe(export_name = "wardgate_close")]
extern "C" fn close(handle: u32) -> i32 {
    done(handles::close(handle))
}

/// Answers with the header of a bundle, as JSON.
#[unsafe(export_name = "wardgate_header")]
extern "C" fn header(handle: u32) -> i32 {
    let json = |opened: &Opened| {
        let (header, signers) = opened.header();
        header.json(signers).into_bytes()
    };
    length(handles::with(handle, json))
}

/// Decides one action: 1 is Allow, 0 is Deny.
#[unsafe(export_name = "wardgate_is_allowed")]
extern "C" fn is_allowed(handle: u32, at: usize, length: usize, seconds: i64, nanos: u32) -> i32 {
    number(ask(handle, (at, length), (seconds, nanos), Opened::is_allowed).map(i32::from))
}

/// Decides several actions, and answers with the decision as canonical JSON.
#[unsafe(export_name = "wardgate_check")]
extern "C" fn check(handle: u32, at: usize, bytes: usize, seconds: i64, nanos: u32) -> i32 {
    let decision = ask(handle, (at, bytes), (seconds, nanos), Opened::check);
    length(decision.map(|decision| wire::decision_json(&decision).into_bytes()))
}

/// Decides one action on several resources, and answers with the indices of those that are allowed,
/// four bytes each.
#[unsafe(export_name = "wardgate_filter")]
extern "C" fn filter(handle: u32, at: usize, bytes: usize, seconds: i64, nanos: u32) -> i32 {
    let positions = ask(handle, (at, bytes), (seconds, nanos), Opened::filter);
    length(positions.map(|positions| positions.into_iter().flat_map(u32::to_le_bytes).collect()))
}

/// Decides one action, and answers with the decision and every rule that was considered, as JSON.
#[unsafe(export_name = "wardgate_explain")]
extern "C" fn explain(handle: u32, at: usize, bytes: usize, seconds: i64, nanos: u32) -> i32 {
    length(ask(handle, (at, bytes), (seconds, nanos), Opened::explain).map(String::into_bytes))
}

/// Answers an evaluation request of AuthZEN with its response.
#[unsafe(export_name = "wardgate_evaluate")]
extern "C" fn evaluate(handle: u32, at: usize, bytes: usize, seconds: i64, nanos: u32) -> i32 {
    length(ask(handle, (at, bytes), (seconds, nanos), Opened::evaluate).map(String::into_bytes))
}

/// Decides a recorded decision again at a time in microseconds since 1970, and answers with a byte for each target: 0 for
/// denied, 1 for allowed, 2 where the evidence is none of a decision by this bundle about the target.
#[unsafe(export_name = "wardgate_replay")]
extern "C" fn replay(handle: u32, at: usize, bytes: usize, micros: i64) -> i32 {
    let again = blocks::with((at, bytes), |bytes| {
        let decision = RecordedDecision::read(bytes)?;
        handles::with(handle, |opened| opened.replay(&decision, micros))
    });
    length(again.and_then(|again| again).map(recorded::answers))
}

/// Answers with the fast paths of a kind, version and scope, as JSON. The three names are adjacent
/// in memory.
#[unsafe(export_name = "wardgate_plan_list")]
extern "C" fn fast_path_list(
    handle: u32,
    at: usize,
    kind: usize,
    version: usize,
    scope: usize,
) -> i32 {
    let all = kind.saturating_add(version).saturating_add(scope);
    let list = blocks::with((at, all), |names| {
        let names = names_in(names, [kind, version])?;
        let [kind, version, scope] = names;
        handles::with(handle, |opened| {
            wire::fast_path_list_json(opened.table(), kind, version, scope)
        })
    });
    length(list.and_then(|list| list).map(String::into_bytes))
}

/// Answers with one fast path, as JSON; empty if a slot has a test, which a frame of this interface
/// cannot hold.
#[unsafe(export_name = "wardgate_plan")]
extern "C" fn fast_path(handle: u32, fast_path: u32) -> i32 {
    let json =
        |opened: &Opened| wire::untested_fast_path_json(opened.table(), fast_path).into_bytes();
    length(handles::with(handle, json))
}

/// Answers with the ids of the principals with principal policies, as JSON.
#[unsafe(export_name = "wardgate_principals")]
extern "C" fn principals(handle: u32) -> i32 {
    let json = |opened: &Opened| wire::principals_json(opened.table()).into_bytes();
    length(handles::with(handle, json))
}

/// Returns the address of the frame.
#[unsafe(export_name = "wardgate_frame")]
extern "C" fn frame() -> usize {
    FRAME.with(|frame| frame.get().addr())
}

/// Decides by a fast path that runs no programs, on the frame, for roles with these masks. Returns
/// 0 for Deny, 1 for Allow, and 2 if the host must send the whole request. Invalid input gives 2,
/// and so does every bundle that can expire: see [`decide_at`].
#[unsafe(export_name = "wardgate_decide")]
extern "C" fn decide(handle: u32, fast_path: u32, roles: u32) -> i32 {
    decide_by_frame(handle, (fast_path, roles), None)
}

/// Decides like [`decide`] at a time in seconds since 1970; 2 once the bundle has expired.
#[unsafe(export_name = "wardgate_decide_at")]
extern "C" fn decide_at(handle: u32, fast_path: u32, roles: u32, seconds: i64) -> i32 {
    decide_by_frame(handle, (fast_path, roles), Some(seconds))
}

fn decide_by_frame(handle: u32, (fast_path, roles): (u32, u32), seconds: Option<i64>) -> i32 {
    let decide = |opened: &Opened| {
        if opened.may_have_expired(seconds) {
            return Answer::Unsure;
        }
        FRAME.with(|frame| {
            // SAFETY: only the host writes the frame, and between calls only: there is one thread.
            opened.table().decide(fast_path, roles, unsafe { &*frame.get() })
        })
    };
    match handles::with(handle, decide) {
        Ok(Answer::Deny) => 0,
        Ok(Answer::Allow) => 1,
        Ok(Answer::Unsure) | Err(_) => 2,
    }
}

/// Calls `ask` with an open bundle and the bytes of a request.
fn ask<T>(
    handle: u32,
    request: (usize, usize),
    (seconds, nanos): (i64, u32),
    ask: impl FnOnce(&Opened, &[u8], Timestamp) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let now = time(seconds, nanos)?;
    blocks::with(request, |request| handles::with(handle, |opened| ask(opened, request, now))?)?
}

fn moment(now: i64, min_revision: i64) -> Result<Moment, Failure> {
    let min_revision = u64::try_from(min_revision)
        .map_err(|_| Failure::new(Kind::Terms, "the lowest revision must not be below zero"))?;
    Ok(Moment { now: u64::try_from(now).ok(), min_revision })
}

/// Splits bytes into three names.
fn names_in(bytes: &[u8], lengths: [usize; 2]) -> Result<[&str; 3], Failure> {
    let no_text = |_| Failure::new(Kind::Request, "a name is not UTF-8");
    let outside = || Failure::new(Kind::Address, "a name ends outside its block");
    let [kind, version] = lengths;
    let (kind, rest) = bytes.split_at_checked(kind).ok_or_else(outside)?;
    let (version, scope) = rest.split_at_checked(version).ok_or_else(outside)?;
    let name = |bytes| std::str::from_utf8(bytes).map_err(no_text);
    Ok([name(kind)?, name(version)?, name(scope)?])
}

fn done(outcome: Result<(), Failure>) -> i32 {
    number(outcome.map(|()| 0))
}

fn number(outcome: Result<i32, Failure>) -> i32 {
    outcome.unwrap_or_else(|failure| {
        keep(failure.json().into_bytes());
        failure.kind.number()
    })
}

/// Stores an answer and returns its length.
fn length(outcome: Result<Vec<u8>, Failure>) -> i32 {
    number(outcome.and_then(|bytes| {
        let length = i32::try_from(bytes.len())
            .map_err(|_| Failure::new(Kind::Limit, "the answer has more than 2 GiB"))?;
        keep(bytes);
        Ok(length)
    }))
}

fn keep(bytes: Vec<u8>) {
    ANSWER.set(bytes);
}

/// The version of the calls. It rises when a call changes; new calls leave it unchanged.
const VERSION: i32 = 1;

thread_local! {
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static FRAME: UnsafeCell<Frame> = const { UnsafeCell::new(Frame::new()) };
}

#[cfg(test)]
mod tests;
