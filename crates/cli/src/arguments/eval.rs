//! The arguments of `wardgate eval` and `wardgate repl`.

use clap::Args;
use wardgate_engine::cel::Timestamp;

use super::time;

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// The expression, in CEL: docs/functions.md has all functions.
    #[arg(value_name = "EXPR")]
    pub(crate) expression: String,
    #[command(flatten)]
    pub(crate) given: Given,
}

#[derive(Debug, Args)]
pub(crate) struct Repl {
    #[command(flatten)]
    pub(crate) given: Given,
}

/// What an expression reads. The forms are those of a request to `wardgate check`.
#[derive(Debug, Args)]
pub(crate) struct Given {
    /// The principal, `P` [default: one without id, roles and attributes].
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) principal: Option<String>,
    /// The resource, `R` [default: one without kind, id and attributes].
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) resource: Option<String>,
    /// Claims of tokens that were verified, `request.auxData`.
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) aux_data: Option<String>,
    /// The values of `globals`: a JSON or YAML file, or a JSON object.
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) globals: Option<String>,
    /// The time that expressions read, such as 2024-05-06T07:08:09Z [default: the clock].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  success, whatever the value
  1  an expression is wrong, or has no value
  2  the arguments are wrong
  3  the principal, the resource or the claims cannot be used
  4  reading or writing failed"
    };
}

pub(super) const EVAL_HELP: &str = concat!(
    r#"A principal has `id` and `roles`, a resource `kind` and `id`, and both may have `attr`. The value is
printed as JSON, as an output of a policy is. Constants, variables and derived roles are those of
policies, and there are none here.

"#,
    exit_codes!()
);

pub(super) const REPL_HELP: &str = concat!(
    r#"Each line is an expression, or one of these:
  :let NAME = EXPR        give an expression a name, for the lines below
  :let                    list the names
  :principal FILE|JSON    take another principal; `:resource` and `:aux-data` likewise
  :help                   list the commands
  :quit                   end; the end of the input does, too

"#,
    exit_codes!()
);
