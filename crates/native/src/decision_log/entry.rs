//! An entry of a ring: what a decision was about and what it answered, as words.
//!
//! | word | content, from the lowest bits up |
//! |---|---|
//! | 0 | words of the entry (16), flags (8), actions (8), sequence (32) |
//! | 1 | time in microseconds since 1970 |
//! | 2 | number of the policies (32), caller (16), bytes of the evidence (16) |
//! | 3 | bytes of the principal, resource, kind and version (16 each) |
//! | 4 | bytes of the scope and of the id of the request (16 each), zero |
//!
//! Then come two words of the trace if there is one, two of the counts of a search if it is one, and these texts in their order, each from a word on:
//! evidence, principal, resource, kind, version, scope, id of the request. Each action is a word with its bytes
//! (16) and its answer (8), and its text.
//!
//! The reader gets words that this file wrote, in memory of the same process; it still trusts no length.

use wardgate_decision_log::limits::{MAX_ACTIONS, MAX_EVIDENCE_BYTES, MAX_TEXT_BYTES};
use wardgate_decision_log::record::Effect;

/// The subject of a decision: principal, resource, policies and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'e> {
    /// The time of the decision, in microseconds since 1970.
    pub micros: i64,
    /// The number of the policies that decided.
    pub policies: u32,
    /// The number that the host gives to the caller; 0 is the host itself.
    pub caller: u16,
    /// True if the general path decided.
    pub is_general: bool,
    /// The id of the principal.
    pub principal: &'e str,
    /// The id of the resource.
    pub resource: &'e str,
    /// The kind of the resource.
    pub kind: &'e str,
    /// The version of the policies that the request selected.
    pub version: &'e str,
    /// The scope that the request selected.
    pub scope: &'e str,
    /// The id of the trace that the request belongs to.
    pub trace: Option<[u8; 16]>,
    /// The id that the caller gave to the request; empty if there is none.
    pub request: &'e str,
    /// The evidence for the decision.
    pub evidence: Evidence<'e>,
    /// The counts of a search, if the entry is about one. It has one action; its record names no principal and no resource.
    pub search: Option<SearchCounts>,
}

/// How many a search decided on, and how many of them are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// The number of those that were asked about.
    pub asked: u64,
    /// The number of those that are allowed.
    pub allowed: u64,
}

/// The evidence for a decision: its request, or the part that it read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence<'e> {
    /// No evidence.
    #[default]
    None,
    /// All that the fast path reads.
    Read(&'e [u8]),
    /// The request.
    Request(&'e [u8]),
    /// The digest of the request, which has more than 16 KiB.
    Digest(&'e [u8; 32]),
    /// An evidence that is left out: it has more than 1 MiB, or nests deeper than a request may, or steps did not suffice for
    /// the decision.
    TooLarge,
}

/// An entry that was read, with its actions.
#[derive(Clone, Copy, Debug)]
pub struct EntryRead<'b> {
    /// The entry.
    pub entry: Entry<'b>,
    /// True if a text or the evidence was longer than an entry holds.
    pub is_cut: bool,
    count: u8,
    actions: &'b [u8],
}

/// The words of an entry before its texts.
const HEAD_WORDS: usize = 5;

/// The most words of an entry: its head, a trace, counts, texts and actions of the largest lengths.
pub(super) const MAX_ENTRY_WORDS: usize =
    HEAD_WORDS + 4 + MAX_EVIDENCE_BYTES / 8 + (6 + MAX_ACTIONS) * (MAX_TEXT_BYTES / 8 + 1);

const GENERAL: u64 = 1;
const TRACE: u64 = 2;
const CUT: u64 = 4;
const READ: u64 = 8;
const REQUEST: u64 = 16;
const TOO_LARGE: u64 = 32;
const SEARCH: u64 = 64;
const DIGEST: u64 = 128;

impl<'e> Entry<'e> {
    /// Returns the entry with the beginnings of its texts, and without an evidence that is too long.
    fn bounded(self) -> Self {
        let is_short = self.evidence.bytes().len() <= MAX_EVIDENCE_BYTES;
        Self {
            principal: cut(self.principal),
            resource: cut(self.resource),
            kind: cut(self.kind),
            version: cut(self.version),
            scope: cut(self.scope),
            request: cut(self.request),
            evidence: if is_short { self.evidence } else { Evidence::TooLarge },
            ..self
        }
    }

    fn texts(&self) -> [&'e [u8]; 7] {
        [
            self.evidence.bytes(),
            self.principal.as_bytes(),
            self.resource.as_bytes(),
            self.kind.as_bytes(),
            self.version.as_bytes(),
            self.scope.as_bytes(),
            self.request.as_bytes(),
        ]
    }
}

impl<'e> Evidence<'e> {
    const fn bytes(self) -> &'e [u8] {
        match self {
            Self::None | Self::TooLarge => &[],
            Self::Read(bytes) | Self::Request(bytes) => bytes,
            Self::Digest(digest) => digest,
        }
    }

    const fn flag(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Read(_) => READ,
            Self::Request(_) => REQUEST,
            Self::Digest(_) => DIGEST,
            Self::TooLarge => TOO_LARGE,
        }
    }
}

