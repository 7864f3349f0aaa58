//! Limits while their store is away, and how they find their memory.

use core::sync::atomic::{AtomicBool, Ordering};

use wardgate_ratelimit::{Admission, WhenFull, Window};

use super::*;
use crate::demand::{Key, Limit};

/// A memory that can go away.
struct Switched {
    memory: Memory,
    is_away: AtomicBool,
}

impl Store for Switched {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(Away::Lost),
            false => Ok(self.memory.apply(action, demands).into_vec()),
        }
    }
}

#[tokio::test]
async fn each_limit_is_treated_as_it_says() {
    let guarded = guarded(Share::WHOLE);
    let [local, deny, allow] =
        [Failure::Local, Failure::Deny, Failure::Allow].map(|failure| demand("a", failure, 2));
    away(&guarded, true);
    for _ in 0..3 {
        let answer = guarded.charge(&only(&deny)).await;
        assert_eq!(answer, Answer { standings: vec![Standing::Denied], away: Some(Away::Lost) });
        assert!(!answer.is_allowed() && answer.is_unavailable());
        let answer = guarded.charge(&only(&allow)).await;
        assert_eq!(answer.standings, [Standing::Allowed]);
        assert!(answer.is_allowed() && !answer.is_unavailable());
    }
    let mut allowed = Vec::new();
    for _ in 0..3 {
        allowed.push(guarded.charge(&only(&local)).await.is_allowed());
    }
    assert_eq!(allowed, [true, true, false]);
}

#[tokio::test]
async fn a_limit_that_denies_keeps_others_from_being_charged() {
    let guarded = guarded(Share::WHOLE);
    let (local, deny) = (demand("a", Failure::Local, 2), demand("b", Failure::Deny, 2));
    let allow = demand("c", Failure::Allow, 2);
    away(&guarded, true);
    let all = Demands::new([allow.clone(), local.clone(), deny]).unwrap();
    for _ in 0..3 {
        let answer = guarded.charge(&all).await;
        let [Standing::Allowed, Standing::Local(outcome), Standing::Denied] = answer.standings[..]
        else {
            panic!("{answer:?}")
        };
        assert_eq!(outcome.remaining, 2);
    }
    let both = Demands::new([local, allow]).unwrap();
    assert!(guarded.charge(&both).await.is_allowed());
    assert_eq!(remaining(&guarded.charge(&both).await), 0);
    assert!(!guarded.charge(&both).await.is_allowed());
}

#[tokio::test]
async fn the_memory_knows_what_the_store_admitted() {
    let guarded = guarded(Share::new(500).unwrap());
    let ten = only(&demand("a", Failure::Local, 10));
    for _ in 0..3 {
        assert!(guarded.charge(&ten).await.is_allowed());
    }
    away(&guarded, true);
    assert_eq!(remaining(&guarded.charge(&ten).await), 1);
    assert!(guarded.charge(&ten).await.is_allowed());
    assert!(!guarded.charge(&ten).await.is_allowed());
    away(&guarded, false);
    assert_eq!(remaining(&guarded.charge(&ten).await), 6);
    guarded.run(Action::Reset, &ten).await;
    away(&guarded, true);
    assert_eq!(remaining(&guarded.charge(&ten).await), 4);
}

#[tokio::test]
async fn a_charge_above_the_share_uses_it_up() {
    let guarded = guarded(Share::new(300).unwrap());
    let one = demand("a", Failure::Local, 10);
    let many = only(&Demand { cost: 8, ..one.clone() });
    assert!(guarded.charge(&many).await.is_allowed());
    away(&guarded, true);
    assert!(!guarded.charge(&only(&one)).await.is_allowed());
    let answer = guarded.charge(&many).await;
    let [Standing::Local(outcome)] = answer.standings[..] else { panic!("{answer:?}") };
    assert_eq!(outcome.admission, Admission::Never);
}

