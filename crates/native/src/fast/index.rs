//! The index from kind, version, scope and action to a fast path.

mod scopes;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use wardgate_engine::fastpath::Coverage;
use wardgate_engine::names::{sanitized, trimmed_scope};
use wardgate_engine::table::PolicyTable;
use wardgate_engine::table::layout::Key;
use wardgate_fastpath::FastPathList;

use crate::fast::cache::Cache;
use crate::fast::index::scopes::{Found, Scopes};
use crate::fast::path::UnpackedPath;
use crate::limits::MAX_INDEXED_PATTERNS;
use crate::names::{Known, Names};

/// The fast paths of a table, found by names.
#[derive(Debug, Default)]
pub(crate) struct Index {
    fast_paths: Box<[Option<Arc<UnpackedPath>>]>,
    /// The list of each kind in the default version and the root scope.
    kinds: Names<u32>,
    /// The place of each kind with lists in other versions and scopes.
    other_kinds: Names<u32>,
    others: Vec<OtherKind>,
    /// The lists of these kinds by scope; [`UNLISTED`] where a policy has none.
    scopes: Scopes,
    default_version: Box<str>,
    lists: Vec<List>,
    /// The lists by their offsets in the section.
    offsets: HashMap<u32, u32>,
    has_role_policies: bool,
    /// Principals with policies of their own.
    principals: Names<()>,
}

/// A kind with lists in other versions and scopes.
#[derive(Debug, Default)]
struct OtherKind {
    /// Its list in the default version and the root scope.
    root: Option<u32>,
    /// Its number in the scopes, in the default version.
    default: Option<u32>,
    /// Its numbers in other versions.
    versions: Box<[(Known, u32)]>,
}

/// The lists by kind, version and scope, but for those in the default version and the root scope.
type Collected<'t> = BTreeMap<&'t str, BTreeMap<&'t str, Vec<(&'t str, u32)>>>;

/// The fast paths of the actions on some kinds. Kinds with equal rules share it.
#[derive(Debug)]
struct List {
    actions: Names<Option<u32>>,
    /// The offset in the section, to find the fast path of an action that is not listed.
    offset: u32,
    other: Option<u32>,
    has_patterns: bool,
}

/// The content of a list: the fast path of other actions, string id and fast path of each action,
/// patterns, and sets of them.
type Content = (Option<u32>, Vec<(u32, Option<u32>)>, Vec<u32>, Vec<(u32, [Option<u32>; 2])>);

/// The subject of a question: an action on a kind of resource.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target<'a> {
    /// Kind of the resource.
    pub kind: &'a str,
    /// Name of the action.
    pub action: &'a str,
    /// Version of the resource policies to use; empty means the default of the table.
    pub policy_version: &'a str,
    /// Scope where the search for resource policies starts; empty is the root.
    pub scope: &'a str,
}

/// The way to decide about a question.
pub(crate) enum Way<'i> {
    FastPath(&'i Arc<UnpackedPath>),
    /// No policy allows it.
    Denied,
    General,
}

impl Index {
    /// Unpacks the fast paths of `table`, whose answers `cache` remembers.
    pub(crate) fn new(table: &PolicyTable, cache: Option<&Arc<Cache>>) -> Self {
        let count = u32::try_from(table.fast_paths().len()).unwrap_or(u32::MAX);
        let mut room = MAX_INDEXED_PATTERNS;
        let unpack = |id| UnpackedPath::unpack(table, id, cache, &mut room).map(Arc::new);
        let mut index = Self {
            fast_paths: (0..count).map(unpack).collect(),
            principals: table.principals().map(|id| (id, ())).collect(),
            default_version: table.default_version().into(),
            has_role_policies: table.has_role_policies(),
            ..Self::default()
        };
        let entries = table.entries().iter().copied();
        let (mut kinds, mut known) = (Vec::new(), HashMap::new());
        let (mut others, mut listed) = (Collected::new(), HashSet::new());
        for [key, kind, version, scope, offset] in entries.clone() {
            if key != Key::FastPaths.code() {
                continue;
            }
            let Some(list) = table.fast_paths().list(offset) else { continue };
            let list = index.list(table, (offset, list), &mut known);
            index.offsets.insert(offset, list);
            listed.insert([kind, version, scope]);
            let [kind, version, scope] = [kind, version, scope].map(|id| table.string(id));
            if version == table.default_version() && scope.is_empty() {
                kinds.push((kind, list));
            } else {
                let versions = others.entry(kind).or_default();
                versions.entry(version).or_default().push((scope, list));
            }
        }
        add_unlisted(table, &listed, &mut others);
        let of_scopes = entries.clone().filter(|[key, ..]| *key == Key::ResourceScope.code());
        let mut scopes: scopes::Collected<'_> = of_scopes
            .map(|[_, scope, ..]| (table.string(scope), (true, BTreeMap::new())))
            .collect();
        for [key, .., offset] in entries {
            if key == Key::OwnFastPaths.code()
                && let Some(list) = table.fast_paths().list(offset)
            {
                let list = index.list(table, (offset, list), &mut known);
                index.offsets.insert(offset, list);
            }
        }
        // Hosts of MQTT name kinds in a way that would be spelled anew for each message.
        for kind in KINDS_OF_MQTT {
            let spelled = sanitized(kind);
            let list = kinds.iter().find(|(known, _)| *known == spelled).map(|(_, list)| *list);
            kinds.extend(list.map(|list| (kind, list)));
        }
        index.kinds = kinds.into_iter().collect();
        index.other_kinds = numbered(&others);
        index.number_others(others, &mut scopes, table.default_version());
        index.scopes = Scopes::new(scopes);
        index
    }

