//! `wardgate repl`: expressions line by line, from a terminal or a pipe.

use std::io::{self, BufRead, IsTerminal, Read};

use crate::arguments::Repl;
use crate::eval::{Part, Surroundings};
use crate::failure::{Failure, Result, Status};
use crate::limits::{MAX_LINE_BYTES, MAX_NAMES};
use crate::output::{Output, shown};

/// Names for expressions, in their order.
type Names = Vec<(String, String)>;

/// What a line has led to.
enum Step {
    /// There is something to show.
    Show(String),
    Quiet,
    Quit,
}

pub(crate) fn run(repl: &Repl, out: &mut Output) -> Result<Status> {
    let mut surroundings = Surroundings::read(&repl.given)?;
    let (mut names, mut status) = (Names::new(), Status::Done);
    let is_terminal = io::stdin().is_terminal();
    loop {
        if is_terminal {
            out.bytes(PROMPT)?;
        }
        out.flush()?;
        let Some(line) = line()? else { return Ok(status) };
        match step(line.trim(), &mut surroundings, &mut names) {
            Ok(Step::Show(text)) => out.line(text)?,
            Ok(Step::Quiet) => {}
            Ok(Step::Quit) => return Ok(status),
            Err(failure) => {
                let failed = failure.complain()?;
                // At a terminal the next line is another try.
                status = if is_terminal { status } else { failed };
            }
        }
    }
}

/// Reads the next line; `None` at the end of the input.
fn line() -> Result<Option<String>> {
    let failed = |error: &io::Error| {
        let reason = crate::failure::reason(error);
        Failure::system(format!("cannot read standard input: {reason}"))
    };
    let mut line = Vec::new();
    let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::stdin().lock().take(most).read_until(b'\n', &mut line);
    match read.map_err(|error| failed(&error))? {
        0 => Ok(None),
        _ if line.len() > MAX_LINE_BYTES => {
            Err(Failure::request(format!("a line has more than {MAX_LINE_BYTES} bytes")))
        }
        _ => String::from_utf8(line)
            .map(Some)
            .map_err(|_| Failure::request("a line is not text in UTF-8")),
    }
}

fn step(line: &str, surroundings: &mut Surroundings, names: &mut Names) -> Result<Step> {
    let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let part = match command {
        "" => return Ok(Step::Quiet),
        ":help" => return Ok(Step::Show(HELP.to_owned())),
        ":quit" => return Ok(Step::Quit),
        ":let" if rest.is_empty() => return Ok(listed(names)),
        ":let" => return name(rest, surroundings, names),
        ":principal" => Part::Principal,
        ":resource" => Part::Resource,
        ":aux-data" => Part::AuxData,
        other if other.starts_with(':') => {
            let message = format!("unknown command `{}`: `:help` lists them", shown(other));
            return Err(Failure::usage(message));
        }
        _ => return surroundings.value(&bound(line, names), line).map(Step::Show),
    };
    if rest.is_empty() {
        let message = format!("`{command}` needs an object of JSON, or a file with one");
        return Err(Failure::usage(message));
    }
    surroundings.exchange(part, rest)?;
    Ok(Step::Quiet)
}

fn listed(names: &[(String, String)]) -> Step {
    let lines: Vec<String> =
        names.iter().map(|(name, expression)| format!("{name} = {expression}")).collect();
    if lines.is_empty() { Step::Quiet } else { Step::Show(lines.join("\n")) }
}

/// Gives an expression a name, and shows its value. The last expression of a name counts.
fn name(text: &str, surroundings: &Surroundings, names: &mut Names) -> Result<Step> {
    let form = || Failure::usage("`:let` needs a name and an expression: `:let NAME = EXPR`");
    let (name, expression) = text.split_once('=').ok_or_else(form)?;
    let (name, expression) = (name.trim(), expression.trim());
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || !name.chars().all(is_word)
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(form());
    }
    if TAKEN.contains(&name) {
        return Err(Failure::usage(format!(
            "`{name}` has a meaning in expressions: take another name"
        )));
    }
    if names.len() >= MAX_NAMES {
        return Err(Failure::usage(format!("there are {MAX_NAMES} names already")));
    }
    let value = surroundings.value(&bound(expression, names), expression)?;
    // A name that is given anew means the old expression to those before it.
    names.push((name.to_owned(), expression.to_owned()));
    Ok(Step::Show(value))
}

/// Returns the names that an expression has and those which these have in turn, with what they
/// mean. They are evaluated anew each time, because the request may have changed.
fn bound<'n>(expression: &'n str, names: &'n [(String, String)]) -> Vec<(&'n str, &'n str)> {
    let mut wanted = vec![expression];
    let mut bound = Vec::new();
    for (name, value) in names.iter().rev() {
        if wanted.iter().any(|text| has_word(text, name)) {
            bound.push((name.as_str(), value.as_str()));
            wanted.push(value);
        }
    }
    bound.reverse();
    bound
}

/// Returns true if a text has a name as a word of its own.
fn has_word(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

const PROMPT: &[u8] = b"> ";

/// Names that mean something already.
const TAKEN: [&str; 11] =
    ["P", "R", "C", "V", "G", "request", "constants", "variables", "globals", "runtime", "cel"];

const HELP: &str = "\
An expression of CEL is evaluated, and its value printed as JSON. Commands:
  :let NAME = EXPR        give an expression a name, for the lines below
  :let                    list the names
  :principal FILE|JSON    take another principal
  :resource FILE|JSON     take another resource
  :aux-data FILE|JSON     take other claims of tokens
  :help                   list the commands
  :quit                   end";
