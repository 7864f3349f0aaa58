//! Questions with the host's own types, prepared for one action on one kind of resource.
//!
//! The attribute behind a name is found once. A prepared question follows reloads of its PDP: the
//! first decision after one finds the attributes again.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use wardgate_engine::request::Request;

use crate::attributes::{Accessor, AsPrincipal, AsResource, Attributes};
use crate::clock::Clock;
use crate::fast::decide::{Decider, Roles, decide};
use crate::fast::index::Target;
use crate::fast::input::{
    FastInput, SlotValue, ToRequest, all_names_of, follow, follow_nothing, follow_on, read_derived,
};
use crate::fast::path::{Slot, SlotRoot, UnpackedPath};
use crate::field::Field;
use crate::pdp::{Pdp, Snapshot};
use crate::question::{PrincipalRef, Question, ResourceRef};
use crate::text_set::TextSet;

/// A question about one action on one kind of resource. Made by [`Pdp::prepare`].
pub struct Prepared<P, R> {
    pdp: Pdp,
    kind: Box<str>,
    action: Box<str>,
    version: Box<str>,
    scope: Box<str>,
    /// Bound when the question was prepared.
    first: Binding<P, R>,
    /// Bound after a reload.
    later: ArcSwapOption<Binding<P, R>>,
}

/// A prepared question with its principal. Made by [`Prepared::principal`].
pub struct PreparedPrincipal<'a, P, R> {
    prepared: &'a Prepared<P, R>,
    principal: &'a P,
    /// The roles by the first binding, if it is current and has a fast path.
    roles: Option<Roles>,
    /// For each slot of that fast path, the long list that its test searches; empty without any.
    lists: Vec<Option<Arc<TextSet>>>,
}

/// The readers of a fast path's slots for two types.
struct Binding<P, R> {
    policies: Snapshot,
    /// `None` if the general path decides.
    fast_path: Option<Arc<UnpackedPath>>,
    ways: Box<[Way<P, R>]>,
}

/// The reader of one slot.
enum Way<P, R> {
    /// The id of the principal, or one of its attributes.
    Principal(Accessor<P>),
    /// The same of the resource.
    Resource(Accessor<R>),
    Kind,
    Roles,
    /// Values of the type never have the attribute.
    Missing,
    Broken,
    Unsupported,
    BelowPrincipal(Accessor<P>, Box<[Box<str>]>),
    BelowResource(Accessor<R>, Box<[Box<str>]>),
    /// A search for a text in a list.
    Search(Box<Search<P, R>>),
    /// Any other test of a value.
    Derived(Box<Slot>),
}

/// The readers of a list and of the text that is searched for in it.
struct Search<P, R> {
    list: Way<P, R>,
    item: Way<P, R>,
    /// The slot, which also has the test for unusual values.
    slot: Slot,
}

/// The values of one decision.
struct Typed<'a, P, R> {
    prepared: &'a Prepared<P, R>,
    principal: &'a P,
    resource: &'a R,
}

impl<P: AsPrincipal, R: AsResource> Prepared<P, R> {
    pub(crate) fn new(pdp: Pdp, target: Target<'_>) -> Self {
        let first = Binding::new(pdp.snapshot(), target);
        Self {
            pdp,
            kind: target.kind.into(),
            action: target.action.into(),
            version: target.policy_version.into(),
            scope: target.scope.into(),
            first,
            later: ArcSwapOption::empty(),
        }
    }

    /// Returns true if `principal` may perform the action on `resource`. A question with too many
    /// attributes, or with attributes that nest too deep, is denied.
    #[inline]
    #[must_use]
    pub fn is_allowed(&self, principal: &P, resource: &R, clock: impl Clock) -> bool {
        let typed = Typed { prepared: self, principal, resource };
        if self.is_fresh() {
            return self.first.is_allowed(&typed, clock);
        }
        self.with_later(|binding| binding.is_allowed(&typed, clock))
    }

