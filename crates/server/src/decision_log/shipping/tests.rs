//! Logs that are shipped to folders and to stores that give scripted answers.

mod scripted;

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use tokio::runtime::Builder;
use wardgate_decision_log::record::ShortText;
use wardgate_decision_log::signer::LogSigner;
use wardgate_decision_log::witness_policy::WitnessPolicy;

use super::*;
use crate::config::{ObjectStore, ShippingTarget, TokenIn, UrlTemplate};
use crate::decision_log::retention::Retention;
use crate::decision_log::tests::{Temporary, add_frames, key, open, seal, signer};
use crate::decision_log::{LogError, Verified, accept_loss, verify};
use scripted::{Answer, Scripted};
use target::Fault;

/// A log with a target, and what ships it.
struct Shipped {
    log: Temporary,
    target: Temporary,
    shipper: Shipper,
    worker: Worker,
}

fn to_folder() -> Shipped {
    let target = Temporary::new();
    fs::create_dir_all(&target.0).unwrap();
    let config = ShippingTarget::Folder(target.0.clone());
    shipped(Temporary::new(), target, config)
}

fn shipped(log: Temporary, target: Temporary, config: ShippingTarget) -> Shipped {
    let (shipper, worker) = begin(&log, config);
    Shipped { log, target, shipper, worker }
}

fn begin(log: &Temporary, target: ShippingTarget) -> (Shipper, Worker) {
    let config = Shipping { target, checkpoint: Duration::ZERO, values: true };
    let shipper = Shipper::new(&log.0, &config).unwrap();
    let worker = shipper.follower.take().unwrap();
    (shipper, worker)
}

fn to_store(store: &Scripted) -> ShippingTarget {
    ShippingTarget::Store(ObjectStore {
        url: UrlTemplate::Text(format!("http://{}/logs/{{name}}?sig=s3cret", store.address)),
        ca: None,
        token: None,
        headers: None,
        timeout: Duration::from_secs(20),
    })
}

/// Writes frames into segments of 5,000 bytes, and seals them.
fn grow(log: &Temporary, frames: u64) {
    let (mut writer, _) = open(&log.0, 5000).unwrap();
    add_frames(&mut writer, frames);
    seal(&mut writer);
}

impl Shipped {
    fn ship(&mut self) -> Result<(), Fault> {
        ship(&mut self.worker)
    }

    fn restart(self) -> Self {
        let config = ShippingTarget::Folder(self.target.0.clone());
        shipped(self.log, self.target, config)
    }

    fn count(&self, count: impl Fn(&Counts) -> &AtomicU64) -> u64 {
        read(count(&self.shipper.counts))
    }
}

fn ship(worker: &mut Worker) -> Result<(), Fault> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(worker.ship_due(false))
}

fn verified(folder: &Path) -> Result<Verified, LogError> {
    verify(folder, &key(), None, None)
}

/// Returns the names of files in a folder, without those in others.
fn names(folder: &Path, end: &str) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.retain(|name| name.ends_with(end));
    names.sort();
    names
}

fn segments(folder: &Path) -> Vec<String> {
    names(folder, ".wgl")
}

#[test]
fn finished_segments_and_checkpoints_are_verified_at_the_target() {
    let mut shipped = to_folder();
    grow(&shipped.log, 100);
    shipped.ship().unwrap();
    let all = segments(&shipped.log.0);
    let there = segments(&shipped.target.0);
    assert_eq!(there, all[..all.len() - 1]);
    assert_eq!(names(&shipped.target.0, ".checkpoint"), ["000000000100.checkpoint"]);
    let found = verified(&shipped.target.0).unwrap();
    // The checkpoint came before the segment that it is about.
    let end: u64 = all.last().unwrap()[..12].parse().unwrap();
    assert_eq!((found.frames, found.ahead, found.checkpoint), (end, Some(100), None));
    assert_eq!(found.unsealed, found.records);

    grow(&shipped.log, 400);
    shipped.ship().unwrap();
    let found = verified(&shipped.target.0).unwrap();
    assert_eq!((found.ahead, found.checkpoint.unwrap().checkpoint.head.size), (Some(500), 100));
    for name in segments(&shipped.target.0) {
        let read = |folder: &Temporary| fs::read(folder.0.join(&name)).unwrap();
        assert_eq!(read(&shipped.log), read(&shipped.target));
    }
    assert_eq!(shipped.count(|counts| &counts.frames), 500);
    assert_eq!(shipped.count(|counts| &counts.waiting), 0);
    assert_eq!(names(&shipped.target.0, ".new"), Vec::<String>::new());
}

