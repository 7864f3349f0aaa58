//! 150,000 requests at once on a limit of 100,000: exactly 100,000 are allowed, from one process
//! and from four.

use std::process::Command;
use std::sync::Arc;

use wardgate_ratelimit_store::{Failure, Store};

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
    let processes: Vec<_> = (0..4)
        .map(|_| {
            // This test program again, for the part below.
            Command::new(std::env::current_exe().unwrap())
                .args(["flood::a_part_of_a_flood", "--exact", "--nocapture"])
                .env(ADDRESS, server.address())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let allowed = processes.into_iter().map(|process| {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, rest) = text.split_once(MARK).unwrap_or_else(|| panic!("{text}"));
        rest.lines().next().unwrap().parse::<usize>().unwrap()
    });
    assert_eq!(allowed.sum::<usize>(), QUOTA);
}

/// Does something in the processes that the test above starts only.
#[test]
fn a_part_of_a_flood() {
    if let Ok(address) = std::env::var(ADDRESS) {
        println!("{MARK}{}", flood(&address, REQUESTS / 4));
    }
}

/// Sends requests, all at once, and returns how many are allowed.
fn flood(address: &str, requests: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(patient(address));
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
    })
}

const REQUESTS: usize = 150_000;
const QUOTA: usize = 100_000;

/// The variable by which a process learns that it is a part, and of what.
const ADDRESS: &str = "WARDGATE_FLOOD_ADDRESS";

/// What stands before the number of a part.
const MARK: &str = "allowed: ";
