//! All targets of two tables: kinds, versions and scopes, and principals with policies of their own.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::cel::Timestamp;
use wardgate_engine::names::ancestors;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::table::layout::Key;

use super::rows::NameOrOther;
use super::side::{Shared, Side, Stop};
use super::{Access, Change, Comparison, Counts, Difference, Unknown, Why};
use crate::limits::{MAX_ALL_EDGES, MAX_ALL_TRIES, MAX_ANSWERS, MAX_STEPS};
use crate::logic::terms::TextId;

/// A comparison in progress.
pub(super) struct Comparer<'a> {
    pub(super) sides: [Side<'a>; 2],
    pub(super) shared: Shared,
    pub(super) now: Timestamp,
    /// The id of a principal without policies of its own.
    pub(super) stranger: String,
    pub(super) left: Left,
    pub(super) counts: Counts,
    differences: Vec<Difference>,
    unknown: Vec<Unknown>,
}

/// The work that is left for the whole comparison.
pub(super) struct Left {
    pub(super) edges: usize,
    pub(super) tries: usize,
    pub(super) steps: usize,
}

/// A target of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: NameOrOther,
    pub(super) version: TextId,
    pub(super) scope: TextId,
    /// The principal, if it is about its own policies, and the scope where these are searched.
    pub(super) principal: Option<(TextId, TextId)>,
}

/// Kind and version of resource policies, and the scopes that are asked about.
type Subjects = BTreeMap<[TextId; 2], BTreeSet<TextId>>;

