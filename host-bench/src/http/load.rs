//! Calls over many connections: in a closed loop, and at a constant rate.
//!
//! In a closed loop each connection makes its next call when the answer to the last one is there, which tells
//! how many calls a server answers. It hides waiting: while a server stands still, no call begins. An open loop
//! has a moment for each call, and its time counts from that moment, whether the call could begin or not.

use std::fs;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::client::{Call, Connection};
use crate::measure::{float, single};
use crate::workload::Random;

/// The times of calls.
pub(crate) struct Load {
    /// The nanoseconds of each call.
    pub(crate) samples: Vec<f32>,
    /// The calls of a second.
    pub(crate) rate: f64,
    /// The mean number of calls under way, divided by the rate times the mean time of a call. By Little's law it is 1;
    /// a closed loop has more if the client itself takes time between two calls.
    pub(crate) little: f64,
    /// Bytes of all calls, and of all answers, with their heads.
    pub(crate) carried: [u64; 2],
}

/// What one connection did.
struct Part {
    samples: Vec<f32>,
    carried: [u64; 2],
    end: Instant,
}

/// Makes calls over so many connections for a time, the next one after the answer to the last.
///
/// # Errors
/// An answer is missing, has another status than 200, or another length than the one that was checked.
pub(crate) fn closed_loop(
    server: SocketAddr,
    calls: &[Call],
    connections: usize,
    time: Duration,
) -> Result<Load, String> {
    let barrier = Barrier::new(connections + 1);
    let of_one = |first: usize| -> Result<Part, String> {
        let connection = Connection::open(server);
        barrier.wait();
        let (mut connection, start) = (connection?, Instant::now());
        let mut samples = Vec::new();
        for call in calls.iter().cycle().skip(first % calls.len().max(1)) {
            if start.elapsed() >= time {
                break;
            }
            let one = Instant::now();
            connection.repeat(call)?;
            samples.push(nanoseconds(one.elapsed()));
        }
        Ok(Part { samples, carried: connection.carried, end: Instant::now() })
    };
    let (start, parts) = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections).map(|at| scope.spawn(move_in(&of_one, at * STRIDE))).collect();
        barrier.wait();
        let start = Instant::now();
        (start, joined(threads))
    });
    let (samples, carried, end) = together(parts?, start);
    let seconds = end.duration_since(start).as_secs_f64();
    let busy = sum(&samples) / 1e9;
    let rate = float(samples.len()) / seconds;
    Ok(Load { rate, little: float(connections) * seconds / busy, samples, carried })
}

/// Makes calls at a constant rate for a time, in turn over so many connections. The time of a call begins when it is due.
///
/// # Errors
/// As [`closed_loop`].
pub(crate) fn open_loop(
    server: SocketAddr,
    calls: &[Call],
    connections: usize,
    rate: f64,
    time: Duration,
) -> Result<Load, String> {
    wake_in_time();
    let start = Instant::now() + LEAD;
    let due = |number: usize| start + Duration::from_secs_f64(float(number) / rate);
    let total = (0..MAX_CALLS).take_while(|number| due(*number) < start + time).count();
    let answered = AtomicUsize::new(0);
    let of_one = |first: usize| -> Result<Part, String> {
        let (mut connection, mut samples) = (Connection::open(server)?, Vec::new());
        for number in (first..total).step_by(connections) {
            let due = due(number);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let call = calls.get(number % calls.len().max(1)).ok_or("no calls")?;
            connection.repeat(call)?;
            samples.push(nanoseconds(due.elapsed()));
            answered.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Part { samples, carried: connection.carried, end: Instant::now() })
    };
    let (under_way, parts) = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections).map(|first| scope.spawn(move_in(&of_one, first))).collect();
        let begun = |at: Instant| {
            let since = at.saturating_duration_since(start).as_secs_f64();
            (since * rate).floor() + 1.0
        };
        let under_way = watched(start, time, |now| {
            begun(now).min(float(total)) - float(answered.load(Ordering::Relaxed))
        });
        (under_way, joined(threads))
    });
    let (samples, carried, _) = together(parts?, start);
    let mean = sum(&samples) / float(samples.len()) / 1e9;
    Ok(Load { rate, little: under_way / (rate * mean), samples, carried })
}

