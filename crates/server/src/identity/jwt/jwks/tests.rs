use wardgate_native::{Clock, SystemClock};

use super::*;
use crate::config::Remote;

#[path = "../../../../tests/http/publisher.rs"]
mod publisher;

use publisher::{pem, publishing, response, set, token};

fn parts(url: String, ca: &str) -> (RemoteKeySet, Refresher, Receiver<RefreshRequest>) {
    let remote = Remote { url, ca: Some(pem(ca)), token: None };
    let at = KeysUrl { remote, refresh: REFRESH, keep: KEEP };
    RemoteKeySet::parts(&at, "a".to_owned(), Lenience::default()).unwrap()
}

fn check(key_set: &RemoteKeySet, of: u8, expected: Result<(), TokenError>) {
    let now = TokenTime { now: SystemClock.now(), skew: Duration::ZERO };
    assert_eq!(key_set.verified(&token(of), now).map(drop), expected, "{of}");
}

fn is_conditional(head: &str) -> bool {
    head.contains("if-none-match: ")
}

const REFRESH: Duration = Duration::from_secs(300);
const KEEP: Duration = Duration::from_secs(3600);

#[test]
fn keys_are_exchanged_while_tokens_are_verified() {
    let (url, requests) = publishing(vec![
        response("200 OK\r\nETag: \"1\"", &set(&[1])),
        response("304 Not Modified", b""),
        response("200 OK\r\nETag: \"2\"", &set(&[2, 3])),
    ]);
    let (key_set, mut refresher, _requests) = parts(url, "ca.pem");
    check(&key_set, 1, Err(TokenError::NoKeys));
    assert_eq!(key_set.age(), None);
    for _ in 0..2 {
        assert_eq!(refresher.refresh(), Ok(()));
        check(&key_set, 1, Ok(()));
        check(&key_set, 2, Err(TokenError::NoKey));
    }
    assert_eq!(refresher.refresh(), Ok(()));
    check(&key_set, 1, Err(TokenError::NoKey));
    check(&key_set, 2, Ok(()));
    check(&key_set, 3, Ok(()));
    let requests = requests.join().unwrap();
    let requests: Vec<bool> = requests.iter().map(|head| is_conditional(head)).collect();
    assert_eq!(requests, [false, true, true]);
    assert_eq!(key_set.failures(), 0);
}