impl<'a> Comparer<'a> {
    pub(super) fn new(old: &'a PolicyTable, new: &'a PolicyTable, now: Timestamp) -> Self {
        Self {
            sides: [Side::new(old, 0), Side::new(new, 1)],
            shared: Shared::default(),
            now,
            stranger: stranger([old, new]),
            left: Left { edges: MAX_ALL_EDGES, tries: MAX_ALL_TRIES, steps: MAX_STEPS },
            counts: Counts::default(),
            differences: Vec::new(),
            unknown: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Comparison {
        let subjects = self.subjects();
        for ([kind, version], scopes) in &subjects {
            for scope in scopes {
                self.resource([*kind, *version, *scope]);
            }
        }
        for (principal, version, scope) in self.principals() {
            self.own([principal, version, scope], &subjects);
        }
        self.differences.sort_by(|a, b| (a.change, &a.place).cmp(&(b.change, &b.place)));
        self.unknown.sort_by(|a, b| (&a.place, a.why).cmp(&(&b.place, b.why)));
        Comparison { differences: self.differences, unknown: self.unknown, counts: self.counts }
    }

    fn texts<const N: usize>(&mut self, key: Key) -> [BTreeSet<[TextId; N]>; 2] {
        let Self { sides, shared, .. } = self;
        sides.each_ref().map(|side| {
            let entries = side.entries(shared, key).into_iter();
            entries.filter_map(|entry| entry.first_chunk::<N>().copied()).collect()
        })
    }

    /// Returns the kinds with resource policies, and the scopes that can tell requests about them apart:
    /// those with such policies, and those below that have role policies, roles that inherit, or that
    /// only one table knows.
    fn subjects(&mut self) -> Subjects {
        let mut subjects = Subjects::new();
        for [kind, version, scope] in self.texts::<3>(Key::Resource).into_iter().flatten() {
            subjects.entry([kind, version]).or_default().insert(scope);
        }
        for ([kind, version], scopes) in subjects.clone() {
            if let Some(unnamed) = self.unnamed_version(version) {
                subjects.entry([kind, unnamed]).or_default().extend(scopes);
            }
        }
        let [old, new] = self.texts::<1>(Key::ResourceScope);
        let mut special: BTreeSet<TextId> =
            old.symmetric_difference(&new).map(|[id]| *id).collect();
        special.extend(self.texts::<2>(Key::Roles).into_iter().flatten().map(|[_, scope]| scope));
        special
            .extend(self.texts::<1>(Key::ParentRoles).into_iter().flatten().map(|[scope]| scope));
        for scopes in subjects.values_mut() {
            let below = special.iter().filter(|scope| self.is_below(**scope, scopes));
            let below: Vec<TextId> = below.copied().collect();
            scopes.extend(below);
        }
        self.add_unknown_scopes(&mut subjects);
        subjects
    }

    /// Returns the name of the version of requests that name none, if this is one that only one table takes
    /// for it.
    fn unnamed_version(&mut self, version: TextId) -> Option<TextId> {
        let [old, new] = self.sides.each_ref().map(|side| side.table.default_version());
        let name = self.shared.terms.name(version);
        let is_one = old != new && [old, new].contains(&name);
        is_one.then(|| self.shared.terms.text(""))
    }

    fn is_below(&self, scope: TextId, scopes: &BTreeSet<TextId>) -> bool {
        let terms = &self.shared.terms;
        ancestors(terms.name(scope))
            .any(|above| terms.text_id(above).is_some_and(|above| scopes.contains(&above)))
    }

    /// Adds scopes that no table knows, where a search may begin above them: roles inherit nothing there.
    fn add_unknown_scopes(&mut self, subjects: &mut Subjects) {
        let modes = self.sides.each_ref().map(|side| side.table.lenient_scope_search());
        if modes == [false; 2] {
            return;
        }
        for scopes in subjects.values_mut() {
            for scope in scopes.clone() {
                let Self { sides, shared, .. } = self;
                let inherits =
                    sides.iter_mut().any(|side| !side.family(shared, scope).parents.is_empty());
                if inherits || modes[0] != modes[1] {
                    let unknown = self.unknown_scope(scope);
                    scopes.insert(unknown);
                }
            }
        }
    }

    /// Returns a scope below another one that no table knows.
    fn unknown_scope(&mut self, scope: TextId) -> TextId {
        let above = self.shared.terms.name(scope).to_owned();
        let separator = if above.is_empty() { "" } else { "." };
        let mut name = format!("{above}{separator}other");
        while self.sides.iter().any(|side| side.table.string_id(&name).is_some()) {
            name.push('s');
        }
        self.shared.terms.text(&name)
    }

    /// Returns principals with policies of their own, with version and scope.
    fn principals(&mut self) -> Vec<(TextId, TextId, TextId)> {
        let policies: BTreeSet<[TextId; 3]> =
            self.texts::<3>(Key::Principal).into_iter().flatten().collect();
        let [old, new] = self.texts::<1>(Key::PrincipalScope);
        let special: Vec<TextId> = old.symmetric_difference(&new).map(|[id]| *id).collect();
        let mut found: BTreeSet<(TextId, TextId, TextId)> = BTreeSet::new();
        for [principal, version, scope] in policies.clone() {
            let unnamed = self.unnamed_version(version);
            found.extend(unnamed.map(|version| (principal, version, scope)));
        }
        for [principal, version, scope] in policies {
            found.insert((principal, version, scope));
            let own = BTreeSet::from([scope]);
            let below = special.iter().filter(|special| self.is_below(**special, &own));
            found.extend(below.map(|below| (principal, version, *below)));
        }
        if self.modes_differ() {
            for (principal, version, scope) in found.clone() {
                let unknown = self.unknown_scope(scope);
                found.insert((principal, version, unknown));
            }
        }
        found.into_iter().collect()
    }

    fn modes_differ(&self) -> bool {
        let [old, new] = &self.sides;
        old.table.lenient_scope_search() != new.table.lenient_scope_search()
    }

    /// Returns all that a route can decide by.
    fn digests(&mut self, routes: &[Vec<Stop>; 2], scope: Option<TextId>) -> [Vec<u64>; 2] {
        let Self { sides, shared, .. } = self;
        let [old, new] = sides;
        let mut of = |side: &mut Side<'_>, route: &[Stop]| {
            let mut words = vec![u64::from(side.is_lenient())];
            scope.iter().for_each(|scope| side.family(shared, *scope).describe(&mut words));
            for stop in route {
                words.extend(side.digest(shared, stop));
            }
            words
        };
        [of(old, &routes[0]), of(new, &routes[1])]
    }

    pub(super) fn routes(&mut self, [kind, version, scope]: [Option<TextId>; 3]) -> [Vec<Stop>; 2] {
        let Self { sides, shared, .. } = self;
        sides.each_mut().map(|side| side.route(shared, [kind, version, scope]))
    }

    /// Compares a kind, version and scope.
    fn resource(&mut self, [kind, version, scope]: [TextId; 3]) {
        let target = Target { kind: NameOrOther::Name(kind), version, scope, principal: None };
        self.counts.targets += 1;
        let routes = self.routes([kind, version, scope].map(Some));
        let [old, new] = self.digests(&routes, Some(scope));
        if self.schemas_differ(target) {
            self.add_unknown(self.place(target, None, &[]), Why::Schema, None);
        }
        if old == new {
            self.counts.same_targets += 1;
            return;
        }
        for action in self.actions(&routes) {
            self.question(target, action, (&routes, None));
        }
    }

    /// Compares the policies of a principal itself: for every kind, and in each scope until a difference is
    /// found.
    fn own(&mut self, [principal, version, scope]: [TextId; 3], subjects: &Subjects) {
        self.counts.targets += 1;
        let Self { sides, shared, .. } = self;
        let own = sides.each_mut().map(|side| side.own_route(shared, [principal, version, scope]));
        let [old, new] = self.digests(&own, None);
        if old == new {
            self.counts.same_targets += 1;
            return;
        }
        let mut kinds: BTreeMap<NameOrOther, Vec<TextId>> = BTreeMap::new();
        // Scopes without policies of resources count too: there nothing hides what the principal's own say.
        let root = self.shared.terms.text("");
        let unvisited = [root, self.unknown_scope(root)];
        kinds.insert(NameOrOther::Other, unvisited.to_vec());
        for (rows, ..) in own.iter().flatten().filter_map(|stop| stop.rules.as_ref()) {
            for kind in rows.rules.iter().flat_map(|row| &row.kinds.texts) {
                kinds.insert(NameOrOther::Name(*kind), unvisited.to_vec());
            }
        }
        for ([kind, _], scopes) in subjects.iter().filter(|([_, found], _)| *found == version) {
            let scopes: BTreeSet<TextId> = scopes.iter().copied().chain(unvisited).collect();
            kinds.insert(NameOrOther::Name(*kind), scopes.into_iter().collect());
        }
        for (kind, scopes) in kinds {
            let mut done: BTreeSet<NameOrOther> = BTreeSet::new();
            for resource_scope in scopes {
                let principal = Some((principal, scope));
                let target = Target { kind, version, scope: resource_scope, principal };
                let named = match kind {
                    NameOrOther::Name(kind) => Some(kind),
                    NameOrOther::Other => None,
                };
                let routes = self.routes([named, Some(version), Some(resource_scope)]);
                let mut actions = self.actions(&own);
                actions.extend(self.actions(&routes));
                for action in actions {
                    if !done.contains(&action)
                        && self.question(target, action, (&routes, Some(&own)))
                    {
                        done.insert(action);
                    }
                }
            }
        }
    }

    /// Returns the actions that rules of these policies name, and any other one.
    fn actions(&self, routes: &[Vec<Stop>; 2]) -> BTreeSet<NameOrOther> {
        let mut actions = BTreeSet::from([NameOrOther::Other]);
        for stop in routes.iter().flatten() {
            for (rows, ..) in stop.rules.iter().chain(&stop.roles) {
                let named = rows.rules.iter().flat_map(|row| &row.actions.texts);
                actions.extend(named.map(|action| NameOrOther::Name(*action)));
            }
        }
        actions
    }

    /// Returns true if a request may be denied by the schemas of one table and not by those of the other.
    fn schemas_differ(&mut self, target: Target) -> bool {
        let NameOrOther::Name(kind) = target.kind else { return false };
        let Self { sides, shared, .. } = self;
        let names = [kind, target.version, target.scope];
        let [old, new] = sides;
        old.schemas(shared, names) != new.schemas(shared, names)
    }

    pub(super) fn place(
        &self,
        target: Target,
        action: Option<NameOrOther>,
        roles: &[NameOrOther],
    ) -> Access {
        let terms = &self.shared.terms;
        let name = |asked: NameOrOther| match asked {
            NameOrOther::Name(text) => Some(terms.name(text).to_owned()),
            NameOrOther::Other => None,
        };
        let mut roles: Vec<Option<String>> = roles.iter().map(|role| name(*role)).collect();
        roles.sort();
        Access {
            kind: name(target.kind),
            version: terms.name(target.version).to_owned(),
            scope: terms.name(target.scope).to_owned(),
            action: action.and_then(name),
            principal: target.principal.map(|(principal, _)| terms.name(principal).to_owned()),
            roles,
        }
    }

    pub(super) fn add_unknown(&mut self, place: Access, why: Why, may: Option<Change>) {
        if self.has_room(&place) {
            self.unknown.push(Unknown { place, why, may });
        }
    }

    pub(super) fn add_difference(&mut self, difference: Difference) {
        if self.has_room(&difference.place) {
            self.differences.push(difference);
        }
    }

    /// Returns true if one more answer may be noted. The last one says that there are more.
    fn has_room(&mut self, place: &Access) -> bool {
        let count = self.differences.len() + self.unknown.len();
        if count == MAX_ANSWERS {
            self.unknown.push(Unknown { place: place.clone(), why: Why::Bound, may: None });
        }
        count < MAX_ANSWERS
    }
}

/// Returns the id of a principal that has policies in none of these tables.
fn stranger(tables: [&PolicyTable; 2]) -> String {
    let has_policy = |id: &str| {
        tables.iter().any(|table| {
            let id = table.string_id(id);
            let mut entries = table.entries().iter();
            entries.any(|[key, of, ..]| *key == Key::Principal.code() && Some(*of) == id)
        })
    };
    let usual = ["sam", "ann", "kim"].into_iter().find(|id| !has_policy(id));
    let mut id = usual.unwrap_or("sam").to_owned();
    while has_policy(&id) {
        id.push('s');
    }
    id
}
