//! The counters, in the text format of Prometheus.
//!
//! Counters are plain atomics: a request adds to four of them, without a lock.

use std::fmt::Write;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wardgate_engine::decision::{Decision, Effect};

use super::mqtt::MqttCounters;

/// The counters.
#[derive(Debug, Default)]
pub struct Metrics {
    endpoints: [Series; Endpoint::ALL.len()],
    allowed: AtomicU64,
    denied: AtomicU64,
    failed_reloads: AtomicU64,
    mqtt: MqttCounters,
}

/// Writes the endpoints that requests are counted for, with the value of their label.
macro_rules! endpoints {
    ($($index:literal $endpoint:ident = $label:literal,)*) => {
        /// The endpoint of a request, as its label has it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Endpoint {
            $($endpoint,)*
        }

        impl Endpoint {
            /// All of them, each at its index.
            const ALL: [Self; [$($index,)*].len()] = [$(Self::$endpoint,)*];

            const fn index(self) -> usize {
                match self {
                    $(Self::$endpoint => $index,)*
                }
            }

            const fn name(self) -> &'static str {
                match self {
                    $(Self::$endpoint => $label,)*
                }
            }
        }
    };
}

endpoints! {
    0_usize Check = "check",
    1_usize Evaluation = "evaluation",
    2_usize Search = "search",
    3_usize Admin = "admin",
    4_usize Other = "other",
    5_usize Mqtt = "mqtt",
    6_usize RateLimit = "ratelimit",
}

/// The requests for one endpoint.
#[derive(Debug, Default)]
struct Series {
    /// By the first digit of the status: 2, 4, 5.
    statuses: [AtomicU64; 3],
    /// The number that took at most as long as each bound, and the number that took longer.
    times: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

/// Decisions, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) resources: u64,
    pub(crate) allowed: u64,
    pub(crate) denied: u64,
}

/// Values from elsewhere that are written with the counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) connections: usize,
    /// The revision of the policies; `None` without policies.
    pub(crate) revision: Option<u64>,
    pub(crate) serial: u64,
    /// The expiry of the policies in seconds since 1970, and true if it has passed, where there is
    /// such a date.
    pub(crate) expiry: Option<(u64, bool)>,
    /// Spans that were sent and that were dropped, where there are any.
    pub(crate) spans: Option<(u64, u64)>,
}

/// The gauges of one set of keys that another server publishes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyGauges<'g> {
    pub(crate) name: &'g str,
    /// The time since the last successful refresh; `None` if there was none.
    pub(crate) age: Option<Duration>,
    pub(crate) failures: u64,
}

impl Metrics {
    /// Counts a request that was answered.
    pub(crate) fn answered(&self, endpoint: Endpoint, status: u16, time: Duration) {
        let Some(series) = self.endpoints.get(endpoint.index()) else { return };
        let class = match status {
            ..400 => 0,
            400..500 => 1,
            _ => 2,
        };
        add(series.statuses.get(class), 1);
        let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let index = BOUNDS.iter().position(|bound| microseconds <= *bound);
        add(series.times.get(index.unwrap_or(BOUNDS.len())), 1);
        add(Some(&series.microseconds), microseconds);
    }

    /// Counts decisions.
    pub(crate) fn decided(&self, tally: Tally) {
        add(Some(&self.allowed), tally.allowed);
        add(Some(&self.denied), tally.denied);
    }

    /// Returns the counters of clients of MQTT.
    pub(crate) const fn mqtt(&self) -> &MqttCounters {
        &self.mqtt
    }

    /// Counts new policies that could not be used.
    pub(crate) fn reload_failed(&self) {
        add(Some(&self.failed_reloads), 1);
    }

    /// Writes the age of each set of remote keys, and how often its refreshes failed.
    pub(crate) fn keys(text: &mut String, sets: &[KeyGauges<'_>]) {
        if sets.is_empty() {
            return;
        }
        let label = |set: &KeyGauges<'_>| format!("set=\"{}\"", escaped(set.name));
        let name = "wardgate_keys_age_seconds";
        head(text, name, "gauge", "Seconds since another server last sent or confirmed its keys.");
        for set in sets {
            // Keys that never came have no age.
            if let Some(age) = set.age {
                line(text, name, &label(set), age.as_secs());
            }
        }
        let name = "wardgate_keys_failures_total";
        head(text, name, "counter", "Failed fetches of the keys of another server.");
        for set in sets {
            line(text, name, &label(set), set.failures);
        }
    }

    /// Writes everything down.
    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut text = String::new();
        head(&mut text, "wardgate_http_requests_total", "counter", "Answered requests.");
        for (endpoint, series) in Endpoint::ALL.iter().zip(&self.endpoints) {
            for (class, count) in ["2xx", "4xx", "5xx"].iter().zip(&series.statuses) {
                let labels = format!("endpoint=\"{}\",status=\"{class}\"", endpoint.name());
                line(&mut text, "wardgate_http_requests_total", &labels, read(count));
            }
        }
        let name = "wardgate_http_request_seconds";
        head(&mut text, name, "histogram", "Seconds from the head of a request to its answer.");
        for (endpoint, series) in Endpoint::ALL.iter().zip(&self.endpoints) {
            series.histogram(&mut text, name, endpoint.name());
        }
        head(&mut text, "wardgate_decisions_total", "counter", "Decisions, by effect.");
        line(&mut text, "wardgate_decisions_total", "effect=\"allow\"", read(&self.allowed));
        line(&mut text, "wardgate_decisions_total", "effect=\"deny\"", read(&self.denied));
        let name = "wardgate_reload_failures_total";
        head(&mut text, name, "counter", "Failed loads of new policies.");
        line(&mut text, name, "", read(&self.failed_reloads));
        head(&mut text, "wardgate_connections", "gauge", "Connections that are open.");
        let connections = u64::try_from(gauges.connections).unwrap_or(u64::MAX);
        line(&mut text, "wardgate_connections", "", connections);
        if let Some(revision) = gauges.revision {
            let name = "wardgate_policies_revision";
            head(&mut text, name, "gauge", "The revision of the bundle in use.");
            line(&mut text, name, "", revision);
        }
        if let Some((expires, has_expired)) = gauges.expiry {
            let name = "wardgate_policies_expires_timestamp_seconds";
            head(
                &mut text,
                name,
                "gauge",
                "The expiry of the bundle in use, in seconds since 1970.",
            );
            line(&mut text, name, "", expires);
            let name = "wardgate_policies_expired";
            head(&mut text, name, "gauge", "1 once the bundle in use has expired.");
            line(&mut text, name, "", u64::from(has_expired));
        }
        head(
            &mut text,
            "wardgate_policies_serial",
            "gauge",
            "Replacements of the policies since the start.",
        );
        line(&mut text, "wardgate_policies_serial", "", gauges.serial);
        if let Some((sent, dropped)) = gauges.spans {
            let name = "wardgate_trace_spans_total";
            head(&mut text, name, "counter", "Spans, by outcome.");
            line(&mut text, name, "outcome=\"sent\"", sent);
            line(&mut text, name, "outcome=\"dropped\"", dropped);
        }
        text
    }
}

