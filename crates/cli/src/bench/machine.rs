//! The machine and build behind figures: without them, a figure means nothing.

use std::thread::available_parallelism;

/// The machine in a few words.
pub(crate) struct Machine {
    pub(crate) processor: Option<String>,
    pub(crate) cores: usize,
    pub(crate) system: String,
}

impl Machine {
    /// Describes the machine on which this runs.
    pub(crate) fn here() -> Self {
        Self {
            processor: processor(),
            cores: available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Returns the name of the processor, which only Linux has in a file.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim().to_owned())
}
