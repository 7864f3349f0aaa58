//! The arguments of `wardgate log`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{EXIT_CODES, Opening, Overwrite, REPLAY_HELP, TableOptions};

#[derive(Debug, Args)]
pub(crate) struct Log {
    #[command(subcommand)]
    pub(crate) command: LogCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Make the key of a log, in a file that only you can read.
    #[command(after_help = EXIT_CODES)]
    Keys(LogKeys),
    /// Verify all records of a log, and that its newest checkpoint is of them.
    #[command(after_help = EXIT_CODES)]
    Verify(VerifyLog),
    /// Show the records of a log. It is not verified.
    #[command(after_help = EXIT_CODES)]
    Show(ShowLog),
    /// Write the proof of one record.
    #[command(after_help = EXIT_CODES)]
    Prove(Prove),
    /// Verify the proof of a record, without its log, and show the record.
    #[command(after_help = EXIT_CODES)]
    CheckProof(CheckProof),
    /// Decide what a log records again, and compare the answers. The log is not verified.
    #[command(after_help = REPLAY_HELP)]
    Replay(Replay),
    /// Explain a recorded decision by the policies that made it.
    #[command(after_help = EXIT_CODES)]
    Explain(ExplainRecord),
    /// Write the records of a log as JSON, one on each line, with the values that can be opened.
    #[command(after_help = EXIT_CODES)]
    Export(Export),
    /// Delete the keys of subjects, so that their committed values can be read nowhere.
    #[command(after_help = EXIT_CODES)]
    Erase(EraseLog),
    /// Accept that the end of a log is missing, so that it goes on.
    #[command(after_help = EXIT_CODES)]
    AcceptLoss(AcceptLoss),
    /// Cosign checkpoints of other logs over HTTP, each only if its log goes on from the one before.
    #[command(after_help = EXIT_CODES)]
    Witness(WitnessLogs),
}

#[derive(Debug, Args)]
pub(crate) struct LogKeys {
    /// The name of the log, such as `example.org/decisions/a`: each server has a log of its own, and so has
    /// each witness a name.
    #[arg(long, value_name = "NAME")]
    pub(crate) origin: String,
    /// The file to write the secret to, for `key-file` in `[decision-log]`. It must not exist yet.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A file to write the key to that verifies.
    #[arg(long, value_name = "FILE")]
    pub(crate) public: PathBuf,
    /// A file to write the key to that verifies the signatures of Ed25519 of a log with `also-ed25519`.
    #[arg(long, value_name = "FILE")]
    pub(crate) ed25519: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyLog {
    /// The folder of the log.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The key of the log, which `log keys` wrote: that of ML-DSA-44, or that of Ed25519.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) trust: PathBuf,
    /// An older checkpoint: the log must go on from it.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// A policy of witnesses: enough of them must have cosigned `checkpoint.witnessed`, and the log must go on from it.
    #[arg(long, alias = "policy", value_name = "FILE")]
    pub(crate) witnesses: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowLog {
    /// The folder of the log.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The number of the first record to show.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) from: u64,
    /// The number of records to show [default: all].
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Print JSON, one record on each line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Prove {
    /// The folder of the log.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The number of the record, which `log show` prints.
    #[arg(value_name = "N")]
    pub(crate) record: u64,
    /// The file to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: Overwrite,
}

#[derive(Debug, Args)]
pub(crate) struct CheckProof {
    /// The proof.
    #[arg(value_name = "FILE")]
    pub(crate) proof: PathBuf,
    /// The key of the log.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) trust: PathBuf,
    /// A policy of witnesses: enough of them must have cosigned the checkpoint of the proof.
    #[arg(long, alias = "policy", value_name = "FILE")]
    pub(crate) witnesses: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The folder of the log.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The bundles that were in force.
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "with")]
    pub(crate) policies: Vec<PathBuf>,
    /// Decide by these policies instead: a bundle, or a directory of policies.
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) with: Option<PathBuf>,
    /// Requests, as `wardgate check` reads them: those of which the log has only the digest are decided again, too.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) requests: Option<PathBuf>,
    /// Print JSON: each answer that differs on a line, and then how many are the same.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
    #[command(flatten)]
    pub(crate) options: TableOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainRecord {
    /// The folder of the log.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The number of the record, which `log show` prints.
    #[arg(value_name = "N")]
    pub(crate) record: u64,
    /// The bundles that were in force.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) policies: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// List every rule that was considered too.
    #[arg(long, conflicts_with = "json")]
    pub(crate) steps: bool,
    #[command(flatten)]
    pub(crate) opening: Opening,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder of the log.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The form: `ndjson`, or `cerbos` for decisions as the audit log of Cerbos has them.
    #[arg(long, value_name = "FORM", default_value = "ndjson", hide_possible_values = true)]
    pub(crate) form: ExportForm,
    /// The number of the first record to write.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) from: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExportForm {
    Ndjson,
    Cerbos,
}

#[derive(Debug, Args)]
pub(crate) struct EraseLog {
    /// The folder of the log, which no server writes meanwhile.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The id of a principal. It can be given several times.
    #[arg(long, value_name = "ID", required = true)]
    pub(crate) subject: Vec<String>,
    /// The secret key of the log.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) key: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptLoss {
    /// The folder of the log, which no server writes meanwhile.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The reason, for those who verify the log.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// The secret key of the log.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) key: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct WitnessLogs {
    /// The folder of what the witness has cosigned. One that loses it needs a new key: it would cosign another past.
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// Make the folder: it must have no state yet.
    #[arg(long)]
    pub(crate) new: bool,
    /// The secret key of the witness, which `log keys` writes.
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) key: PathBuf,
    /// The key of a log to cosign. It can be given several times.
    #[arg(long, value_name = "KEYFILE", required = true)]
    pub(crate) log_key: Vec<PathBuf>,
    /// The address to listen at.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8094")]
    pub(crate) listen: String,
}
