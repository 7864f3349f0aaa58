//! Notifications to the system manager, if there is one.

/// The phase of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Ready,
    Stopping,
}

/// Sends the notification. A missing system manager is no error.
#[cfg(unix)]
pub(crate) fn notify(phase: Phase) {
    let phase = match phase {
        Phase::Ready => sd_notify::NotifyState::Ready,
        Phase::Stopping => sd_notify::NotifyState::Stopping,
    };
    if let Err(error) = sd_notify::notify(&[phase]) {
        tracing::warn!(%error, "the system manager cannot be notified");
    }
}

#[cfg(not(unix))]
pub(crate) fn notify(_: Phase) {}
