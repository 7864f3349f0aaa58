use super::*;
use crate::journal::error::JournalError;
use crate::rules::key::Key;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use wardgate_spocp::Normal;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("wardgate-rules-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("changes")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn rule(text: &str) -> Normal {
    Normal::from_advanced(text.as_bytes()).unwrap()
}

fn base(rules: &[&str]) -> Vec<Normal> {
    rules.iter().copied().map(rule).collect()
}

fn open(folder: &Folder, rules: &[&str]) -> Rules {
    Rules::open(&folder.file(), Durability::Always, || Ok(base(rules))).unwrap()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn add(rules: &Rules, text: &str) -> Result<(), Refusal> {
    wait(async { rules.change(vec![RuleChange::Add(rule(text))]).await.wait().await })
}

fn delete(rules: &Rules, text: &str) -> Result<(), Refusal> {
    wait(async { rules.change(vec![RuleChange::Delete(Key::of(&rule(text)))]).await.wait().await })
}

fn names(rules: &Rules) -> Vec<String> {
    let mut names: Vec<_> = rules
        .read()
        .after(None)
        .map(|(_, rule)| String::from_utf8(rule.expression().to_advanced()).unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn changes_survive_the_end_of_the_process() {
    let folder = Folder::new();
    let rules = open(&folder, &["(a)", "(b)"]);
    assert_eq!(add(&rules, "(c)"), Ok(()));
    assert_eq!(add(&rules, "(d)"), Ok(()));
    assert_eq!(delete(&rules, "(a)"), Ok(()));
    assert_eq!(delete(&rules, "(d)"), Ok(()));
    assert_eq!(names(&rules), ["(b)", "(c)"]);
    drop(rules);
    assert_eq!(names(&open(&folder, &["(a)", "(b)"])), ["(b)", "(c)"]);
}

#[test]
fn a_rule_is_added_once_and_deleted_once() {
    let folder = Folder::new();
    let rules = open(&folder, &["(a)"]);
    assert_eq!(add(&rules, "(a)"), Err(Refusal::Exists));
    assert_eq!(delete(&rules, "(b)"), Err(Refusal::Unknown));
    assert_eq!(delete(&rules, "(a)"), Ok(()));
    assert_eq!(delete(&rules, "(a)"), Err(Refusal::Unknown));
    assert_eq!(add(&rules, "(a)"), Ok(()));
    assert_eq!(add(&rules, "(x (* set b a))"), Ok(()));
    assert_eq!(add(&rules, "(x (* set a b))"), Err(Refusal::Exists));
    assert_eq!(names(&rules).len(), 2);
}

#[test]
fn changes_stay_when_the_files_change() {
    let folder = Folder::new();
    let rules = open(&folder, &["(a)", "(b)"]);
    add(&rules, "(c)").unwrap();
    delete(&rules, "(a)").unwrap();
    drop(rules);
    // `(a)` is hidden although the files have it, `(c)` is there although they do not.
    let rules = open(&folder, &["(a)", "(e)"]);
    assert_eq!(names(&rules), ["(c)", "(e)"]);
    drop(rules);
    // The files no longer have `(a)`, so to add it is to add it.
    let rules = open(&folder, &["(c)"]);
    add(&rules, "(a)").unwrap();
    delete(&rules, "(c)").unwrap();
    assert_eq!(names(&rules), ["(a)"]);
    drop(rules);
    assert_eq!(names(&open(&folder, &["(c)"])), ["(a)"]);
}

#[test]
fn a_reload_keeps_the_changes_and_commits_under_the_lock() {
    let folder = Folder::new();
    let rules = Arc::new(open(&folder, &["(a)", "(b)"]));
    add(&rules, "(c)").unwrap();
    delete(&rules, "(b)").unwrap();
    assert_eq!(names(&rules), ["(a)", "(c)"]);
    let (others, committed) = (Arc::clone(&rules), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&committed);
    let commit = move || {
        assert!(others.live.try_read().is_err());
        seen.fetch_add(1, Ordering::Relaxed);
    };
    assert_eq!(rules.reload(base(&["(b)", "(e)"]), commit).unwrap(), 2);
    assert_eq!(committed.load(Ordering::Relaxed), 1);
    assert_eq!(names(&rules), ["(c)", "(e)"]);
    rules.close();
    let late = rules.reload(base(&["(f)"]), || panic!("nothing was loaded"));
    assert!(matches!(late, Err(StoreError::Closed)));
    assert_eq!(names(&rules), ["(c)", "(e)"]);
}

#[test]
fn changes_that_belong_together_are_made_all_or_none() {
    let folder = Folder::new();
    let rules = open(&folder, &["(a)"]);
    let both = |first, second| {
        let changes = vec![RuleChange::Add(rule(first)), RuleChange::Add(rule(second))];
        wait(async { rules.change(changes).await.wait().await })
    };
    assert_eq!(both("(b)", "(a)"), Err(Refusal::Exists));
    assert_eq!(names(&rules), ["(a)"]);
    assert_eq!(both("(b)", "(b)"), Err(Refusal::Exists));
    assert_eq!(both("(b)", "(c)"), Ok(()));
    drop(rules);
    assert_eq!(names(&open(&folder, &[])), ["(b)", "(c)"]);
}

#[test]
fn two_processes_do_not_write_one_file() {
    let folder = Folder::new();
    let rules = open(&folder, &[]);
    let second = Rules::open(&folder.file(), Durability::Always, || Ok(Vec::new()));
    assert!(matches!(second, Err(StoreError::Journal(JournalError::Locked))));
    drop(rules);
    drop(open(&folder, &[]));
}

#[test]
fn the_past_is_left_out_of_a_file_that_grows() {
    let folder = Folder::new();
    let long = "x".repeat(50_000);
    let rules = open(&folder, &["(a)"]);
    delete(&rules, "(a)").unwrap();
    for number in 0..60 {
        let text = format!("(n{number} {long})");
        add(&rules, &text).unwrap();
        if number % 10 != 0 {
            delete(&rules, &text).unwrap();
        }
    }
    let expected = names(&rules);
    assert_eq!(expected.len(), 6);
    drop(rules);
    let bytes = std::fs::metadata(folder.file()).unwrap().len();
    assert!(bytes < 2_500_000, "{bytes} bytes for 300,000");
    assert_eq!(names(&open(&folder, &["(a)"])), expected);
}

#[test]
fn rules_without_a_file_do_not_change() {
    let rules = Rules::fixed(&base(&["(a)"])).unwrap();
    assert!(!rules.can_change());
    assert_eq!(add(&rules, "(b)"), Err(Refusal::Failed));
    assert_eq!(delete(&rules, "(a)"), Err(Refusal::Failed));
    assert_eq!(names(&rules), ["(a)"]);
}

#[test]
fn many_changes_at_once_are_answered_each() {
    let folder = Folder::new();
    let rules = Arc::new(open(&folder, &[]));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|client| {
            let rules = Arc::clone(&rules);
            runtime.spawn(async move {
                let mut outcomes = Vec::new();
                for number in 0..200 {
                    // Half of the rules are wanted by all clients.
                    let name = if number % 2 == 0 {
                        format!("(r{number})")
                    } else {
                        format!("(c{client} n{number})")
                    };
                    outcomes.push(rules.change(vec![RuleChange::Add(rule(&name))]).await);
                }
                let mut made = 0;
                for outcome in outcomes {
                    made += usize::from(outcome.wait().await.is_ok());
                }
                made
            })
        })
        .collect();
    let made: usize = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).sum();
    assert_eq!(made, 100 + 8 * 100);
    assert_eq!(rules.read().len(), made);
    drop(rules);
    assert_eq!(open(&folder, &[]).read().len(), made);
}
