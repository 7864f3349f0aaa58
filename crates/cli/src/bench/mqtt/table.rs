//! The figures as a table and as a chart.

use super::Server;
use crate::bench::chart::{Bar, Chart, Group};
use crate::bench::machine::Machine;
use crate::bench::units::{grouped, size, three_digits, time};
use crate::failure::Result;
use crate::output::Output;

/// All figures of a run.
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    /// The name of mosquitto with its version, if it was measured.
    pub(crate) mosquitto: Option<String>,
}

/// One measurement of all servers.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) figures: Vec<(Server, f64)>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    PerSecond,
    Bytes,
}

impl Table {
    pub(crate) fn print(&self, out: &mut Output) -> Result<()> {
        out.line("every message was delivered, in order")?;
        out.line("")?;
        let mosquitto = self.mosquitto.as_deref().unwrap_or("");
        let gate = if self.mosquitto.is_some() { "gate before it" } else { "" };
        out.line(format_args!(
            "{:<32}{:>12}{mosquitto:>20}{:>8}{gate:>18}{:>8}",
            "", "wardgate", "", ""
        ))?;
        for row in &self.rows {
            out.line(row.line().trim_end())?;
        }
        out.line("")?;
        if self.mosquitto.is_some() {
            out.line("beside a figure: how many times as good as that of mosquitto ours is")?;
        }
        if let Some(added) = self.added() {
            out.line(format_args!("the gate adds {added} from end to end"))?;
        }
        let machine = Machine::here();
        let processor = machine.processor.as_deref().unwrap_or("unknown processor");
        let debug =
            if cfg!(debug_assertions) { "; NOT OPTIMISED: these figures mean nothing" } else { "" };
        out.line(format_args!("{processor}, {} cores, {}{debug}", machine.cores, machine.system))
    }

    /// Returns the time that the gate adds to that of mosquitto.
    fn added(&self) -> Option<String> {
        let row = self.rows.iter().find(|row| row.name.starts_with("end to end"))?;
        let more = row.of(Server::Gate)? - row.of(Server::Mosquitto)?;
        Some(time(more.max(0.0) * 1e9))
    }

    pub(crate) fn svg(&self) -> String {
        let group = |row: &Row| {
            let better = if row.unit == Unit::PerSecond { "longer" } else { "shorter" };
            Group {
                title: format!("{}: {better} is better", row.name),
                bars: row.figures.iter().map(|figure| self.bar(row, *figure)).collect(),
            }
        };
        let groups = self.rows.iter().map(group).collect();
        Chart { title: "MQTT on one machine, each group on a logarithmic scale", groups }.svg()
    }

    fn bar(&self, row: &Row, (server, value): (Server, f64)) -> Bar {
        let mosquitto = self.mosquitto.clone().unwrap_or_default();
        let name = match server {
            Server::Broker => "wardgate".to_owned(),
            Server::Gate => format!("wardgate before {mosquitto}"),
            Server::Mosquitto => mosquitto,
        };
        Bar { name, value, figure: row.unit.text(value), is_ours: server != Server::Mosquitto }
    }
}

impl Row {
    fn of(&self, server: Server) -> Option<f64> {
        self.figures.iter().find(|(known, _)| *known == server).map(|(_, figure)| *figure)
    }

    fn line(&self) -> String {
        let text = |server| self.of(server).map_or_else(String::new, |it| self.unit.text(it));
        let ratio = |server| {
            let ratio = self.ratio(server).map(|ratio| format!("{}x", three_digits(ratio)));
            ratio.unwrap_or_default()
        };
        format!(
            "{:<32}{:>12}{:>20}{:>8}{:>18}{:>8}",
            self.name,
            text(Server::Broker),
            text(Server::Mosquitto),
            ratio(Server::Broker),
            text(Server::Gate),
            ratio(Server::Gate),
        )
    }

    /// Returns how many times as good as that of mosquitto a figure is.
    fn ratio(&self, server: Server) -> Option<f64> {
        let (ours, theirs) = (self.of(server)?, self.of(Server::Mosquitto)?);
        Some(if self.unit == Unit::PerSecond { ours / theirs } else { theirs / ours })
    }
}

impl Unit {
    fn text(self, figure: f64) -> String {
        match self {
            Self::Seconds => time(figure * 1e9),
            Self::PerSecond => format!("{}/s", grouped(figure)),
            Self::Bytes => size(figure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Server, Table, Unit};

    #[test]
    fn ratios_are_above_one_where_ours_is_better() {
        let row = |unit, ours, theirs| {
            let figures = vec![(Server::Broker, ours), (Server::Mosquitto, theirs)];
            Row { name: "x".into(), unit, figures }
        };
        let check = |unit, expected| {
            assert_eq!(row(unit, 6.0, 2.0).ratio(Server::Broker), Some(expected), "{unit:?}");
        };
        check(Unit::PerSecond, 3.0);
        check(Unit::Seconds, 2.0 / 6.0);
        check(Unit::Bytes, 2.0 / 6.0);
        assert_eq!(row(Unit::Seconds, 1.0, 1.0).ratio(Server::Gate), None);
    }

    #[test]
    fn the_chart_has_a_bar_for_each_figure() {
        let figures = vec![(Server::Broker, 1e-6), (Server::Mosquitto, 4e-6), (Server::Gate, 5e-6)];
        let rows = vec![Row { name: "publish".into(), unit: Unit::Seconds, figures }];
        let svg = Table { rows, mosquitto: Some("mosquitto 2".into()) }.svg();
        assert_eq!(svg.matches("<rect class=\"o\"").count(), 2);
        assert_eq!(svg.matches("<rect class=\"r\"").count(), 1);
        assert!(svg.contains("wardgate before mosquitto 2") && svg.contains("shorter is better"));
    }
}
