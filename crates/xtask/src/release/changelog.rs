//! The changelog, cut into versions: what stands under "Unreleased" becomes a version.
//!
//! `--cut` writes the page, which is committed and tagged. A dry run accepts a page that can be cut and
//! one that was cut; a release needs the latter.

use std::path::PathBuf;

use super::facts::Facts;
use super::report::{self, Report, ensure};
use crate::shell::{self, Outcome, command, root};

/// Writes the page with the section of this version, dated today.
pub(super) fn write_cut(facts: &Facts) -> Outcome {
    let today = shell::captured(command("date").args(["-u", "+%F"]))?;
    let cut = cut(&shell::read(&page())?, &facts.version, today.trim())?;
    shell::write(&page(), cut)?;
    println!("docs/CHANGELOG.md: {} is cut; commit it, and tag the commit v{0}", facts.version);
    Ok(())
}

/// Checks that the page has this version or can be cut into it, and writes what is new as the text
/// of the release.
pub(super) fn check(facts: &Facts, report: &mut Report) -> Outcome {
    let text = shell::read(&page())?;
    let version = &facts.version;
    let is_cut = section(&text, version).is_some();
    let page = if is_cut { Ok(text.clone()) } else { cut(&text, version, "today") };
    let what = if is_cut { "is cut" } else { "can be cut" };
    let pending = ensure(
        !is_cut || section(&text, UNRELEASED).is_none_or(is_empty),
        format!("docs/CHANGELOG.md: {version} is there already and there are changes after it"),
    );
    report.check(format!("docs/CHANGELOG.md {what} into {version}"), page.clone().map(drop));
    report.check("no change stands after this version", pending);
    let notes = report::folder().join("NOTES.md");
    let page = page.unwrap_or_default();
    shell::write(&notes, section(&page, version).unwrap_or_default().trim())?;
    report.add(&notes, "forge")
}

/// Returns an error unless this version was cut.
pub(super) fn must_be_cut(version: &str) -> Outcome {
    let is_cut = section(&shell::read(&page())?, version).is_some();
    ensure(
        is_cut,
        format!("docs/CHANGELOG.md has no section {version}: `cargo xtask release --cut`"),
    )
}

/// Moves the text under "Unreleased" under the heading of a version.
fn cut(text: &str, version: &str, date: &str) -> Outcome<String> {
    if section(text, version).is_some() {
        return Err(format!("docs/CHANGELOG.md has a section {version} already"));
    }
    let unreleased =
        section(text, UNRELEASED).ok_or("docs/CHANGELOG.md has no `## [Unreleased]`")?;
    if is_empty(unreleased) {
        return Err("docs/CHANGELOG.md has nothing under `## [Unreleased]`".into());
    }
    let old = heading(UNRELEASED);
    Ok(text.replacen(&old, &format!("{old}\n\n{} - {date}", heading(version)), 1))
}

/// Returns the text between the heading of a section and the next section.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let heading = heading(name);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        start += line.len();
        if line.starts_with(&heading) {
            let rest = text.get(start..)?;
            return rest.split("\n## [").next();
        }
    }
    None
}

/// Returns true for a section of headings only.
fn is_empty(section: &str) -> bool {
    section.lines().all(|line| line.trim().is_empty() || line.starts_with('#'))
}

fn heading(name: &str) -> String {
    format!("## [{name}]")
}

fn page() -> PathBuf {
    root().join("docs/CHANGELOG.md")
}

const UNRELEASED: &str = "Unreleased";

#[cfg(test)]
mod tests {
    use super::{cut, section};

    const PAGE: &str = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n";

    #[test]
    fn a_cut_moves_what_is_unreleased() {
        let page = cut(PAGE, "0.2.0", "2026-02-02").unwrap();
        assert_eq!(section(&page, "Unreleased").unwrap().trim(), "");
        assert_eq!(section(&page, "0.2.0").unwrap().trim(), "### Added\n\n- A thing.");
        assert_eq!(section(&page, "0.1.0").unwrap().trim(), "- First.");
        assert!(page.contains("## [0.2.0] - 2026-02-02\n"));
    }

    #[test]
    fn a_version_is_cut_once_and_only_from_changes() {
        assert!(cut(PAGE, "0.1.0", "2026-02-02").is_err());
        let page = cut(PAGE, "0.2.0", "2026-02-02").unwrap();
        assert!(cut(&page, "0.3.0", "2026-02-03").unwrap_err().contains("nothing under"));
        assert!(cut("# Changelog\n", "0.3.0", "2026-02-03").is_err());
    }
}