    /// Reads a principal once, for decisions about many resources. Its roles, and lists of more than
    /// 16 texts that a condition searches, are those of this moment.
    ///
    /// ```no_run
    /// use wardgate_native::{AsPrincipal, AsResource, Prepared, SystemClock};
    ///
    /// fn allowed<'r, P: AsPrincipal, R: AsResource>(
    ///     prepared: &Prepared<P, R>,
    ///     principal: &P,
    ///     resources: &'r [R],
    /// ) -> Vec<&'r R> {
    ///     let principal = prepared.principal(principal);
    ///     resources.iter().filter(|resource| principal.is_allowed(resource, SystemClock)).collect()
    /// }
    /// ```
    #[must_use]
    pub fn principal<'a>(&'a self, principal: &'a P) -> PreparedPrincipal<'a, P, R> {
        let fast_path = self.first.fast_path.as_deref().filter(|_| self.is_fresh());
        let is_default = !self.first.policies.index().has_own_policies(principal.id());
        let roles = fast_path
            .filter(|_| is_default)
            .and_then(|fast_path| Roles::of(fast_path, principal.roles()));
        let fast_path = fast_path.filter(|_| roles.is_some());
        let lists =
            fast_path.map_or_else(Vec::new, |fast_path| hashed(principal, &fast_path.slots));
        PreparedPrincipal { prepared: self, principal, roles, lists }
    }

    #[inline]
    fn is_fresh(&self) -> bool {
        self.pdp.is_current(self.first.policies.serial())
    }

    #[inline]
    fn target(&self) -> Target<'_> {
        Target {
            kind: &self.kind,
            action: &self.action,
            policy_version: &self.version,
            scope: &self.scope,
        }
    }

    /// Decides by the policies of a reload.
    #[cold]
    #[inline(never)]
    fn with_later(&self, decide: impl FnOnce(&Binding<P, R>) -> bool) -> bool {
        let is_current = |later: &Arc<Binding<P, R>>| self.pdp.is_current(later.policies.serial());
        let known = self.later.load_full().filter(is_current);
        let binding = known.unwrap_or_else(|| {
            let binding = Arc::new(Binding::new(self.pdp.snapshot(), self.target()));
            self.later.store(Some(Arc::clone(&binding)));
            binding
        });
        decide(&binding)
    }
}

impl<P: AsPrincipal, R: AsResource> PreparedPrincipal<'_, P, R> {
    /// Returns true if the principal may perform the action on `resource`.
    #[inline]
    #[must_use]
    pub fn is_allowed(&self, resource: &R, clock: impl Clock) -> bool {
        let Self { prepared, principal, roles, lists } = self;
        let binding = &prepared.first;
        if let (Some(roles), Some(fast_path)) = (roles, &binding.fast_path)
            && prepared.is_fresh()
            && !binding.policies.has_expired(&clock)
        {
            let typed = Typed { prepared, principal: *principal, resource };
            let reader = binding.reader(&typed);
            let decider = Decider { table: binding.policies.table(), fast_path, clock: &clock };
            // Most fast paths search no long list, and a look for one in each slot is dear.
            let answer = if lists.is_empty() {
                decider.decide_for_roles(roles, &typed, reader)
            } else {
                let read = |at: usize| match (lists.get(at), binding.ways.get(at)) {
                    (Some(Some(list)), Some(Way::Search(search))) => search.read_in(list, &typed),
                    (Some(Some(list)), Some(Way::Derived(slot))) => slot
                        .test
                        .as_ref()
                        .map_or(SlotValue::Unsupported, |test| test.result_in(list, &typed)),
                    _ => reader(at),
                };
                decider.decide_for_roles(roles, &typed, read)
            };
            return answer.unwrap_or_else(|| binding.policies.decide_general(&typed, clock));
        }
        prepared.is_allowed(principal, resource, clock)
    }
}

/// Returns for each slot the long list of a principal that its test searches; nothing if there is none.
fn hashed(principal: &impl AsPrincipal, slots: &[Slot]) -> Vec<Option<Arc<TextSet>>> {
    let mut lists: Vec<Option<Arc<TextSet>>> = Vec::new();
    for slot in slots {
        let test = slot.test.as_ref().filter(|_| slot.root == SlotRoot::PrincipalAttr);
        // Several rules search one list.
        let is_same = |(other, list): &(&Slot, &Option<Arc<TextSet>>)| {
            list.is_some() && (other.root, &other.path) == (slot.root, &slot.path)
        };
        let known = slots.iter().zip(&lists).find(is_same).and_then(|(_, list)| list.clone());
        let made = || test?.hashed(follow(principal, &slot.path)).map(Arc::new);
        lists.push(known.filter(|_| test.is_some_and(|test| test.is_search())).or_else(made));
    }
    if lists.iter().all(Option::is_none) { Vec::new() } else { lists }
}

