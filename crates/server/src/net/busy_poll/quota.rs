//! The quota of processor time of this process.
//!
//! Control groups of Linux set one, and so do containers: a process that has used up the time of a
//! period waits for the next. An unreadable file sets no quota.

use std::path::{Path, PathBuf};

use crate::files::bounded;

/// Tells whether the control group of this process, or one around it, has a quota.
pub(super) fn is_set() -> bool {
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    files(&groups).iter().any(|file| read(file).is_some_and(|text| limits(&text)))
}

/// Returns the files with the quotas of the groups that are listed in lines
/// `NUMBER:CONTROLLERS:PATH`.
fn files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines().take(MAX_GROUPS) {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (mount, file) = match controllers {
            "" => (PathBuf::from(MOUNT), "cpu.max"),
            names if names.split(',').any(|name| name == "cpu") => {
                (Path::new(MOUNT).join(names), "cpu.cfs_quota_us")
            }
            _ => continue,
        };
        // The last of them is the mount itself: in a container the path may be that of the host,
        // and its group is at the mount.
        let around = Path::new(path.trim_start_matches('/')).ancestors().take(MAX_DEPTH);
        files.extend(around.map(|group| mount.join(group).join(file)));
    }
    files
}

/// Returns true if the content of such a file sets a quota: `max 100000` and `-1` set none, `50000
/// 100000` and `50000` do.
fn limits(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.and_then(|quota| quota.parse::<i64>().ok()).is_some_and(|quota| quota > 0)
}

fn read(file: &Path) -> Option<String> {
    String::from_utf8(bounded(file, MAX_BYTES).ok()?).ok()
}

const MOUNT: &str = "/sys/fs/cgroup";
const MAX_GROUPS: usize = 64;
const MAX_DEPTH: usize = 64;
const MAX_BYTES: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{files, limits};

    #[test]
    fn a_quota_is_a_number() {
        for (text, expected) in [
            ("max 100000\n", false),
            ("50000 100000\n", true),
            ("-1\n", false),
            ("50000\n", true),
            ("0\n", false),
            ("", false),
            ("what", false),
        ] {
            assert_eq!(limits(text), expected, "{text}");
        }
    }

    #[test]
    fn every_group_of_the_process_is_read() {
        let check = |groups: &str, expected: &[&str]| {
            let found = files(groups);
            let expected: Vec<_> = expected.iter().map(std::path::PathBuf::from).collect();
            assert!(expected.iter().all(|file| found.contains(file)), "{groups}: {found:?}");
            assert_eq!(found.is_empty(), expected.is_empty(), "{groups}: {found:?}");
        };
        check(
            "0::/a.slice/b.service\n",
            &[
                "/sys/fs/cgroup/a.slice/b.service/cpu.max",
                "/sys/fs/cgroup/a.slice/cpu.max",
                "/sys/fs/cgroup/cpu.max",
            ],
        );
        check("0::/\n", &["/sys/fs/cgroup/cpu.max"]);
        check(
            "7:memory:/x\n3:cpu,cpuacct:/docker/1\n",
            &[
                "/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us",
            ],
        );
        check("7:memory:/x\n\nnothing\n", &[]);
        check("", &[]);
    }
}
