//! The arguments of the command.
//!
//! An option that would have no effect is refused: passing it over in silence would change what a
//! check means.

mod compare;
mod completions;
mod coverage;
mod eval;
mod examples;
mod exit_codes;
mod fmt;
mod grants;
mod healthcheck;
mod help;
mod init;
mod lint;
mod log;
mod mqtt;
mod overwrite;
mod protocols;
mod ratelimit;
mod replay;
mod serve;
mod similar;
mod test;
mod trust;
mod types;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::cel::time::parse_timestamp;

use crate::limits::{MAX_MEASURING, MIN_MEASURING};
pub(crate) use compare::{Compare, Forbidden, Format};
pub(crate) use completions::{Completions, Shell};
pub(crate) use eval::{Eval, Given, Repl};
pub(crate) use examples::command;
#[cfg(not(feature = "host"))]
pub(crate) use examples::needs_host;
use exit_codes::{ALL_EXIT_CODES, BENCH_HELP, CHECK_HELP, EXIT_CODES, GRANTS_HELP, REPLAY_HELP};
pub(crate) use fmt::{FMT_HELP, Fmt};
pub(crate) use grants::Grants;
pub(crate) use healthcheck::Healthcheck;
pub(crate) use help::Help;
pub(crate) use init::{Framework, Init};
pub(crate) use lint::{Denied, Known, Lint};
pub(crate) use log::{
    AcceptLoss, CheckProof, EraseLog, ExplainRecord, Export, ExportForm, Log, LogCommand, LogKeys,
    Prove, Replay, ShowLog, VerifyLog, WitnessLogs,
};
pub(crate) use mqtt::Mqtt;
pub(crate) use overwrite::Overwrite;
pub(crate) use protocols::{BenchWhat, Protocols};
pub(crate) use ratelimit::RateLimit;
pub(crate) use replay::ReplayLogs;
pub(crate) use serve::Serve;
pub(crate) use similar::{Analyze, Similar};
pub(crate) use test::{Host, Test};
pub(crate) use trust::{
    Algorithm, ApplyDelta, Delta, DeltaCommand, Generate, InspectKeys, Keys, KeysCommand,
    LabelOptions, MakeDelta, Opening, Public, Purpose, Seal, Sign, Verify,
};
pub(crate) use types::Types;