#[test]
fn a_restart_goes_on_also_without_the_file_of_what_was_shipped() {
    let mut shipped = to_folder();
    grow(&shipped.log, 200);
    shipped.ship().unwrap();
    let first = shipped.count(|counts| &counts.segments);
    assert!(first > 2);

    grow(&shipped.log, 50);
    let mut shipped = shipped.restart();
    shipped.ship().unwrap();
    let more = shipped.count(|counts| &counts.segments);
    assert!(more > 0 && more < first, "{more}");

    fs::remove_file(shipped.log.0.join("shipped")).unwrap();
    let mut shipped = shipped.restart();
    shipped.ship().unwrap();
    // All were compared, and none was sent again.
    assert_eq!(shipped.count(|counts| &counts.segments), first + more);
    assert_eq!(shipped.count(|counts| &counts.bytes), 0);
    verified(&shipped.target.0).unwrap();
}

#[test]
fn what_is_there_stays_and_holds_up_no_other_segment() {
    let mut shipped = to_folder();
    grow(&shipped.log, 200);
    let taken = segments(&shipped.log.0)[1].clone();
    fs::write(shipped.target.0.join(&taken), "something else").unwrap();
    shipped.ship().unwrap();
    assert_eq!(fs::read(shipped.target.0.join(&taken)).unwrap(), b"something else");
    let all = segments(&shipped.log.0);
    assert_eq!(segments(&shipped.target.0), all[..all.len() - 1]);
    assert_eq!(shipped.count(|counts| &counts.waiting), 1);
    assert_eq!(shipped.count(|counts| &counts.refused), 1);
    // It is the first that may not be deleted, and those behind it stay with it.
    let shipped_segments = Some(shipped.shipper.shipped());
    let period = Some(Duration::from_micros(1));
    let retention = Retention::new(&shipped.log.0, period, shipped_segments);
    // Of the last 256 frames none would go.
    grow(&shipped.log, 300);
    assert_eq!(retention.delete_old(1_000_000, 500).unwrap(), 1);
    assert_eq!(segments(&shipped.log.0)[0], taken);
    assert_eq!(verified(&shipped.target.0).unwrap_err().code(), "log-damaged");
}

#[test]
fn a_witnessed_checkpoint_is_shipped_and_compared_at_the_target() {
    let mut shipped = to_folder();
    grow(&shipped.log, 100);
    // The signature of the log is all that is looked at without a policy.
    let at = |folder: &Temporary, name: &str| folder.0.join(name);
    fs::copy(at(&shipped.log, "checkpoint"), at(&shipped.log, "checkpoint.witnessed")).unwrap();
    shipped.ship().unwrap();
    grow(&shipped.log, 100);
    fs::copy(at(&shipped.log, "checkpoint"), at(&shipped.log, "checkpoint.witnessed")).unwrap();
    shipped.ship().unwrap();
    let both = ["000000000100.witnessed", "000000000200.witnessed"];
    assert_eq!(names(&shipped.target.0, ".witnessed"), both);
    verified(&shipped.target.0).unwrap();
    let policy =
        WitnessPolicy::read(format!("witness w {}\nquorum w\n", other().verifier()).as_bytes());
    let error = verify(&shipped.target.0, &key(), None, Some(&policy.unwrap())).unwrap_err();
    assert!(error.to_string().contains("no witness of the policy has cosigned"), "{error}");
    // One of another log of the same key.
    let log = Temporary::new();
    let (mut writer, _) = open(&log.0, 5000).unwrap();
    (0..100).for_each(|number| writer.write(number).unwrap());
    seal(&mut writer);
    fs::copy(log.0.join("checkpoint"), at(&shipped.target, both[0])).unwrap();
    let error = verified(&shipped.target.0).unwrap_err();
    assert!(error.to_string().contains("a shipped witnessed checkpoint is about another log"));
}

