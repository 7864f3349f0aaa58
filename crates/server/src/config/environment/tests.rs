use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Environment;
use crate::config::{Config, Filter, Level, Location};

const FILE: &str =
    "[policies]\nbundle = \"p.wgb\"\ntrust = \"unsigned\"\n[http]\nmax-actions = 7\n";

/// Reads a file with variables, `NAME=VALUE` each.
fn parse_in(folder: &Path, file: &str, variables: &[&str]) -> Result<Config, String> {
    let pair = |text: &&str| {
        let (name, value) = text.split_once('=').unwrap();
        (OsString::from(name), OsString::from(value))
    };
    Environment::new(variables.iter().map(pair))
        .and_then(|environment| Config::parse_with(file, folder, &environment))
        .map_err(|error| error.to_string())
}

fn parse(variables: &[&str]) -> Result<Config, String> {
    parse_in(Path::new("/etc/wardgate"), FILE, variables)
}

#[track_caller]
fn accepted(variable: &str, is_there: impl Fn(Config) -> bool) {
    let config = parse(&[variable]).unwrap_or_else(|why| panic!("{variable}: {why}"));
    assert!(is_there(config), "{variable}");
}

#[track_caller]
fn refused(variable: &str, expected: &str) {
    assert_eq!(parse(&[variable]).map(drop).unwrap_err(), expected, "{variable}");
}

#[test]
fn a_variable_overrides_a_key_of_each_kind() {
    let path = |path: &str| PathBuf::from(path);
    accepted("WARDGATE_HTTP__MAX_ACTIONS=9", |config| config.http.max_actions == 9);
    accepted("WARDGATE_HTTP__MAX_RESOURCES=9", |config| config.http.max_actions == 7);
    accepted("WARDGATE_SERVER__LOG=error", |config| config.log == Level::Error);
    accepted("WARDGATE_SERVER__DRAIN_SECONDS=3", |config| config.drain == Duration::from_secs(3));
    accepted("WARDGATE_AUTH__ANONYMOUS_QUERIES=true", |config| config.auth.anonymous_queries);
    accepted("WARDGATE_POLICIES__BUNDLE=/b/q.wgb", |config| {
        config.policies.unwrap().location == Location::Bundle(path("/b/q.wgb"))
    });
    // As in the file, a path is relative to its folder.
    accepted("WARDGATE_POLICIES__BUNDLE=q.wgb", |config| {
        config.policies.unwrap().location == Location::Bundle(path("/etc/wardgate/q.wgb"))
    });
    accepted("WARDGATE_RATELIMIT__KEYS=5", |config| config.ratelimit.unwrap().keys == 5);
    refused("WARDGATE_HTTP__TLS__KEY=k.pem", "`certificate` is missing in `[http.tls]`");
}

#[test]
fn lists_have_commas_or_are_toml() {
    let listen = |expected: &'static [&str]| move |config: Config| config.http.listen == expected;
    accepted("WARDGATE_HTTP__LISTEN=127.0.0.1:1", listen(&["127.0.0.1:1"]));
    accepted("WARDGATE_HTTP__LISTEN=127.0.0.1:1, [::1]:2", listen(&["127.0.0.1:1", "[::1]:2"]));
    accepted("WARDGATE_HTTP__LISTEN=[::1]:2", listen(&["[::1]:2"]));
    accepted(r#"WARDGATE_HTTP__LISTEN=["a:1", "b:2"]"#, listen(&["a:1", "b:2"]));
    accepted(r#"WARDGATE_AUTH__TOKENS=[{ name = "a", file = "b", admin = true }]"#, |config| {
        config.auth.tokens[0].is_admin && config.auth.tokens[0].file.ends_with("wardgate/b")
    });
    let log = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
    let filter = ["WARDGATE_DECISION_LOG__FILTER={ sample = 0.5 }"];
    let config = parse_in(Path::new(""), &format!("{FILE}{log}"), &filter).unwrap();
    assert_eq!(config.decision_log.unwrap().filter, Filter::Sample(0.5));
    let filter = ["WARDGATE_DECISION_LOG__FILTER__SAMPLE=0.25"];
    let config = parse_in(Path::new(""), &format!("{FILE}{log}"), &filter).unwrap();
    assert_eq!(config.decision_log.unwrap().filter, Filter::Sample(0.25));
}

#[test]
fn the_environment_alone_is_a_configuration() {
    let variables = ["WARDGATE_POLICIES__DIRECTORY=policies", "WARDGATE_HTTP__LISTEN=0.0.0.0:3592"];
    let config = parse_in(Path::new("/srv"), "", &variables).unwrap();
    assert_eq!(config.http.listen, ["0.0.0.0:3592"]);
    let Location::Directory(path) = config.policies.unwrap().location else { panic!("a bundle") };
    assert_eq!(path, Path::new("/srv/policies"));
}