    /// Numbers the kinds with lists in other versions and scopes, and hands their lists to the scopes.
    fn number_others<'t>(
        &mut self,
        others: Collected<'t>,
        scopes: &mut scopes::Collected<'t>,
        default_version: &str,
    ) {
        let mut numbers = 0..;
        for (kind, of_versions) in others {
            let mut other = OtherKind { root: self.kinds.get(kind), ..OtherKind::default() };
            let mut versions = Vec::new();
            for (version, lists) in of_versions {
                let Some(number) = numbers.next() else { break };
                for (scope, list) in lists {
                    scopes.entry(scope).or_default().1.insert(number, list);
                }
                if version == default_version {
                    other.default = Some(number);
                } else {
                    versions.push((Known::from(Box::from(version)), number));
                }
            }
            other.versions = versions.into();
            self.others.push(other);
        }
    }

    /// Returns the fast path that decides, or `None`.
    #[inline]
    pub(crate) fn fast_path(
        &self,
        table: &PolicyTable,
        target: Target<'_>,
    ) -> Option<&Arc<UnpackedPath>> {
        let is_default = target.policy_version.is_empty() && target.scope.is_empty();
        let default_list = if is_default { self.kinds.get(target.kind) } else { None };
        let list = default_list.or_else(|| self.scoped_list(table, target))?;
        self.in_list(table, list, target.action)
    }

    /// Returns a fast path by its number in the table.
    #[cfg(test)]
    pub(crate) fn path(&self, id: u32) -> Option<&UnpackedPath> {
        self.fast_paths.get(usize::try_from(id).ok()?)?.as_deref()
    }

    #[inline]
    fn in_list(&self, table: &PolicyTable, list: u32, action: &str) -> Option<&Arc<UnpackedPath>> {
        let list = self.lists.get(usize::try_from(list).ok()?)?;
        let fast_path = list.actions.get(action).unwrap_or_else(|| {
            if list.has_patterns { list.matching(table, action) } else { list.other }
        })?;
        self.fast_paths.get(usize::try_from(fast_path).ok()?)?.as_ref()
    }

    /// Returns true if a principal has policies of its own.
    #[inline]
    pub(crate) fn has_own_policies(&self, principal: &str) -> bool {
        !self.principals.is_empty() && self.principals.get(principal).is_some()
    }

    /// Returns true if some principal has policies of its own.
    #[cfg(feature = "decision-log")]
    pub(crate) fn has_principals(&self) -> bool {
        !self.principals.is_empty()
    }

    /// Looks up a list in another version or scope. A kind that the policies know by its own name is
    /// spelled as they do.
    #[inline(never)]
    fn scoped_list(&self, table: &PolicyTable, target: Target<'_>) -> Option<u32> {
        match self.known_list(target.kind, target) {
            Some(UNLISTED) => None,
            Some(list) => Some(list),
            None => self.unusual_list(table, target),
        }
    }

    /// Looks up the list of a kind in a scope that policies name: its own, or where no policy of a role may tell the two
    /// apart, that of the nearest scope above with a policy about the kind, as [`PolicyTable::coverage`] does.
    #[inline]
    fn known_list(&self, kind: &str, target: Target<'_>) -> Option<u32> {
        let place = self.other_kinds.get(kind).and_then(|place| usize::try_from(place).ok());
        let other = place.and_then(|place| self.others.get(place));
        let version = target.policy_version;
        let is_default = version.is_empty() || *version == *self.default_version;
        let number = other.and_then(|other| {
            let of_version = || other.versions.iter().find(|(known, _)| known.is(version));
            if is_default { other.default } else { of_version().map(|(_, number)| *number) }
        });
        match self.scopes.list(trimmed_scope(target.scope), number, !self.has_role_policies) {
            Found::List(list) => Some(list),
            Found::Nowhere if is_default => {
                other.map_or_else(|| self.kinds.get(kind), |other| other.root)
            }
            Found::Nowhere | Found::Unknown => None,
        }
    }

    fn version_of<'t>(&'t self, target: Target<'t>) -> &'t str {
        if target.policy_version.is_empty() { &self.default_version } else { target.policy_version }
    }

    /// Looks up a list under another spelling than that of the policies, or of a scope above.
    #[cold]
    fn unusual_list(&self, table: &PolicyTable, target: Target<'_>) -> Option<u32> {
        let kind = sanitized(target.kind);
        if self.version_of(target) == &*self.default_version
            && trimmed_scope(target.scope).is_empty()
        {
            return self.kinds.get(&kind);
        }
        match self.known_list(&kind, target) {
            Some(UNLISTED) => None,
            Some(list) => Some(list),
            None => match self.coverage(table, target) {
                Coverage::List(offset) => self.offsets.get(&offset).copied(),
                Coverage::NoPolicy | Coverage::General => None,
            },
        }
    }

    /// Returns the way to decide about a kind without a list, or for a principal with policies of
    /// its own, by its id and scope.
    #[cold]
    pub(crate) fn unusual(
        &self,
        table: &PolicyTable,
        target: Target<'_>,
        own: Option<[&str; 2]>,
    ) -> Way<'_> {
        let Target { kind, policy_version, scope, .. } = target;
        let names = [kind, policy_version, scope];
        let coverage = match own {
            None => self.coverage(table, target),
            Some([principal, scope]) if trimmed_scope(scope).is_empty() => {
                table.own_coverage(principal, names, || self.has_role_policies)
            }
            Some(_) => Coverage::General,
        };
        let list = match coverage {
            Coverage::NoPolicy => return Way::Denied,
            Coverage::General => None,
            Coverage::List(offset) => self.offsets.get(&offset),
        };
        let fast_path = list.and_then(|list| self.in_list(table, *list, target.action));
        fast_path.map_or(Way::General, Way::FastPath)
    }

    fn coverage(&self, table: &PolicyTable, target: Target<'_>) -> Coverage {
        let Target { kind, policy_version, scope, .. } = target;
        table.coverage([kind, policy_version, scope], || self.has_role_policies)
    }

    /// Stores a list, once for all kinds with an equal one.
    fn list(
        &mut self,
        table: &PolicyTable,
        (offset, list): (u32, FastPathList<'_>),
        known: &mut HashMap<Content, u32>,
    ) -> u32 {
        let key = (
            list.set(0),
            list.actions().collect(),
            list.patterns().to_vec(),
            list.sets().collect(),
        );
        let next = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        *known.entry(key).or_insert_with(|| {
            let actions =
                list.actions().map(|(id, fast_path)| (table.string(id), fast_path)).collect();
            let (other, has_patterns) = (list.set(0), !list.patterns().is_empty());
            self.lists.push(List { actions, offset, other, has_patterns });
            next
        })
    }
}

