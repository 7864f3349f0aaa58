//! The arguments of `wardgate similar` and `wardgate analyze`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::TableOptions;

#[derive(Debug, Args)]
pub(crate) struct Similar {
    /// The directory of the policies.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The rules that others are compared with: a policy such as `resource.album.vdefault`, one of its rules
    /// such as `resource.album.vdefault#rule-001`, or a file with a policy that need not be in the
    /// directory.
    #[arg(long, value_name = "POLICY[#RULE]|FILE")]
    pub(crate) to: String,
    /// The largest number of answers for each rule, from 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) top: u16,
    /// Print JSON: an array with one object for each rule.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// The directory of the policies.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Only findings of these kinds; they are listed below.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub(crate) only: Vec<KindOfFinding>,
    /// Write the edits that were proved to change no decision to this file, as a patch, or with `-`, to standard
    /// output in place of the findings.
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Find instead what decided nothing in the last days of a log, which is read as by `wardgate replay`. May be given
    /// several times.
    #[arg(long, value_name = "LOG|-", conflicts_with_all = ["only", "patch"])]
    pub(crate) log: Vec<PathBuf>,
    /// The number of days, counted from the newest entry of the log.
    #[arg(long, value_name = "N", default_value_t = 90, requires = "log", value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) days: u32,
    /// Print JSON: an array with one object for each finding.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

/// The name of a kind of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindOfFinding(pub(crate) &'static str);

impl FromStr for KindOfFinding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = KINDS.into_iter().find(|name| *name == text);
        let expected =
            || format!("expected one of {}", KINDS.map(|kind| format!("`{kind}`")).join(", "));
        known.map(Self).ok_or_else(expected)
    }
}

const KINDS: [&str; 9] = [
    "merge",
    "derived-role",
    "same-in-parent-scope",
    "shadowed-across",
    "never-decides",
    "contradiction",
    "same-rule",
    "differs-in",
    "same-shape",
];

pub(super) const SIMILAR_HELP: &str = "\
A likeness of 100 % is the same rule in other words, or the same parts joined otherwise; the lines
below it say what differs. The numbers come from the rules alone: no request is decided.

Exit codes:
  0  success; there may be nothing that is similar
  1  the policies cannot be used, or there is no such rule
  2  the arguments are wrong
  4  reading or writing failed";

pub(super) const ANALYZE_HELP: &str = "\
merge                 rules of one policy that can be one: proved to change no decision
derived-role          a condition of many policies that a derived role can carry: proved likewise
same-in-parent-scope  a rule that a parent scope says too, and that decides nothing: proved
shadowed-across       a rule that decides nothing beside other policies: proved
never-decides         a rule that decides nothing beside others of its policy: proved
contradiction         both effects under one condition, for the same action and role of a policy
same-rule             rules that say the same
differs-in            rules that are equal but for the effect, actions, roles or one constant
same-shape            rules whose conditions are equal but for several constants
unused                with `--log`: rules, roles, derived roles and actions that decided nothing
Findings are suggestions, in an order of what they save. docs/ANALYSIS.md of the
project explains them.
A patch names files as they lie below here, or below DIR if DIR is not below here; `patch -p1` and
`git apply` take it.

Exit codes:
  0  success; there may be findings
  1  the policies cannot be used
  2  the arguments are wrong
  4  reading or writing failed";