/// An entry whose size is known, ready to be written.
pub(super) struct Measured<'e> {
    entry: Entry<'e>,
    actions: &'e [(&'e str, Effect)],
    is_cut: bool,
    /// The words that it takes.
    pub(super) words: usize,
}

impl<'e> Measured<'e> {
    /// Measures an entry. Actions beyond 255 are left out.
    #[inline]
    pub(super) fn new(entry: &Entry<'e>, actions: &'e [(&'e str, Effect)]) -> Self {
        let [evidence, texts @ ..] = entry.texts();
        let is_bounded = entry.evidence != Evidence::TooLarge
            && evidence.len() <= MAX_EVIDENCE_BYTES
            && texts.iter().all(|text| text.len() <= MAX_TEXT_BYTES);
        let (entry, is_cut) = if is_bounded { (*entry, false) } else { (entry.bounded(), true) };
        let actions = actions.get(..MAX_ACTIONS).unwrap_or(actions);
        let texts = entry.texts().into_iter().map(words_of).sum::<usize>();
        let names =
            actions.iter().map(|(name, _)| 1_usize.saturating_add(words_of(cut(name).as_bytes())));
        let trace = if entry.trace.is_some() { 2 } else { 0 };
        let counts = if entry.search.is_some() { 2 } else { 0 };
        let head = HEAD_WORDS + trace + counts;
        let words = names.sum::<usize>().saturating_add(texts).saturating_add(head);
        Self { entry, actions, is_cut, words }
    }

    /// Writes the words of the entry, one after another.
    #[inline]
    pub(super) fn write(&self, sequence: u32, mut put: impl FnMut(u64)) {
        let Self { entry, actions, is_cut, words } = self;
        let flags = flag(entry.is_general, GENERAL)
            | flag(entry.trace.is_some(), TRACE)
            | flag(*is_cut, CUT)
            | flag(entry.search.is_some(), SEARCH)
            | entry.evidence.flag();
        put(number(*words) | flags << 16 | number(actions.len()) << 24 | u64::from(sequence) << 32);
        put(entry.micros.cast_unsigned());
        let texts = entry.texts();
        let [evidence, principal, resource, kind, version, scope, request] =
            texts.map(|text| number(text.len()));
        put(u64::from(entry.policies) | u64::from(entry.caller) << 32 | evidence << 48);
        put(principal | resource << 16 | kind << 32 | version << 48);
        put(scope | request << 16);
        if let Some(trace) = entry.trace {
            trace.as_chunks().0.iter().for_each(|word| put(u64::from_le_bytes(*word)));
        }
        if let Some(SearchCounts { asked, allowed }) = entry.search {
            put(asked);
            put(allowed);
        }
        texts.into_iter().for_each(|text| put_text(text, &mut put));
        for (name, effect) in *actions {
            let name = cut(name);
            put(number(name.len()) | code(*effect) << 16);
            put_text(name.as_bytes(), &mut put);
        }
    }
}

impl<'b> EntryRead<'b> {
    /// Returns each action with its answer.
    pub fn actions(&self) -> impl Iterator<Item = (&'b str, Effect)> {
        let mut rest = Rest(self.actions);
        (0..self.count).map_while(move |_| {
            let word = rest.word()?;
            let name = rest.text(part(word, 0))?;
            Some((name, effect(word >> 16 & 0xff)?))
        })
    }

    /// Reads the bytes of an entry, and returns its sequence too.
    pub(super) fn read(bytes: &'b [u8]) -> Option<(u32, Self)> {
        let mut rest = Rest(bytes);
        let (first, micros) = (rest.word()?, rest.word()?.cast_signed());
        let (second, third, fourth) = (rest.word()?, rest.word()?, rest.word()?);
        let is = |flag: u64| first >> 16 & flag != 0;
        let trace = if is(TRACE) { Some(rest.trace()?) } else { None };
        let search = if is(SEARCH) { Some(rest.counts()?) } else { None };
        let evidence = rest.bytes(part(second, 48))?;
        let entry = Entry {
            micros,
            policies: u32::try_from(second & u64::from(u32::MAX)).ok()?,
            caller: u16::try_from(second >> 32 & 0xffff).ok()?,
            is_general: is(GENERAL),
            principal: rest.text(part(third, 0))?,
            resource: rest.text(part(third, 16))?,
            kind: rest.text(part(third, 32))?,
            version: rest.text(part(third, 48))?,
            scope: rest.text(part(fourth, 0))?,
            trace,
            request: rest.text(part(fourth, 16))?,
            evidence: match (is(READ), is(REQUEST)) {
                (true, _) => Evidence::Read(evidence),
                (_, true) => Evidence::Request(evidence),
                _ if is(DIGEST) => evidence.try_into().map_or(Evidence::None, Evidence::Digest),
                _ if is(TOO_LARGE) => Evidence::TooLarge,
                _ => Evidence::None,
            },
            search,
        };
        let sequence = u32::try_from(first >> 32).ok()?;
        let count = u8::try_from(first >> 24 & 0xff).ok()?;
        Some((sequence, Self { entry, is_cut: is(CUT), count, actions: rest.0 }))
    }
}

/// The rest of the bytes of an entry.
#[derive(Clone, Copy)]
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn trace(&mut self) -> Option<[u8; 16]> {
        let (trace, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*trace)
    }

    fn counts(&mut self) -> Option<SearchCounts> {
        Some(SearchCounts { asked: self.word()?, allowed: self.word()? })
    }

    fn bytes(&mut self, length: usize) -> Option<&'b [u8]> {
        let (padded, rest) = self.0.split_at_checked(length.next_multiple_of(8))?;
        self.0 = rest;
        padded.get(..length)
    }