/// Adds the policies of resources that have no list.
fn add_unlisted<'t>(
    table: &'t PolicyTable,
    listed: &HashSet<[u32; 3]>,
    others: &mut Collected<'t>,
) {
    for [key, kind, version, scope, _] in table.entries().iter().copied() {
        if key == Key::Resource.code() && !listed.contains(&[kind, version, scope]) {
            let [kind, version, scope] = [kind, version, scope].map(|id| table.string(id));
            let versions = others.entry(kind).or_default();
            versions.entry(version).or_default().push((scope, UNLISTED));
        }
    }
}

/// Returns the number of each kind, also as hosts of MQTT spell it.
fn numbered(others: &Collected<'_>) -> Names<u32> {
    let mut numbers: Vec<(&str, u32)> = others.keys().copied().zip(0..).collect();
    for kind in KINDS_OF_MQTT {
        let spelled = sanitized(kind);
        let number = numbers.iter().find(|(known, _)| *known == spelled);
        numbers.extend(number.map(|(_, number)| (kind, *number)));
    }
    numbers.into_iter().collect()
}

impl List {
    /// Returns the fast path of an action that is not listed, by the patterns that match it.
    #[cold]
    fn matching(&self, table: &PolicyTable, action: &str) -> Option<u32> {
        table.fast_path_of_action(table.fast_paths().list(self.offset)?, action)
    }
}

/// Stands for a policy whose kind, version and scope have no list: the general path decides.
const UNLISTED: u32 = u32::MAX;

/// Kinds that hosts of MQTT ask about, as they spell them.
pub(crate) const KINDS_OF_MQTT: [&str; 2] = ["mqtt:client", "mqtt:topic"];
