//! The options of `wardgate test` about coverage.

use std::path::PathBuf;

use clap::Args;

/// The reports of coverage.
#[derive(Debug, Args)]
#[command(next_help_heading = "Coverage")]
pub(crate) struct CoverageOptions {
    /// Report the rules, conditions and derived roles that the tests exercised: as text, or to a file
    /// with the extension .txt, .json, .info (LCOV) or .html. May be given several times.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        conflicts_with = "update"
    )]
    pub(crate) coverage: Vec<PathBuf>,
    /// Exit with 9 if less than this percentage of them is exercised.
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, conflicts_with = "update")]
    pub(crate) coverage_min: Option<f64>,
}

fn per_cent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}