impl<P: AsPrincipal, R: AsResource> Binding<P, R> {
    fn new(policies: Snapshot, target: Target<'_>) -> Self {
        let fast_path = policies.index().fast_path(policies.table(), target).map(Arc::clone);
        let slots = fast_path.iter().flat_map(|fast_path| &fast_path.slots);
        let ways = slots.map(Way::of).collect();
        Self { policies, fast_path, ways }
    }

    #[inline]
    fn is_allowed(&self, typed: &Typed<'_, P, R>, clock: impl Clock) -> bool {
        self.try_fast_path(typed, &clock)
            .unwrap_or_else(|| self.policies.decide_general(typed, clock))
    }

    #[inline]
    fn try_fast_path(&self, typed: &Typed<'_, P, R>, clock: &impl Clock) -> Option<bool> {
        if self.policies.has_expired(clock) {
            return None;
        }
        let index = self.policies.index();
        let usual = self.fast_path.as_deref();
        let Some(fast_path) = usual.filter(|_| !index.has_own_policies(typed.principal())) else {
            return decide(self.policies.table(), index, typed, clock);
        };
        let decider = Decider { table: self.policies.table(), fast_path, clock };
        decider.decide(typed, self.reader(typed))
    }

    /// Returns the function that reads the slots of the fast path.
    #[inline]
    fn reader<'a>(&self, typed: &Typed<'a, P, R>) -> impl Fn(usize) -> SlotValue<'a> {
        |at| self.ways.get(at).map_or(SlotValue::Unsupported, |way| way.read(typed))
    }
}

impl<P: AsPrincipal, R: AsResource> Way<P, R> {
    fn of(slot: &Slot) -> Self {
        let Some(test) = &slot.test else { return Self::to_value(slot) };
        match test.searched() {
            Some(item) => {
                let (list, item) = (Self::to_value(slot), Self::to_value(item));
                Self::Search(Box::new(Search { list, item, slot: slot.clone() }))
            }
            None => Self::Derived(Box::new(slot.clone())),
        }
    }

    /// Returns the reader of the value of a slot, whatever its test is.
    fn to_value(slot: &Slot) -> Self {
        let path = &*slot.path;
        match slot.root {
            SlotRoot::PrincipalId if path.is_empty() => Self::Principal(principal_id),
            SlotRoot::ResourceId if path.is_empty() => Self::Resource(resource_id),
            SlotRoot::ResourceKind if path.is_empty() => Self::Kind,
            SlotRoot::PrincipalRoles if path.is_empty() => Self::Roles,
            // Text has no members, and a path does not lead into a list.
            SlotRoot::PrincipalId | SlotRoot::ResourceId | SlotRoot::ResourceKind
                if path.len() == 1 =>
            {
                Self::Missing
            }
            SlotRoot::PrincipalId | SlotRoot::ResourceId | SlotRoot::ResourceKind => Self::Broken,
            SlotRoot::PrincipalRoles => Self::Broken,
            SlotRoot::PrincipalAttr => Self::to(path, Way::Principal, Way::BelowPrincipal),
            SlotRoot::ResourceAttr => Self::to(path, Way::Resource, Way::BelowResource),
            // A typed question has no auxiliary data.
            SlotRoot::Claims | SlotRoot::Tokens if path.len() == 1 => Self::Missing,
            SlotRoot::Claims | SlotRoot::Tokens => Self::Broken,
        }
    }

    fn to<T: Attributes>(
        path: &[Box<str>],
        way: impl Fn(Accessor<T>) -> Self,
        below: impl Fn(Accessor<T>, Box<[Box<str>]>) -> Self,
    ) -> Self {
        let Some((first, rest)) = path.split_first() else { return Self::Unsupported };
        match T::accessor(first) {
            Some(accessor) if rest.is_empty() => way(accessor),
            Some(accessor) => below(accessor, rest.into()),
            None if rest.is_empty() => Self::Missing,
            None => Self::Broken,
        }
    }

