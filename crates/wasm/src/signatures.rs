//! Signatures that JavaScript asks about beside those of bundles.
//!
//! Keys that were used last stay prepared, so that one signature after the other of the same signer costs
//! its own verification, and no allocation.

use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_bundle::level_of;
use wardgate_crypto::ml_dsa::PreparedKey;

use crate::room;
use crate::shared::shared;

struct Kept {
    key: PreparedKey,
    /// When it was asked for last, in calls.
    used: u32,
}

#[derive(Default)]
struct Keys {
    kept: Vec<Kept>,
    calls: u32,
}

shared!(static KEYS: RefCell<Keys> = RefCell::new(Keys { kept: Vec::new(), calls: 0 }));

/// Prepares the public key in the first `length` bytes of the room, unless it is prepared still. Returns
/// its place, which it keeps until the next call of this; or -1 if it is no key of this level.
#[unsafe(export_name = "prepareKey")]
extern "C" fn prepare_key(level: u32, length: usize) -> i32 {
    let place =
        KEYS.with(|keys| room::with(|room| keys.borrow_mut().place(level, room.get(..length)?)));
    place.and_then(|place| i32::try_from(place).ok()).unwrap_or(-1)
}

/// Verifies a signature by the key at `place`: 1 if it is right. In the room stand the message, its
/// context and the signature, of these lengths.
#[unsafe(no_mangle)]
extern "C" fn verify(place: usize, message: usize, context: usize, signature: usize) -> u32 {
    let holds = KEYS.with(|keys| {
        let keys = keys.borrow();
        room::with(|room| {
            let (message, rest) = room.split_at_checked(message)?;
            let (context, rest) = rest.split_at_checked(context)?;
            Some(keys.kept.get(place)?.key.verify(message, context, rest.get(..signature)?))
        })
    });
    u32::from(holds.unwrap_or(false))
}

impl Keys {
    fn place(&mut self, level: u32, public_key: &[u8]) -> Option<usize> {
        let level = level_of(level)?;
        self.calls = self.calls.wrapping_add(1);
        let same = |kept: &Kept| kept.key.level() == level && kept.key.public_key() == public_key;
        let place = match self.kept.iter().position(same) {
            Some(place) => place,
            None => self.keep(PreparedKey::new(level, public_key).ok()?),
        };
        self.kept.get_mut(place)?.used = self.calls;
        Some(place)
    }

    /// Keeps a key, in the place of the one that nobody has asked for longest if there are enough.
    fn keep(&mut self, key: PreparedKey) -> usize {
        let kept = Kept { key, used: self.calls };
        let age = |kept: &Kept| self.calls.wrapping_sub(kept.used);
        let oldest = self.kept.iter().enumerate().max_by_key(|(_, kept)| age(kept));
        match oldest.map(|(place, _)| place).filter(|_| self.kept.len() >= MOST) {
            Some(place) => {
                if let Some(old) = self.kept.get_mut(place) {
                    *old = kept;
                }
                place
            }
            None => {
                self.kept.push(kept);
                self.kept.len() - 1
            }
        }
    }
}

/// Keys that stay prepared: about 130 KB each.
const MOST: usize = 8;
