//! The memory of a server with clients that do nothing.

use std::fs;
use std::net::SocketAddr;

use super::client::{Client, LOAD};
use super::programs::Program;

/// Connects idle clients, and returns the resident memory of the server in bytes where the system
/// tells it.
pub(crate) fn resident(program: &Program, clients: u32) -> Result<Option<u64>, String> {
    let connected = (0..clients)
        .map(|number| connect(program.address(), number))
        .collect::<Result<Vec<_>, _>>()?;
    let resident = program.resident();
    connected.into_iter().try_for_each(Client::leave)?;
    Ok(resident)
}

fn connect(address: SocketAddr, number: u32) -> Result<Client, String> {
    Client::connect(address, LOAD, &format!("idle-{number}"))
        .map_err(|error| format!("after {number} idle clients: {error}"))
}

/// Returns how many idle clients the limit of open files allows, given the sockets that a server
/// needs for each.
pub(crate) fn most(wanted: u32, sockets: u32) -> u32 {
    let text = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse::<u32>().ok());
    wanted.min(soft.unwrap_or(USUAL).saturating_sub(SPARE) / sockets.max(1))
}

/// The limit of open files where the system does not tell it.
const USUAL: u32 = 1024;

/// Files that are not sockets of clients.
const SPARE: u32 = 200;
