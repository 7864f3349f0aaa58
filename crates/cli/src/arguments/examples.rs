//! The examples with which the help of each verb begins. Each of them is read as a command line by a
//! test.

use clap::{Command, CommandFactory};

use super::Arguments;

/// Returns the table of all verbs and options, with examples in the help of each.
pub(crate) fn command() -> Command {
    with_examples(Arguments::command(), "")
}

fn with_examples(command: Command, verb: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        let verb = format!("{verb} {name}");
        command.mut_subcommand(name, |below| with_examples(below, verb.trim_start()))
    });
    let command = command.help_template(TEMPLATE);
    match EXAMPLES.iter().find(|(known, _)| *known == verb) {
        Some((_, examples)) => {
            command.before_help(format!("{}Examples:\n{examples}", native_note(verb)))
        }
        None => command,
    }
}

/// Returns what the help of the npm package says of the commands that it does not have.
fn native_note(verb: &str) -> String {
    let first = verb.split(' ').next().unwrap_or_default();
    match cfg!(not(feature = "host")) && NATIVE.contains(&first) {
        true => format!("{}.\n\n", needs_host(first)),
        false => String::new(),
    }
}

/// Says that a command needs sockets, threads or programs, which WebAssembly does not have.
pub(crate) fn needs_host(command: &str) -> String {
    format!(
        "`wardgate {command}` needs the native command, and this one is of the npm package: \
         `cargo install wardgate-cli` builds it, and a release has it as a binary and an image"
    )
}

/// The verbs that only the native command has.
const NATIVE: [&str; 5] = ["bench", "replay", "log", "serve", "healthcheck"];