impl Tally {
    /// Counts a decision about one resource.
    pub(crate) fn add(&mut self, decision: &Decision) {
        self.resources += 1;
        for action in &decision.actions {
            match action.effect {
                Effect::Allow => self.allowed += 1,
                Effect::Deny => self.denied += 1,
            }
        }
    }

    /// Counts the answer to a question about one action on one resource.
    pub(crate) fn count(&mut self, is_allowed: bool) {
        *self += Self::one(is_allowed);
    }

    /// The answer to one such question.
    pub(crate) fn one(is_allowed: bool) -> Self {
        Self { resources: 1, allowed: u64::from(is_allowed), denied: u64::from(!is_allowed) }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.resources = self.resources.saturating_add(other.resources);
        self.allowed = self.allowed.saturating_add(other.allowed);
        self.denied = self.denied.saturating_add(other.denied);
    }
}

impl Series {
    fn histogram(&self, text: &mut String, name: &str, endpoint: &str) {
        let mut count = 0;
        let bounds = BOUNDS.iter().map(|bound| seconds(*bound)).chain(["+Inf".to_owned()]);
        for (bound, times) in bounds.zip(&self.times) {
            count += read(times);
            let labels = format!("endpoint=\"{endpoint}\",le=\"{bound}\"");
            line(text, &format!("{name}_bucket"), &labels, count);
        }
        let sum = seconds(read(&self.microseconds));
        let _ = writeln!(text, "{name}_sum{{endpoint=\"{endpoint}\"}} {sum}");
        line(text, &format!("{name}_count"), &format!("endpoint=\"{endpoint}\""), count);
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: u64) {
    let _ = match labels {
        "" => writeln!(text, "{name} {value}"),
        labels => writeln!(text, "{name}{{{labels}}} {value}"),
    };
}

/// Writes microseconds as seconds, exactly.
fn seconds(microseconds: u64) -> String {
    let text = format!("{}.{:06}", microseconds / 1_000_000, microseconds % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn add(counter: Option<&AtomicU64>, by: u64) {
    if let Some(counter) = counter {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Microseconds.
const BOUNDS: [u64; 10] = [10, 25, 50, 100, 250, 500, 1000, 5000, 25_000, 100_000];

#[cfg(test)]
mod tests {
    use super::{Endpoint, Gauges, Metrics, Tally};
    use std::time::Duration;

    #[test]
    fn counters_are_written_as_text() {
        let metrics = Metrics::default();
        metrics.answered(Endpoint::Check, 200, Duration::from_micros(30));
        metrics.answered(Endpoint::Check, 200, Duration::from_secs(2));
        metrics.answered(Endpoint::Check, 413, Duration::from_micros(5));
        metrics.decided(Tally { resources: 2, allowed: 3, denied: 1 });
        let text = metrics.text(Gauges {
            connections: 7,
            revision: Some(42),
            serial: 1,
            expiry: Some((1_900_000_000, true)),
            spans: Some((9, 2)),
        });
        for line in [
            "wardgate_policies_expires_timestamp_seconds 1900000000",
            "wardgate_policies_expired 1",
            "wardgate_http_requests_total{endpoint=\"check\",status=\"2xx\"} 2",
            "wardgate_http_requests_total{endpoint=\"check\",status=\"4xx\"} 1",
            "wardgate_http_request_seconds_bucket{endpoint=\"check\",le=\"0.00001\"} 1",
            "wardgate_http_request_seconds_bucket{endpoint=\"check\",le=\"0.00005\"} 2",
            "wardgate_http_request_seconds_bucket{endpoint=\"check\",le=\"+Inf\"} 3",
            "wardgate_http_request_seconds_sum{endpoint=\"check\"} 2.000035",
            "wardgate_http_request_seconds_count{endpoint=\"check\"} 3",
            "wardgate_decisions_total{effect=\"allow\"} 3",
            "wardgate_connections 7",
            "wardgate_policies_revision 42",
            "wardgate_trace_spans_total{outcome=\"sent\"} 9",
            "wardgate_trace_spans_total{outcome=\"dropped\"} 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
