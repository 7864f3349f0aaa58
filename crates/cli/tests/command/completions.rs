//! `wardgate completions`: the scripts have every verb and option, and bash completes with its own.

use std::process::{Command, Stdio};

use crate::folder::Folder;

const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "powershell"];

#[test]
fn scripts_have_each_verb_and_its_options() {
    let folder = Folder::new();
    for shell in SHELLS {
        let script = folder.run(&format!("completions {shell}"));
        script.ends_with_code(0);
        for word in ["compile", "check-proof", "healthcheck", "completions"] {
            assert!(script.out.contains(word), "{shell} lacks {word}");
        }
        for option in ["expect-name", "schema-enforcement", "check-config", "coverage-min"] {
            assert!(script.out.contains(option), "{shell} lacks --{option}");
        }
    }
}

/// Asks bash what it would complete the last of these words with.
fn completed(folder: &Folder, words: &[&str]) -> Vec<String> {
    let position = words.len() - 1;
    let script = format!(
        "source ./script; COMP_WORDS=({}); COMP_CWORD={position}; _wardgate wardgate '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words[position],
        words[position - 1],
    );
    let bash = Command::new("bash")
        .args(["--norc", "-c", &script])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(bash.stdout).unwrap();
    assert!(bash.status.success(), "{}", String::from_utf8_lossy(&bash.stderr));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_options_and_values() {
    let folder = Folder::new();
    folder.write("script", folder.run("completions bash").out);
    let check = |words: &[&str], expected: &[&str]| {
        let found = completed(&folder, words);
        for word in expected {
            assert!(found.iter().any(|one| one == word), "{words:?}: {word} is not in {found:?}");
        }
    };
    check(&["wardgate", "co"], &["compile", "compare", "completions"]);
    check(&["wardgate", "serve", "--"], &["--config", "--listen", "--check-config", "--trust"]);
    check(&["wardgate", "log", "ver"], &["verify"]);
    check(&["wardgate", "compile", "--evaluation", ""], &["strict", "lenient"]);
}
