//! Random graphs of entities, and requests about them.
//!
//! An application makes its entities from dice that never change: every possible edge exists with
//! probability 0.05, and folders and teams lie only in such with lower numbers, so that there is no circle.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use serde_json::Value as Json;
use wardgate_native::{AsField, AsPrincipal, AsResource, Field, Lookup, TextSet};

use crate::workload::Random;

/// An application of the paper.
pub(super) trait App {
    /// The principals of the application.
    type User: AsPrincipal;
    /// The resources of all kinds.
    type Resource: AsResource;

    /// The name in reports.
    const NAME: &'static str;
    /// The policies, as Cerbos writes them.
    const POLICIES: &'static [(&'static str, &'static str)];
    /// The same in Cedar's language, one after the other.
    const CEDAR: &'static str;
    /// Each action, with the kind of its resources. A request has each with equal probability.
    const ACTIONS: &'static [(&'static str, &'static str)];
    /// The actions that belong to another one, which Cedar calls their parent.
    const GROUPED: &'static [(&'static str, &'static str)] = &[];

    /// Makes a graph with `count` entities of each type.
    fn graph(count: usize, dice: &mut Dice) -> Graph<Self::User, Self::Resource>;

    /// Returns a user whose lists are sets.
    fn hashed_user(user: &Self::User) -> Self::User;

    /// Returns a resource whose lists are sets.
    fn hashed_resource(resource: &Self::Resource) -> Self::Resource;

    /// Decides by the rules, written by hand.
    fn allows(action: &str, user: &Self::User, resource: &Self::Resource) -> bool;
}

/// The entities of one graph.
pub(super) struct Graph<U, R> {
    pub(super) users: Vec<U>,
    /// The resources, each with its kind.
    pub(super) resources: Vec<(&'static str, R)>,
    /// All entities with their direct parents, as Cedar has them.
    pub(super) entities: Vec<Entity>,
}

/// An entity by its type and id, which `::` separates.
pub(super) struct Entity {
    pub(super) uid: String,
    pub(super) parents: Vec<String>,
    pub(super) attributes: Vec<(&'static str, Value)>,
}

/// An attribute of an entity.
pub(super) enum Value {
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Entity(String),
    Entities(Vec<String>),
}

/// Ids as a host has them.
#[derive(Clone)]
pub(super) enum Ids {
    List(Vec<String>),
    /// Hashed when the entity was loaded.
    Set(TextSet),
}

/// A request: the ids of its entities, and the number of its action.
pub(super) struct Request {
    pub(super) user: String,
    pub(super) action: usize,
    pub(super) resource: String,
}

/// Entities that are found by their ids.
pub(super) type Store<T> = HashMap<String, T, RandomState>;

/// The random choices of a graph.
pub(super) struct Dice(Random);

impl Dice {
    /// Returns the dice of one graph: those of two graphs have nothing in common.
    pub(super) fn of_graph(number: u64) -> Self {
        Self(Random::of_part(number))
    }

    /// Returns true with the probability of an edge.
    pub(super) fn has_edge(&mut self) -> bool {
        self.0.one_in(EDGE_IN)
    }

    /// Returns the numbers below `count` to which there is an edge.
    pub(super) fn edges(&mut self, count: usize) -> Vec<usize> {
        (0..count).filter(|_| self.has_edge()).collect()
    }

    /// Returns a number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Returns an entry of a table that is not empty.
    pub(super) fn pick<T: Copy + Default>(&mut self, table: &[T]) -> T {
        self.0.pick(table)
    }
}

impl<U: AsPrincipal, R: AsResource> Graph<U, R> {
    /// Returns the user with an id.
    pub(super) fn user(&self, id: &str) -> Option<&U> {
        self.users.iter().find(|user| user.id() == id)
    }

    /// Returns the resource with an id.
    pub(super) fn resource(&self, id: &str) -> Option<&R> {
        self.resources.iter().map(|(_, resource)| resource).find(|resource| resource.id() == id)
    }

