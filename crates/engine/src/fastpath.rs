//! Fast paths: the use of decisions that were partially evaluated when the policies were compiled.
//!
//! For each kind, version and scope with a resource policy, and for each action that its rules
//! name, the crate `wardgate-partial` walks the table once as [`PolicyTable::is_allowed`] would and
//! writes the part that depends on a request: see [`wardgate_fastpath`]. A fast path answers as the
//! general path does or answers Unsure. Rules that it cannot express have none: derived roles as
//! values, patterns over unknown names, whole maps of attributes, limits.

pub mod footprint;
mod frame;
pub mod topics;
mod verdicts;
mod verify;

use wardgate_fastpath::{FastPath, FastPathList, FastPaths, NoPrograms, Programs, Slots};

pub use frame::Contents;
pub use verdicts::Subject;
pub(crate) use verify::verify;
pub use wardgate_fastpath::Answer;
pub use wardgate_fastpath::layout::BY_CLASS;

use crate::cel::Timestamp;
use crate::cel::pool::Root;
use crate::decide::scopes::Search;
use crate::glob;
use crate::limits::{MAX_FAST_PATH_ACTION_BYTES, MAX_REQUEST_STEPS};
use crate::names::{sanitized, trimmed_scope};
use crate::table::layout::{Key, block};
use crate::table::{Block, PolicyTable, Section, at, word};
use frame::Running;

/// The way to decide about a kind in a version and scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// By the list of fast paths at this offset.
    List(u32),
    /// No policy is about the kind, so only a policy of the principal itself can allow an action.
    NoPolicy,
    /// By the general path.
    General,
}

