//! What a check asks of a store: for each limit its key, its terms and a cost.

use core::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};

use wardgate_crypto::blake3;
use wardgate_ratelimit::{Algorithm, Rule, RuleError, Window};

use crate::limits::{MAX_DEMANDS, MAX_NAME_BYTES, MAX_SHORT_KEY_BYTES};

/// The name of a limit, and what holds for it while its store is away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    // INVARIANT: 1 to `MAX_NAME_BYTES` bytes.
    name: Arc<str>,
    failure: Failure,
}

/// The treatment of a limit while its store is away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failure {
    /// A part of its quota holds in this process.
    #[default]
    Local,
    /// Every check is denied.
    Deny,
    /// The limit does not hold.
    Allow,
}

/// An algorithm, a quota and a window that make a [`Rule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    rule: Rule,
    algorithm: Algorithm,
    quota: u64,
    window: Window,
}

/// The digest of the parts of a key: 128 bits of BLAKE3 over each part and its length.
///
/// Limits of equal parts are on one slot of a cluster, and no part can be read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    digest: [u8; 16],
    print: Print,
}

/// What a key, or a limit with its terms, is found by in the memory of this process: a hash with a secret
/// that nobody else has, so that nobody can choose keys that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Print(u64);

/// The parts of a key that is not longer than a few words, built without an allocation.
#[derive(Clone, Debug)]
pub struct KeyParts {
    bytes: [u8; MAX_SHORT_KEY_BYTES],
    length: usize,
}

/// A cost, and the limit, key and terms that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The limit.
    pub limit: Limit,
    /// The key whose tokens are asked for.
    pub key: Key,
    /// The terms of the limit for this request.
    pub terms: Terms,
    /// The tokens.
    pub cost: u64,
}

/// The demands of one check: at least one, at most [`MAX_DEMANDS`], each for another state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demands(Arc<[Demand]>);

impl Limit {
    /// Makes a limit.
    ///
    /// # Errors
    /// Returns an error for a name that is empty or too long.
    pub fn new(name: &str, failure: Failure) -> Result<Self, DemandError> {
        match name.len() {
            0 => Err(DemandError::NoName),
            1..=MAX_NAME_BYTES => Ok(Self { name: name.into(), failure }),
            bytes => Err(DemandError::NameTooLong { bytes }),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name, without a copy of its text.
    pub fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Returns what holds while the store is away.
    pub const fn failure(&self) -> Failure {
        self.failure
    }
}

impl Terms {
    /// Makes the terms of a limit.
    ///
    /// # Errors
    /// Returns the first bound of [`Rule`] that the numbers exceed.
    pub const fn new(algorithm: Algorithm, quota: u64, window: Window) -> Result<Self, RuleError> {
        match Rule::new(algorithm, quota, window) {
            Ok(rule) => Ok(Self { rule, algorithm, quota, window }),
            Err(error) => Err(error),
        }
    }

    /// Returns the rule.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Returns the quota.
    pub const fn quota(&self) -> u64 {
        self.quota
    }

    /// Returns the window.
    pub const fn window(&self) -> Window {
        self.window
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the letter of the algorithm in names of keys.
    pub(crate) const fn letter(&self) -> char {
        match self.algorithm {
            Algorithm::Gcra { .. } => 'g',
            Algorithm::Fixed => 'f',
            Algorithm::Sliding => 's',
        }
    }

    /// Returns the microseconds of the window, and 0 for a month.
    pub(crate) const fn micros(&self) -> u64 {
        match self.window {
            Window::Micros(micros) => micros,
            Window::Month => 0,
        }
    }
}

impl Key {
    /// Makes the key of these parts. No other list of parts has it.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut bytes = Vec::with_capacity(128);
        for part in parts {
            bytes.extend(part.len().to_le_bytes());
            bytes.extend(part);
        }
        Self::of(&bytes)
    }

    /// Makes the key of parts that are written behind each other, each behind its length.
    fn of(bytes: &[u8]) -> Self {
        let digest = blake3::hash(bytes);
        let digest = digest.first_chunk().copied().unwrap_or_default();
        Self { digest, print: Print::of(bytes) }
    }

    /// Returns the bytes of the digest.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.digest
    }

    /// Returns what the key is found by in the memory of this process.
    pub const fn print(&self) -> Print {
        self.print
    }
}

impl Print {
    /// Returns the print of the state of a key, under the limit of this print. Keys cannot be chosen so that
    /// two states have one: that would need to know the secret.
    #[inline]
    pub(crate) const fn of_state(limit: Self, key: Self) -> u64 {
        limit.0 ^ key.0
    }

    /// Returns the print of a limit with its terms.
    pub fn of_limit(limit: &Limit, terms: &Terms) -> Self {
        Self(secret().hash_one((terms.letter(), terms.micros(), limit.name())))
    }

    #[inline]
    fn of(parts: &[u8]) -> Self {
        Self(secret().hash_one(parts))
    }
}

/// Returns the secret of this process.
#[inline]
fn secret() -> &'static RandomState {
    static SECRET: OnceLock<RandomState> = OnceLock::new();
    SECRET.get_or_init(RandomState::new)
}

impl Default for KeyParts {
    /// Returns the key of no parts.
    fn default() -> Self {
        Self { bytes: [0; MAX_SHORT_KEY_BYTES], length: 0 }
    }
}

impl KeyParts {
    /// Adds a part that begins with `head` and ends with `rest`. Returns None if the key gets longer than
    /// [`MAX_SHORT_KEY_BYTES`]; it then has only some of the bytes, and is none.
    pub fn add(&mut self, head: &[u8], rest: &[u8]) -> Option<()> {
        let length = head.len().saturating_add(rest.len());
        self.push(&length.to_le_bytes())?;
        self.push(head)?;
        self.push(rest)
    }

