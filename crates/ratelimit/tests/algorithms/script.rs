//! The script in a real Redis: the vectors, and what several limits do together.

use wardgate_ratelimit::{Algorithm, CHARGE_SCRIPT, Operation, Window};

use crate::files;
use crate::redis::{Redis, Reply};
use crate::sequence::{Sequence, Step, Terms, named, numbers};

#[test]
fn the_script_meets_the_vectors() {
    let Some(mut redis) = Redis::start("the_script_meets_the_vectors") else { return };
    let script = load(&mut redis, &with_given_time());
    let mut steps = 0;
    for (number, sequence) in files::read().iter().enumerate() {
        let key = format!("k{number}");
        for step in &sequence.steps {
            check(&mut redis, &script, &key, sequence, step);
            steps += 1;
        }
    }
    println!("{steps} steps");
}

fn check(redis: &mut Redis, script: &str, key: &str, sequence: &Sequence, step: &Step) {
    let (mode, cost) = named(step.operation);
    let call = Call { mode, keys: &[(key, sequence.terms, cost)], time: Some(step.time) };
    let expected = Reply::List(numbers(&step.outcome).map(Reply::Integer).to_vec());
    assert_eq!(call.send(redis, script), expected, "{}: {step:?}", sequence.name);
    if matches!(step.operation, Operation::Charge(1..)) && step.outcome.is_allowed() {
        // Each state goes by itself, soon after it is over and never before.
        let Reply::Integer(left) = redis.call(&["PTTL", key]) else { panic!("{key}") };
        let state = i64::try_from(step.outcome.reset).unwrap() / 1000;
        let spare = left - state;
        assert!((MARGIN - 60_000..=MARGIN + 2).contains(&spare), "{}: {left}", sequence.name);
    }
}

#[test]
fn limits_are_charged_together_or_not_at_all() {
    let test = "limits_are_charged_together_or_not_at_all";
    let Some(mut redis) = Redis::start(test) else { return };
    let script = load(&mut redis, &with_given_time());
    let (wide, narrow) = (Terms::gcra(10, 1_000_000, None), Terms::sliding(2, 1_000_000));
    let mut call = |mode, costs: [u64; 2], time| {
        let keys = [("{a}wide", wide, costs[0]), ("{a}narrow", narrow, costs[1])];
        integers(Call { mode, keys: &keys, time: Some(time) }.send(&mut redis, &script))
    };
    assert_eq!(call("charge", [1, 2], START), [0, 9, 100_000, 0, 0, 2_000_000]);
    // The second has none left, so that the first keeps its tokens, however often they are asked.
    for _ in 0..3 {
        assert_eq!(call("charge", [1, 1], START), [0, 9, 100_000, 1_500_000, 0, 2_000_000]);
    }
    assert_eq!(call("charge", [1, 3], START), [0, 9, 100_000, -1, 0, 2_000_000]);
    assert_eq!(call("charge", [1, 0], START), [0, 8, 200_000, 0, 0, 2_000_000]);
    assert_eq!(call("refund", [1, 1], START), [0, 9, 100_000, 0, 1, 2_000_000]);
    assert_eq!(call("look", [10, 1], START), [100_000, 9, 100_000, 0, 1, 2_000_000]);
    assert_eq!(call("reset", [0, 0], START), [0, 10, 0, 0, 2, 0]);
}