    fn text(&mut self, length: usize) -> Option<&'b str> {
        core::str::from_utf8(self.bytes(length)?).ok()
    }
}

/// Writes bytes from a word on, with zeros behind them.
#[inline]
fn put_text(text: &[u8], put: &mut impl FnMut(u64)) {
    let (words, rest) = text.as_chunks::<8>();
    words.iter().for_each(|word| put(u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        put(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
}

const fn words_of(text: &[u8]) -> usize {
    text.len().div_ceil(8)
}

/// Returns the beginning of a text that an entry holds.
#[inline]
fn cut(text: &str) -> &str {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or_default()
}

/// Returns a length, which is bounded far below 2^16.
fn number(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(0)
}

fn part(word: u64, from: u32) -> usize {
    usize::try_from(word >> from & 0xffff).unwrap_or(0)
}

const fn flag(is_set: bool, flag: u64) -> u64 {
    if is_set { flag } else { 0 }
}

const fn code(effect: Effect) -> u64 {
    match effect {
        Effect::Denied => 0,
        Effect::Allowed => 1,
        Effect::Limited => 2,
    }
}

const fn effect(code: u64) -> Option<Effect> {
    match code {
        0 => Some(Effect::Denied),
        1 => Some(Effect::Allowed),
        2 => Some(Effect::Limited),
        _ => None,
    }
}