    /// Returns requests with an action and entities at random.
    pub(super) fn requests<A>(&self, count: usize, dice: &mut Dice) -> Vec<Request>
    where
        A: App<User = U, Resource = R>,
    {
        let of_kind = |wanted: &str| -> Vec<&R> {
            let resources = self.resources.iter().filter(|(kind, _)| *kind == wanted);
            resources.map(|(_, resource)| resource).collect()
        };
        let resources: Vec<Vec<&R>> = A::ACTIONS.iter().map(|(_, kind)| of_kind(kind)).collect();
        let mut request = || {
            let action = dice.below(A::ACTIONS.len());
            let user = self.users.get(dice.below(self.users.len()))?;
            let resources = resources.get(action)?;
            let resource = resources.get(dice.below(resources.len()))?;
            Some(Request { user: user.id().into(), action, resource: resource.id().into() })
        };
        (0..count).filter_map(|_| request()).collect()
    }
}

impl Ids {
    /// Returns true if an id is among them.
    pub(super) fn contains(&self, wanted: &str) -> bool {
        match self {
            Self::List(ids) => ids.iter().any(|id| id == wanted),
            Self::Set(ids) => ids.contains(wanted),
        }
    }

    /// Returns true if some id is among the others too.
    pub(super) fn meet(&self, others: &Self) -> bool {
        match self {
            Self::List(ids) => ids.iter().any(|id| others.contains(id)),
            Self::Set(ids) => ids.iter().any(|id| others.contains(id)),
        }
    }

    /// Returns the same as a set.
    pub(super) fn hashed(&self) -> Self {
        match self {
            Self::List(ids) => Self::Set(ids.iter().map(String::as_str).collect()),
            Self::Set(ids) => Self::Set(ids.clone()),
        }
    }
}

impl AsField for Ids {
    fn field(&self) -> Field<'_> {
        match self {
            Self::List(ids) => ids.field(),
            Self::Set(ids) => ids.field(),
        }
    }
}

impl Entity {
    pub(super) fn new(uid: impl Into<String>, parents: Vec<String>) -> Self {
        Self { uid: uid.into(), parents, attributes: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.attributes.push((name, value));
        self
    }
}

/// Returns for each of some entities the ancestors: its direct parents and what those have.
///
/// An entity has parents with lower numbers only.
pub(super) fn closures(direct: &[Vec<usize>], others: &[Vec<String>], name: &str) -> Vec<Set> {
    let mut all: Vec<Set> = Vec::new();
    for (parents, others) in direct.iter().zip(others) {
        let mut ancestors: Set = others.iter().cloned().collect();
        for parent in parents {
            ancestors.insert(format!("{name}{parent}"));
            ancestors.extend(all.get(*parent).into_iter().flatten().cloned());
        }
        all.push(ancestors);
    }
    all
}

/// Ids in their order.
pub(super) type Set = BTreeSet<String>;

/// Returns ids with numbers.
pub(super) fn named(name: &str, numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(|number| format!("{name}{number}")).collect()
}

/// Returns an entity as the JSON of a request.
pub(super) fn json(attributes: &dyn Lookup) -> Json {
    let mut members = serde_json::Map::new();
    attributes.each(&mut |name, field| {
        if let Some(value) = json_of(field) {
            members.insert(name.to_owned(), value);
        }
    });
    Json::Object(members)
}

fn json_of(field: Field<'_>) -> Option<Json> {
    Some(match field {
        Field::Missing => return None,
        Field::Null => Json::Null,
        Field::Bool(value) => value.into(),
        Field::Number(value) => value.into(),
        Field::Text(text) => text.into(),
        Field::List(items) => {
            let mut list = Vec::new();
            items.each(&mut |item| list.extend(json_of(item)));
            list.into()
        }
        Field::Map(members) => json(members),
    })
}

/// One possible edge of so many exists.
const EDGE_IN: usize = 20;