fn other() -> LogSigner {
    LogSigner::new("witness.example/b", &[9; 32]).unwrap()
}

#[test]
fn a_folder_of_another_log_takes_nothing() {
    let mut shipped = to_folder();
    grow(&shipped.log, 100);
    fs::write(shipped.target.0.join("identity"), "of another log").unwrap();
    assert!(shipped.ship().unwrap_err().what.contains("another log"));
    assert_eq!(segments(&shipped.target.0), Vec::<String>::new());
}

#[test]
fn a_missing_or_full_folder_is_told_and_tried_again() {
    let mut shipped = to_folder();
    grow(&shipped.log, 100);
    fs::remove_dir_all(&shipped.target.0).unwrap();
    let fault = shipped.ship().unwrap_err();
    assert!(fault.what.contains("no such file or directory"), "{}", fault.what);
    assert!(!shipped.target.0.exists());
    fs::write(&shipped.target.0, "a file").unwrap();
    assert!(shipped.ship().unwrap_err().what.contains("not a directory"));
    fs::remove_file(&shipped.target.0).unwrap();
    fs::create_dir_all(&shipped.target.0).unwrap();
    #[cfg(target_os = "linux")]
    {
        let name = format!("{}.new", segments(&shipped.log.0)[1]);
        std::os::unix::fs::symlink("/dev/full", shipped.target.0.join(name)).unwrap();
        let fault = shipped.ship().unwrap_err();
        assert!(fault.what.contains("no space left"), "{}", fault.what);
        assert_eq!(segments(&shipped.target.0).len(), 1);
    }
    shipped.ship().unwrap();
    verified(&shipped.target.0).unwrap();
}

#[test]
fn the_folder_of_the_log_is_no_target() {
    let log = Temporary::new();
    grow(&log, 1);
    for folder in [log.0.clone(), log.0.join("copies")] {
        let target = ShippingTarget::Folder(folder);
        let config = Shipping { target, checkpoint: Duration::ZERO, values: false };
        assert!(Shipper::new(&log.0, &config).unwrap_err().contains("within the folder"));
    }
}