const TEMPLATE: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// Verbs and their examples. Two blanks separate a command line from a remark.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "",
        "  wardgate init shop                              an example in a new folder
  wardgate test policies                          run the tests of policies
  wardgate serve policies                         decide over HTTP, on this machine
  wardgate compile policies -o policies.wardgate  a bundle for other hosts",
    ),
    (
        "init",
        "  wardgate init                      an example in this folder
  wardgate init shop                 in a new folder
  wardgate init --framework express  with a server",
    ),
    (
        "compile",
        "  wardgate compile policies                       check that policies compile
  wardgate compile policies -o policies.wardgate  write a bundle
  wardgate compile policies -o policies.wardgate --sign key.jwk --revision 7
  wardgate compile policies --json                errors for programs",
    ),
    (
        "lint",
        "  wardgate lint policies
  wardgate lint policies --deny warnings --sarif findings.sarif
  wardgate lint policies --allow unused-variable",
    ),
    (
        "compare",
        "  wardgate compare old.wardgate policies                what a change changes
  wardgate compare old.wardgate policies --forbid more  fail if somebody may do more
  wardgate compare old.wardgate policies --format html",
    ),
    (
        "similar",
        "  wardgate similar policies --to resource.album.vdefault#rule-001
  wardgate similar policies --to draft.yaml --top 3",
    ),
    (
        "analyze",
        "  wardgate analyze policies
  wardgate analyze policies --only merge --patch merges.patch
  wardgate analyze policies --log decisions --days 30  what decided nothing",
    ),
    (
        "check",
        "  wardgate check policies -r request.json
  wardgate check policies.wardgate -r request.json --trust key.pub.jwk
  wardgate check policies -r requests.ndjson --json  one answer on each line
  wardgate check policies -r -                       from standard input",
    ),
    (
        "explain",
        "  wardgate explain policies -r request.json          why, and what would allow it
  wardgate explain policies -r request.json --steps  with every rule that was considered",
    ),
    (
        "eval",
        "  wardgate eval '1 + 2'
  wardgate eval 'R.attr.owner == P.id' --principal ann.json --resource photo.json
  wardgate eval 'P.attr.age >= 18' --principal '{\"id\":\"ann\",\"roles\":[\"user\"],\"attr\":{\"age\":20}}'",
    ),
    (
        "repl",
        "  wardgate repl
  wardgate repl --principal ann.json --resource photo.json
  wardgate repl < expressions.txt",
    ),
    (
        "grants",
        "  wardgate grants policies -r client.json
  wardgate grants policies.wardgate -r client.json --form nats",
    ),
    (
        "inspect",
        "  wardgate inspect policies.wardgate
  wardgate inspect policies --json",
    ),
    (
        "test",
        "  wardgate test policies
  wardgate test policies --tests tests --verbose
  wardgate test policies --coverage --coverage-min 90
  wardgate test policies --watch",
    ),
    (
        "bench",
        "  wardgate bench policies -r requests.ndjson
  wardgate bench policies -r requests.ndjson --host all --seconds 10",
    ),
    (
        "bench protocols",
        "  wardgate bench protocols
  wardgate bench protocols --rules 10000 --concurrent 8",
    ),
    (
        "bench mqtt",
        "  wardgate bench mqtt
  wardgate bench mqtt --seconds 5 --chart mqtt.svg",
    ),
    (
        "bench ratelimit",
        "  wardgate bench ratelimit
  wardgate bench ratelimit --callers 16 --seconds 5",
    ),
    (
        "keys",
        "  wardgate keys generate -o key.jwk --public key.pub.jwk
  wardgate keys inspect key.pub.jwk",
    ),
    (
        "keys generate",
        "  wardgate keys generate -o key.jwk --public key.pub.jwk  to sign bundles
  wardgate keys generate -o seal.jwk --for sealing        to seal them",
    ),
    (
        "keys inspect",
        "  wardgate keys inspect key.pub.jwk
  wardgate keys inspect keys.json --json",
    ),
    (
        "keys public",
        "  wardgate keys public key.jwk -o key.pub.jwk",
    ),
    (
        "sign",
        "  wardgate sign policies.wardgate --key key.jwk
  wardgate sign policies.wardgate --key key.jwk -o signed.wardgate --expires 2030-01-01T00:00:00Z",
    ),
    (
        "verify",
        "  wardgate verify policies.wardgate --trust key.pub.jwk
  wardgate verify policies.wardgate --trust a.pub.jwk --trust b.pub.jwk --at-least 2 --json",
    ),
    (
        "seal",
        "  wardgate seal policies.wardgate --key seal.jwk -o sealed.wardgate",
    ),
    (
        "unseal",
        "  wardgate unseal sealed.wardgate --key seal.jwk -o policies.wardgate",
    ),
    (
        "delta",
        "  wardgate delta make old.wardgate new.wardgate -o change.wgd
  wardgate delta apply old.wardgate change.wgd -o new.wardgate",
    ),
    (
        "delta make",
        "  wardgate delta make old.wardgate new.wardgate -o change.wgd",
    ),
    (
        "delta apply",
        "  wardgate delta apply old.wardgate change.wgd -o new.wardgate",
    ),
    (
        "fmt",
        "  wardgate fmt policies          format all files
  wardgate fmt policies --check  fail if a file is not formatted
  wardgate fmt --stdin < album.yaml",
    ),
    (
        "types",
        "  wardgate types policies -o src/policies.d.ts          write the types
  wardgate types policies -o src/policies.d.ts --check  fail the build if they are others",
    ),
    (
        "log",
        "  wardgate log keys --origin example.org/a -o log.key --public log.vkey
  wardgate log verify decisions --trust log.vkey
  wardgate log show decisions --from 100 --count 10",
    ),
    (
        "log keys",
        "  wardgate log keys --origin example.org/a -o log.key --public log.vkey",
    ),
    (
        "log verify",
        "  wardgate log verify decisions --trust log.vkey
  wardgate log verify decisions --trust log.vkey --witnesses witnesses",
    ),
    (
        "log show",
        "  wardgate log show decisions
  wardgate log show decisions --from 100 --count 10 --json",
    ),
    (
        "log prove",
        "  wardgate log prove decisions 17 -o proof",
    ),
    (
        "log check-proof",
        "  wardgate log check-proof proof --trust log.vkey",
    ),
    (
        "log replay",
        "  wardgate log replay decisions --policies old.wardgate new.wardgate
  wardgate log replay decisions --policies old.wardgate --with policies",
    ),
    (
        "log explain",
        "  wardgate log explain decisions 17 --policies old.wardgate",
    ),
    (
        "log export",
        "  wardgate log export decisions > decisions.ndjson
  wardgate log export decisions --form cerbos > audit.ndjson",
    ),
    (
        "log erase",
        "  wardgate log erase decisions --key log.key --subject ann",
    ),
    (
        "log accept-loss",
        "  wardgate log accept-loss decisions --key log.key --reason 'the disk was lost'",
    ),
    (
        "log witness",
        "  wardgate log witness --new --state witnessed --key witness.key --log-key log.vkey",
    ),
    (
        "replay",
        "  wardgate replay decisions --with policies
  wardgate replay decisions --with policies --policies old.wardgate --forbid more",
    ),
    (
        "serve",
        "  wardgate serve policies                 a first try, on this machine alone
  wardgate serve policies --listen 127.0.0.1:8080
  wardgate serve --config wardgate.toml
  wardgate serve --config wardgate.toml --check-config",
    ),
    (
        "healthcheck",
        "  wardgate healthcheck
  wardgate healthcheck --url http://127.0.0.1:8080/readyz --timeout 2",
    ),
    (
        "completions",
        "  wardgate completions bash > ~/.local/share/bash-completion/completions/wardgate
  wardgate completions zsh > ~/.zfunc/_wardgate
  wardgate completions fish > ~/.config/fish/completions/wardgate.fish
  wardgate completions powershell >> $PROFILE",
    ),
    (
        "help",
        "  wardgate help compile        the help of a command
  wardgate help keys generate  of one below another
  wardgate help syntax         what `error[syntax]` means",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `look` with each verb and its table.
    fn each(command: &Command, verb: &str, look: &mut dyn FnMut(&str, &Command)) {
        look(verb, command);
        for below in command.get_subcommands() {
            each(below, format!("{verb} {}", below.get_name()).trim_start(), look);
        }
    }

    /// Returns the words of a command line without redirections and the remark behind it.
    fn words(line: &str) -> Vec<String> {
        let line = line.trim_start().split("  ").next().unwrap();
        let line = [" < ", " > ", " >> "]
            .into_iter()
            .fold(line, |line, sign| line.split(sign).next().unwrap());
        let (mut words, mut is_quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn the_help_of_each_verb_begins_with_examples() {
        let mut known: Vec<&str> = EXAMPLES.iter().map(|(verb, _)| *verb).collect();
        each(&command(), "", &mut |verb, table| {
            let help = table.clone().render_help().to_string();
            let (about, rest) = help.split_once("\n\n").unwrap();
            assert!(!about.is_empty() && rest.starts_with("Examples:\n"), "{verb}: {help}");
            known.retain(|known| *known != verb);
        });
        assert_eq!(known, [""; 0], "examples of no verb");
    }

    #[test]
    fn examples_are_command_lines_of_their_verb() {
        for (verb, examples) in EXAMPLES {
            for line in examples.lines() {
                assert!(line.starts_with("  wardgate ") && line.chars().count() <= 100, "{line}");
                assert!(line.trim_start()["wardgate ".len()..].starts_with(verb), "{line}");
                let read = command().try_get_matches_from(words(line));
                assert!(read.is_ok(), "{line}\n{}", read.unwrap_err());
            }
        }
    }

    /// Options whose value has several names, because it is one of different kinds.
    const VALUES_DIFFER: [(&str, &str); 2] = [
        ("output", "`-` is standard output where it is not the default"),
        ("policies", "a log names the bundles of its decisions by their digests"),
    ];

    #[test]
    fn an_option_means_one_thing_at_each_verb() {
        let mut meanings: std::collections::BTreeMap<String, std::collections::BTreeSet<String>> =
            std::collections::BTreeMap::new();
        each(&command(), "", &mut |_, table| {
            for option in table.get_opts() {
                let Some(long) = option.get_long() else { continue };
                let value = option.get_value_names().unwrap_or_default().join(" ");
                meanings.entry(long.to_owned()).or_default().insert(value);
            }
        });
        let differ: Vec<_> = meanings.iter().filter(|(_, values)| values.len() > 1).collect();
        let known: Vec<_> = VALUES_DIFFER.iter().map(|(long, _)| *long).collect();
        let found: Vec<_> = differ.iter().map(|(long, _)| long.as_str()).collect();
        assert_eq!(found, known, "{differ:?}");
    }
}
