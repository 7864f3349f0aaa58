//! Verification of signatures other than those of bundles, for JavaScript.
//!
//! The most recently used keys stay prepared, so that repeated signatures of one signer cost their
//! own verification, and no allocation.

use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_bundle::level_of;
use wardgate_crypto::ml_dsa::PreparedKey;

use crate::room;
use crate::shared::shared;

struct CachedKey {
    key: PreparedKey,
    /// The number of the call that used it last.
    used: u32,
}

#[derive(Default)]
struct Keys {
    keys: Vec<CachedKey>,
    calls: u32,
}

shared!(static KEYS: RefCell<Keys> = RefCell::new(Keys { keys: Vec::new(), calls: 0 }));

/// Prepares the public key in the first `length` bytes of the room, unless it is prepared already.
/// Returns its position, which is valid until the next call of this function; or -1 if the bytes
/// are no key of this level.
#[unsafe(export_name = "prepareKey")]
extern "C" fn prepare_key(level: u32, length: usize) -> i32 {
    let position =
        KEYS.with(|keys| room::with(|room| keys.borrow_mut().position(level, room.get(..length)?)));
    position.and_then(|position| i32::try_from(position).ok()).unwrap_or(-1)
}

/// Verifies a signature by the key at `position`; returns 1 if it is valid. The room contains the
/// message, its context and the signature, of these lengths.
#[unsafe(no_mangle)]
extern "C" fn verify(position: usize, message: usize, context: usize, signature: usize) -> u32 {
    let holds = KEYS.with(|keys| {
        let keys = keys.borrow();
        room::with(|room| {
            let (message, rest) = room.split_at_checked(message)?;
            let (context, rest) = rest.split_at_checked(context)?;
            Some(keys.keys.get(position)?.key.verify(message, context, rest.get(..signature)?))
        })
    });
    u32::from(holds.unwrap_or(false))
}

impl Keys {
    fn position(&mut self, level: u32, public_key: &[u8]) -> Option<usize> {
        let level = level_of(level)?;
        self.calls = self.calls.wrapping_add(1);
        let same =
            |keys: &CachedKey| keys.key.level() == level && keys.key.public_key() == public_key;
        let position = match self.keys.iter().position(same) {
            Some(position) => position,
            None => self.insert(PreparedKey::new(level, public_key).ok()?),
        };
        self.keys.get_mut(position)?.used = self.calls;
        Some(position)
    }

    /// Adds a key; a full cache replaces the least recently used one.
    fn insert(&mut self, key: PreparedKey) -> usize {
        let keys = CachedKey { key, used: self.calls };
        let age = |keys: &CachedKey| self.calls.wrapping_sub(keys.used);
        let oldest = self.keys.iter().enumerate().max_by_key(|(_, keys)| age(keys));
        match oldest.map(|(position, _)| position).filter(|_| self.keys.len() >= MOST) {
            Some(position) => {
                if let Some(old) = self.keys.get_mut(position) {
                    *old = keys;
                }
                position
            }
            None => {
                self.keys.push(keys);
                self.keys.len() - 1
            }
        }
    }
}

/// The number of keys that stay prepared: about 130 KB each.
const MOST: usize = 8;
