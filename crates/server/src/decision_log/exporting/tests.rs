//! Logs whose records go to collectors with scripted answers.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::worker::Fault;
use super::*;
use crate::decision_log::retention::Retention;
use crate::decision_log::tests::{Temporary, add_frames, open, seal};
use crate::telemetry::scripted::{Collector, TAKEN};

fn begin(log: &Temporary, collector: &Collector, batch: usize) -> (Exporter, Worker) {
    let config = LogExport {
        endpoint: collector.endpoint(),
        ca: None,
        headers: None,
        service: "here".into(),
        batch,
        interval: Duration::from_secs(5),
        timeout: Duration::from_secs(20),
    };
    with(log, &config)
}

fn with(log: &Temporary, config: &LogExport) -> (Exporter, Worker) {
    let exporter = Exporter::new(&log.0, config).unwrap();
    let worker = exporter.follower.take().unwrap();
    (exporter, worker)
}

fn send(worker: &mut Worker) -> Result<(), Fault> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(worker.send_due())
}

/// Adds frames to a log in segments of 2,000 bytes, of which each has up to two records.
fn grow(log: &Temporary, frames: u64) {
    let (mut writer, _) = open(&log.0, 2000).unwrap();
    add_frames(&mut writer, frames);
    seal(&mut writer);
}

/// Returns the records of requests, of each its number.
fn batches(collector: &Collector) -> Vec<Vec<u64>> {
    let records = |body: &Value| {
        let records = body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
        records.iter().map(|record| number(&fields(record)["wardgate.record"])).collect()
    };
    collector.rest().iter().map(|received| records(&received.body)).collect()
}

fn fields(record: &Value) -> BTreeMap<String, Value> {
    let fields = record["attributes"].as_array().unwrap().iter();
    fields.map(|one| (one["key"].as_str().unwrap().to_owned(), one["value"].clone())).collect()
}

fn number(value: &Value) -> u64 {
    value["intValue"].as_str().unwrap().parse().unwrap()
}

fn counts(exporter: &Exporter) -> (u64, u64) {
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    (read(&exporter.counts.sent), read(&exporter.counts.dropped))
}

#[test]
fn records_are_sent_once_also_after_a_restart() {
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN]));
    grow(&log, 30);
    // What is there at the first time is not sent.
    let (_exporter, mut worker) = begin(&log, &collector, 512);
    send(&mut worker).ok().unwrap();
    assert_eq!(batches(&collector), Vec::<Vec<u64>>::new());
    grow(&log, 30);
    send(&mut worker).ok().unwrap();
    grow(&log, 60);
    send(&mut worker).ok().unwrap();
    drop(worker);
    grow(&log, 30);
    let (exporter, mut worker) = begin(&log, &collector, 512);
    send(&mut worker).ok().unwrap();
    let sent: Vec<u64> = batches(&collector).concat();
    assert_eq!(sent, (30..150).collect::<Vec<_>>());
    assert_eq!(counts(&exporter), (30, 0));
}

#[test]
fn a_log_record_has_the_fields_of_the_export() {
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN]));
    grow(&log, 0);
    let (_exporter, mut worker) = begin(&log, &collector, 512);
    grow(&log, 2);
    send(&mut worker).ok().unwrap();
    let body = &collector.rest()[0].body;
    let resource = &body["resourceLogs"][0]["resource"]["attributes"][0];
    assert_eq!(resource, &json!({ "key": "service.name", "value": { "stringValue": "here" } }));
    let record = &body["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    assert_eq!(record["eventName"], "wardgate.clock");
    assert_eq!((&record["timeUnixNano"], &record["severityText"]), (&json!("0"), &json!("WARN")));
    let words = "the clock went back from 1970-01-01T00:00:00.000001Z";
    assert!(record["body"]["stringValue"].as_str().unwrap().ends_with(words), "{record}");
    let fields = fields(record);
    assert_eq!(fields["log.record.uid"]["stringValue"], "log.example/a/0");
    assert_eq!(fields["wardgate.kind"]["stringValue"], "clock");
    assert_eq!(number(&fields["wardgate.stream"]), 1);
}