#[test]
fn checks_of_a_batch_follow_each_other() {
    let test = "checks_of_a_batch_follow_each_other";
    let Some(mut redis) = Redis::start(test) else { return };
    let script = load(&mut redis, &with_given_time());
    let mut random = fastrand::Rng::with_seed(1);
    let terms = [Terms::gcra(9, 1_000_000, Some(4)), Terms::sliding(5, 1_000_000)];
    let names = [["a0", "a1", "a2"], ["b0", "b1", "b2"]];
    for round in 0..500 {
        let time = Some(START + round * 100_000);
        let checks: Vec<(&str, Vec<(usize, u64)>)> = (0..random.usize(1..12))
            .map(|_| {
                let mode = ["charge", "charge", "charge", "look", "refund", "reset"];
                let keys = 0..random.usize(1..4);
                let keys = keys.map(|key| (key, random.u64(..4))).collect();
                (mode[random.usize(..6)], keys)
            })
            .collect();
        let keys = |side: usize| -> Vec<Vec<(&str, Terms, u64)>> {
            let key = |&(key, cost): &(usize, u64)| (names[side][key], terms[key % 2], cost);
            checks.iter().map(|(_, keys)| keys.iter().map(key).collect()).collect()
        };
        let (alone, together) = (keys(0), keys(1));
        let call = |(mode, _): &(&'static str, _), keys| Call { mode, keys, time };
        let calls = checks.iter().zip(&alone).map(|(check, keys)| call(check, keys));
        let expected: Vec<i64> =
            calls.flat_map(|call| integers(call.send(&mut redis, &script))).collect();
        let calls: Vec<_> =
            checks.iter().zip(&together).map(|(check, keys)| call(check, keys)).collect();
        assert_eq!(integers(send_batch(&mut redis, &script, &calls)), expected, "{checks:?}");
    }
}

/// A charge, and a refund of it when its window is over and the tokens are back: another charge in the
/// next window must keep its own.
#[test]
fn a_refund_after_its_window_adds_nothing_to_the_next() {
    let test = "a_refund_after_its_window_adds_nothing_to_the_next";
    let Some(mut redis) = Redis::start(test) else { return };
    let script = load(&mut redis, &with_given_time());
    let second = 1_000_000;
    let all = [
        Terms::gcra(9, second, None),
        Terms::fixed(9, Window::Micros(second)),
        Terms::sliding(9, second),
    ];
    for (key, terms) in ["g", "f", "s"].into_iter().zip(all) {
        let mut call = |mode: &str, cost, time| {
            let call = Call { mode, keys: &[(key, terms, cost)], time: Some(time) };
            integers(call.send(&mut redis, &script))
        };
        let end = START + second;
        let first = call("charge", 3, START);
        assert_eq!(first[..2], [0, 6]);
        // Within the window they come back.
        assert_eq!(call(&format!("refund {end}"), 2, START + 1)[..2], [0, 8]);
        let later = end + second;
        assert_eq!(call("charge", 4, later)[..2], [0, 5], "{key}");
        assert_eq!(call(&format!("refund {end}"), 1, later)[..2], [0, 5], "{key}");
        assert_eq!(call(&format!("refund {later}"), 1, later)[..2], [0, 5], "{key}");
        assert_eq!(call(&format!("refund {}", later + 1), 1, later)[..2], [0, 6], "{key}");
    }
}

#[test]
fn the_key_of_another_type_is_no_state_in_a_batch() {
    let test = "the_key_of_another_type_is_no_state_in_a_batch";
    let Some(mut redis) = Redis::start(test) else { return };
    let script = load(&mut redis, CHARGE_SCRIPT);
    redis.call(&["LPUSH", "list", "a"]);
    let terms = Terms::gcra(2, 86_400_000_000, None);
    let calls = ["list", "other", "list", "list"].map(|key| [(key, terms, 1)]);
    let calls = calls.each_ref().map(|keys| Call { mode: "charge", keys, time: None });
    let answer = integers(send_batch(&mut redis, &script, &calls));
    assert_eq!(answer[..2], [0, 1]);
    assert_eq!(answer[6..8], [0, 0]);
    assert!(answer[9] > 0, "{answer:?}");
}

#[test]
fn the_script_as_it_is_takes_the_time_of_the_server() {
    let test = "the_script_as_it_is_takes_the_time_of_the_server";
    let Some(mut redis) = Redis::start(test) else { return };
    let script = load(&mut redis, CHARGE_SCRIPT);
    let day = 86_400_000_000;
    for (key, terms) in [("g", Terms::gcra(2, day, None)), ("s", Terms::sliding(2, day))] {
        let mut charge = |cost| {
            let call = Call { mode: "charge", keys: &[(key, terms, cost)], time: None };
            integers(call.send(&mut redis, &script))
        };
        let full = charge(2);
        assert_eq!(full[..2], [0, 0]);
        let refused = charge(2);
        assert!(refused[0] > 0 && refused[1] <= 1, "{refused:?}");
        let Reply::Integer(left) = redis.call(&["PTTL", key]) else { panic!("{key}") };
        assert!(left <= full[2] / 1000 + 2 && left > full[2] / 1000 - 600_000, "{left} {full:?}");
    }
}

#[test]
fn errors_come_before_the_first_write() {
    let Some(mut redis) = Redis::start("errors_come_before_the_first_write") else { return };
    let script = load(&mut redis, CHARGE_SCRIPT);
    redis.call(&["LPUSH", "list", "a"]);
    redis.call(&["SET", "other", &format!("f{}", "1".repeat(16))]);
    let gcra = ["1", "gcra", "2", "1000000", "2"];
    let bucket = ["1", "bucket", "2", "1000000", "2"];
    let calls: [([&str; 2], [&str; 5], [&str; 6]); 8] = [
        (["a", "list"], gcra, ["charge", "1", "1", "and", "1", "x"]),
        (["a", "b"], gcra, ["charge", "1", "1", "charge", "2", "1"]),
        (["a", "b"], bucket, ["refund", "1", "1", "refund", "1", "1"]),
        (["a", "a"], gcra, ["charge", "1", "1", "and", "1", "1"]),
        (["a", "b"], gcra, ["charge", "1", "1", "spend", "1", "1"]),
        (["a", "b"], gcra, ["charge", "1", "1", "refund ", "1", "1"]),
        (["a", "b"], gcra, ["and", "1", "1", "and", "1", "1"]),
        (["a", "b"], ["2", "gcra", "2", "1000000", "2"], ["charge", "1", "1", "and", "1", "1"]),
    ];
    for (keys, rules, checks) in calls {
        let mut words = vec!["EVALSHA", &script, "2", keys[0], keys[1]];
        words.extend(rules.into_iter().chain(checks));
        assert!(matches!(redis.call(&words), Reply::Error(_)), "{words:?}");
        assert_eq!(redis.call(&["EXISTS", "a", "b"]), Reply::Integer(0), "{words:?}");
        // One that lacks arguments.
        assert!(matches!(redis.call(&words[..words.len() - 1]), Reply::Error(_)), "{words:?}");
    }
    assert_eq!(redis.call(&["EXISTS", "a", "b"]), Reply::Integer(0));
    // The value of another algorithm is no state.
    let keys = [("other", Terms::gcra(2, 1_000_000, None), 1)];
    let found = integers(Call { mode: "look", keys: &keys, time: None }.send(&mut redis, &script));
    assert_eq!(found, [0, 2, 0]);
}

/// One call of the script: keys with their rules and costs.
struct Call<'a> {
    mode: &'a str,
    keys: &'a [(&'a str, Terms, u64)],
    /// The time for the script whose first line is replaced.
    time: Option<u64>,
}