/// Compile access policies, and decide requests with them.
#[derive(Debug, Parser)]
#[command(name = "wardgate", version, arg_required_else_help = true, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
#[command(after_help = ALL_EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write an example: a policy, a test of it, and a program that asks.
    #[command(after_help = init::HELP)]
    Init(Init),
    /// Compile a directory of policies to a bundle, or check that it compiles.
    #[command(after_help = EXIT_CODES)]
    Compile(Compile),
    /// Check policies for likely mistakes.
    #[command(after_help = lint::HELP)]
    Lint(Lint),
    /// Compare policies before and after a change: who may do more, and who may do less.
    #[command(after_help = compare::HELP)]
    Compare(Compare),
    /// Find the rules that are most like a rule, or like those of a draft.
    #[command(after_help = similar::SIMILAR_HELP)]
    Similar(Similar),
    /// Group rules that say the same, or differ in one part only.
    #[command(after_help = similar::ANALYZE_HELP)]
    Analyze(Analyze),
    /// Decide requests. Rate limits are charged in memory: each run begins with full keys.
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Decide requests and explain the decisions: the rule that decided, or the conditions that would
    /// have to hold, with the values that they read.
    #[command(after_help = CHECK_HELP)]
    Explain(Explain),
    /// Evaluate one expression of CEL, with the functions of conditions.
    #[command(after_help = eval::EVAL_HELP)]
    Eval(Eval),
    /// Evaluate expressions line by line, from a terminal or standard input.
    #[command(after_help = eval::REPL_HELP)]
    Repl(Repl),
    /// List the topics of MQTT that a principal may use, for brokers that take lists.
    #[command(after_help = GRANTS_HELP)]
    Grants(Grants),
    /// Show the content of a bundle or of a directory of policies.
    #[command(after_help = EXIT_CODES)]
    Inspect(Inspect),
    /// Run the test suites of a directory of policies.
    #[command(after_help = test::HELP)]
    Test(Test),
    /// Measure how quickly requests are decided, natively and in WebAssembly.
    #[command(after_help = BENCH_HELP)]
    Bench(Bench),
    /// Make keys, show them, and write their public half.
    #[command(disable_help_subcommand = true)]
    Keys(Keys),
    /// Sign a bundle.
    #[command(after_help = EXIT_CODES)]
    Sign(Sign),
    /// Verify the signatures of a bundle, and show its header.
    #[command(after_help = EXIT_CODES)]
    Verify(Verify),
    /// Seal a bundle or a delta, so that only holders of the key can read it.
    #[command(after_help = EXIT_CODES)]
    Seal(Seal),
    /// Unseal a bundle or a delta.
    #[command(after_help = EXIT_CODES)]
    Unseal(Seal),
    /// Make a delta between two bundles, or apply one.
    #[command(disable_help_subcommand = true)]
    Delta(Delta),
    /// Format policies, test suites and fixtures.
    #[command(after_help = FMT_HELP)]
    Fmt(Fmt),
    /// Write the types of policies for TypeScript, or check that a file has them.
    #[command(after_help = types::HELP)]
    Types(Types),
    /// Make the key of a decision log, verify and show its records, and prove one of them.
    #[command(disable_help_subcommand = true)]
    Log(Log),
    /// Decide what logs record again: which decisions would be others with new policies.
    #[command(after_help = replay::HELP)]
    Replay(ReplayLogs),
    /// Serve decisions over the network.
    #[command(after_help = EXIT_CODES)]
    Serve(Serve),
    /// Ask a server whether it runs, and exit with 0 or 1: for containers.
    #[command(after_help = healthcheck::HELP)]
    Healthcheck(Healthcheck),
    /// Write what a shell needs to complete verbs and options.
    #[command(after_help = completions::HELP)]
    Completions(Completions),
    /// Print the help of a command, or what the code of a message means.
    #[command(after_help = help::HELP)]
    Help(Help),
}