#[test]
fn batches_are_bounded() {
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN]));
    grow(&log, 0);
    let (_exporter, mut worker) = begin(&log, &collector, 1);
    grow(&log, 9);
    send(&mut worker).ok().unwrap();
    assert!(batches(&collector).iter().all(|batch| batch.len() == 1));
}

#[test]
fn what_a_collector_takes_later_is_sent_again() {
    let later = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN, later, TAKEN]));
    grow(&log, 0);
    let (exporter, mut worker) = begin(&log, &collector, 1);
    grow(&log, 9);
    let fault = send(&mut worker).unwrap_err();
    assert!(fault.what.contains("503"), "{}", fault.what);
    send(&mut worker).ok().unwrap();
    assert_eq!(batches(&collector).concat(), [0, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(counts(&exporter), (9, 0));
}

#[test]
fn what_a_collector_refuses_is_counted() {
    let never = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let part = "HTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\n{\"partialSuccess\":{\"rejectedLogRecords\":\"1\"}}";
    let (log, collector) = (Temporary::new(), Collector::saying(&[never, part, TAKEN]));
    grow(&log, 0);
    let (exporter, mut worker) = begin(&log, &collector, 512);
    grow(&log, 9);
    send(&mut worker).ok().unwrap();
    // Frames with records are 1, 2, 4, 5, 7 and 8.
    assert_eq!(counts(&exporter), (7, 2));
}

#[test]
fn a_collector_without_an_answer_takes_a_bounded_time() {
    let (log, collector) = (Temporary::new(), Collector::saying(&["", TAKEN]));
    grow(&log, 0);
    let mut config = LogExport {
        endpoint: collector.endpoint(),
        ca: None,
        headers: None,
        service: "here".into(),
        batch: 512,
        interval: Duration::from_secs(5),
        timeout: Duration::from_millis(50),
    };
    let (_exporter, mut worker) = with(&log, &config);
    grow(&log, 9);
    assert!(send(&mut worker).unwrap_err().what.contains("did not answer"));
    config.endpoint = "http://collector.example".into();
    assert!(Exporter::new(&log.0, &config).unwrap_err().contains("use `https`"));
}

#[test]
fn records_that_are_deleted_before_are_counted() {
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN]));
    grow(&log, 0);
    let (exporter, mut worker) = begin(&log, &collector, 512);
    grow(&log, 600);
    let retention = Retention::new(&log.0, Some(Duration::from_micros(1)), None);
    assert!(retention.delete_old(100, 600).unwrap() > 0);
    send(&mut worker).ok().unwrap();
    let (sent, dropped) = counts(&exporter);
    assert!(dropped > 0 && sent + dropped == 600, "{sent} {dropped}");
}

#[test]
fn a_log_that_a_crash_has_cut_goes_on() {
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN]));
    grow(&log, 0);
    let (_exporter, mut worker) = begin(&log, &collector, 512);
    grow(&log, 30);
    send(&mut worker).ok().unwrap();
    drop((worker, batches(&collector)));
    // The last frame has two records, and only a part of it is left.
    let path = log.last_segment();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    fs::remove_file(log.0.join("checkpoint")).unwrap();
    grow(&log, 0);
    let (_exporter, mut worker) = begin(&log, &collector, 512);
    grow(&log, 9);
    send(&mut worker).ok().unwrap();
    assert_eq!(batches(&collector).concat(), (28..37).collect::<Vec<_>>());
}

#[test]
fn frames_that_are_written_again_after_a_failed_sync_are_sent_once() {
    let (log, collector) = (Temporary::new(), Collector::saying(&[TAKEN]));
    grow(&log, 0);
    let (_exporter, mut worker) = begin(&log, &collector, 512);
    let (mut writer, _) = open(&log.0, 2000).unwrap();
    add_frames(&mut writer, 6);
    send(&mut worker).ok().unwrap();
    writer.break_off();
    add_frames(&mut writer, 6);
    seal(&mut writer);
    send(&mut worker).ok().unwrap();
    assert_eq!(batches(&collector).concat(), (0..12).collect::<Vec<_>>());
}
