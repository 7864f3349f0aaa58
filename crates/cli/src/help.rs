//! `wardgate help`: the help of a command, or what a code of a message means.
//!
//! The sections of codes are a part of the command: who installed it does not have the pages of `docs`. `codes.txt` holds
//! them as plain text, and a test fails where it differs from the pages.

use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use wardgate_compiler::nearest::nearest;
use wardgate_compiler::reading;

use crate::arguments::{Help, command};
use crate::failure::{Failure, Result, Status};
use crate::output::{Output, Tone, shown};

pub(crate) fn run(help: &Help, out: &mut Output) -> Result<Status> {
    let topic: Vec<&str> = help.topic.iter().map(String::as_str).collect();
    if let Some(text) = of_command(&topic) {
        out.bytes(text.as_bytes())?;
        return Ok(Status::Done);
    }
    let code = topic.join(" ");
    let sections = sections().filter(|section| section.has_name(&code));
    let sections: Vec<Section> = sections.collect();
    if sections.is_empty() {
        return Err(unknown(&code));
    }
    for (at, section) in sections.iter().enumerate() {
        if at > 0 {
            out.line("")?;
        }
        section.print(out)?;
    }
    Ok(Status::Done)
}

/// Returns the help of a command, which may be one below another.
fn of_command(topic: &[&str]) -> Option<String> {
    let mut table = command();
    table.build();
    let mut found = &mut table;
    for word in topic {
        found = found.find_subcommand_mut(word)?;
    }
    Some(found.render_help().to_string())
}

/// The section that explains a code.
struct Section {
    /// The address of the section, such as `docs/errors.md#syntax`.
    address: &'static str,
    lines: Vec<&'static str>,
}

impl Section {
    fn code(&self) -> &'static str {
        self.address.split_once('#').map_or(self.address, |(_, code)| code)
    }

    /// Returns what the code is a name of.
    fn kind(&self) -> &'static str {
        let page = self.address.split_once('#').map(|(page, _)| page);
        match page {
            Some("docs/errors.md") => "an error in policies or their tests",
            Some("docs/lints.md") => "a finding of the linter",
            Some("docs/BUNDLE.md") => "a reason to refuse a bundle",
            Some("docs/server.md") => "a code of the server and its stores",
            _ => "a code of the npm package",
        }
    }

    /// Returns true if `name` is the code, or its address with or without the folder.
    fn has_name(&self, name: &str) -> bool {
        let path = self.address.strip_prefix("docs/").unwrap_or(self.address);
        [self.address, path, self.code()].contains(&name)
    }

    fn print(&self, out: &mut Output) -> Result<()> {
        let code = out.paint(Tone::Title, self.code()).into_owned();
        out.line(format_args!("{code}: {}", self.kind()))?;
        out.line("")?;
        self.lines.iter().try_for_each(|line| out.line(line))
    }
}

/// Returns all sections, in the order of the pages.
fn sections() -> impl Iterator<Item = Section> {
    let mut lines = CODES.lines().peekable();
    std::iter::from_fn(move || {
        let address = lines.next()?;
        let mut section = Section { address, lines: Vec::new() };
        while let Some(line) = lines.next_if(|line| !line.starts_with("docs/")) {
            section.lines.push(line.strip_prefix("  ").unwrap_or(line));
        }
        Some(section)
    })
}

/// Returns the failure of a word that names nothing, with the names that are like it.
fn unknown(word: &str) -> Failure {
    let table = command();
    let code = word.rsplit('#').next().unwrap_or(word);
    let commands: Vec<&str> = table.get_subcommands().map(clap::Command::get_name).collect();
    let codes: Vec<&str> = sections().map(|section| section.code()).collect();
    let mut meant: Vec<String> =
        [nearest(code, commands), nearest(code, codes)].into_iter().flatten().map(quoted).collect();
    meant.dedup();
    let meant = match meant.is_empty() {
        true => "`wardgate help` lists the commands".to_owned(),
        false => format!("did you mean {}?", meant.join(" or ")),
    };
    Failure::usage(format!("there is no command or code `{}`: {meant}", shown(word)))
}

/// Proposes one command for a word that is none: the nearest, or one for the file or folder of that name.
pub(crate) fn with_nearest(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if std::env::args().nth(1).as_ref() != Some(word) {
        return error;
    }
    let table = command();
    let commands = table.get_subcommands().map(clap::Command::get_name);
    let meant = match reading::exists(Path::new(word)) {
        true => Some(format!("compile {word}")),
        false => nearest(word, commands).map(str::to_owned),
    };
    // Without a guess of ours, one of clap would be of a word that is hardly alike.
    let _ = match meant {
        Some(meant) => error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(meant)),
        None => error.remove(ContextKind::SuggestedSubcommand),
    };
    error
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

const CODES: &str = include_str!("help/codes.txt");
