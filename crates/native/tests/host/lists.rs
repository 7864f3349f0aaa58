//! Searches in the lists of a prepared principal.

use std::cell::Cell;

use wardgate_native::{
    AsField, AsPrincipal, AsResource, Field, Items, Pdp, SystemClock, TextSet, Timestamp, Trust,
    attributes,
};

use crate::policies::bundle;

#[test]
fn lists_of_a_prepared_principal_have_the_answers_of_the_general_path() {
    let pdp = Pdp::open(&bundle(POLICY), Trust::Unsigned).unwrap();
    let names = |count: usize| (0..count).map(|at| Team::Name(format!("team {at}"))).collect();
    let mut lists: Vec<Vec<Team>> = [0, 1, 16, 17, 100, 1024, 1025].map(names).into();
    lists.push([names(20), vec![Team::Number(1.0)]].into_iter().flatten().collect());
    let mut allowed = 0;
    for list in lists {
        let person = Person { teams: Teams { list, walks: Cell::new(0) } };
        for team in [
            Team::Name("team 0".into()),
            Team::Name("team 16".into()),
            Team::Name("team".into()),
            Team::Name("x".repeat(300)),
            Team::Number(1.0),
            Team::Number(f64::NAN),
            Team::Missing,
        ] {
            let room = Room { team };
            for action in ["among", "some", "other"] {
                let prepared = pdp.prepare::<Person, Room>("room", action);
                let expected = prepared.is_allowed(&person, &room, SystemClock);
                let found = prepared.principal(&person).is_allowed(&room, SystemClock);
                assert_eq!(found, expected, "{action} {:?} {:?}", room.team, person.teams.list);
                allowed += u32::from(found);
            }
        }
    }
    assert!((50..150).contains(&allowed), "{allowed}");
}

#[test]
fn a_long_list_is_walked_once() {
    let check = |count: usize, expected: u32| {
        let pdp = Pdp::open(&bundle(POLICY), Trust::Unsigned).unwrap();
        let list = (0..count).map(|at| Team::Name(format!("team {at}"))).collect();
        let person = Person { teams: Teams { list, walks: Cell::new(0) } };
        let prepared = pdp.prepare::<Person, Room>("room", "among");
        let principal = prepared.principal(&person);
        let before = person.teams.walks.get();
        for at in 0..10 {
            let room = Room { team: Team::Name(format!("team {at}")) };
            assert!(principal.is_allowed(&room, Timestamp::default()), "{at}");
        }
        assert_eq!(person.teams.walks.get() - before, expected, "{count}");
    };
    check(12, 10);
    check(17, 0);
    check(1000, 0);
}

#[test]
fn lists_and_sets_are_searched_as_by_a_walk_over_all_elements() {
    let pdp = Pdp::open(&bundle(SHELF), Trust::Unsigned).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let mut allowed = 0;
    for _ in 0..2000 {
        let mut ids = || {
            let most = if random.u8(..8) == 0 { 120 } else { 6 };
            let count = random.usize(..most);
            let mut ids: Vec<Team> =
                (0..count).map(|_| Team::Name(format!("team {}", random.u8(..40)))).collect();
            match random.u8(..12) {
                0 => ids.push(Team::Number(1.0)),
                1 => ids.push(Team::Missing),
                _ => {}
            }
            if random.bool() { Ids::List(ids) } else { Ids::Set(names(&ids)) }
        };
        let (owner, shelf) = (Owner { ids: ids() }, Shelf { ids: ids(), one: "team 3".into() });
        for action in ["share", "hold", "list"] {
            let prepared = pdp.prepare::<Owner, Shelf>("shelf", action);
            let found = prepared.is_allowed(&owner, &shelf, Timestamp::default());
            let (own, others) = (owner.ids.texts(), shelf.ids.texts());
            let have_common = own.iter().any(|id| others.contains(id));
            let expected = match action {
                "share" => have_common,
                "hold" => own.contains(&"team 3".into()),
                _ => !have_common,
            };
            assert_eq!(found, expected, "{action} {:?} {:?}", owner.ids, shelf.ids);
            let principal = prepared.principal(&owner);
            assert_eq!(principal.is_allowed(&shelf, Timestamp::default()), expected, "{action}");
            allowed += u32::from(found);
        }
    }
    assert!((500..5000).contains(&allowed), "{allowed}");
}

/// Returns the texts among ids.
fn names(ids: &[Team]) -> TextSet {
    let name = |id: &Team| match id {
        Team::Name(name) => Some(name.clone()),
        _ => None,
    };
    ids.iter().filter_map(name).collect()
}

#[derive(Debug)]
enum Ids {
    List(Vec<Team>),
    Set(TextSet),
}

struct Owner {
    ids: Ids,
}

struct Shelf {
    ids: Ids,
    one: String,
}

attributes! { Owner { ids } }
attributes! { Shelf { ids, one } }

impl Ids {
    /// Returns each element as a text that tells it from others.
    fn texts(&self) -> Vec<String> {
        match self {
            Self::List(ids) => ids.iter().map(Team::text).collect(),
            Self::Set(ids) => ids.iter().map(str::to_owned).collect(),
        }
    }
}

impl Team {
    fn text(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Number(number) => format!("the number {number}"),
            Self::Missing => "nothing".to_owned(),
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

impl AsPrincipal for Owner {
    fn id(&self) -> &str {
        "ada"
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        ["user"].into_iter()
    }
}

impl AsResource for Shelf {
    fn id(&self) -> &str {
        "s1"
    }
}

struct Person {
    teams: Teams,
}

struct Room {
    team: Team,
}

/// A list that counts how often it is walked.
struct Teams {
    list: Vec<Team>,
    walks: Cell<u32>,
}

#[derive(Debug)]
enum Team {
    Name(String),
    Number(f64),
    Missing,
}

attributes! { Person { teams } }
attributes! { Room { team } }

impl AsField for Team {
    fn field(&self) -> Field<'_> {
        match self {
            Self::Name(name) => Field::Text(name),
            Self::Number(number) => Field::Number(*number),
            Self::Missing => Field::Missing,
        }
    }
}

impl AsField for Teams {
    fn field(&self) -> Field<'_> {
        Field::List(self)
    }
}

impl Items for Teams {
    fn each(&self, visit: &mut dyn FnMut(Field<'_>)) {
        self.walks.set(self.walks.get() + 1);
        self.list.iter().for_each(|team| visit(team.field()));
    }
}

impl AsPrincipal for Person {
    fn id(&self) -> &str {
        "ada"
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        ["user"].into_iter()
    }
}

impl AsResource for Room {
    fn id(&self) -> &str {
        "r1"
    }
}

const SHELF: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: shelf
  version: default
  rules:
    - { actions: [share], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: "hasIntersection(R.attr.ids, P.attr.ids)" } } }
    - { actions: [hold], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.one in P.attr.ids } } }
    - { actions: [list], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: "P.id == R.attr.one || !P.attr.ids.hasIntersection(R.attr.ids)" } } }
"#;

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: room
  version: default
  rules:
    - { actions: [among], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.team in P.attr.teams } } }
    - { actions: [some], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: "P.attr.teams.exists(e, e == R.attr.team)" } } }
    - { actions: [other], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: "P.attr.teams.all(e, e != R.attr.team)" } } }
"#;
