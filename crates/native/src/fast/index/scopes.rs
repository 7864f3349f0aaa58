//! The scopes that policies of resources name, with what each has its own way.
//!
//! A tenant has few kinds its own way and asks about all, so most questions end at a scope above. A record has what tells the
//! two apart in one line of the processor's cache.

use std::collections::BTreeMap;

use wardgate_engine::names::ancestors;

use crate::names::{Known, Print};

/// The lists of kinds in scopes. A kind in one version has a number here.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// Open addressing, at most half full; the length is a power of two, or 0 without scopes. An entry is the hash of a
    /// scope, and in the lower half its number plus one; 0 is free.
    entries: Box<[u64]>,
    scopes: Box<[Scope]>,
    /// The lists that scopes have of their own: number of the kind, and list, in their order.
    own: Box<[(u32, u32)]>,
    /// The length of the longest scope, in bytes.
    longest: usize,
}

/// A scope in one line of the cache.
#[derive(Debug)]
#[repr(align(64))]
struct Scope {
    name: Known,
    /// A bit for the number of each kind with a list, by its last six bits.
    kinds: u64,
    /// Where its lists begin and end in those of all scopes.
    own: [u32; 2],
    /// The number of the nearest scope above plus one; 0 for none.
    above: u32,
    /// True if a policy of a resource names it: others have no list but their own.
    is_named: bool,
}

/// The scopes before they are indexed: true if a policy of a resource names the scope, and its lists by the number of the kind.
pub(super) type Collected<'t> = BTreeMap<&'t str, (bool, BTreeMap<u32, u32>)>;

/// Where a search ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Found {
    /// The list of the nearest scope with one.
    List(u32),
    /// No scope here or above has a list.
    Nowhere,
    /// This index cannot tell: no policy names the scope, or it has no list of its own and the ones above were not asked.
    Unknown,
}

impl Scopes {
    pub(super) fn new(collected: Collected<'_>) -> Self {
        let numbers: BTreeMap<&str, u32> = collected.keys().copied().zip(1..).collect();
        let longest = numbers.keys().map(|scope| scope.len()).max().unwrap_or(0);
        let mut own: Vec<(u32, u32)> = Vec::new();
        let mut scopes = Vec::with_capacity(numbers.len());
        for (name, (is_named, lists)) in collected {
            let above = ancestors(name).find_map(|above| numbers.get(above)).copied();
            let kinds = lists.keys().fold(0, |kinds, kind| kinds | bit(*kind));
            let start = count(own.len());
            own.extend(lists);
            let own = [start, count(own.len())];
            let (name, above) = (Known::from(Box::from(name)), above.unwrap_or(0));
            scopes.push(Scope { name, kinds, own, above, is_named });
        }
        let mut entries = Vec::new();
        if !scopes.is_empty() {
            entries.resize((2 * scopes.len()).next_power_of_two(), 0);
        }
        for (scope, number) in scopes.iter().zip(1_u64..) {
            let (tag, mut at) = hash(scope.name.text());
            for _ in 0..entries.len() {
                let mask = entries.len().wrapping_sub(1);
                let Some(entry) = entries.get_mut(at & mask) else { break };
                if *entry == 0 {
                    *entry = tag | number;
                    break;
                }
                at = at.wrapping_add(1);
            }
        }
        Self { entries: entries.into(), scopes: scopes.into(), own: own.into(), longest }
    }

    /// Looks up the list of a kind in exactly this scope, or if `inherits` in the nearest one from it upwards.
    #[inline]
    pub(super) fn list(&self, scope: &str, kind: Option<u32>, inherits: bool) -> Found {
        let Some(first) = self.scope(scope) else { return Found::Unknown };
        if let Some(list) = kind.and_then(|kind| self.own(first, kind)) {
            return Found::List(list);
        }
        if !inherits || !first.is_named {
            return Found::Unknown;
        }
        let Some(kind) = kind else { return Found::Nowhere };
        let mut at = first;
        // Each scope is shorter than the one below.
        while let Some(above) = self.scopes.get(index(at.above)) {
            if let Some(list) = self.own(above, kind) {
                return Found::List(list);
            }
            at = above;
        }
        Found::Nowhere
    }

    #[inline]
    fn own(&self, scope: &Scope, kind: u32) -> Option<u32> {
        if scope.kinds & bit(kind) == 0 {
            return None;
        }
        let [start, end] = scope.own.map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let lists = self.own.get(start..end)?;
        let at = lists.binary_search_by_key(&kind, |(kind, _)| *kind).ok()?;
        lists.get(at).map(|(_, list)| *list)
    }

