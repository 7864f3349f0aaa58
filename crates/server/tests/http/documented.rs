//! The example of `docs/server.md`, as a reader would run it.

use std::path::Path;

use serde_json::Value;
use wardgate_server::Config;

use crate::running::{OPEN, Running};

const DOCUMENT: &str = include_str!("../../../../docs/server.md");

/// The part of the document with the example.
fn example() -> &'static str {
    let (_, rest) = DOCUMENT.split_once("### An example").unwrap();
    rest.split_once("\n### ").unwrap().0
}

/// The indented text after the name of a file.
fn file(name: &str) -> String {
    let (_, rest) = example().split_once(&format!("`{name}`:\n\n")).unwrap();
    let is_within = |line: &&str| line.is_empty() || line.starts_with("    ");
    let within = rest.lines().take_while(is_within);
    within.map(|line| format!("{}\n", line.get(4..).unwrap_or(""))).collect()
}

#[test]
fn the_example_of_authzen_answers_as_it_is_written_down() {
    let config = Config::parse(&file("wardgate.toml"), Path::new("/etc/wardgate")).unwrap();
    assert!(config.auth.anonymous_queries && config.authzen.index.is_some());
    let names = ["index/subject.user.json", "index/resource.album.json"];
    let files: Vec<(&str, String)> = names.into_iter().map(|name| (name, file(name))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let indexed = format!("{OPEN}[authzen]\nindex = \"index\"\n");
    let server = Running::with_files(&file("policies/album.yaml"), &indexed, &files);
    let mut count = 0;
    for requests in example().split("    curl http://127.0.0.1:3592").skip(1) {
        let (path, rest) = requests.split_once(' ').unwrap();
        let (_, rest) = rest.split_once("-d '").unwrap();
        let (body, rest) = rest.split_once("}'\n").unwrap();
        let expected = rest.lines().next().unwrap().trim();
        let body: Value = serde_json::from_str(&format!("{body}}}")).unwrap();
        let (status, answer) = server.post(path, "", &body.to_string());
        assert_eq!((status, answer.as_str()), (200, expected), "{path} {body}");
        count += 1;
    }
    assert_eq!(count, 5);
}
