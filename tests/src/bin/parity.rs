//! Compares all ways to a decision: those of the native build, those of the npm package in Node,
//! and the oracle.
//!
//! First on all cases, where the decisions of both hosts must be the same bytes, then on bundles
//! that must be refused by the same name, then on subscriptions to topics under generated policies,
//! of which `--topics N` sets the number (with `SLOW_TESTS=1` 100,000 usually), then on decisions that Node
//! records and that are made again, of which `--recorded N` sets the number, then on generated
//! policies and requests: `--generated N` sets the number of pairs of a policy set and a request. The
//! same number always means the same pairs; `--seed S` gives others. A difference is shown as the
//! smallest case in which it still occurs.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

use wardgate_engine::wire::decision_json;
use wardgate_tests::cases;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::generate::{World, worlds};
use wardgate_tests::node::{self, Answer, Job, Right};
use wardgate_tests::parity::{
    Compared, Difference, Native, Subscriptions, Tally, logs, refusals, smallest, subscriptions,
};
use wardgate_tests::program::{self, exit, root};

fn main() -> ExitCode {
    exit("parity", run())
}

fn run() -> Result<bool, String> {
    let options = Options::read(std::env::args().skip(1))?;
    let cases = cases::all()?.into_iter().map(case_twin).collect::<Result<Vec<_>, _>>()?;
    let cases = options.is_native || compare("cases", true, cases.into_iter())?;
    let refusals = options.is_native || refused_alike()?;
    if !options.is_native {
        topics(options.topics)?;
        println!("parity-logs: {}", logs(&root(), options.seed, options.recorded)?);
    }
    Ok(cases & refusals & generated(&options)?)
}

/// Returns true if both hosts refuse the same bytes by the same name.
fn refused_alike() -> Result<bool, String> {
    let (compared, differences) = refusals(&root())?;
    differences.iter().take(MOST_SHOWN).for_each(|one| println!("  {one}"));
    println!(
        "parity-refusals: {} passed, {} failed",
        compared - differences.len(),
        differences.len()
    );
    Ok(differences.is_empty())
}

/// Compares subscriptions under generated policies, in pieces.
fn topics(policies: u64) -> Result<(), String> {
    let mut found = Subscriptions::default();
    while found.policies < policies {
        let end = policies.min(found.policies.saturating_add(PIECE));
        found.add(&subscriptions(&root(), found.policies..end)?);
        if policies > PIECE {
            eprint!("parity-topics, so far: {found}");
        }
    }
    print!("parity-topics: {found}");
    Ok(())
}

