//! The workflows of the forge, which run the commands of this program and nothing else, and the action for those who
//! check their own policies.

use std::path::Path;

use super::binaries;
use super::chart::go_tool;
use super::facts::Facts;
use super::report::{Report, ensure};
use crate::shell::{self, Outcome, command, root};

/// Lints the workflows, and runs the tests of the action with the command.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let workflows = shell::entries(&root().join(".github/workflows"))?;
    for workflow in &workflows {
        let text = shell::read(workflow)?;
        let loose = text.lines().find(|line| is_loose(line));
        let loose = ensure(loose.is_none(), format!("`{}`", loose.unwrap_or_default().trim()));
        let what = format!("{} names actions by commit", super::report::shown(workflow));
        report.check(what, loose);
    }
    let actionlint = go_tool("actionlint", ACTIONLINT)?;
    let mut lint = command(actionlint);
    lint.arg("-shellcheck=").args(&workflows);
    report.check("actionlint finds nothing in .github/workflows", shell::shown(&mut lint));
    let tested = test_action(&binaries::program(facts)?);
    report.check(".github/actions/wardgate annotates what it finds", tested);
    Ok(())
}

/// Runs the tests of the action with a command.
pub(super) fn test_action(program: &Path) -> Outcome {
    let mut test = command("node");
    test.args(["--test", ".github/actions/wardgate/check.test.mjs"]);
    test.current_dir(root()).env("WARDGATE", program);
    shell::logged("tests of the action", &mut test)
}

/// Returns true for a line that uses an action by a name that can move.
fn is_loose(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ");
    let Some(action) = line.strip_prefix("uses: ").filter(|name| !name.starts_with("./")) else {
        return false;
    };
    let commit = action.split_once('@').and_then(|(_, rest)| rest.split_whitespace().next());
    let is_digest =
        |text: &str| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    !commit.is_some_and(is_digest)
}

const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";

#[cfg(test)]
mod tests {
    use super::is_loose;

    #[test]
    fn an_action_is_named_by_its_commit() {
        assert!(is_loose("      - uses: some/action@v4"));
        assert!(is_loose("        uses: some/action"));
        assert!(!is_loose("- uses: some/action@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7"));
        assert!(!is_loose("- uses: ./.github/actions/wardgate"));
        assert!(!is_loose("- run: cargo xtask test"));
    }
}