impl PolicyTable {
    /// Returns the fast paths of the table.
    #[inline]
    #[must_use]
    pub fn fast_paths(&self) -> FastPaths<'_> {
        FastPaths::new(self.section(Section::FastPaths))
    }

    /// Returns the fast paths for resources of `kind`, as a request names it, with this version and
    /// scope of policies; an empty version is the default one. Returns `None` if the general path
    /// decides.
    #[must_use]
    pub fn fast_path_list(
        &self,
        kind: &str,
        version: &str,
        scope: &str,
    ) -> Option<FastPathList<'_>> {
        match self.coverage([kind, version, scope], || self.has_role_policies()) {
            Coverage::List(offset) => self.fast_paths().list(offset),
            Coverage::NoPolicy | Coverage::General => None,
        }
    }

    /// Returns the id of the fast path of an action in a list; `None` if the general path decides.
    #[must_use]
    pub fn fast_path_of_action(&self, list: FastPathList<'_>, action: &str) -> Option<u32> {
        let is_long = !list.patterns().is_empty() && action.len() > MAX_FAST_PATH_ACTION_BYTES;
        let id = self.string_id(action);
        if is_long { None } else { list.fast_path(id, self.is_pattern_of(action)) }
    }

    /// Returns the id of the fast path with verdicts of an action, as
    /// [`PolicyTable::fast_path_of_action`] does.
    #[must_use]
    pub fn verdicts_of_action(&self, list: FastPathList<'_>, action: &str) -> Option<u32> {
        let is_long = action.len() > MAX_FAST_PATH_ACTION_BYTES;
        let id = self.string_id(action);
        if is_long { None } else { list.verdicts(id, self.is_pattern_of(action)) }
    }

    /// Returns a function that is true for the string ids of patterns that match an action.
    fn is_pattern_of(&self, action: &str) -> impl Fn(u32) -> bool {
        move |pattern| glob::matches(self.string(pattern), action)
    }

    /// Finds the fast paths for a kind, version and scope as a request names them.
    /// `has_role_policies` is [`PolicyTable::has_role_policies`], which a host may compute once.
    ///
    /// A scope without a policy about the kind has the fast paths of the nearest scope above that
    /// has one, unless role policies may tell the two apart.
    pub fn coverage(
        &self,
        [kind, version, scope]: [&str; 3],
        has_role_policies: impl FnOnce() -> bool,
    ) -> Coverage {
        self.covered([kind, version, scope], has_role_policies).0
    }

    /// Finds the fast paths as [`PolicyTable::coverage`] does, for a principal that may have
    /// policies of its own and has no scope.
    pub fn own_coverage(
        &self,
        principal: &str,
        [kind, version, scope]: [&str; 3],
        has_role_policies: impl FnOnce() -> bool,
    ) -> Coverage {
        let (coverage, visited) = self.covered([kind, version, scope], has_role_policies);
        let version = if version.is_empty() { self.default_version() } else { version };
        let names = [principal, version, ""].map(|name| self.string_id(name));
        let [Some(principal), Some(of), Some(root)] = names else { return coverage };
        let Some(block) = self.find(Key::Principal, [principal, of, root]) else { return coverage };
        let (block, kind) = (Block::new(self, block), sanitized(kind));
        // Other fast paths do not count the steps of the general path for the policy.
        let steps = block.glob_steps(MAX_FAST_PATH_ACTION_BYTES, 0, kind.len());
        if block.chunk_count().saturating_add(steps) > at(MAX_REQUEST_STEPS / 4) {
            return Coverage::General;
        }
        let kind = self.name(&kind);
        let is_about_kind = block.values(block::RESOURCES).is_none_or(|kinds| {
            kind.id.is_some_and(|id| kinds.find(id).is_some())
                || kinds.globs().any(|(glob, _)| glob::matches(self.string(glob), kind.text))
        });
        let list = match (is_about_kind, coverage, kind.id) {
            (false, ..) => return coverage,
            (true, Coverage::List(_), Some(kind)) if version == self.default_version() => {
                self.find(Key::OwnFastPaths, [principal, kind, visited])
            }
            _ => None,
        };
        list.map_or(Coverage::General, Coverage::List)
    }

    /// Returns the coverage, and the scope whose policy decides it.
    fn covered(
        &self,
        [kind, version, scope]: [&str; 3],
        has_role_policies: impl FnOnce() -> bool,
    ) -> (Coverage, u32) {
        let version = if version.is_empty() { self.default_version() } else { version };
        let scope = self.name(trimmed_scope(scope));
        let names = self.string_id(&sanitized(kind)).zip(self.string_id(version));
        let Some((kind, version)) = names else { return (Coverage::NoPolicy, 0) };
        for visited in Search::new(self, Key::ResourceScope, scope).visited() {
            let key = [kind, version, visited];
            let list = self.find(Key::FastPaths, key);
            if list.is_none() && self.find(Key::Resource, key).is_none() {
                continue;
            }
            // The memory of hosts grows with scopes, so one that no policy names has no list.
            let exists = |scope| self.find(Key::ResourceScope, [scope, 0, 0]).is_some();
            let is_equal =
                scope.id == Some(visited) || scope.id.is_some_and(exists) && !has_role_policies();
            let coverage = list.filter(|_| is_equal).map_or(Coverage::General, Coverage::List);
            return (coverage, visited);
        }
        (Coverage::NoPolicy, 0)
    }

    /// Returns true if the table has a role policy.
    #[must_use]
    pub fn has_role_policies(&self) -> bool {
        let keys = [Key::Roles.code(), Key::ParentRoles.code()];
        self.entries().iter().any(|[key, ..]| keys.contains(key))
    }

    /// Returns each kind that has fast paths of the default version without a scope, with the number
    /// of its list. Kinds that a request names in another way than the table are left out.
    pub fn kinds_with_fast_paths(&self) -> impl Iterator<Item = (&str, u32)> {
        let parts = self.string_id(self.default_version()).zip(self.string_id(""));
        self.entries().iter().filter_map(move |[key, kind, version, scope, list]| {
            let is_list = *key == Key::FastPaths.code() && Some((*version, *scope)) == parts;
            let list = is_list.then_some(*list)?;
            self.fast_paths().list(list)?;
            let kind = self.string(*kind);
            (sanitized(kind) == kind).then_some((kind, list))
        })
    }

    /// Returns fast path `id`.
    #[inline]
    #[must_use]
    pub fn fast_path(&self, id: u32) -> Option<FastPath<'_>> {
        self.fast_paths().get(id)
    }

    /// Returns the ids of the principals that have policies of their own, once for each policy. They
    /// may have fast paths of their own: see [`PolicyTable::own_coverage`].
    pub fn principals(&self) -> impl Iterator<Item = &str> {
        let own = self.entries().iter().filter(|[key, ..]| *key == Key::Principal.code());
        own.map(|[_, principal, ..]| self.string(*principal))
    }

    /// Returns the root of a slot's path and the names that it follows from there. `slot` is the
    /// offset in the record of a fast path.
    pub fn slot_path(&self, slot: u32) -> Option<(Root, impl Iterator<Item = &str>)> {
        let words = self.section(Section::Slots).get(at(slot)..)?;
        let root = Root::from_code(word(words, 0))?;
        let path = words.get(2..2_usize.checked_add(at(word(words, 1)))?)?;
        Some((root, path.iter().map(|id| self.string(*id))))
    }

    /// Decides by a fast path that runs no programs. `roles` unites the masks of the principal's
    /// roles.
    #[inline]
    #[must_use]
    pub fn decide(&self, fast_path: u32, roles: u32, frame: &impl Slots) -> Answer {
        self.fast_paths().decide(fast_path, roles, frame)
    }

    /// Decides by a fast path by class that runs no programs.
    #[must_use]
    pub fn decide_classes(&self, fast_path: u32, classes: &[u32], frame: &impl Slots) -> Answer {
        match self.fast_path(fast_path) {
            Some(fast_path) => fast_path.decide_classes(classes, frame, &NoPrograms),
            None => Answer::Unsure,
        }
    }

    /// Decides by any fast path but one by class. `contents` supplies the values that words cannot
    /// hold; `now` is the value of `now()`.
    #[must_use]
    pub fn decide_with(
        &self,
        fast_path: u32,
        roles: u32,
        (frame, contents): (&impl Slots, &dyn Contents),
        now: Timestamp,
    ) -> Answer {
        let decide = |fast_path: FastPath<'_>, running: Running<'_, _>| {
            fast_path.decide(roles, frame, &running)
        };
        self.running(fast_path, (frame, contents), now, decide).unwrap_or(Answer::Unsure)
    }

    /// Decides by any fast path but one by class, for roles with these masks in their order.
    #[must_use]
    pub fn decide_in_order(
        &self,
        fast_path: u32,
        roles: &[u32],
        (frame, contents): (&impl Slots, &dyn Contents),
        now: Timestamp,
    ) -> Answer {
        let decide = |fast_path: FastPath<'_>, running: Running<'_, _>| {
            fast_path.decide_in_order(roles, frame, &running)
        };
        self.running(fast_path, (frame, contents), now, decide).unwrap_or(Answer::Unsure)
    }

    /// Decides by any fast path by class.
    #[must_use]
    pub fn decide_classes_with(
        &self,
        fast_path: u32,
        classes: &[u32],
        (frame, contents): (&impl Slots, &dyn Contents),
        now: Timestamp,
    ) -> Answer {
        let decide = |fast_path: FastPath<'_>, running: Running<'_, _>| {
            fast_path.decide_classes(classes, frame, &running)
        };
        self.running(fast_path, (frame, contents), now, decide).unwrap_or(Answer::Unsure)
    }

    /// Decides by `decide`, which gets the fast path and its programs; they may take so many steps
    /// together.
    #[must_use]
    pub fn decide_by(
        &self,
        fast_path: u32,
        (frame, contents): (&impl Slots, &dyn Contents),
        (now, steps): (Timestamp, u32),
        decide: impl FnOnce(FastPath<'_>, &dyn Programs) -> Answer,
    ) -> Answer {
        let decide = |fast_path: FastPath<'_>, running: Running<'_, _>| {
            decide(fast_path, &running.within(steps))
        };
        self.running(fast_path, (frame, contents), now, decide).unwrap_or(Answer::Unsure)
    }

    /// Calls `decide` with a fast path and its programs on a frame; `None` if it does not exist.
    #[inline]
    fn running<T, S: Slots>(
        &self,
        fast_path: u32,
        (frame, contents): (&S, &dyn Contents),
        now: Timestamp,
        decide: impl FnOnce(FastPath<'_>, Running<'_, S>) -> T,
    ) -> Option<T> {
        let fast_path = self.fast_path(fast_path)?;
        let pool = self.pool();
        Some(decide(fast_path, Running::new(&pool, (fast_path, frame, contents), now)))
    }
}
