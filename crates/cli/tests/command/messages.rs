//! The output of the command, word for word: `tests/commands`, whose README explains the form.
//!
//! `UPDATE_COMMANDS=1` writes the output anew; changes of it are then reviewed like any other.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use crate::folder::{ANN, Folder, PHOTO, SAM, other_command};

#[test]
fn every_command_prints_its_transcript() {
    let transcripts = transcripts();
    assert!(!transcripts.is_empty());
    let failures = thread::scope(|scope| {
        let started = transcripts.iter().map(|path| scope.spawn(move || played(path)));
        let started: Vec<_> = started.collect();
        started.into_iter().filter_map(|one| one.join().unwrap().err()).collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/commands");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).collect()
}

/// Plays a transcript in a folder of its own, and compares.
fn played(path: &Path) -> Result<(), String> {
    let expected = fs::read_to_string(path).unwrap();
    let mut stage = Stage { folder: Folder::new(), path: None };
    let mut found = String::new();
    let mut lines = expected.lines().peekable();
    while let Some(line) = lines.next() {
        found.push_str(&format!("{line}\n"));
        if let Some(arguments) = line.strip_prefix("$ wardgate") {
            let mut old = Vec::new();
            while let Some(line) =
                lines.next_if(|line| MARKS.iter().any(|mark| line.starts_with(mark)))
            {
                old.push(line);
            }
            let output = stage.run(arguments);
            if other_command().is_some() && output.contains(NEEDS_NATIVE) {
                old.iter().for_each(|line| found.push_str(&format!("{line}\n")));
                continue;
            }
            found.push_str(&with_old_lines(&output, &old));
        } else if !line.is_empty() && !line.starts_with('#') {
            let mut text = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with("  |")) {
                found.push_str(&format!("{line}\n"));
                text.push_str(line.strip_prefix("  | ").unwrap_or_default());
                text.push('\n');
            }
            stage.prepare(line, &text);
        }
    }
    if std::env::var_os("UPDATE_COMMANDS").is_some() {
        fs::write(path, found).unwrap();
        return Ok(());
    }
    let differs = |(found, expected): &(&str, &str)| found != expected;
    let name = path.file_name().unwrap().display();
    match found.lines().zip(expected.lines()).enumerate().find(|(_, pair)| differs(pair)) {
        Some((at, (found, expected))) => {
            Err(format!("{name}:{}\n{found}\ninstead of\n{expected}\n", at + 1))
        }
        None if found.lines().count() != expected.lines().count() => {
            Err(format!("{name}: another number of lines at the end:\n{found}"))
        }
        None => Ok(()),
    }
}

/// What the command of the npm package says of the commands that it does not have.
const NEEDS_NATIVE: &str = "needs the native command";

/// Returns the output, with the old line where it is the same but for its `…`.
fn with_old_lines(output: &str, old: &[&str]) -> String {
    let mut old = old.iter().peekable();
    let mut text = String::new();
    for line in output.lines() {
        let old_line = old.next_if(|old| is_like(old, line));
        if old_line.is_none() {
            old.next();
        }
        text.push_str(&format!("{}\n", old_line.unwrap_or(&line)));
    }
    text
}

/// Returns true if a line is the expected one; `…` stands for text that differs from run to run.
fn is_like(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        (rest, last) = (after, Some(part));
    }
    rest.is_empty() || last == Some("")
}

/// The environment of a transcript.
struct Stage {
    folder: Folder,
    /// The `PATH` of its commands, if it differs from that of the test.
    path: Option<String>,
}

impl Stage {
    /// Makes a file, or changes one as a line describes.
    fn prepare(&mut self, line: &str, text: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |name: &str| self.folder.path().join(name);
        match words.as_slice() {
            ["photos"] => {
                self.folder.write("policies/photo.yaml", PHOTO);
                self.folder.write("ann.json", ANN);
                self.folder.write("sam.json", SAM);
            }
            ["log"] => crate::log::write(self.folder.path()),
            ["recorded", bundle] => crate::recorded::write(self.folder.path(), bundle),
            ["file", name] => self.folder.write(name, text),
            ["empty", name] => self.folder.write(name, ""),
            ["folder", name] => fs::create_dir_all(at(name)).unwrap(),
            ["remove", name] => fs::remove_file(at(name)).unwrap(),
            ["bytes", name, hexadecimal] => self.folder.write(name, bytes(hexadecimal)),
            ["long", name, count, unit, around @ ..] => {
                let long = unit.repeat(count.parse().unwrap());
                let (start, end) = (around.first().unwrap_or(&""), around.get(1).unwrap_or(&""));
                self.folder.write(name, format!("{start}{long}{end}"));
            }
            ["copy", from, to] => self.folder.write(to, self.folder.read(from)),
            ["cut", name, count] => {
                let count: usize = count.parse().unwrap();
                self.folder.write(name, &self.folder.read(name)[..count]);
            }
            ["flip", name, at] => {
                let (mut content, at) = (self.folder.read(name), at.parse::<usize>().unwrap());
                content[at] ^= 1;
                self.folder.write(name, content);
            }
            ["replace", name, from, to] => {
                let content = String::from_utf8(self.folder.read(name)).unwrap();
                assert!(content.contains(from), "{from} in {content}");
                self.folder.write(name, content.replace(from, to));
            }
            #[cfg(unix)]
            ["mode", name, mode] => {
                let mode = u32::from_str_radix(mode, 8).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
                fs::set_permissions(at(name), mode).unwrap();
            }
            #[cfg(unix)]
            ["link", name, target] => std::os::unix::fs::symlink(target, at(name)).unwrap(),
            ["path", path] => self.path = Some((*path).to_owned()),
            ["path"] => self.path = None,
            other => panic!("no transcript knows {other:?}"),
        }
    }

    /// Runs the command, and returns its output and exit code.
    fn run(&self, arguments: &str) -> String {
        let mut words = words(arguments);
        let output = redirected(&mut words, ">");
        let input = redirected(&mut words, "<");
        let mut command =
            self.folder.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("COLUMNS", "100");
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        if let Some(output) = output {
            let file = fs::File::options().write(true).open(output).unwrap();
            command.stdout(file);
        }
        let mut child = command.spawn().unwrap();
        let input = input.map(|name| self.folder.read(&name)).unwrap_or_default();
        let mut pipe = child.stdin.take().unwrap();
        // The command may end before it has read everything.
        let writer = thread::spawn(move || drop(pipe.write_all(&input)));
        let ended = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let text = |bytes: Vec<u8>, mark: &str| {
            let text = String::from_utf8(bytes).unwrap();
            let lines =
                text.lines().map(|line| format!("{mark} {line}").trim_end().to_owned() + "\n");
            lines.collect::<String>()
        };
        let (out, err) = (text(ended.stdout, OUT), text(ended.stderr, ERR));
        let code = ended.status.code().map_or("by a signal".to_owned(), |code| code.to_string());
        format!("{out}{err}{EXIT} {code}\n")
    }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let pairs = (0..hexadecimal.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap()).collect()
}

/// Cuts a line into words; quotes keep blanks together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words.iter_mut().filter(|word| *word == "EMPTY").for_each(String::clear);
    words
}

/// Takes `> FILE` or `< FILE` out of the words.
fn redirected(words: &mut Vec<String>, sign: &str) -> Option<String> {
    let at = words.iter().position(|word| word == sign)?;
    words.drain(at..=at + 1).nth(1)
}

const OUT: &str = ">";
const ERR: &str = "!";
const EXIT: &str = "exit";
const MARKS: [&str; 3] = [OUT, ERR, EXIT];
