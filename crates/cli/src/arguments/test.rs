//! The arguments of `wardgate test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::coverage::CoverageOptions;
use super::{Mode, Schemas, TableOptions, version};

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The directory of the policies, and of the suites among them.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The directory of the suites [default: that of the policies].
    #[arg(long, value_name = "DIR")]
    pub(crate) tests: Option<PathBuf>,
    /// Run only tests whose name matches a regular expression: `suite/test/principal/resource`.
    #[arg(long, value_name = "REGEX")]
    pub(crate) run: Option<String>,
    /// Run only tests that match: `suite=GLOB,..;test=GLOB;principal=GLOB;resource=GLOB;action=GLOB`.
    /// May be given several times.
    #[arg(long, alias = "test-filter", value_name = "FILTER")]
    pub(crate) filter: Vec<String>,
    /// The host that decides: `native` or `node` (the npm package in Node). The results are the same.
    #[arg(
        long,
        alias = "runtime",
        value_name = "HOST",
        default_value = "native",
        hide_possible_values = true
    )]
    pub(crate) host: Host,
    /// The folder of the npm package `wardgate` [default: the one Node finds from this folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) package: Option<PathBuf>,
    /// Write JUnit XML to a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print JSON, in the form of the `TestResults` of Cerbos: of every test, with `--verbose` or without.
    #[arg(long, conflicts_with_all = ["quiet", "update", "watch"])]
    pub(crate) json: bool,
    /// End with 0 if there is nothing to run.
    #[arg(long)]
    pub(crate) pass_with_no_tests: bool,
    /// Print the last line only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print every test, not only those that failed.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Show how expectations differ from the decisions, and then change the suites to expect these.
    #[arg(long)]
    pub(crate) update: bool,
    /// Run again whenever a file of the policies or suites changes.
    #[arg(long, conflicts_with = "update")]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) coverage: CoverageOptions,
    #[command(flatten)]
    options: TestOptions,
}

/// Options for compiling the policies of a test without options.
#[derive(Debug, Args)]
#[command(next_help_heading = "Defaults of tests without options")]
struct TestOptions {
    /// The evaluation of conditions that fail: `strict` denies, `lenient` takes them for false
    /// [default: strict, as `wardgate compile` has it; Cerbos is lenient].
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    evaluation: Option<Mode>,
    /// If no policy has the scope of a request, start at the nearest scope above it.
    #[arg(long)]
    lenient_scope_search: bool,
    /// The values of `globals`: a JSON or YAML file, or a JSON object.
    #[arg(long, value_name = "FILE|JSON")]
    globals: Option<String>,
    /// The policy version of requests without one [default: `default`].
    #[arg(long, value_name = "VERSION", value_parser = version)]
    default_version: Option<String>,
    /// Attributes that do not fit their schema: `none` ignores them, `warn` reports, `reject` denies
    /// [default: none, as `wardgate compile` has it; Cerbos rejects].
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    schema_enforcement: Option<Schemas>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    Native,
    #[value(alias = "wasm")]
    Node,
}

impl Test {
    /// Returns the values of `globals` as they were given.
    pub(crate) fn globals(&self) -> Option<&str> {
        self.options.globals.as_deref()
    }

    /// Returns the options for compiling the policies of a test without options.
    pub(crate) fn options(&self) -> TableOptions {
        let given = &self.options;
        TableOptions {
            evaluation: given.evaluation,
            lenient_scope_search: given.lenient_scope_search,
            globals: given.globals.clone(),
            default_version: given.default_version.clone(),
            schema_enforcement: given.schema_enforcement,
        }
    }
}

pub(super) const HELP: &str = "\
Suites are files `*_test.yaml`, `.yml` or `.json` in the format of Cerbos, as docs/testing.md
of the project tells.

Exit codes:
  0  every test that was run passed
  1  the policies cannot be used
  2  the arguments are wrong
  4  reading or writing failed
  6  a test failed
  7  a suite is broken, a test could not be decided, or there is nothing to run
  9  every test that was run passed, and the coverage is less than `--coverage-min`";