impl Command {
    /// Returns true if the answer is JSON.
    pub(crate) const fn json(&self) -> bool {
        match self {
            Self::Compile(compile) => compile.json,
            Self::Lint(lint) => lint.json,
            Self::Compare(compare) => matches!(compare.format, Format::Json),
            Self::Replay(replay) => matches!(replay.format, Format::Json),
            Self::Similar(similar) => similar.json,
            Self::Analyze(analyze) => analyze.json,
            Self::Check(check) => check.input.json,
            Self::Explain(explain) => explain.input.json,
            Self::Grants(grants) => grants.input.json,
            Self::Inspect(inspect) => inspect.json,
            Self::Test(test) => test.json,
            Self::Bench(bench) => bench.json,
            Self::Sign(sign) => sign.json,
            Self::Verify(verify) => verify.json,
            Self::Init(_)
            | Self::Eval(_)
            | Self::Repl(_)
            | Self::Keys(_)
            | Self::Seal(_)
            | Self::Unseal(_)
            | Self::Delta(_)
            | Self::Fmt(_)
            | Self::Log(_)
            | Self::Serve(_)
            | Self::Healthcheck(_)
            | Self::Completions(_)
            | Self::Help(_)
            | Self::Types(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Compile {
    /// The directory of the policies.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The bundle to write; `-` writes to standard output. An older one is replaced only once the new one is
    /// complete. Without it the policies are checked, and nothing is written.
    #[arg(short, long, value_name = "FILE|-")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
    /// A JavaScript module to write too: given to `open` of the npm package as `accessors`, it makes
    /// `isAllowed` on this bundle faster.
    #[arg(long, value_name = "FILE")]
    pub(crate) emit: Option<PathBuf>,
    /// A key to sign the bundle with. May be given several times.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) sign: Vec<PathBuf>,
    /// Leave out the names of files and the texts of expressions. Decisions stay the same; `wardgate explain`
    /// cannot show what is missing. `wardgate delta` to the whole bundle brings it back.
    #[arg(long)]
    pub(crate) strip: bool,
    /// Print JSON: a summary, or an array with one object for each error.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) label: LabelOptions,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A bundle, or a directory of policies.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) policies: PathBuf,
    #[command(flatten)]
    pub(crate) input: Input,
    /// Print the policy and scope that decided, and the effective derived roles.
    #[arg(long)]
    pub(crate) meta: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A bundle, or a directory of policies.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) policies: PathBuf,
    #[command(flatten)]
    pub(crate) input: Input,
    /// List every rule that was considered too.
    #[arg(long, conflicts_with = "json")]
    pub(crate) steps: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A bundle, or a directory of policies.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) policies: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: Option<BenchWhat>,
    /// A bundle, or a directory of policies.
    #[arg(value_name = "FILE|DIR", required = true)]
    pub(crate) policies: Option<PathBuf>,
    /// The requests, as `wardgate check` reads them; `-` reads standard input.
    #[arg(short, long, alias = "request", value_name = "FILE|-", required = true)]
    pub(crate) requests: Option<PathBuf>,
    /// The host that decides: `native`, `node` (WebAssembly in Node) or `all`.
    #[arg(long, value_name = "HOST", default_value = "native", hide_possible_values = true)]
    pub(crate) host: Hosts,
    /// The folder of the npm package `wardgate` [default: the one Node finds from this folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) package: Option<PathBuf>,
    /// Seconds for which each host is measured.
    #[arg(long, value_name = "N", default_value = "2", value_parser = seconds)]
    pub(crate) seconds: Duration,
    /// The time that conditions read, such as 2024-05-06T07:08:09Z [default: the clock at the start].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hosts {
    Native,
    Node,
    All,
}

/// The request, its time, and the form of the answer.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// The request, or one request on each line; `-` reads standard input.
    #[arg(short, long, alias = "request", value_name = "FILE|-")]
    pub(crate) requests: PathBuf,
    /// The time that conditions read, such as 2024-05-06T07:08:09Z [default: the clock].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,
    /// Print JSON, one line for each answer.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options for compiling a directory.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Compiling a directory")]
pub(crate) struct TableOptions {
    /// The evaluation of conditions that fail: `strict` denies, `lenient` takes them for false
    /// [default: strict].
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    pub(crate) evaluation: Option<Mode>,
    /// If no policy has the scope of a request, start at the nearest scope above it.
    #[arg(long)]
    pub(crate) lenient_scope_search: bool,
    /// The values of `globals`: a JSON or YAML file, or a JSON object.
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) globals: Option<String>,
    /// The policy version of requests without one [default: `default`].
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub(crate) default_version: Option<String>,
    /// Attributes that do not fit their schema: `none` ignores them, `warn` reports, `reject` denies
    /// [default: none].
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    pub(crate) schema_enforcement: Option<Schemas>,
}

impl TableOptions {
    /// Returns the first option that was given.
    pub(crate) const fn given(&self) -> Option<&'static str> {
        match self {
            Self { evaluation: Some(_), .. } => Some("--evaluation"),
            Self { lenient_scope_search: true, .. } => Some("--lenient-scope-search"),
            Self { globals: Some(_), .. } => Some("--globals"),
            Self { default_version: Some(_), .. } => Some("--default-version"),
            Self { schema_enforcement: Some(_), .. } => Some("--schema-enforcement"),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    Strict,
    Lenient,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Schemas {
    None,
    Warn,
    Reject,
}

fn time(text: &str) -> Result<Timestamp, String> {
    parse_timestamp(text)
        .map_err(|_| "expected a time of RFC 3339, such as 2024-05-06T07:08:09Z".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| (MIN_MEASURING..=MAX_MEASURING).contains(time)).ok_or_else(|| {
        let (least, most) = (MIN_MEASURING.as_secs_f64(), MAX_MEASURING.as_secs());
        format!("expected a number from {least} to {most}")
    })
}

fn version(text: &str) -> Result<String, String> {
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err("expected letters, digits and `_`".to_owned());
    }
    Ok(text.to_owned())
}
