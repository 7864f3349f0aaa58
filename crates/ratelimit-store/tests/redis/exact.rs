//! Outcomes while all is well.

use redis::Value;
use wardgate_ratelimit::{Admission, Algorithm, Outcome, Window};
use wardgate_ratelimit_store::{
    Action, ConnectError, Demand, Demands, Failure, Key, Options, Redis, RedisCluster, Store, Terms,
};

use crate::server::Server;
use crate::{demand, only, patient};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_caller_gets_its_own_outcome() {
    let Some(server) = Server::start("every_caller_gets_its_own_outcome") else { return };
    let store = patient(&server.address());
    let callers: Vec<_> = (1..=1000_u64)
        .map(|caller| {
            let key = Key::new([caller.to_le_bytes().as_slice()]);
            let one = Demand { key, ..demand("own", Failure::Deny, 10_000) };
            let mut demands = vec![Demand { cost: caller, ..one.clone() }];
            if caller % 3 == 0 {
                let terms = Terms::new(Algorithm::Fixed, caller, Window::HOUR).unwrap();
                demands.push(Demand { terms, cost: caller, ..one });
            }
            (caller, Demands::new(demands).unwrap())
        })
        .collect();
    let store_ref = &store;
    let all = callers.iter().map(|(caller, demands)| async move {
        let outcomes = store_ref.charge(demands).await.unwrap();
        assert_eq!(outcomes[0].remaining, 10_000 - caller);
        assert_eq!(outcomes.len(), if caller % 3 == 0 { 2 } else { 1 });
        assert!(outcomes[1..].iter().all(|outcome| outcome.remaining == 0));
        assert!(outcomes.iter().all(Outcome::is_allowed));
    });
    together(all).await;
    let counts = store.counts();
    assert_eq!((counts.answered, counts.failures, counts.turned_away), (1000, 0, 0));
    assert!(counts.calls < 1000, "{counts:?}");
}

#[tokio::test]
async fn limits_of_a_check_are_charged_together_or_not_at_all() {
    let test = "limits_of_a_check_are_charged_together_or_not_at_all";
    let Some(server) = Server::start(test) else { return };
    let store = patient(&server.address());
    let (wide, narrow) = (demand("wide", Failure::Deny, 10), demand("narrow", Failure::Deny, 2));
    let both = Demands::new([wide.clone(), narrow.clone()]).unwrap();
    assert_eq!(run(&store, Action::Charge, &both).await, [9, 1]);
    assert_eq!(run(&store, Action::Charge, &both).await, [8, 0]);
    for _ in 0..3 {
        let outcomes = store.charge(&both).await.unwrap();
        assert!(outcomes[0].is_allowed() && !outcomes[1].is_allowed());
        assert_eq!(outcomes[0].remaining, 8);
    }
    assert_eq!(run(&store, Action::Look, &only(&wide)).await, [8]);
    assert_eq!(run(&store, Action::Refund, &both).await, [9, 1]);
    assert_eq!(run(&store, Action::Reset, &only(&wide)).await, [10]);
    assert_eq!(run(&store, Action::Look, &both).await, [10, 1]);
    let never = Demand { cost: 3, ..narrow };
    assert_eq!(store.charge(&only(&never)).await.unwrap()[0].admission, Admission::Never);
}

#[tokio::test]
async fn states_are_apart_by_name_key_algorithm_and_window() {
    let test = "states_are_apart_by_name_key_algorithm_and_window";
    let Some(server) = Server::start(test) else { return };
    let store = patient(&server.address());
    let one = demand("a", Failure::Deny, 1);
    let fixed = Terms::new(Algorithm::Fixed, 1, Window::Month).unwrap();
    let sliding = Terms::new(Algorithm::Sliding, 1, Window::DAY).unwrap();
    let others = [
        one.clone(),
        demand("b", Failure::Deny, 1),
        Demand { key: Key::new([b"lee".as_slice()]), ..one.clone() },
        Demand { terms: fixed, ..one.clone() },
        Demand { terms: sliding, ..one.clone() },
    ];
    for other in &others {
        assert_eq!(run(&store, Action::Charge, &only(other)).await, [0]);
    }
    // Another quota is another view of the same state.
    let terms = Terms::new(Algorithm::Fixed, 5, Window::Month).unwrap();
    let more = Demand { terms, ..one };
    assert_eq!(run(&store, Action::Look, &only(&more)).await, [4]);
    assert_eq!(server.command(&["DBSIZE"]).await, Value::Int(5));
}

#[tokio::test]
async fn a_script_that_was_flushed_is_loaded_again() {
    let Some(server) = Server::start("a_script_that_was_flushed_is_loaded_again") else { return };
    let store = patient(&server.address());
    let ten = only(&demand("a", Failure::Deny, 10));
    for remaining in (5..10).rev() {
        assert_eq!(run(&store, Action::Charge, &ten).await, [remaining]);
        server.command(&["SCRIPT", "FLUSH"]).await;
    }
    assert_eq!(store.counts().failures, 0);
}

#[tokio::test]
async fn a_user_with_few_rights_is_enough() {
    let Some(server) = Server::start("a_user_with_few_rights_is_enough") else { return };
    let rights = "on >sesame ~wg1:* -@all +evalsha +script|load +time +mget +psetex +del";
    let words: Vec<&str> =
        ["ACL", "SETUSER", "limits"].into_iter().chain(rights.split(' ')).collect();
    server.command(&words).await;
    let store = patient(&server.address().replace("//", "//limits:sesame@"));
    let ten = only(&demand("a", Failure::Deny, 10));
    assert_eq!(run(&store, Action::Charge, &ten).await, [9]);
    assert_eq!(run(&store, Action::Reset, &ten).await, [10]);
    let stranger = patient(&server.address().replace("//", "//limits:other@"));
    assert!(stranger.charge(&ten).await.is_err());
}

#[tokio::test]
async fn words_to_enter_are_not_shown() {
    let address = "redis://limits:sesame@127.0.0.1:1";
    let store = Redis::new(address, Options::default()).unwrap();
    let cluster = RedisCluster::new(&[address], Options::default()).unwrap();
    let away = store.charge(&only(&demand("a", Failure::Deny, 1))).await.unwrap_err();
    let wrong = Redis::new("http://limits:sesame@127.0.0.1", Options::default()).unwrap_err();
    let shown = format!("{store:?} {cluster:?} {away:?} {away} {wrong:?} {wrong}");
    assert!(!shown.contains("sesame"), "{shown}");
}

#[test]
fn a_store_needs_a_runtime_and_an_address() {
    let new = |address| Redis::new(address, Options::default()).unwrap_err();
    assert_eq!(new("redis://127.0.0.1:1"), ConnectError::NoRuntime);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    for address in ["", "http://127.0.0.1", "redis://", "redis://:port", "127.0.0.1"] {
        assert_eq!(new(address), ConnectError::Address, "{address}");
    }
    let none: [&str; 0] = [];
    let cluster = RedisCluster::new(&none, Options::default());
    assert_eq!(cluster.unwrap_err(), ConnectError::Address);
}

/// Returns what remains of each limit.
async fn run(store: &Redis, action: Action, demands: &Demands) -> Vec<u64> {
    let outcomes = store.run(action, demands).await.unwrap();
    outcomes.iter().map(|outcome| outcome.remaining).collect()
}

/// Waits for all of these at once.
async fn together(all: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    core::future::poll_fn(|context| {
        all.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if all.is_empty() { core::task::Poll::Ready(()) } else { core::task::Poll::Pending }
    })
    .await;
}
