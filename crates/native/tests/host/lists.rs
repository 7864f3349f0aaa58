//! Searches in the lists of a prepared principal.

use std::cell::Cell;

use wardgate_native::{
    AsField, AsPrincipal, AsResource, Field, Items, Pdp, SystemClock, Timestamp, Trust, attributes,
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
