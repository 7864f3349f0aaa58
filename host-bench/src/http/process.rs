//! What a process takes of the machine, which only Linux has in files.

use std::fs;

/// Returns the nanoseconds for which the threads of a process have run so far; `None` if they cannot be read.
pub(crate) fn processor_time(process: u32) -> Option<f64> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let times = threads.flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(times.sum())
}

/// Returns the memory of a process in KiB; `None` if it cannot be read.
pub(crate) fn resident(process: u32) -> Option<usize> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
