//! `cargo xtask release`: builds and checks everything that a release publishes, and lists it.
//!
//! With `--dry-run` nothing leaves the machine. Without it the same checks run first; one fault ends
//! the release, and so does a repository without an address or a tree with changes.

mod archive;
mod binaries;
mod changelog;
mod chart;
mod crates;
mod facts;
mod image;
mod image_test;
mod npm_package;
mod publish;
mod report;
mod sbom;
mod template;
mod unit;
mod workflows;

use crate::shell::{self, Outcome};
use facts::Facts;
use report::Report;

/// Checks, and publishes unless the arguments say `--dry-run`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let order = Order::read(arguments)?;
    let facts = Facts { is_quick: order.is_quick, ..Facts::read()? };
    if order.mode == Mode::Cut {
        return changelog::write_cut(&facts);
    }
    if order.mode == Mode::Publish {
        publish::refuse_other_tag(order.tag.as_deref(), &facts)?;
        publish::refuse_unready(&facts)?;
    }
    let mut report = Report::default();
    for step in STEPS.iter().filter(|step| order.includes(step.name)) {
        println!("{}", step.name);
        let outcome = (step.action)(&facts, &mut report);
        report.end_step(outcome);
    }
    report.summary()?;
    match order.mode {
        Mode::Publish => publish::all(&facts, &report),
        _ => publish::describe(&facts, &report),
    }
}

/// Runs the steps that need no build, for the suite.
pub(crate) fn of_suite() -> Outcome {
    let only = OF_SUITE.iter().flat_map(|step| ["--only", step]);
    let words: Vec<String> = ["--dry-run"].into_iter().chain(only).map(str::to_owned).collect();
    run(&words)
}

/// Runs the tests of the action for workflows with the command of this build, for the suite.
pub(crate) fn test_action() -> Outcome {
    shell::program("wardgate")?;
    workflows::test_action(&shell::target().join("debug/wardgate"))
}

/// One part of a release. The action adds its checks and files to the report.
struct Step {
    name: &'static str,
    action: fn(&Facts, &mut Report) -> Outcome,
}

const STEPS: &[Step] = &[
    Step { name: "changelog", action: changelog::check },
    Step { name: "npm package", action: npm_package::check },
    Step { name: "template", action: template::check },
    Step { name: "crates", action: crates::check },
    Step { name: "binaries", action: binaries::check },
    Step { name: "sbom", action: sbom::check },
    Step { name: "image", action: image::check },
    Step { name: "chart", action: chart::check },
    Step { name: "units", action: unit::check },
    Step { name: "workflows", action: workflows::check },
];

/// They read sources and lock files, and take seconds.
const OF_SUITE: &[&str] = &["changelog", "crates", "sbom", "units"];

#[derive(PartialEq, Eq)]
enum Mode {
    DryRun,
    Publish,
    Cut,
}

/// The arguments of the command.
struct Order {
    mode: Mode,
    is_quick: bool,
    /// The tag of the commit, if a workflow releases it.
    tag: Option<String>,
    /// The names of the steps to run; empty for all.
    only: Vec<String>,
}

impl Order {
    fn read(arguments: &[String]) -> Outcome<Self> {
        let mut order = Self { mode: Mode::Publish, is_quick: false, tag: None, only: Vec::new() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--dry-run" => order.mode = Mode::DryRun,
                "--quick" => order.is_quick = true,
                "--cut" => order.mode = Mode::Cut,
                "--tag" => order.tag = Some(words.next().ok_or("`--tag` needs a name")?.clone()),
                "--only" => order.only.push(step_named(words.next())?),
                other => return Err(format!("expected {EXPECTED}, found `{other}`")),
            }
        }
        if order.mode != Mode::DryRun && (order.is_quick || !order.only.is_empty()) {
            return Err("`--only` and `--quick` are for `--dry-run`".into());
        }
        Ok(order)
    }

    fn includes(&self, step: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == step)
    }
}

fn step_named(name: Option<&String>) -> Outcome<String> {
    let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let name = name.ok_or("`--only` needs the name of a step")?;
    match known.contains(&name.as_str()) {
        true => Ok(name.clone()),
        false => Err(format!("no step is called `{name}`; there are {}", known.join(", "))),
    }
}

const EXPECTED: &str =
    "`--dry-run` with `--only STEP` and `--quick`, `--cut`, `--tag NAME` or nothing";

#[cfg(test)]
mod tests {
    use super::{Mode, Order};

    fn read(line: &str) -> Result<Order, String> {
        Order::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_suite_runs_steps_that_exist() {
        for step in super::OF_SUITE {
            assert!(super::STEPS.iter().any(|known| known.name == *step), "{step}");
        }
    }

    #[test]
    fn parts_are_for_dry_runs() {
        let order = read("--dry-run --only changelog").unwrap();
        assert!(order.mode == Mode::DryRun);
        assert!(order.includes("changelog") && !order.includes("crates"));
        assert!(read("--only changelog").is_err());
        assert!(read("--dry-run --only nothing").is_err());
        assert!(read("--dryrun").is_err());
    }
}