impl Call<'_> {
    fn send(&self, redis: &mut Redis, script: &str) -> Reply {
        send_batch(redis, script, core::slice::from_ref(self))
    }
}

/// Sends checks as one call, with a rule for each key.
fn send_batch(redis: &mut Redis, script: &str, calls: &[Call<'_>]) -> Reply {
    let limits: Vec<_> = calls.iter().flat_map(|call| call.keys).collect();
    let mut words = vec!["EVALSHA".into(), script.into(), limits.len().to_string()];
    words.extend(limits.iter().map(|(key, ..)| (*key).to_owned()));
    words.push(limits.len().to_string());
    words.extend(limits.iter().flat_map(|(_, terms, _)| arguments(terms)));
    let mut rule = 0;
    for call in calls {
        for (at, (_, _, cost)) in call.keys.iter().enumerate() {
            rule += 1;
            let mode = if at == 0 { call.mode } else { "and" };
            words.extend([mode.to_owned(), rule.to_string(), cost.to_string()]);
        }
    }
    if let Some(time) = calls.first().and_then(|call| call.time) {
        words.extend([(time % 1_000_000).to_string(), (time / 1_000_000).to_string()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut reply = redis.call(&words);
    if let Reply::List(all) = &mut reply {
        let Some(Reply::Integer(time)) = all.pop() else { panic!("{all:?}") };
        let given = calls.first().and_then(|call| call.time);
        assert!(given.is_none_or(|given| i64::try_from(given) == Ok(time)));
    }
    reply
}

fn arguments(terms: &Terms) -> [String; 4] {
    let window = match terms.window {
        Window::Micros(micros) => micros.to_string(),
        Window::Month => "month".to_owned(),
    };
    let burst = match terms.algorithm {
        Algorithm::Gcra { .. } => terms.capacity().to_string(),
        _ => "-".to_owned(),
    };
    [terms.algorithm_name().into(), terms.quota.to_string(), window, burst]
}

fn load(redis: &mut Redis, text: &str) -> String {
    match redis.call(&["SCRIPT", "LOAD", text]) {
        Reply::Text(Some(digest)) => digest,
        other => panic!("{other:?}"),
    }
}

fn integers(reply: Reply) -> Vec<i64> {
    let Reply::List(all) = reply else { panic!("{reply:?}") };
    let integer = |reply| match reply {
        Reply::Integer(number) => number,
        other => panic!("{other:?}"),
    };
    all.into_iter().map(integer).collect()
}

/// Replaces the line of the script that reads the clock: the time is the last two arguments, and
/// values outlive their states, since the server's clock goes on.
fn with_given_time() -> String {
    let (first, rest) = CHARGE_SCRIPT.split_once('\n').unwrap();
    assert_eq!(first, "local clock, margin = redis.call('TIME'), 1");
    format!("local clock, margin = {{ table.remove(ARGV), table.remove(ARGV) }}, {MARGIN}\n{rest}")
}

/// The milliseconds by which a value outlives its state in tests.
const MARGIN: i64 = 3_600_000;

const START: u64 = 1_800_000_000_000_000;
