//! The texts below the options in the help of a command: the formats of its input, and its exit codes.

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  success; a request may be denied
  1  the policies, the bundle or a key cannot be used
  2  the arguments are wrong
  3  a request cannot be used; the others were decided
  4  reading or writing failed"
    };
}

pub(super) const EXIT_CODES: &str = exit_codes!();

pub(super) const ALL_EXIT_CODES: &str = concat!(
    exit_codes!(),
    "
  5  decisions differ: hosts in `bench`, or logs in `log replay` and `replay`
  6  a test failed
  7  a suite is broken, a test could not be decided, or there is nothing to run
  8  with `--check`, a file is not formatted, or has other types
  9  the coverage is less than `--coverage-min`
`wardgate help COMMAND` says what they mean there."
);

pub(super) const REPLAY_HELP: &str =
    concat!(exit_codes!(), "\n  5  some decision is another one now");

pub(super) const CHECK_HELP: &str = concat!(
    r#"A request is the JSON of the CheckResources call of Cerbos, or the same for one resource:
  {"principal": {"id": "sam", "roles": ["member"]}, "actions": ["view"],
   "resource": {"kind": "document", "id": "d1", "attr": {"owner": "sam"}}}
`auxData.jwt` holds the claims of a token that you have verified; tokens are not verified here.

"#,
    exit_codes!()
);

pub(super) const GRANTS_HELP: &str = concat!(
    r#"A request names a principal, and what is known when it connects:
  {"principal": {"id": "d1", "roles": ["device"]}, "actions": ["publish", "subscribe"],
   "auxData": {"jwt": {"topics": ["a/#"]}}}
Topics that the policies allow for some messages only are left out, and the lists are then not
exact; docs/MQTT.md of the project says why.

"#,
    exit_codes!()
);

pub(super) const BENCH_HELP: &str = concat!(
    r#"A decision is one action of one request. Both hosts are given the same requests and the
same time, and before anything is timed the answers in Node are compared with the native
ones. A quarter of the seconds warms up, a quarter gives the throughput, and the rest gives
the times of single decisions.

"#,
    exit_codes!(),
    "\n  5  the hosts decide differently"
);
