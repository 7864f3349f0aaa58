//! What the system manager is told, where there is one that listens.

/// What a service can be about to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Ready,
    Stopping,
}

/// Tells it. Nobody listening is no fault.
#[cfg(unix)]
pub(crate) fn notify(phase: Phase) {
    let phase = match phase {
        Phase::Ready => sd_notify::NotifyState::Ready,
        Phase::Stopping => sd_notify::NotifyState::Stopping,
    };
    if let Err(error) = sd_notify::notify(&[phase]) {
        tracing::warn!(%error, "the system manager cannot be told");
    }
}

#[cfg(not(unix))]
pub(crate) fn notify(_: Phase) {}