#[test]
fn an_unusable_set_of_keys_changes_nothing() {
    let good = response("200 OK\r\nETag: \"1\"", &set(&[1]));
    let bad = [
        (response("500 Internal Server Error", b""), "the server answers 500"),
        (response("302 Found\r\nLocation: /b", b""), "redirects are not followed"),
        (response("200 OK\r\nETag: \"2\"", b"<html>"), "malformed JSON at byte 0"),
        (response("200 OK", b"[]"), "it is not a set of keys"),
        (response("200 OK", br#"{"error":"busy"}"#), "`keys` must be a list of at most 256"),
        (response("200 OK", &set(&[1; 257])), "`keys` must be a list of at most 256"),
        (response("200 OK", &vec![b' '; MAX_KEYS_BYTES + 1]), "the file has more than 1048576"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_vec(), "the file ends early"),
        (b"no HTTP at all\r\n\r\n".to_vec(), "cannot get the keys `https://localhost:"),
    ];
    let answers = bad.iter().flat_map(|(answer, _)| [good.clone(), answer.clone()]);
    let (url, requests) = publishing(answers.chain([good.clone()]).collect());
    let (key_set, mut refresher, _requests) = parts(url, "ca.pem");
    for (_, expected) in &bad {
        assert_eq!(refresher.refresh(), Ok(()));
        let error = refresher.refresh().unwrap_err();
        assert!(error.contains(expected), "{error}");
        check(&key_set, 1, Ok(()));
    }
    assert_eq!(refresher.refresh(), Ok(()));
    assert_eq!(key_set.failures(), u64::try_from(bad.len()).unwrap());
    let requests = requests.join().unwrap();
    let requests: Vec<bool> = requests.iter().map(|head| is_conditional(head)).collect();
    // The meaning of a tag is known only after a usable set.
    assert_eq!(requests, [[false, true].repeat(bad.len()), vec![false]].concat());
}

#[test]
fn a_silent_server_times_out() {
    let (url, requests) = publishing(vec![Vec::new()]);
    let (key_set, mut refresher, _requests) = parts(url.clone(), "ca.pem");
    let remote = Remote { url, ca: Some(pem("ca.pem")), token: None };
    refresher.fetcher = Fetcher::new(&remote, 100, Duration::from_millis(100)).unwrap();
    assert!(refresher.refresh().unwrap_err().contains("the server did not answer within"));
    check(&key_set, 1, Err(TokenError::NoKeys));
    requests.join().unwrap();
}

#[test]
fn a_server_of_another_root_or_name_is_not_believed() {
    let check = |ca: &str, host: &str| {
        let (url, requests) = publishing(vec![response("200 OK", &set(&[1]))]);
        let (_, mut refresher, _requests) = parts(url.replace("localhost", host), ca);
        let error = refresher.refresh().unwrap_err();
        assert!(error.contains("invalid peer certificate"), "{error}");
        assert_eq!(requests.join().unwrap(), [""]);
    };
    check("somebody.pem", "localhost");
    check("ca.pem", "127.0.0.1");
}

#[test]
fn a_server_that_withdraws_its_keys_is_believed() {
    let (url, _) = publishing(vec![
        response("200 OK", &set(&[1])),
        response("200 OK", br#"{"keys":[{"kty":"oct","kid":"1","alg":"HS256","k":"AA"}]}"#),
    ]);
    let (key_set, mut refresher, _requests) = parts(url, "ca.pem");
    assert_eq!(refresher.refresh(), Ok(()));
    check(&key_set, 1, Ok(()));
    assert_eq!(refresher.refresh(), Ok(()));
    check(&key_set, 1, Err(TokenError::NoKey));
}

#[test]
fn keys_without_a_refresh_expire() {
    let (url, _) = publishing(vec![response("200 OK", &set(&[1]))]);
    let (key_set, mut refresher, _requests) = parts(url, "ca.pem");
    let before = Instant::now();
    assert_eq!(refresher.refresh(), Ok(()));
    let after = Instant::now();
    let moment = Duration::from_nanos(1);
    assert!(key_set.cache.keys(before + KEEP - moment).is_some());
    assert!(key_set.cache.keys(after + KEEP).is_none());
}

#[test]
fn unknown_keys_cause_one_refresh_request() {
    let good = response("200 OK", &set(&[1]));
    let (url, _) = publishing(vec![good.clone(), good]);
    let (key_set, mut refresher, requests) = parts(url, "ca.pem");
    for _ in 0..2 {
        assert_eq!(refresher.refresh(), Ok(()));
        check(&key_set, 1, Ok(()));
        assert!(requests.try_recv().is_err());
        for _ in 0..3 {
            check(&key_set, 2, Err(TokenError::NoKey));
        }
        assert!(matches!(requests.try_recv(), Ok(RefreshRequest::Early)));
        assert!(requests.try_recv().is_err());
    }
}

#[test]
fn refreshes_have_a_least_interval() {
    let last = Instant::now();
    let at = |seconds| last + Duration::from_secs(seconds);
    let check = |schedule: Schedule, expected: [u64; 3]| {
        let waits = [at(0), at(4), at(1000)].map(|now| schedule.wait(now).as_secs());
        assert_eq!(waits, expected, "{schedule:?}");
    };
    let pace = Pace { interval: REFRESH, pause: KEYS_PAUSE };
    let regular = Schedule::after(last, true, pace);
    check(regular, [300, 296, 0]);
    check(regular.early(pace), [10, 6, 0]);
    check(regular.early(pace).early(pace), [10, 6, 0]);
    check(Schedule::after(last, false, pace), [10, 6, 0]);
    check(Schedule::after(last, false, pace).early(pace), [10, 6, 0]);
}

#[test]
fn the_thread_refreshes_after_failures_and_on_request() {
    let (url, _) = publishing(vec![
        response("500 Internal Server Error", b""),
        response("200 OK", &set(&[1])),
        response("200 OK", &set(&[2])),
    ]);
    let (key_set, mut refresher, requests) = parts(url, "ca.pem");
    refresher.pace.pause = Duration::ZERO;
    let thread = thread::spawn(move || refresher.run(&requests));
    assert!(key_set.request_now().recv().unwrap().unwrap_err().contains("the server answers 500"));
    let now = || TokenTime { now: SystemClock.now(), skew: Duration::ZERO };
    for of in [1, 2] {
        // Each verification with an unknown key requests a refresh, and none waits for it.
        while key_set.verified(&token(of), now()).is_err() {
            thread::yield_now();
        }
    }
    check(&key_set, 1, Err(TokenError::NoKey));
    drop(key_set);
    thread.join().unwrap();
}
