//! 150,000 requests at once on a limit of 100,000: exactly 100,000 are allowed, from one process
//! and from four.

use std::process::Command;
use std::sync::Arc;

use wardgate_ratelimit_store::{Failure, Leased, Store};

use crate::server::Server;
use crate::{demand, only, patient};

#[test]
fn a_flood_from_one_process_gets_the_quota() {
    let Some(server) = Server::start("a_flood_from_one_process_gets_the_quota") else { return };
    assert_eq!(flood(&server.address(), REQUESTS), QUOTA);
}

#[test]
fn a_flood_from_four_processes_gets_the_quota() {
    let Some(server) = Server::start("a_flood_from_four_processes_gets_the_quota") else { return };
    assert_eq!(from_four_processes(&server, PLAIN), QUOTA);
}

#[test]
fn a_flood_on_leases_gets_no_more_than_the_quota() {
    let test = "a_flood_on_leases_gets_no_more_than_the_quota";
    let Some(server) = Server::start(test) else { return };
    let allowed = from_four_processes(&server, LEASED);
    assert!((QUOTA - QUOTA / 100..=QUOTA).contains(&allowed), "{allowed}");
}

/// Returns how many of the requests of four processes are allowed.
fn from_four_processes(server: &Server, variable: &str) -> usize {
    let processes: Vec<_> = (0..4)
        .map(|_| {
            // This test program again, for the part below.
            Command::new(std::env::current_exe().unwrap())
                .args(["flood::a_part_of_a_flood", "--exact", "--nocapture"])
                .env(variable, server.address())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let allowed = processes.into_iter().map(|process| {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(MARK), "{text}");
        let (_, rest) = text.split_once(MARK).unwrap();
        rest.lines().next().unwrap().parse::<usize>().unwrap()
    });
    allowed.sum()
}

/// Does something in the processes that the tests above start only.
#[test]
fn a_part_of_a_flood() {
    if let Ok(address) = std::env::var(PLAIN) {
        println!("{MARK}{}", flood(&address, REQUESTS / 4));
    }
    if let Ok(address) = std::env::var(LEASED) {
        println!("{MARK}{}", leased_flood(&address, REQUESTS / 4));
    }
}

/// Sends requests, all at once, and returns how many are allowed.
fn flood(address: &str, requests: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { flood_of(Arc::new(patient(address)), requests).await })
}

/// Sends requests to a store, all at once, and returns how many are allowed.
pub(crate) async fn flood_of(store: Arc<impl Store + 'static>, requests: usize) -> usize {
    let demands = only(&demand("flood", Failure::Deny, u64::try_from(QUOTA).unwrap()));
    let tasks: Vec<_> = (0..requests)
        .map(|_| {
            let (store, demands) = (Arc::clone(&store), demands.clone());
            tokio::spawn(async move { store.charge(&demands).await.unwrap()[0].is_allowed() })
        })
        .collect();
    let mut allowed = 0;
    for task in tasks {
        allowed += usize::from(task.await.unwrap());
    }
    allowed
}

/// Sends requests from 64 callers, and returns how many are allowed.
fn leased_flood(address: &str, requests: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(Leased::new(patient(address), 100));
        let demands = only(&demand("flood", Failure::Deny, u64::try_from(QUOTA).unwrap()));
        let tasks: Vec<_> = (0..64)
            .map(|caller| {
                let (store, demands) = (Arc::clone(&store), demands.clone());
                let own = requests / 64 + usize::from(caller < requests % 64);
                tokio::spawn(async move {
                    let mut allowed = 0;
                    for _ in 0..own {
                        let outcomes = store.charge(&demands).await.unwrap();
                        allowed += usize::from(outcomes[0].is_allowed());
                    }
                    allowed
                })
            })
            .collect();
        let mut allowed = 0;
        for task in tasks {
            allowed += task.await.unwrap();
        }
        // Where this process ends first, the others spend what it has left.
        store.close().await.unwrap();
        allowed
    })
}

pub(crate) const REQUESTS: usize = 150_000;
pub(crate) const QUOTA: usize = 100_000;

/// The variables by which a process learns that it is a part, and of what.
const PLAIN: &str = "WARDGATE_FLOOD_ADDRESS";
const LEASED: &str = "WARDGATE_LEASED_FLOOD_ADDRESS";

/// What stands before the number of a part.
const MARK: &str = "allowed: ";
