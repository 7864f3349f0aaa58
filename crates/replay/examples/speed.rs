//! Measures a replay of a generated log: `speed write FILE DECISIONS PEOPLE THINGS`, then `speed replay FILE THREADS`.
//!
//! With as many things as decisions nearly all questions are distinct. Each run says how many decisions it counted and in
//! which buckets; the policies of then reproduce all of them.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]

#[path = "../tests/replay/generate.rs"]
mod generate;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use fastrand::Rng;
use generate::{Generator, OLD, new, table};
use wardgate_engine::table::Evaluation;
use wardgate_native::Policies;
use wardgate_replay::replay::{Replay, Sides};
use wardgate_replay::source;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [old, new] =
        [OLD.to_owned(), new()].map(|text| table(&text, Evaluation::Strict)).map(Policies::of);
    match *words {
        ["write", file, decisions, people, things] => {
            let [decisions, people, things] =
                [decisions, people, things].map(|n| n.parse().unwrap());
            write(&old, file, (decisions, people, things));
        }
        ["replay", file, threads] => {
            replay(Sides { old: Some(&old), new: &new }, file, threads.parse().unwrap())
        }
        _ => eprintln!("speed write FILE DECISIONS PEOPLE THINGS | speed replay FILE THREADS"),
    }
}

/// Writes a log on two threads, each a half.
fn write(policies: &Policies, file: &str, (decisions, people, things): (u32, u32, u32)) {
    let half = |seed: u64| {
        let mut generator =
            Generator { rng: Rng::with_seed(seed), policies, odd: 0, people, things, seconds: 0 };
        let mut out =
            BufWriter::with_capacity(1 << 20, File::create(format!("{file}.{seed}")).unwrap());
        let (mut line, mut left) = (String::new(), i64::from(decisions / 2));
        while left > 0 {
            line.clear();
            generator.line(&mut line);
            left -= i64::try_from(line.matches("\"effect\"").count()).unwrap();
            out.write_all(line.as_bytes()).unwrap();
        }
        out.flush().unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| half(1));
        half(2);
    });
}

fn replay(sides: Sides<'_>, file: &str, threads: usize) {
    let begin = Instant::now();
    let logs = [1, 2].map(|half| format!("{file}.{half}"));
    let bytes: u64 = logs.iter().map(|log| std::fs::metadata(log).unwrap().len()).sum();
    let open = |log: &String| source::open(File::open(log)?);
    let report = Replay::new(sides).run(logs.iter().map(open), threads).unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!((report.unreadable, report.buckets.not_reproduced), (0, 0));
    println!("{:?}, {} lines, {} groups", report.buckets, report.lines, report.groups.len());
    println!(
        "{} decisions of {bytes} bytes in {seconds:.2} s on {threads} threads",
        report.buckets.all()
    );
}