/// Returns the mean of a number, looked at in moments at random while the load lasts.
fn watched(start: Instant, time: Duration, number: impl Fn(Instant) -> f64) -> f64 {
    let (mut random, mut sum, mut looks) = (Random::of_part(17), 0.0, 0.0);
    std::thread::sleep(start.saturating_duration_since(Instant::now()));
    while start.elapsed() < time {
        let pause = u64::try_from(random.below(1000)).unwrap_or(0);
        std::thread::sleep(Duration::from_micros(500 + pause));
        sum += number(Instant::now());
        looks += 1.0;
    }
    sum / looks
}

/// Lets the threads that start afterwards sleep no longer than they want, where the system allows it: by default Linux
/// may wake them 50 us later.
fn wake_in_time() {
    let _ = fs::write("/proc/self/timerslack_ns", "1000");
}

fn move_in<T>(act: &(impl Fn(usize) -> T + Sync), number: usize) -> impl FnOnce() -> T + Send {
    move || act(number)
}

type Thread<'scope> = std::thread::ScopedJoinHandle<'scope, Result<Part, String>>;

fn joined(threads: Vec<Thread<'_>>) -> Result<Vec<Part>, String> {
    let parts = threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| "a thread has panicked".to_owned())?);
    parts.collect()
}

fn together(parts: Vec<Part>, start: Instant) -> (Vec<f32>, [u64; 2], Instant) {
    let mut all = (Vec::new(), [0, 0], start);
    for part in parts {
        let ([sent, received], [more_sent, more_received]) = (&mut all.1, part.carried);
        (*sent, *received) = (*sent + more_sent, *received + more_received);
        all.2 = all.2.max(part.end);
        all.0.extend(part.samples);
    }
    all
}

fn sum(samples: &[f32]) -> f64 {
    samples.iter().map(|sample| f64::from(*sample)).sum()
}

fn nanoseconds(time: Duration) -> f32 {
    single(time.as_secs_f64() * 1e9)
}

/// The calls between the first ones of two connections.
const STRIDE: usize = 7;
/// The time in which the connections of an open loop are made.
const LEAD: Duration = Duration::from_millis(200);
/// The most calls of an open loop.
const MAX_CALLS: usize = 10_000_000;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

    use super::super::client::Call;
    use super::{closed_loop, open_loop};

    /// A server that answers each call after a pause.
    fn server(connections: usize, pause: Duration) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().take(connections) {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut room = [0; 1024];
                    while stream.read(&mut room).is_ok_and(|read| read > 0) {
                        std::thread::sleep(pause);
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                        if stream.write_all(answer).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        address
    }

    fn call() -> Call {
        let mut call = Call::post("/", &serde_json::json!({}));
        call.length = 2;
        call
    }

    #[test]
    fn an_open_loop_counts_the_time_for_which_a_call_had_to_wait() {
        // Twenty calls are due in 20 ms, and each takes 5 ms: the last begins when 19 others have been answered.
        let address = server(1, Duration::from_millis(5));
        let load = open_loop(address, &[call()], 1, 1000.0, Duration::from_millis(20)).unwrap();
        assert_eq!(load.samples.len(), 20);
        assert!(load.samples[19] >= 75e6, "{:?}", load.samples);
    }

    #[test]
    fn a_closed_loop_has_as_many_calls_under_way_as_connections() {
        let address = server(4, Duration::from_millis(2));
        let load = closed_loop(address, &[call()], 4, Duration::from_millis(50)).unwrap();
        assert!(load.rate <= 2000.0 && load.little >= 1.0, "{} {}", load.rate, load.little);
        let [sent, received] = load.carried;
        assert_eq!(received, 40 * u64::try_from(load.samples.len()).unwrap());
        assert!(sent > 0);
    }

    #[test]
    fn another_answer_ends_the_load() {
        let address = server(1, Duration::ZERO);
        let wrong = Call { length: 3, ..call() };
        assert!(closed_loop(address, &[wrong], 1, Duration::from_millis(10)).is_err());
    }
}
