//! Standard output, with colours only on a terminal.
//!
//! Text that came from a request or a bundle cannot move the cursor: control characters are shown,
//! never sent.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;

use wardgate_compiler::diagnostics::visible;

use crate::failure::{Failure, Result};

/// Standard output.
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    colours: bool,
}

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Allow,
    Deny,
    Title,
    Aside,
    Bar,
}

impl Output {
    pub(crate) fn new() -> Self {
        let out = io::stdout().lock();
        let colours = wants_colours(out.is_terminal());
        Self { out: BufWriter::new(out), colours }
    }

    /// Writes one line.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        writeln!(self.out, "{text}").map_err(|error| Failure::output(&error))
    }

    /// Writes bytes that are for a program.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| Failure::output(&error))
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Failure::output(&error))
    }

    /// Returns `text` in a colour, if colours are wanted.
    pub(crate) fn paint<'t>(&self, tone: Tone, text: &'t str) -> Cow<'t, str> {
        if !self.colours {
            return Cow::Borrowed(text);
        }
        let code = match tone {
            Tone::Allow => "32",
            Tone::Deny => "31",
            Tone::Title => "1",
            Tone::Aside => "2",
            Tone::Bar => "36",
        };
        Cow::Owned(format!("\u{1b}[{code}m{text}\u{1b}[0m"))
    }
}

/// Returns `text` with control characters written as escapes.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    visible(text)
}

/// Paths as messages name them.
pub(crate) trait InOneLine {
    /// Returns the path with control characters written as escapes: a name may hold a line break.
    fn in_one_line(&self) -> String;
}

impl InOneLine for Path {
    fn in_one_line(&self) -> String {
        shown(&self.display().to_string()).into_owned()
    }
}

/// Returns true if a file that is written is standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes to standard error. A failure to write cannot be reported.
pub(crate) fn complain(message: impl Display) {
    let mut error = io::stderr().lock();
    for line in message.to_string().lines() {
        let _ = writeln!(error, "{}", shown(line));
    }
}

/// Returns a number with the name of its unit.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Shows progress on a terminal; the next call with empty text removes it.
pub(crate) fn progress(text: &str) {
    if !wants_colours(io::stderr().is_terminal()) {
        return;
    }
    let _ = write!(io::stderr(), "\r\u{1b}[2K{text}");
}

fn wants_colours(is_terminal: bool) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !is_set("NO_COLOR") && !is_dumb
}
