//! The decision log in a folder: segments of frames, the tiles and the checkpoint of their log
//! ([format](../../../docs/DECISION-LOG.md)).
//!
//! ```text
//! folder/.lock             held by the one process that writes
//!        identity          the key that verifies checkpoints, which names the log, and a random number
//!        000000000000.wgl  segments, named by the number of their first frame
//!        tile/...          digests and entries of the log of frames, as C2SP has them
//!        checkpoint        the newest one
//!        checkpoint.witnessed   the newest one that enough witnesses have cosigned
//!        reserve           room for last words on a full disk
//!        ed25519.vkey      the key that verifies the second signature of checkpoints, if they have one
//!        private/...       sealed values, the keys of subjects, and entries that are not in frames yet
//! ```
//!
//! Frames are written first, then tiles, then the checkpoint, and each is on the disk before the next one says so. Tiles can be
//! made again out of segments.

pub(crate) mod by_rules;
mod core;
mod ed25519;
mod error;
pub(crate) mod exporting;
mod filtering;
mod folder;
mod follower;
mod frames;
mod health;
mod intake;
mod names;
pub(crate) mod noted;
mod opening;
mod operator;
mod pauses;
mod private;
mod proving;
mod reading;
mod record_json;
mod record_words;
mod recorder;
pub(crate) mod recording;
mod recovering;
mod reserve;
mod retention;
mod segments;
pub(crate) mod shipping;
mod tail;
mod tree;
mod unsealing;
mod verifying;
mod waiting;
mod witnessed;
pub(crate) mod witnessing;
mod writer;

pub use ed25519::{SecondKey, verify_ed25519};
pub use error::LogError;
pub use names::Names;
pub use operator::{accept_loss, erase};
pub use proving::prove;
pub use reading::{LogReader, StoredFrame};
pub use record_json::{exported_json, record_json, recorded_request, request_json};
pub use record_words::{identity_words, record_time, record_words, target_words};
pub use recorder::{Recorder, RecorderSettings};
pub use unsealing::{Unsealed, Unsealer};
pub use verifying::{Verified, verify};
pub use witnessed::{Witnessed, witnesses};
pub use writer::{LogSettings, LogWriter};

#[cfg(test)]
mod tests;
