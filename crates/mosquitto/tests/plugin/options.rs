//! Options that keep mosquitto from starting.

use std::fs;

use crate::running::{Folder, bundle, ended, mosquitto, rule, run};

/// Checks that mosquitto ends by itself, with this line.
fn refused(folder: &Folder, options: &str, expected: &str) {
    let Some(program) = mosquitto("a_wrong_option_keeps_mosquitto_from_starting") else { return };
    let _ = fs::remove_file(folder.file("log"));
    let (mut child, _) = run(&program, folder, options);
    let status = ended(&mut child);
    let log = fs::read_to_string(folder.file("log")).unwrap();
    let folder = folder.0.display().to_string();
    assert!(!status.success(), "{options}: {log}");
    assert!(log.replace(&folder, "FOLDER").contains(expected), "{options}: {log}");
}

#[test]
fn a_wrong_option_keeps_mosquitto_from_starting() {
    let folder = Folder::new();
    fs::write(folder.file("bundle"), bundle(&rule("publish", "client", "true"))).unwrap();
    fs::write(folder.file("nonsense"), "nonsense").unwrap();
    let check = |options: &str, expected: &str| refused(&folder, options, expected);
    check("", "wardgate: `plugin_opt_bundle` is missing");
    check("plugin_opt_bundle FOLDER/bundle", "wardgate: `plugin_opt_trust` is missing");
    let good = "plugin_opt_bundle FOLDER/bundle\nplugin_opt_trust unsigned\n";
    check(
        &format!("{good}plugin_opt_bundel x"),
        "wardgate: there is no option `plugin_opt_bundel`",
    );
    check(&format!("{good}plugin_opt_keys x"), "belong together");
    check(
        "plugin_opt_bundle FOLDER/none\nplugin_opt_trust unsigned",
        "wardgate: cannot read `FOLDER/none`: ",
    );
    check(
        "plugin_opt_bundle FOLDER/nonsense\nplugin_opt_trust unsigned",
        "wardgate: the bundle `FOLDER/nonsense` is refused: these bytes are not a bundle",
    );
    check(
        "plugin_opt_bundle FOLDER/bundle\nplugin_opt_trust FOLDER/nonsense",
        "wardgate: `FOLDER/nonsense` cannot be used as a key: ",
    );
    let twice = format!("{good}plugin PLUGIN\n{good}");
    check(&twice, "is the plugin there twice?");
}