#[test]
fn shares_are_parts_and_at_least_one_token() {
    assert_eq!([0, 1001].map(Share::new), [None, None]);
    let part = |thousandths, tokens| Share::new(thousandths).unwrap().of(tokens);
    assert_eq!([part(333, 10), part(1, 10), part(1000, 7), part(999, 1)], [3, 1, 7, 1]);
    for (quota, micros) in [(1, 366 * 86_400_000_000), (1_000_000, 1_000_000)] {
        for thousandths in [1, 7, 500, 999, 1000] {
            let share = Share::new(thousandths).unwrap();
            for algorithm in [Algorithm::Gcra { burst: None }, Algorithm::Fixed] {
                let terms = Terms::new(algorithm, quota, Window::Micros(micros)).unwrap();
                assert!(share.terms(&terms).is_some(), "{quota} {thousandths}");
            }
        }
    }
}

#[tokio::test]
async fn a_charge_is_taken_back_while_its_window_lasts() {
    let guarded = guarded(Share::WHOLE);
    // An edge of such a window comes once in a year.
    let year = Window::Micros(366 * 86_400_000_000);
    for (name, algorithm, after) in [
        ("f", Algorithm::Fixed, 7),
        ("s", Algorithm::Sliding, 7),
        ("g", Algorithm::Gcra { burst: None }, 10),
    ] {
        let terms = Terms::new(algorithm, 10, year).unwrap();
        let three = only(&Demand { terms, cost: 3, ..demand(name, Failure::Local, 1) });
        let charge = guarded.charge(&three).await;
        let [Standing::Known(outcome)] = charge.standings[..] else { panic!("{charge:?}") };
        let late = guarded.undo(&three, &charge, outcome.reset).await;
        assert_eq!(remaining(&late), after, "{name}");
        assert_eq!(remaining(&guarded.run(Action::Look, &three).await), after, "{name}");
        let charge = guarded.charge(&three).await;
        let before = remaining(&charge);
        assert_eq!(remaining(&guarded.undo(&three, &charge, 0).await), before + 3, "{name}");
    }
}

#[tokio::test]
async fn a_charge_is_taken_back_where_it_was_done() {
    let guarded = guarded(Share::WHOLE);
    let one = only(&demand("a", Failure::Local, 10));
    guarded.charge(&one).await;
    away(&guarded, true);
    let charge = guarded.charge(&one).await;
    assert_eq!(remaining(&charge), 8, "the share was charged all the time");
    away(&guarded, false);
    assert_eq!(remaining(&guarded.undo(&one, &charge, 0).await), 9);
    assert_eq!(remaining(&guarded.run(Action::Look, &one).await), 9, "of the store");
}

fn guarded(share: Share) -> Guarded<Switched> {
    let [store, local] = [(); 2].map(|()| Memory::new(100, WhenFull::Deny));
    Guarded::new(Switched { memory: store, is_away: AtomicBool::new(false) }, local, share)
}

fn away(guarded: &Guarded<Switched>, is_away: bool) {
    guarded.store().is_away.store(is_away, Ordering::Relaxed);
}

/// Returns a demand for one token of a day.
fn demand(name: &str, failure: Failure, quota: u64) -> Demand {
    Demand {
        limit: Limit::new(name, failure).unwrap(),
        key: Key::new([b"sam".as_slice()]),
        terms: Terms::new(Algorithm::Gcra { burst: None }, quota, Window::DAY).unwrap(),
        cost: 1,
    }
}

fn only(demand: &Demand) -> Demands {
    Demands::new([demand.clone()]).unwrap()
}

/// Returns what remains of the one limit that the answer tells of.
fn remaining(answer: &Answer) -> u64 {
    let known = answer.standings.iter().find_map(|standing| match standing {
        Standing::Known(outcome) | Standing::Local(outcome) => Some(outcome.remaining),
        Standing::Denied | Standing::Allowed => None,
    });
    known.unwrap()
}