/// The options of the command line.
struct Options {
    pairs: usize,
    seed: u8,
    /// The generated sets of policies about topics.
    topics: u64,
    /// The decisions that Node records.
    recorded: usize,
    /// True if Node is left out.
    is_native: bool,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let is_slow = std::env::var_os("SLOW_TESTS").is_some();
        let topics = if is_slow { SLOW_TOPICS } else { DEFAULT_TOPICS };
        let (pairs, recorded) = (DEFAULT_PAIRS, DEFAULT_RECORDED);
        let mut options = Self { pairs, seed: SEED, topics, recorded, is_native: false };
        while let Some(name) = args.next() {
            match name.as_str() {
                "--generated" => options.pairs = number(args.next())?,
                "--seed" => options.seed = number(args.next())?,
                "--recorded" => options.recorded = number(args.next())?,
                "--topics" => options.topics = number(args.next())?,
                "--native" => options.is_native = true,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}

fn number<T: std::str::FromStr>(word: Option<String>) -> Result<T, String> {
    program::number(&word.unwrap_or_default())
}

/// A job for Node, and the answers of the native build.
struct Twin {
    expected: Expected,
    job: Job,
}

/// The answers that Node must give.
struct Expected {
    name: String,
    native: Vec<String>,
    world: Option<World>,
}

fn case_twin(case: cases::Case) -> Result<Twin, String> {
    let compiled = Compiled::new(&case.files, &case.options);
    let Compiled { bundle, table } = compiled.map_err(|error| format!("{}: {error}", case.name))?;
    let decide = |check: &cases::Check| decision_json(&table.check(&check.request, case.now));
    let native = case.checks.iter().map(decide).collect();
    let allowed = |check: &cases::Check| {
        let allowed = |action| table.is_allowed(&check.request, action, case.now);
        check.request.actions.iter().map(|action| allowed(action)).collect()
    };
    let right = Right { allowed: case.checks.iter().map(allowed).collect(), ..Right::default() };
    let requests = case.checks.into_iter().map(|check| check.json).collect();
    let job = Job { right: Some(right), ..Job::new(bundle, case.now, requests) };
    Ok(Twin { expected: Expected { name: case.name, native, world: None }, job })
}

fn generated(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let native = RefCell::new(Natively::default());
    let twins = generated_twins(options, &native);
    let same = if options.is_native {
        twins.for_each(drop);
        true
    } else {
        compare("generated", false, twins)?
    };
    let native = native.into_inner();
    println!(
        "parity-native: {} pairs in {} worlds, {} decisions, {} allowed; {} worlds did not compile\n{}",
        native.pairs, native.worlds, native.decisions, native.allowed, native.refused, native.tally
    );
    println!("  {:.1} s", start.elapsed().as_secs_f64());
    match native.failed {
        Some(failed) => show(failed, &differs_natively),
        None => Ok(same),
    }
}

/// The results of the native ways.
#[derive(Default)]
struct Natively {
    pairs: usize,
    worlds: usize,
    refused: usize,
    decisions: usize,
    allowed: usize,
    tally: Tally,
    failed: Option<(World, Vec<Difference>)>,
}

impl Natively {
    fn add(&mut self, world: &World, compared: &Compared) {
        self.worlds += 1;
        self.pairs += world.requests.len();
        self.decisions += compared.allowed.iter().map(Vec::len).sum::<usize>();
        self.allowed += compared.allowed.iter().flatten().filter(|allowed| **allowed).count();
        self.tally.add(&compared.tally);
        if !compared.differences.is_empty() {
            self.failed = Some((world.clone(), compared.differences.clone()));
        }
    }
}

/// Returns generated worlds until they make up the pairs of the command line, or one of them fails
/// natively; those that do not compile do not count.
fn generated_twins<'n>(
    options: &Options,
    native: &'n RefCell<Natively>,
) -> impl Iterator<Item = Twin> + use<'n> {
    let mut left = options.pairs;
    // Even few pairs must come from several policy sets.
    let mut worlds = worlds(options.seed, (left / LEAST_WORLDS).clamp(1, REQUESTS));
    std::iter::from_fn(move || {
        if left == 0 || native.borrow().failed.is_some() {
            return None;
        }
        worlds.find_map(|mut world| {
            world.requests.truncate(left);
            let Some((twin, compared)) = generated_twin(&world) else {
                native.borrow_mut().refused += 1;
                return None;
            };
            native.borrow_mut().add(&world, &compared);
            left = left.saturating_sub(world.requests.len());
            Some(twin)
        })
    })
}

fn generated_twin(world: &World) -> Option<(Twin, Compared)> {
    let native = Native::new(world)?;
    let compared = native.compare(&world.requests).ok()?;
    let batch = |of: usize| {
        let request = world.requests.get(of)?;
        Some((of, native.batch(request, &world.requests).ok()?))
    };
    let batches = (0..world.requests.len()).step_by(BATCH_EVERY).filter_map(batch).collect();
    let right =
        Right { allowed: compared.allowed.clone(), batches, accessors: Some(native.accessors()) };
    let job = Job::new(native.bundle, native.now, world.requests.clone());
    let job = Job { right: Some(right), ..job };
    let expected = Expected {
        name: "generated".to_owned(),
        native: compared.decisions.clone(),
        world: Some(world.clone()),
    };
    Some((Twin { expected, job }, compared))
}

/// Sends the twins to Node while the next ones are made.
fn compare(suite: &str, is_quiet: bool, twins: impl Iterator<Item = Twin>) -> Result<bool, String> {
    let (sender, receiver) = channel();
    let questions = Cell::new(0);
    // One world that fails is enough to look at.
    let enough = AtomicBool::new(false);
    let jobs = twins.take_while(|_| !enough.load(Ordering::Relaxed)).map_while(|twin| {
        questions.set(questions.get() + twin.expected.native.len());
        sender.send(twin.expected).ok().map(|()| twin.job)
    });
    let (mut same, mut tally, mut failed) = (0, Tally::default(), None);
    let (passed, counted, first, enough) = (&mut same, &mut tally, &mut failed, &enough);
    node::stream(&root(), jobs, move |answer| {
        let answer = answer?;
        let expected = receiver.recv().map_err(|_| "node answered more than it was asked")?;
        let differences = differences(&expected, &answer)?;
        let mut wrong: Vec<usize> = differences.iter().map(|one| one.request).collect();
        wrong.dedup();
        let (before, after) = (*passed, *passed + expected.native.len() - wrong.len());
        *passed = after;
        // A long run that is ended early has shown its progress.
        if before / PROGRESS != after / PROGRESS {
            eprintln!("parity-{suite}: {after} passed so far");
        }
        counted.add(&answer.tally);
        if !differences.is_empty() {
            println!("  {}: {} differences", expected.name, differences.len());
            differences.iter().take(MOST_SHOWN).for_each(|one| println!("    {one}"));
            enough.store(expected.world.is_some(), Ordering::Relaxed);
            first.get_or_insert((expected.world, differences));
        }
        Ok(())
    })?;
    println!("parity-{suite}: {same} passed, {} failed", questions.get() - same);
    if !is_quiet {
        print!("{tally}");
    }
    match failed {
        Some((Some(world), differences)) => show((world, differences), &differs_in_node),
        Some((None, _)) => Ok(false),
        None => Ok(questions.get() == same),
    }
}

