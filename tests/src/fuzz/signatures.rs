//! Forged keys and signatures: all of them are refused.

use std::sync::OnceLock;

use wardgate_crypto::ml_dsa::{Level, PreparedKey, Question, SigningKey, verify_batch};

/// Verifies a signature that differs from a good one, or random bytes. The first byte selects the
/// level and the meaning of the rest: a signature, a key, or changes to the good signature, three
/// bytes for each.
///
/// # Panics
/// If another than the good signature is accepted, or a batch answers otherwise than one question.
pub fn signature(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    let Some(known) = known().get(usize::from(choice % 3)) else { return };
    match choice / 3 % 3 {
        0 => known.expect_refusal(rest),
        1 => known.prepare(rest),
        _ => known.expect_refusal(&known.changed(rest)),
    }
}

/// Returns valid inputs.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let changes = (6..9).map(|choice| vec![choice, 0, 0, 1, 9, 200, 255]);
    let raw = known().iter().zip(0..3).flat_map(|(known, choice)| {
        let signature = [&[choice], &known.signature[..]].concat();
        [signature, [&[choice + 3], known.key.public_key()].concat()]
    });
    changes.chain(raw).collect()
}

/// A key, and its one known signature.
struct Known {
    level: Level,
    key: PreparedKey,
    signature: Vec<u8>,
}

impl Known {
    #[expect(
        clippy::expect_used,
        reason = "what was just made is well formed, or this is the finding"
    )]
    fn new(level: Level) -> Self {
        let secret = SigningKey::from_seed(level, &[7; 32]);
        let key = PreparedKey::new(level, &secret.public_key()).expect("a key that was just made");
        let signature = secret.sign(MESSAGE, CONTEXT, None).expect("a short context");
        Self { level, key, signature }
    }

    fn expect_refusal(&self, signature: &[u8]) {
        let accepted = self.key.verify(MESSAGE, CONTEXT, signature);
        assert_eq!(accepted, signature == self.signature);
        let question = Question { key: &self.key, message: MESSAGE, context: CONTEXT, signature };
        let good = Question { signature: &self.signature, ..question };
        let mut answers = [false; 3];
        verify_batch(&[good, question, good], &mut answers);
        assert_eq!(answers, [true, accepted, true]);
    }

    /// Prepares a key that begins with `bytes` and continues as the known one does.
    #[expect(clippy::expect_used, reason = "no seed within reach gives no matrix")]
    fn prepare(&self, bytes: &[u8]) {
        let _ = PreparedKey::new(self.level, bytes);
        let mut whole = self.key.public_key().to_vec();
        whole.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        if whole != self.key.public_key() {
            let other = PreparedKey::new(self.level, &whole).expect("a key of the right length");
            assert!(!other.verify(MESSAGE, CONTEXT, &self.signature));
        }
    }

    fn changed(&self, changes: &[u8]) -> Vec<u8> {
        let mut signature = self.signature.clone();
        let length = signature.len();
        for [high, low, bits] in changes.as_chunks().0 {
            let at = usize::from(u16::from_be_bytes([*high, *low])) % length;
            signature.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
        }
        signature
    }
}

fn known() -> &'static [Known; 3] {
    static KNOWN: OnceLock<[Known; 3]> = OnceLock::new();
    KNOWN.get_or_init(|| [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87].map(Known::new))
}

const MESSAGE: &[u8] = b"what was signed";
const CONTEXT: &[u8] = b"here";
