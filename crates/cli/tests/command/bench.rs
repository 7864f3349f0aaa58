//! `wardgate bench`.

use serde_json::{Value as Json, json};

use crate::folder::{ANN, Folder, Ran, SAM};

/// Returns a folder with policies, and requests for four decisions of which two allow.
fn folder() -> Folder {
    let folder = Folder::with_photos();
    folder.write("asked.jsonl", format!("{ANN}\n{}\n", SAM.replace('\n', "")));
    folder
}

/// Writes a package whose PDP answers with the JavaScript `answer`.
fn package(folder: &Folder, at: &str, answer: &str) {
    let manifest = r#"{"name": "wardgate", "type": "module", "exports": "./index.js"}"#;
    folder.write(&format!("{at}/package.json"), manifest);
    folder.write(&format!("{at}/index.js"), PACKAGE.replace("ANSWER", answer));
}

fn bench(folder: &Folder, more: &str) -> Ran {
    folder.run(&format!("bench policies --requests asked.jsonl --seconds 0.05 {more}"))
}

fn json(ran: &Ran) -> Json {
    ran.ends_with_code(0);
    ran.json()
}

#[test]
fn people_read_figures_and_a_histogram_in_80_columns() {
    let folder = folder();
    package(&folder, "npm", RIGHT);
    let ran = bench(&folder, "--host all --package npm");
    let parts = [
        "4 decisions on 2 requests: 2 allowed, 2 denied\nevery answer in Node is the native one\n",
        "\nnative\n  throughput     ",
        "\nWebAssembly in Node ",
        "  allocations    ",
        "  linear memory  grew by 0 bytes to 64 KiB\n",
        "  one decision   p50 ",
        "█████  ",
        " to read, taken off each time\n",
        "\nin Node the median decision takes ",
        "\nwardgate ",
    ];
    ran.shows(0, &parts);
    for line in ran.out.lines().take_while(|line| !line.starts_with("wardgate ")) {
        assert!(line.chars().count() <= 80 && !line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn programs_read_the_same() {
    let folder = folder();
    package(&folder, "node_modules/wardgate", RIGHT);
    let found = json(&bench(&folder, "--host all --json"));
    assert_eq!([&found["requests"], &found["decisions"], &found["allowed"]], [2, 4, 2]);
    let hosts = found["hosts"].as_array().unwrap();
    assert_eq!([&hosts[0]["host"], &hosts[1]["host"]], ["native", "node"]);
    for host in hosts {
        let times = &host["nanoseconds"];
        let times = ["p50", "p99", "p99.9", "longest"].map(|name| times[name].as_f64().unwrap());
        assert!(times.is_sorted(), "{host}");
        let buckets = host["histogram"].as_array().unwrap();
        let counted: u64 = buckets.iter().map(|it| it["count"].as_u64().unwrap()).sum();
        assert_eq!(host["samples"], counted);
        assert!(host["decisions"].as_u64().unwrap() > 4, "{host}");
    }
    assert_eq!(
        hosts[0]["memory"],
        json!({ "allocationsPerDecision": 0.0, "bytesPerDecision": 0.0 })
    );
    assert_eq!(hosts[1]["memory"]["linearBytes"], 65_536);
}

#[test]
fn a_bundle_is_measured_as_its_directory_is() {
    let folder = folder();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let ran = folder.run("bench p.wardgate -r asked.jsonl --seconds 0.05 --json");
    assert_eq!(json(&ran)["allowed"], 2);
}

#[test]
fn node_is_given_what_the_native_host_decides() {
    let folder = folder();
    folder.write("asked.jsonl", ANN.replacen('{', r#"{"auxData":{"jwt":{"iss":"me"}},"#, 1));
    let checks = [
        "request.auxData.jwt.iss === 'me'",
        "request.principal.roles[0] === 'member'",
        "request.resource.attr.owner === 'ann'",
        "!('scope' in request.resource)",
        "options.trust === 'unsigned'",
        "options.clock() === 1714979289001",
        "bundle.length > 100",
    ];
    package(&folder, "npm", &checks.join(" && "));
    bench(&folder, "--host node --package npm --now 2024-05-06T07:08:09.001999Z").ends_with_code(0);
}

#[test]
fn a_different_answer_is_an_error_before_anything_is_timed() {
    let folder = folder();
    let check = |answer: &str, shown: &str| {
        package(&folder, "npm", answer);
        let sentence = format!("{shown}; no time was measured");
        bench(&folder, "--host all --package npm").complains(5, &sentence);
    };
    check("true", "`edit` of photo p1, requested by sam: the native host denies, Node allows");
    check("false", "`edit` of photo p1, requested by ann: the native host allows, Node denies");
    let thrown = "(() => { throw new Error('no\\nno') })()";
    check(thrown, "`edit` of photo p1, requested by ann: the native host allows, Node fails: no");
}

#[test]
fn missing_parts_of_node_are_reported() {
    let folder = folder();
    let check = |more: &str, code: i32, start: &str| {
        let ran = bench(&folder, &format!("--host node {more}"));
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (code, "", 1), "{ran:?}");
        assert!(ran.err.starts_with(&format!("wardgate: {start}")), "{ran:?}");
    };
    let cannot = "cannot measure in Node: the npm package `wardgate` cannot be loaded from";
    check("", 4, &format!("{cannot} this folder: Cannot find package 'wardgate'"));
    folder.write("other/readme", "");
    check("--package other", 4, &format!("{cannot} `other`: "));
    package(&folder, "node_modules/wardgate", RIGHT);
    check("--package other", 4, &format!("{cannot} `other`: this folder holds another package\n"));
    check("--package nowhere", 4, "cannot read `nowhere`: no such file or directory\n");
    check("--package asked.jsonl", 2, "`asked.jsonl` is not a folder of the npm package\n");
    folder.write("broken/package.json", r#"{"name": "wardgate", "exports": "./dist.js"}"#);
    check("--package broken", 4, &format!("{cannot} `broken`: Cannot find module"));
    package(&folder, "npm", "true");
    let refusing = "export async function open() { throw new Error('it is damaged') }";
    folder.write("npm/index.js", refusing);
    check("--package npm", 1, "the npm package refuses the bundle: it is damaged\n");
    folder.write("npm/index.js", "process.exit(7)");
    check("--package npm", 4, "cannot measure in Node: it ended with exit status: 7\n");
}

#[test]
fn a_machine_without_node_is_reported() {
    let folder = folder();
    let arguments = ["bench", "policies", "-r", "asked.jsonl", "--host", "node"];
    let ended = folder.command(&arguments).env("PATH", "").output().unwrap();
    let shown = String::from_utf8(ended.stderr).unwrap();
    let expected = "wardgate: cannot measure in Node: there is no `node` on the path: \
                    install Node 20 or newer, or measure with `--host native`\n";
    assert_eq!((ended.status.code(), shown.as_str()), (Some(4), expected));
}

#[test]
fn requests_that_cannot_be_used_are_named_and_left_out() {
    let folder = folder();
    let check = |content: &str, shown: &[&str]| {
        folder.write("asked.jsonl", content);
        let ran = bench(&folder, "--json");
        assert_eq!((ran.code, ran.err.lines().count()), (3, shown.len()), "{ran:?}");
        for (line, shown) in ran.err.lines().zip(shown) {
            assert!(line.starts_with(&format!("wardgate: {shown}")), "{ran:?}");
        }
        ran.out
    };
    assert_eq!(check("", &["`asked.jsonl` holds no request"]), "");
    assert_eq!(check(" \n\n", &["`asked.jsonl` holds no request"]), "");
    let first = "`asked.jsonl`, request at line 1: `principal` is missing";
    assert_eq!(check("{}\n", &[first, "no request is left to measure"]), "");
    let third = "`asked.jsonl`, line 3, column 2: invalid JSON";
    let measured = check(&format!("{{}}\n{ANN}\n{{oops\n"), &[first, third]);
    assert!(measured.contains(r#""decisions":1,"#), "{measured}");
}

#[test]
fn options_without_an_effect_are_refused() {
    let folder = folder();
    bench(&folder, "--package npm")
        .complains(2, "`--package` is for measuring in Node: add `--host node`");
    let check = |more: &str, expected: &str| {
        let ran = folder.run(&format!("bench policies -r asked.jsonl {more}"));
        ran.ends_with_code(2);
        assert!(ran.err.contains(expected), "{ran:?}");
    };
    check("--seconds 0", "expected a number from 0.05 to 600");
    check("--seconds -1", "");
    check("--seconds NaN", "expected a number from 0.05 to 600");
    check("--seconds 601", "expected a number from 0.05 to 600");
    check("--host moon", "native");
}

/// Looks like the npm package, and has the smallest module with a memory.
const PACKAGE: &str = r#"
const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 1, 7, 10, 1, 6, 109, 101, 109, 111, 114, 121, 2, 0];
export async function open(bundle, options) {
  new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)));
  return { isAllowed: (request) => ANSWER };
}
"#;

/// The part of the output about the policy of the photos.
const RIGHT: &str = "request.action === 'view' || (request.action === 'edit' && request.resource.attr.owner === request.principal.id)";
