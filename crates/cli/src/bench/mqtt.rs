//! `wardgate bench mqtt`: measures broker and gate of MQTT beside mosquitto.
//!
//! Every server is a process of its own, and the clients of all of them are the same. Each message is
//! compared with the one that is expected, before anything is timed and in every run that is; the
//! servers take turns.

mod client;
mod hostile;
mod idle;
mod load;
mod programs;
mod table;
mod turns;

use std::net::SocketAddr;
use std::time::Duration;

use wardgate_mqtt::packet::Version;

use super::units::approximate;
use crate::arguments::Mqtt;
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, progress};
use crate::replace;
use load::Load;
use programs::{Folder, Mosquitto, Program};
use table::{Row, Table, Unit};

pub(crate) fn run(options: &Mqtt, out: &mut Output) -> Result<Status> {
    let named = options.mosquitto.as_deref();
    let mosquitto = Mosquitto::find(named).map_err(Failure::usage)?;
    let folder = Folder::new().map_err(|error| Failure::system(error.to_string()))?;
    let bench = Bench { options, folder, mosquitto };
    let measured = bench.measure();
    progress("");
    let table = measured.map_err(|message| Failure::Message(Status::Disagreement, message))?;
    table.print(out)?;
    if bench.mosquitto.is_none() {
        out.line("mosquitto was not found: its figures and those of the gate are left out")?;
    }
    replace::file(&options.chart, table.svg().as_bytes())?;
    out.line(format_args!("the chart is in `{}`", options.chart.in_one_line()))?;
    Ok(Status::Done)
}

/// A server, as the table names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// This program.
    Broker,
    Mosquitto,
    /// This program before mosquitto.
    Gate,
}

struct Bench<'o> {
    options: &'o Mqtt,
    folder: Folder,
    mosquitto: Option<Mosquitto>,
}

/// The servers that run.
struct Running {
    broker: Program,
    others: Option<Others>,
}

struct Others {
    mosquitto: Program,
    gate: Program,
}

