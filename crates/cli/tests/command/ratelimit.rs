//! `wardgate bench ratelimit`.

use crate::folder::Folder;

#[test]
fn checks_of_limits_are_measured_on_the_server_of_the_system() {
    let folder = Folder::new();
    let ran = folder.run("bench ratelimit --seconds 0.05 --callers 8");
    if ran.code == 2 {
        assert!(ran.err.contains("`redis-server` is not installed"), "{}", ran.err);
        return;
    }
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.starts_with("1000 of 1500 requests at once were admitted, the quota\n"));
    for row in ["one limit ", "four limits ", "one limit, leased ", "one limit, in this process "] {
        assert!(ran.out.lines().any(|line| line.starts_with(row)), "{row} is missing: {}", ran.out);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn a_server_that_is_none_ends_the_measurement() {
    let folder = Folder::new();
    let ran = folder.run("bench ratelimit --seconds 0.05 --redis redis://127.0.0.1:1");
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("no connection to the store of limits"), "{}", ran.err);
    assert_eq!(folder.run("bench ratelimit --redis http://127.0.0.1").code, 2);
    assert_eq!(folder.run("bench ratelimit --callers 0").code, 2);
}