    /// Returns the key, which is that of [`Key::new`] with the same parts.
    pub fn key(&self) -> Key {
        Key::of(self.written())
    }

    /// Returns the print of the key, without its digest.
    #[inline]
    pub fn print(&self) -> Print {
        Print::of(self.written())
    }

    #[inline]
    fn written(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length.checked_add(bytes.len())?;
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }
}

impl Demand {
    /// Returns true if both demands ask for tokens of one state.
    fn is_same_state(&self, other: &Self) -> bool {
        let state = |demand: &Self| (demand.key, demand.terms.letter(), demand.terms.micros());
        state(self) == state(other) && self.limit.name == other.limit.name
    }
}

impl Demands {
    /// Makes the demands of one check.
    ///
    /// # Errors
    /// Returns an error if there are none, too many, or two for one state.
    pub fn new(demands: impl Into<Arc<[Demand]>>) -> Result<Self, DemandError> {
        let demands = demands.into();
        if !(1..=MAX_DEMANDS).contains(&demands.len()) {
            return Err(DemandError::Count { count: demands.len() });
        }
        let mut rest = demands.iter();
        while let Some(one) = rest.next() {
            if rest.as_slice().iter().any(|other| one.is_same_state(other)) {
                return Err(DemandError::Twice { name: one.limit.name.to_string() });
            }
        }
        Ok(Self(demands))
    }

    /// Returns the demands in their order.
    pub fn each(&self) -> &[Demand] {
        &self.0
    }
}

/// A bound that a limit or a check exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemandError {
    /// The name of a limit is empty.
    NoName,
    /// The name of a limit is longer than [`MAX_NAME_BYTES`].
    NameTooLong {
        /// The length.
        bytes: usize,
    },
    /// A check has no demand, or more than [`MAX_DEMANDS`].
    Count {
        /// The number of demands.
        count: usize,
    },
    /// Two demands of a check are for one state.
    Twice {
        /// The name of the limit.
        name: String,
    },
}

impl fmt::Display for DemandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("expected a name of a limit, found an empty text"),
            Self::NameTooLong { bytes } => {
                write!(f, "expected a name of at most {MAX_NAME_BYTES} bytes, found {bytes}")
            }
            Self::Count { count } => {
                write!(f, "expected 1 to {MAX_DEMANDS} limits in a check, found {count}")
            }
            Self::Twice { name } => {
                write!(f, "expected each limit and key once in a check, found `{name}` twice")
            }
        }
    }
}

impl core::error::Error for DemandError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_keys_do_not_run_together() {
        let key = |parts: &[&[u8]]| Key::new(parts.iter().copied());
        let all = [
            key(&[]),
            key(&[b""]),
            key(&[b"", b""]),
            key(&[b"ab"]),
            key(&[b"a", b"b"]),
            key(&[b"b", b"a"]),
            key(&[b"a\0b"]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one), "{at}");
        }
    }

    #[test]
    fn a_key_built_of_parts_is_that_of_the_list() {
        let mut parts = KeyParts::default();
        assert_eq!(parts.key(), Key::new([]));
        parts.add(b"s", b"ada").unwrap();
        parts.add(b"", b"").unwrap();
        let all: [&[u8]; 2] = [b"sada", b""];
        assert_eq!(parts.key(), Key::new(all));
        let rest = [0; MAX_SHORT_KEY_BYTES - 28];
        assert_eq!(parts.clone().add(b"x", &rest), None);
        parts.add(b"", &rest).unwrap();
        assert_eq!(parts.key(), Key::new([&b"sada"[..], b"", &rest]));
        assert_eq!(parts.print(), parts.key().print());
    }

    #[test]
    fn a_check_has_each_state_once() {
        let demand = |name, key: &[u8], algorithm, window| Demand {
            limit: Limit::new(name, Failure::Local).unwrap(),
            key: Key::new([key]),
            terms: Terms::new(algorithm, 5, window).unwrap(),
            cost: 1,
        };
        let one = demand("a", b"k", Algorithm::Fixed, Window::MINUTE);
        let others = [
            demand("b", b"k", Algorithm::Fixed, Window::MINUTE),
            demand("a", b"l", Algorithm::Fixed, Window::MINUTE),
            demand("a", b"k", Algorithm::Sliding, Window::MINUTE),
            demand("a", b"k", Algorithm::Fixed, Window::HOUR),
            demand("a", b"k", Algorithm::Fixed, Window::Month),
        ];
        for other in others {
            assert!(Demands::new([one.clone(), other]).is_ok());
        }
        let twice = Demands::new([one.clone(), Demand { cost: 2, ..one.clone() }]);
        assert_eq!(twice, Err(DemandError::Twice { name: "a".to_owned() }));
        assert_eq!(Demands::new([]), Err(DemandError::Count { count: 0 }));
        let many = vec![one; MAX_DEMANDS + 1];
        assert_eq!(Demands::new(many), Err(DemandError::Count { count: MAX_DEMANDS + 1 }));
    }

    #[test]
    fn names_have_a_length() {
        let name = |bytes| Limit::new(&"n".repeat(bytes), Failure::Deny);
        assert_eq!(name(0), Err(DemandError::NoName));
        assert!(name(1).is_ok() && name(MAX_NAME_BYTES).is_ok());
        assert!(name(MAX_NAME_BYTES + 1).is_err());
    }
}
