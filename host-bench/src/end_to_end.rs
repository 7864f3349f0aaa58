//! A shop that asks before it shows an order: how much of its throughput does that take?
//!
//! The same shop in axum and in Hono. Each call finds the caller, reads one order from SQLite, and answers with it as JSON:
//! without authorization, with a decision in its process, and with one that a server makes. One process serves all
//! ways, and they take turns in short rounds, since a machine that others share is never twice the same.

mod rounds;
mod server;
mod shop;

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};

use crate::arguments::Arguments;
use crate::files;
use crate::http::{Server, free};
use crate::report::{NATIVE, Section};
use crate::results::digest;
use crate::workload::lines;
use rounds::Rounds;
use shop::{ORDERS, Shop};

pub(crate) use server::child;

/// The first argument of the process that is the shop in axum.
pub(crate) const CHILD: &str = "--shop";

/// Measures the shop in axum, and in Hono; returns no section without a server.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let Some(program) = &arguments.server else {
        eprintln!("`{NAME}` is left out: there is no `wardgate` program to start");
        return Ok(Vec::new());
    };
    let folder = root.join("target/bench").join(NAME);
    let policies = vec![("order.yaml".to_owned(), shop::POLICY.as_bytes().to_vec())];
    files::write(&folder, &[])?;
    files::write(&folder.join("policies"), &policies)?;
    let folder = folder.canonicalize().map_err(|error| files::cannot(&folder, &error))?;
    let compiled = compile_files(&policies, &Options::default());
    let bundle = pack(&compiled.map_err(|errors| lines(&errors))?.parts);
    let ours = Server::wardgate(program, &folder, &bundle)?;
    let cerbos = arguments.cerbos.as_ref();
    let cerbos = cerbos.map(|program| Server::cerbos(program, &folder)).transpose()?;
    if cerbos.is_none() {
        eprintln!("cerbos is left out: there is no `cerbos` program to start");
    }
    let shop = Shop::new();
    shop.write_database(&folder.join(DATABASE))?;
    let start = |host: &str, mut command: Command| {
        let address = free()?;
        let job = folder.join(format!("{host}.json"));
        let servers = [Some(&ours), cerbos.as_ref()];
        files::save(&job, shop.job(&folder, address, servers).to_string())?;
        command.arg(job);
        Server::start(command, address)
    };
    let mut sections = Vec::new();
    let rounds = Rounds { shop: &shop, has_cerbos: cerbos.is_some(), quick: arguments.quick };
    if arguments.native {
        let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
        command.arg(CHILD);
        let section = section("axum", &shop).with(NATIVE, Vec::new());
        sections.push(rounds.measure(&start("axum", command)?, section)?);
    }
    if arguments.node {
        let mut command = Command::new("node");
        command.arg(root.join("host-bench/node/shop.mjs"));
        let section = section("hono", &shop).with(&crate::node::name()?, Vec::new());
        sections.push(rounds.measure(&start("hono", command)?, section)?);
    }
    Ok(sections)
}

fn section(host: &str, shop: &Shop) -> Section {
    let title = format!("A shop in {host}, which reads an order from SQLite in each call");
    let mut section = Section::new(format!("{NAME}-{host}"), title, NOTE);
    section.decisions = Some(digest(&shop.decisions()));
    section.parameters = parameters(shop);
    section
}

/// Returns the digests of all decisions: name and parameters of each section.
#[cfg(test)]
pub(crate) fn all_decisions() -> impl Iterator<Item = (String, Json, String)> {
    ["axum", "hono"].into_iter().map(|host| {
        let shop = Shop::new();
        (format!("{NAME}-{host}"), parameters(&shop), digest(&shop.decisions()))
    })
}

fn parameters(shop: &Shop) -> Json {
    json!({ "orders": ORDERS, "requests": shop.decisions().len() })
}

use crate::arguments::END_TO_END as NAME;

const DATABASE: &str = "orders.db";

const NOTE: &str = "The client, the shop and the servers share the cores of the machine. All timed answers are equal in all ways, and \
    forbidden ones were refused before anything was timed. The row *again* is the first way once more: its ratio is that of the machine.";
