//! The arguments of the commands about keys, signatures, seals and deltas.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use wardgate_engine::cel::Timestamp;

use super::{EXIT_CODES, Overwrite, time};

/// The requirements on a bundle that is opened.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Opening a bundle")]
pub(crate) struct Opening {
    /// A public key, or a set of them: one must have signed the bundle. May be given several times.
    /// Without it the bundle need not be signed, except for `verify`.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) trust: Vec<PathBuf>,
    /// The number of trusted keys that must have signed [default: 1].
    #[arg(long, value_name = "N", requires = "trust")]
    pub(crate) at_least: Option<usize>,
    /// The id of a trusted key that must be among them. May be given several times.
    #[arg(long, value_name = "ID", requires = "trust")]
    pub(crate) require: Vec<String>,
    /// The lowest revision that is accepted.
    #[arg(long, value_name = "N")]
    pub(crate) min_revision: Option<u64>,
    /// The name that the bundle must have.
    #[arg(long, alias = "named", value_name = "NAME")]
    pub(crate) expect_name: Option<String>,
    /// The key that the bundle is sealed with.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) unseal: Option<PathBuf>,
}

impl Opening {
    /// Returns the first option that was given.
    pub(crate) const fn given(&self) -> Option<&'static str> {
        match self {
            Self { trust, .. } if !trust.is_empty() => Some("--trust"),
            Self { min_revision: Some(_), .. } => Some("--min-revision"),
            Self { expect_name: Some(_), .. } => Some("--expect-name"),
            Self { unseal: Some(_), .. } => Some("--unseal"),
            _ => None,
        }
    }
}

/// The header of a bundle.
#[derive(Debug, Args)]
#[command(next_help_heading = "The header of the bundle")]
pub(crate) struct LabelOptions {
    /// The name of the bundle.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The revision: it grows with every bundle of this name, so that hosts can refuse older ones.
    #[arg(long, value_name = "N")]
    pub(crate) revision: Option<u64>,
    /// The time of its creation, such as 2026-05-06T07:08:09Z [default: the clock, when it is signed].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) created: Option<Timestamp>,
    /// The time from which it may be opened.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) not_before: Option<Timestamp>,
    /// The time from which it may not be opened, and hosts that have it deny everything.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) expires: Option<Timestamp>,
}

impl LabelOptions {
    /// Returns the first option that was given.
    pub(crate) const fn given(&self) -> Option<&'static str> {
        match self {
            Self { name: Some(_), .. } => Some("--name"),
            Self { revision: Some(_), .. } => Some("--revision"),
            Self { created: Some(_), .. } => Some("--created"),
            Self { not_before: Some(_), .. } => Some("--not-before"),
            Self { expires: Some(_), .. } => Some("--expires"),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key, in a file that only you can read.
    #[command(after_help = EXIT_CODES)]
    Generate(Generate),
    /// Show the keys of a file, without their secrets.
    #[command(after_help = EXIT_CODES)]
    Inspect(InspectKeys),
    /// Write the public half of a private key.
    #[command(after_help = EXIT_CODES)]
    Public(Public),
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The file to write the secret to, as a JSON Web Key. It must not exist yet.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A file to write the public half to.
    #[arg(long, value_name = "FILE")]
    pub(crate) public: Option<PathBuf>,
    /// The use of the key: `signing` or `sealing`.
    #[arg(
        long = "for",
        value_name = "USE",
        default_value = "signing",
        hide_possible_values = true
    )]
    pub(crate) purpose: Purpose,
    /// The algorithm of a signing key: `ML-DSA-44`, `ML-DSA-65` or `ML-DSA-87` [default: ML-DSA-87].
    #[arg(long, value_name = "NAME", hide_possible_values = true, ignore_case = true)]
    pub(crate) algorithm: Option<Algorithm>,
    /// The id by which signatures name a signing key [default: digits made from the key].
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Purpose {
    Signing,
    Sealing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Algorithm {
    #[value(name = "ML-DSA-44")]
    MlDsa44,
    #[value(name = "ML-DSA-65")]
    MlDsa65,
    #[value(name = "ML-DSA-87")]
    MlDsa87,
}

#[derive(Debug, Args)]
pub(crate) struct InspectKeys {
    /// A JSON Web Key, a set of them, or a COSE_Key.
    #[arg(value_name = "KEYFILE")]
    pub(crate) file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Public {
    /// A signing key.
    #[arg(value_name = "KEYFILE")]
    pub(crate) file: PathBuf,
    /// The file to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Sign {
    /// The bundle to sign. Its other signatures stay.
    #[arg(value_name = "FILE")]
    pub(crate) bundle: PathBuf,
    /// A signing key. May be given several times.
    #[arg(short, long, value_name = "KEYFILE", required = true)]
    pub(crate) key: Vec<PathBuf>,
    /// The file to write [default: the bundle itself].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
    /// Sign without randomness: the same bundle, key and `--created` give the same bytes.
    #[arg(long)]
    pub(crate) deterministic: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) label: LabelOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The bundle.
    #[arg(value_name = "FILE")]
    pub(crate) bundle: PathBuf,
    /// The time to compare its dates with, such as 2026-05-06T07:08:09Z [default: the clock].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,
    /// Print JSON, also about a bundle that is refused.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
}

#[derive(Debug, Args)]
pub(crate) struct Seal {
    /// A bundle or a delta.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// A sealing key.
    #[arg(short, long, value_name = "KEYFILE")]
    pub(crate) key: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
}

#[derive(Debug, Args)]
pub(crate) struct Delta {
    #[command(subcommand)]
    pub(crate) command: DeltaCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeltaCommand {
    /// Make the delta from one bundle to the next.
    #[command(after_help = EXIT_CODES)]
    Make(MakeDelta),
    /// Apply a delta to its base, and write the bytes of the new bundle.
    #[command(after_help = EXIT_CODES)]
    Apply(ApplyDelta),
}

#[derive(Debug, Args)]
pub(crate) struct MakeDelta {
    /// The bundle that hosts have.
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The new bundle for them: sign it before.
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyDelta {
    /// The bundle that the delta is for.
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// The delta.
    #[arg(value_name = "DELTA")]
    pub(crate) delta: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
}