/// Returns the differences of Node's answers, in bytes or in one of its ways.
fn differences(expected: &Expected, answer: &Answer) -> Result<Vec<Difference>, String> {
    let native = &expected.native;
    if answer.decisions.len() != native.len() {
        return Err(format!("{}: node did not answer every request", expected.name));
    }
    let pairs = native.iter().zip(&answer.decisions).enumerate();
    let differs = |(request, (native, node)): (usize, (&String, &String))| {
        let answer = format!("\n      native {native}\n      node   {node}");
        let way = "bytes".to_owned();
        (native != node).then(|| Difference { way, request, action: String::new(), answer })
    };
    let mut found: Vec<Difference> = pairs.filter_map(differs).collect();
    found.extend(answer.differences.iter().cloned());
    found.sort_by_key(|one| one.request);
    Ok(found)
}

/// Returns for each world whether a difference occurs in it.
type Judge = dyn Fn(&[World]) -> Result<Vec<bool>, String>;

/// Prints a failure as the smallest case in which a difference occurs.
fn show((world, differences): (World, Vec<Difference>), judge: &Judge) -> Result<bool, String> {
    for one in differences.iter().take(MOST_SHOWN) {
        println!("  differs: {one}");
    }
    let first = differences.first().and_then(|one| world.requests.get(one.request));
    let alone = World { requests: first.into_iter().cloned().collect(), ..world.clone() };
    let found = judge(std::slice::from_ref(&alone))?.contains(&true);
    let smallest = smallest(if found { alone } else { world }, judge)?;
    println!("  the smallest case in which something differs:\n{smallest:?}");
    Ok(false)
}

fn differs_natively(worlds: &[World]) -> Result<Vec<bool>, String> {
    let differs = |world: &World| {
        let twin = generated_twin(world);
        twin.is_some_and(|(_, compared)| !compared.differences.is_empty())
    };
    Ok(worlds.iter().map(differs).collect())
}

/// Sends all worlds to a fresh Node process; a request that it refuses to read is no difference.
fn differs_in_node(worlds: &[World]) -> Result<Vec<bool>, String> {
    let twins: Vec<Option<Twin>> =
        worlds.iter().map(|world| Some(generated_twin(world)?.0)).collect();
    let jobs = twins.iter().flatten().map(|twin| twin.job.clone());
    let mut answers = node::attempt(&root(), jobs)?.into_iter();
    let mut differs = |twin: &Option<Twin>| {
        let twin = twin.as_ref()?;
        let answer = answers.next()?.ok()?;
        Some(!differences(&twin.expected, &answer).ok()?.is_empty())
    };
    Ok(twins.iter().map(|twin| differs(twin).unwrap_or_default()).collect())
}

/// The decisions that Node records, at least.
const DEFAULT_RECORDED: usize = 4000;
/// Enough to show a fault, few enough for every run of the tests.
const DEFAULT_PAIRS: usize = 3000;
const DEFAULT_TOPICS: u64 = 300;
const SLOW_TOPICS: u64 = 100_000;
/// Sets of policies for one process of Node.
const PIECE: u64 = 5000;
/// Any seed is good enough; this one never changes.
const SEED: u8 = 1;
/// The largest number of requests to one generated policy set: compiling it takes as long as
/// deciding some hundred of them.
const REQUESTS: usize = 300;
const LEAST_WORLDS: usize = 50;
/// The distance between requests whose principal is decided on the resources of all requests.
const BATCH_EVERY: usize = 200;
const PROGRESS: usize = 50_000;
const MOST_SHOWN: usize = 5;
const USAGE: &str =
    "expected `--generated N`, `--seed S`, `--topics N`, `--recorded N` or `--native`";