#[test]
fn a_file_has_the_value_of_a_variable_that_says_so() {
    let folder = std::env::temp_dir().join(format!("wardgate-environment-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("name"), "album\r\n").unwrap();
    std::fs::write(folder.join("bytes"), [0xFF]).unwrap();
    let name = |variables: &[&str]| {
        let config = parse_in(&folder, FILE, variables)?;
        Ok::<_, String>(config.policies.unwrap().name.unwrap())
    };
    assert_eq!(name(&["WARDGATE_POLICIES__NAME_FILE=name"]).unwrap(), "album");
    let both = ["WARDGATE_POLICIES__NAME=a", "WARDGATE_POLICIES__NAME_FILE=name"];
    let expected =
        "`WARDGATE_POLICIES__NAME` and `WARDGATE_POLICIES__NAME_FILE` exclude each other";
    assert_eq!(name(&both).unwrap_err(), expected);
    let expected = "`WARDGATE_POLICIES__NAME_FILE` names no file of text";
    assert_eq!(name(&["WARDGATE_POLICIES__NAME_FILE=bytes"]).unwrap_err(), expected);
    let missing = name(&["WARDGATE_POLICIES__NAME_FILE=nowhere"]).unwrap_err();
    assert!(missing.starts_with("`WARDGATE_POLICIES__NAME_FILE`: cannot read `"), "{missing}");
    // A key that ends so is that key.
    let key = ["WARDGATE_DECISION_LOG__FOLDER=log", "WARDGATE_DECISION_LOG__KEY_FILE=log.key"];
    let config = parse_in(&folder, FILE, &key).unwrap();
    assert_eq!(config.decision_log.unwrap().key, folder.join("log.key"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn names_that_no_key_has_are_refused() {
    refused(
        "WARDGATE_HTTP__LISTN=a:1",
        "unknown variable `WARDGATE_HTTP__LISTN`; did you mean `WARDGATE_HTTP__LISTEN`?",
    );
    refused(
        "WARDGATE_HTP__LISTEN=a:1",
        "unknown variable `WARDGATE_HTP__LISTEN`; did you mean `WARDGATE_HTTP__LISTEN`?",
    );
    refused("WARDGATE_HTTP__PORT=1", "unknown variable `WARDGATE_HTTP__PORT`");
    refused(
        "WARDGATE_HTTP__MAX_ACTIONS__X=1",
        "`WARDGATE_HTTP__MAX_ACTIONS__X` names no key of the configuration",
    );
    refused(
        "WARDGATE_AUTH__TOKENS__NAME=a",
        "`WARDGATE_AUTH__TOKENS__NAME` names no key of the configuration",
    );
    refused(
        "WARDGATE_HTTP_LISTEN=a:1",
        "unknown variable `WARDGATE_HTTP_LISTEN`; did you mean `WARDGATE_HTTP__LISTEN`?",
    );
    refused(
        "WARDGATE_DECISION_LOG_FOLDER=log",
        "unknown variable `WARDGATE_DECISION_LOG_FOLDER`; did you mean `WARDGATE_DECISION_LOG__FOLDER`?",
    );
    for name in [
        "WARDGATE___",
        "WARDGATE_HTTP__",
        "WARDGATE_http__listen",
        "WARDGATE_A___B",
        "WARDGATE_HTTP",
    ] {
        refused(
            &format!("{name}=1"),
            &format!(
                "unknown variable `{name}`: expected a name such as `WARDGATE_HTTP__MAX_CONNECTIONS`, with `__` between the table and the key"
            ),
        );
    }
}

#[test]
fn values_that_do_not_fit_are_refused_by_the_name_of_the_variable() {
    refused(
        "WARDGATE_HTTP__MAX_ACTIONS=0",
        "`WARDGATE_HTTP__MAX_ACTIONS` must be a whole number from 1 to 10000",
    );
    refused(
        "WARDGATE_HTTP__MAX_ACTIONS=a",
        "`WARDGATE_HTTP__MAX_ACTIONS` must be a whole number from 1 to 10000",
    );
    refused(
        "WARDGATE_AUTH__ANONYMOUS_QUERIES=yes",
        "`WARDGATE_AUTH__ANONYMOUS_QUERIES` must be `true` or `false`",
    );
    refused(
        "WARDGATE_HTTP__LISTEN=a:1,,b:2",
        "`WARDGATE_HTTP__LISTEN` must be texts with commas between them",
    );
    refused("WARDGATE_HTTP__TLS=on", "`WARDGATE_HTTP__TLS` must be a table");
    refused("WARDGATE_POLICIES__NAME=", "`WARDGATE_POLICIES__NAME` must be text that is not empty");
    refused(
        r#"WARDGATE_AUTH__TOKENS=[{ nam = "a", file = "b" }]"#,
        "`WARDGATE_AUTH__TOKENS`: unknown key `nam` in `[auth.tokens]`; did you mean `name`?",
    );
    let wrong = parse(&["WARDGATE_HTTP__LISTEN=[a]"]).map(drop).unwrap_err();
    assert!(wrong.starts_with("`WARDGATE_HTTP__LISTEN` is no list or table of TOML: "), "{wrong}");
}

#[test]
fn variables_for_other_purposes_are_passed_over() {
    let others = [
        "HOME=/root",
        "WARDGATE_SERVICE_HOST=10.0.0.1",
        "WARDGATE_PORT=tcp://10.0.0.1:3592",
        "WARDGATE_PORT_3592_TCP_ADDR=10.0.0.1",
        "WARDGATE_HTTP_PORT=tcp://10.0.0.1:3592",
        "WARDGATE_MQTT_SERVICE_HOST=10.0.0.1",
        "WARDGATE_VERSION=1",
        "WARDGATE_=1",
    ];
    assert!(parse(&others).is_ok());
}