    #[inline]
    fn read<'a>(&self, typed: &Typed<'a, P, R>) -> SlotValue<'a> {
        match self {
            Self::Resource(accessor) => SlotValue::Field(accessor(typed.resource)),
            Self::Principal(accessor) => SlotValue::Field(accessor(typed.principal)),
            _ => self.read_rare(typed),
        }
    }

    /// Reads any other slot. A separate call, so that the usual two need no table of jumps.
    #[inline(never)]
    fn read_rare<'a>(&self, typed: &Typed<'a, P, R>) -> SlotValue<'a> {
        match self {
            Self::Kind => SlotValue::Field(Field::Text(&typed.prepared.kind)),
            Self::Roles => SlotValue::Roles,
            Self::Missing => SlotValue::Field(Field::Missing),
            Self::Broken => SlotValue::Broken,
            Self::Unsupported => SlotValue::Unsupported,
            Self::Search(search) => search.read(typed),
            Self::Derived(slot) => read_derived(typed, slot),
            Self::Principal(_) | Self::Resource(_) => self.read(typed),
            Self::BelowPrincipal(accessor, rest) => below(accessor(typed.principal), rest),
            Self::BelowResource(accessor, rest) => below(accessor(typed.resource), rest),
        }
    }
}

impl<P: AsPrincipal, R: AsResource> Search<P, R> {
    fn read<'a>(&self, typed: &Typed<'a, P, R>) -> SlotValue<'a> {
        let test = self.slot.test.as_deref();
        match test.and_then(|test| test.found(self.list.read(typed), self.item.read(typed))) {
            Some(is_found) => SlotValue::Field(Field::Bool(is_found)),
            None => read_derived(typed, &self.slot),
        }
    }

    /// Reads the slot with a set of the elements of the list.
    fn read_in<'a>(&self, list: &TextSet, typed: &Typed<'a, P, R>) -> SlotValue<'a> {
        let Some(test) = self.slot.test.as_deref() else { return SlotValue::Unsupported };
        match test.found(SlotValue::Field(Field::List(list)), self.item.read(typed)) {
            Some(is_found) => SlotValue::Field(Field::Bool(is_found)),
            None => test.result_in(list, typed),
        }
    }
}

/// Reads the id of a principal, as an accessor.
fn principal_id<P: AsPrincipal>(principal: &P) -> Field<'_> {
    Field::Text(principal.id())
}

/// Reads the id of a resource, as an accessor.
fn resource_id<R: AsResource>(resource: &R) -> Field<'_> {
    Field::Text(resource.id())
}

/// Follows the rest of a path. Few paths are longer than one name.
#[inline(never)]
fn below<'a>(field: Field<'a>, rest: &[Box<str>]) -> SlotValue<'a> {
    follow_on(field, rest)
}

impl<P: AsPrincipal, R: AsResource> FastInput for Typed<'_, P, R> {
    fn target(&self) -> Target<'_> {
        self.prepared.target()
    }

    #[inline]
    fn principal(&self) -> &str {
        self.principal.id()
    }

    fn principal_scope(&self) -> &str {
        self.principal.scope()
    }

    fn resource(&self) -> &str {
        self.resource.id()
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.principal.roles()
    }

    fn principal_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow(self.principal, path)
    }

    fn resource_attribute(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow(self.resource, path)
    }

    fn all_names(&self, root: SlotRoot, is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        match root {
            SlotRoot::PrincipalAttr => all_names_of(self.principal, is_known),
            SlotRoot::ResourceAttr => all_names_of(self.resource, is_known),
            _ => false,
        }
    }

    fn claim(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow_nothing(path)
    }

    fn token(&self, path: &[Box<str>]) -> SlotValue<'_> {
        follow_nothing(path)
    }
}

impl<P: AsPrincipal, R: AsResource> ToRequest for Typed<'_, P, R> {
    fn request(&self) -> Option<Request> {
        let Target { kind, action, policy_version, scope } = self.prepared.target();
        let roles: Vec<&str> = self.principal.roles().collect();
        let question = Question {
            principal: PrincipalRef {
                id: self.principal.id(),
                roles: &roles,
                attributes: self.principal,
                policy_version: self.principal.policy_version(),
                scope: self.principal.scope(),
            },
            action,
            resource: ResourceRef {
                kind,
                id: self.resource.id(),
                attributes: self.resource,
                policy_version,
                scope,
            },
        };
        question.request()
    }
}