impl Bench<'_> {
    fn measure(&self) -> Result<Table, String> {
        let running = self.start()?;
        let mut rows = Vec::new();
        for size in SIZES {
            let load = Load { size, readers: 1 };
            let name = format!("publish {size} B, delivered to one");
            let each = |address, duration| load.run(address, duration).map(|found| found.each);
            rows.push(self.row(&running, name, Unit::Seconds, &each)?);
        }
        for readers in READERS {
            let load = Load { size: 64, readers };
            let name = format!("delivered, 1 to {readers}, 64 B");
            let rate = |address, duration| load.run(address, duration).map(|it| it.per_second);
            rows.push(self.row(&running, name, Unit::PerSecond, &rate)?);
        }
        let name = "end to end, 64 B".to_owned();
        rows.push(self.row(&running, name, Unit::Seconds, &turns::latency)?);
        for (version, name) in [(Version::V311, "connect 3.1.1"), (Version::V5, "connect 5.0")] {
            let connect = |address, duration| turns::connect(address, version, duration);
            rows.push(self.row(&running, name.to_owned(), Unit::Seconds, &connect)?);
        }
        drop(running);
        rows.extend(self.idle()?);
        if self.options.hostile {
            rows.extend(self.hostile()?);
        }
        let mosquitto = self.mosquitto.as_ref().map(|mosquitto| mosquitto.name.clone());
        Ok(Table { rows, mosquitto })
    }

    fn start(&self) -> Result<Running, String> {
        let others = self.mosquitto.as_ref().map(|_| self.start_others(self.options.idle));
        Ok(Running { broker: self.start_broker()?, others: others.transpose()? })
    }

    fn start_broker(&self) -> Result<Program, String> {
        Program::wardgate(&self.folder, self.options.idle, None)
    }

    fn start_others(&self, clients: u32) -> Result<Others, String> {
        let Some(mosquitto) = &self.mosquitto else { return Err("no mosquitto".to_owned()) };
        let mosquitto = mosquitto.start(&self.folder)?;
        let gate = Program::wardgate(&self.folder, clients, Some(mosquitto.address()))?;
        Ok(Others { mosquitto, gate })
    }

    /// Measures all servers in turn, and keeps the median of each.
    fn row(
        &self,
        running: &Running,
        name: String,
        unit: Unit,
        measure: &dyn Fn(SocketAddr, Duration) -> Result<f64, String>,
    ) -> Result<Row, String> {
        progress(&format!("{name} ..."));
        let mut servers = running.addresses();
        let mut found: Vec<(Server, Vec<f64>)> = Vec::new();
        for (server, address) in &servers {
            // All messages are compared before anything is timed.
            measure(*address, self.options.seconds / 10)
                .map_err(|error| format!("{name}: {server:?}: {error}"))?;
            found.push((*server, Vec::new()));
        }
        for _ in 0..TURNS {
            for (server, address) in &servers {
                let figure = measure(*address, self.options.seconds);
                let figure = figure.map_err(|error| format!("{name}: {server:?}: {error}"))?;
                let all = found.iter_mut().find(|(known, _)| known == server);
                all.into_iter().for_each(|(_, figures)| figures.push(figure));
            }
            servers.reverse();
        }
        let figures = found.into_iter().map(|(server, figures)| (server, median(figures)));
        Ok(Row { name, unit, figures: figures.collect() })
    }

    /// Measures the memory of fresh servers.
    fn idle(&self) -> Result<Vec<Row>, String> {
        // A gate has two sockets for each client.
        let [many, few] = [1, 2].map(|sockets| idle::most(self.options.idle, sockets));
        if few == 0 {
            return Ok(Vec::new());
        }
        progress(&format!("{many} idle clients ..."));
        let mut figures = vec![(Server::Broker, idle::resident(&self.start_broker()?, many)?)];
        if self.mosquitto.is_none() {
            return Ok(vec![idle_row(many, &figures)]);
        }
        let Others { mosquitto, gate } = self.start_others(many)?;
        figures.push((Server::Mosquitto, idle::resident(&mosquitto, many)?));
        let of_gate = (Server::Gate, idle::resident(&gate, few)?);
        if few == many {
            figures.push(of_gate);
            return Ok(vec![idle_row(many, &figures)]);
        }
        Ok(vec![idle_row(many, &figures), idle_row(few, &[of_gate])])
    }

    /// Measures the memory of fresh servers whose clients are hostile.
    fn hostile(&self) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        for case in &hostile::CASES {
            progress(&format!("{} ...", case.name));
            let broker = Program::wardgate(&self.folder, hostile::CLIENTS, None)?;
            let measured =
                case.measure(&broker).map_err(|error| case.fault(Server::Broker, &error));
            let mut figures = vec![(Server::Broker, measured?)];
            drop(broker);
            if self.mosquitto.is_some() {
                let Others { mosquitto, gate } = self.start_others(hostile::CLIENTS)?;
                let measured =
                    case.measure(&gate).map_err(|error| case.fault(Server::Gate, &error));
                figures.push((Server::Gate, measured?));
                drop((gate, mosquitto));
            }
            rows.extend(case.rows(&figures));
        }
        Ok(rows)
    }
}

impl Running {
    fn addresses(&self) -> Vec<(Server, SocketAddr)> {
        let mut all = vec![(Server::Broker, self.broker.address())];
        if let Some(Others { mosquitto, gate }) = &self.others {
            all.push((Server::Mosquitto, mosquitto.address()));
            all.push((Server::Gate, gate.address()));
        }
        all
    }
}

fn idle_row(clients: u32, figures: &[(Server, Option<u64>)]) -> Row {
    let figure =
        |(server, resident): &(Server, Option<u64>)| Some((*server, approximate((*resident)?)));
    let name = format!("{clients} idle clients, memory");
    Row { name, unit: Unit::Bytes, figures: figures.iter().filter_map(figure).collect() }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How often each measurement is repeated.
const TURNS: u32 = 3;

const SIZES: [usize; 4] = [64, 256, 1024, 4096];
const READERS: [u32; 2] = [1, 10];