#[test]
fn damage_is_not_shipped() {
    let mut shipped = to_folder();
    grow(&shipped.log, 200);
    let path = shipped.log.0.join(&segments(&shipped.log.0)[0]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[300] ^= 1;
    fs::write(&path, bytes).unwrap();
    shipped.ship().unwrap();
    assert_eq!(shipped.count(|counts| &counts.refused), 1);
    assert!(!shipped.target.0.join(path.file_name().unwrap()).exists());
}

#[test]
fn values_are_shipped_if_they_are_to_be_and_keys_never() {
    let mut shipped = to_folder();
    grow(&shipped.log, 200);
    let private = shipped.log.0.join("private");
    fs::create_dir(&private).unwrap();
    fs::write(private.join("keys.wgk"), "keys").unwrap();
    fs::write(private.join("000000000000.wgv"), "values").unwrap();
    shipped.ship().unwrap();
    assert_eq!(fs::read(shipped.target.0.join("000000000000.wgv")).unwrap(), b"values");
    let is_key = |path: &PathBuf| path.extension().is_some_and(|end| end == "wgk");
    assert!(!shipped.target.files().iter().any(is_key));
}

#[test]
fn a_log_that_begins_later_or_has_a_gap_is_verified_at_the_target() {
    let log = Temporary::new();
    grow(&log, 700);
    let retention = Retention::new(&log.0, Some(Duration::from_micros(100)), None);
    assert!(retention.delete_old(400, 700).unwrap() > 0);
    // The end is lost behind a checkpoint, and an operator accepts that.
    fs::remove_file(log.0.join(segments(&log.0).last().unwrap())).unwrap();
    accept_loss(&log.0, signer(), ShortText::new("disk").unwrap()).unwrap();
    grow(&log, 400);
    let target = Temporary::new();
    fs::create_dir_all(&target.0).unwrap();
    let config = ShippingTarget::Folder(target.0.clone());
    let mut shipped = shipped(log, target, config);
    shipped.ship().unwrap();
    let (here, there) = (verified(&shipped.log.0).unwrap(), verified(&shipped.target.0).unwrap());
    assert!(there.deleted > 0 && there.missing > 0);
    assert_eq!((there.deleted, there.missing), (here.deleted, here.missing));
}

#[test]
fn a_store_gets_each_object_once() {
    let store = Scripted::start();
    let log = Temporary::new();
    grow(&log, 200);
    let (shipper, mut worker) = begin(&log, to_store(&store));
    ship(&mut worker).unwrap();
    let objects = store.objects();
    let target = Temporary::new();
    fs::create_dir_all(&target.0).unwrap();
    for (path, bytes) in &objects {
        let name = path.strip_prefix("/logs/").unwrap().strip_suffix("?sig=s3cret").unwrap();
        fs::write(target.0.join(name), bytes).unwrap();
    }
    assert!(verified(&target.0).unwrap().frames > 100);
    let put = |requests: &[scripted::Request]| {
        requests.iter().filter(|request| request.method == "PUT").count()
    };
    let requests = store.requests();
    assert!(
        requests.iter().filter(|one| one.method == "PUT").all(|one| one.has("if-none-match: *"))
    );
    // One more that shows that the store replaces nothing.
    assert_eq!(put(&requests), objects.len() + 1);

    drop((shipper, worker));
    let (_shipper, mut worker) = begin(&log, to_store(&store));
    ship(&mut worker).unwrap();
    assert_eq!(put(&store.requests()), 1);
    assert_eq!(store.objects(), objects);
}

#[test]
fn a_store_that_fails_is_tried_again() {
    let failures = [
        (Answer::Status("403 Forbidden"), "403 Forbidden"),
        (Answer::Status("500 Internal Server Error"), "500"),
        (Answer::Status("301 Moved Permanently\r\nLocation: http://elsewhere/"), "301"),
        (Answer::Status("503 Service Unavailable\r\nRetry-After: 7"), "503"),
        (Answer::Close, ""),
        // It has taken the object, and nobody knows.
        (Answer::TakeAndClose, ""),
    ];
    for (answer, expected) in failures {
        let store = Scripted::start();
        let log = Temporary::new();
        grow(&log, 200);
        let (shipper, mut worker) = begin(&log, to_store(&store));
        store.answer_put(3, answer);
        let fault = ship(&mut worker).unwrap_err();
        assert!(fault.what.contains(expected), "{}", fault.what);
        assert!(!fault.what.contains("s3cret"), "{}", fault.what);
        let waits = expected == "503";
        assert_eq!(fault.after, waits.then_some(Duration::from_secs(7)));
        ship(&mut worker).unwrap();
        assert_eq!(read(&shipper.counts.waiting), 0);
        let count = store.objects().keys().filter(|path| path.contains(".wgl")).count();
        assert_eq!(count, segments(&log.0).len() - 1);
    }
}

#[test]
fn a_store_without_an_answer_takes_a_bounded_time() {
    let store = Scripted::start();
    let log = Temporary::new();
    grow(&log, 200);
    let ShippingTarget::Store(mut config) = to_store(&store) else { unreachable!() };
    config.timeout = Duration::from_millis(50);
    let (_shipper, mut worker) = begin(&log, ShippingTarget::Store(config));
    store.answer_put(1, Answer::Never);
    assert!(ship(&mut worker).unwrap_err().what.contains("did not answer"));
}

#[test]
fn a_name_that_is_taken_is_compared_where_it_can_be() {
    for (answer, expected) in [(None, 1), (Some(Answer::Status("403 Forbidden")), 2)] {
        let store = Scripted::start();
        let log = Temporary::new();
        grow(&log, 200);
        let all = segments(&log.0);
        let url = |name: &str| format!("/logs/{name}?sig=s3cret");
        store.put(&url(&all[0]), fs::read(log.0.join(&all[0])).unwrap());
        store.put(&url(&all[1]), b"other".to_vec());
        if let Some(answer) = answer {
            store.answer_gets(answer);
        }
        let (shipper, mut worker) = begin(&log, to_store(&store));
        ship(&mut worker).unwrap();
        assert_eq!(store.objects()[&url(&all[1])], b"other");
        assert_eq!(read(&shipper.counts.refused), expected);
    }
}

#[test]
fn a_store_that_replaces_is_not_used() {
    let store = Scripted::start();
    store.replaces();
    let log = Temporary::new();
    grow(&log, 200);
    let (_shipper, mut worker) = begin(&log, to_store(&store));
    let fault = ship(&mut worker).unwrap_err();
    assert!(fault.what.contains("replaces objects"), "{}", fault.what);
    assert_eq!(store.objects().len(), 1);
}

#[test]
fn tokens_are_read_anew_and_told_to_nobody() {
    let store = Scripted::start();
    let log = Temporary::new();
    grow(&log, 200);
    let folder = Temporary::new();
    fs::create_dir_all(&folder.0).unwrap();
    let token = folder.0.join("token");
    fs::write(&token, "first-t0ken\n").unwrap();
    let ShippingTarget::Store(mut config) = to_store(&store) else { unreachable!() };
    config.token = Some(TokenIn::File(token.clone()));
    let (shipper, mut worker) = begin(&log, ShippingTarget::Store(config.clone()));
    ship(&mut worker).unwrap();
    assert!(store.requests().iter().all(|one| one.has("authorization: bearer first-t0ken")));
    fs::write(&token, "second-t0ken").unwrap();
    grow(&log, 200);
    ship(&mut worker).unwrap();
    assert!(store.requests().iter().all(|one| one.has("authorization: bearer second-t0ken")));
    let shown = format!("{worker:?}{shipper:?}");
    assert!(!shown.contains("t0ken") && !shown.contains("s3cret"), "{shown}");
    config.token = Some(TokenIn::Environment("WARDGATE_NO_SUCH_VARIABLE".into()));
    assert!(Target::new(&log.0, &ShippingTarget::Store(config)).is_err());
}

#[test]
fn urls_have_a_place_for_the_name_and_are_told_to_nobody() {
    let log = Temporary::new();
    grow(&log, 1);
    let check = |url: &str, expected: &str| {
        let store = ObjectStore {
            url: UrlTemplate::Text(url.into()),
            ca: None,
            token: None,
            headers: None,
            timeout: Duration::from_secs(1),
        };
        let error = Target::new(&log.0, &ShippingTarget::Store(store)).unwrap_err();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    };
    check("http://127.0.0.1/logs?sig=s3cret", "must have `{name}` once");
    check("http://127.0.0.1/logs?name={name}&sig=s3cret", "must have `{name}` once");
    check("http://127.0.0.1/{name}/{name}?sig=s3cret", "must have `{name}` once");
    check("ftp://127.0.0.1/{name}?sig=s3cret", "expected a URL");
    check("http://store.example/{name}?sig=s3cret", "use `https`");
    check("https://store.example/{name}?sig=s3cret", "`url-ca` is missing");
}