    #[inline]
    fn scope(&self, name: &str) -> Option<&Scope> {
        // All bytes of a name are hashed, so one that is too long is rejected first.
        if name.len() > self.longest {
            return None;
        }
        let mask = self.entries.len().checked_sub(1)?;
        let print = Print::of(name.as_bytes());
        let (tag, mut at) = spread(print.hash_of(name, SEED));
        // Half of the entries are free, so this ends before the bound.
        for _ in 0..self.entries.len() {
            let entry = *self.entries.get(at & mask)?;
            if entry == 0 {
                return None;
            }
            if (entry ^ tag) <= NUMBER {
                let scope = self.scopes.get(index(u32::try_from(entry & NUMBER).ok()?));
                if let Some(scope) = scope.filter(|scope| scope.name.has(print, name)) {
                    return Some(scope);
                }
            }
            at = at.wrapping_add(1);
        }
        None
    }
}

fn hash(name: &str) -> (u64, usize) {
    spread(Print::of(name.as_bytes()).hash_of(name, SEED))
}

/// Returns a hash in the upper half of an entry, and the place to begin with.
#[inline]
fn spread(hash: usize) -> (u64, usize) {
    (u64::from(u32::try_from(hash).unwrap_or(0)) << 32, hash)
}

/// Returns the index of a number that counts from one; out of every range for 0.
#[inline]
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX).wrapping_sub(1)
}

#[inline]
const fn bit(kind: u32) -> u64 {
    1 << (kind % u64::BITS)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The part of an entry that is a number.
const NUMBER: u64 = 0xFFFF_FFFF;
/// Digits of e.
const SEED: u64 = 0xB7E1_5162_8AED_2A6A;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wardgate_engine::names::ancestors;

    use super::{Collected, Found, Scopes};

    /// Each scope is asked about each kind, beside a search by texts. Kinds 3 and 67 share a bit.
    #[test]
    fn the_nearest_scope_with_a_list_is_found() {
        let names =
            ["", "a", "a.b", "a.b.c", "a.b.c.d", "a.x", "acme.a scope with a long name", "z"];
        let kinds = [0, 3, 67, 68];
        let mut collected = Collected::new();
        for (at, name) in names.into_iter().enumerate() {
            let has_list = |kind: &u32| (at + usize::try_from(*kind).unwrap()) % 3 == 1;
            let lists = kinds.into_iter().filter(has_list).map(|kind| (kind, kind * 100));
            collected.insert(name, (name != "z", lists.collect()));
        }
        let scopes = Scopes::new(collected.clone());
        let own =
            |scope, kind| collected.get(scope).and_then(|(_, lists)| lists.get(&kind)).copied();
        for (name, (is_named, _)) in &collected {
            for kind in kinds {
                let above = ancestors(name).find_map(|above| own(above, kind));
                let inherited = if *is_named {
                    above.map_or(Found::Nowhere, Found::List)
                } else {
                    Found::Unknown
                };
                let here = own(name, kind).map(Found::List);
                assert_eq!(
                    scopes.list(name, Some(kind), true),
                    here.unwrap_or(inherited),
                    "{name} {kind}"
                );
                assert_eq!(
                    scopes.list(name, Some(kind), false),
                    here.unwrap_or(Found::Unknown),
                    "{name} {kind}"
                );
            }
        }
        assert_eq!(scopes.list("a", None, true), Found::Nowhere);
        assert_eq!(scopes.list("a.y", Some(0), true), Found::Unknown);
        assert_eq!(scopes.list(&"a".repeat(1000), Some(0), true), Found::Unknown);
    }

    #[test]
    fn of_many_scopes_each_is_found() {
        let name = |at: u32| format!("tenant_{at}");
        let names: Vec<String> = (0..1000).map(name).collect();
        let own = |at: u32| (true, BTreeMap::from([(at % 7, at)]));
        let scopes = Scopes::new(names.iter().map(String::as_str).zip((0..).map(own)).collect());
        for at in 0..1000 {
            assert_eq!(scopes.list(&name(at), Some(at % 7), true), Found::List(at));
            assert_eq!(scopes.list(&name(at + 1000), Some(at % 7), true), Found::Unknown);
        }
        assert_eq!(Scopes::default().list("", None, true), Found::Unknown);
    }
}
