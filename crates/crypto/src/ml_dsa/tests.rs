//! Verification is compared with other implementations, on what was signed and on what was tampered with.

use super::*;
use std::vec::Vec;

use libcrux_ml_dsa::{MLDSASignature, MLDSAVerificationKey};
use ml_dsa::signature::Keypair;

macro_rules! level_suite {
    ($name:ident, $set:ty, $level:expr, $others:path) => {
        mod $name {
            use super::*;
            use $others as their_verify;

            #[test]
            fn accepts_what_was_signed() {
                for seed in 0..ROUNDS {
                    let (key, message, context, signature) = signed(seed);
                    assert!(key.verify(&message, &context, &signature), "seed {seed}");
                    assert!(!key.verify(&message, b"elsewhere", &signature));
                    assert!(!key.verify(b"other", &context, &signature));
                }
            }

            #[test]
            fn agrees_with_others_on_tampered_signatures() {
                let (key, message, context, signature) = signed(1);
                let mut random = Random(7);
                for _ in 0..20 * ROUNDS {
                    let mut bytes = signature.clone();
                    let bit = random.below(bytes.len() * 8);
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    let expected = theirs(&key, &message, &context, &bytes);
                    assert_eq!(key.verify(&message, &context, &bytes), expected, "bit {bit}");
                    assert!(!expected);
                }
            }

            #[test]
            fn batches_answer_each_question_by_itself() {
                let all: Vec<_> = (0..19).map(signed).collect();
                let mut tampered = all[5].3.clone();
                tampered[100] ^= 1;
                let mut questions: Vec<_> = all
                    .iter()
                    .map(|(key, message, context, signature)| Question { key, message, context, signature })
                    .collect();
                questions[5].signature = &tampered;
                questions[6].signature = &[];
                questions[11].context = &[0; 256];
                questions[12].message = b"other";
                let mut accepted = [true; 19];
                verify_batch(&questions, &mut accepted);
                let wrong = [5, 6, 11, 12];
                assert_eq!(accepted, core::array::from_fn(|index| !wrong.contains(&index)));
            }

            fn signed(seed: u8) -> (PreparedKey, Vec<u8>, Vec<u8>, Vec<u8>) {
                let secret = ml_dsa::SigningKey::<$set>::from_seed(&[seed; 32].into());
                let message: Vec<u8> = (0..=255).cycle().take(usize::from(seed) * 37).collect();
                let context = std::vec![seed; usize::from(seed) * 11 % 256];
                let signature = secret.expanded_key().sign_deterministic(&message, &context).unwrap();
                let key = PreparedKey::new($level, &secret.verifying_key().encode()).unwrap();
                (key, message, context, signature.encode().to_vec())
            }

            fn theirs(key: &PreparedKey, message: &[u8], context: &[u8], signature: &[u8]) -> bool {
                let key = MLDSAVerificationKey::new(key.public_key().try_into().unwrap());
                let signature = MLDSASignature::new(signature.try_into().unwrap());
                their_verify(&key, message, context, &signature).is_ok()
            }
        }
    };
}

level_suite!(level_44, ml_dsa::MlDsa44, Level::MlDsa44, libcrux_ml_dsa::ml_dsa_44::verify);
level_suite!(level_65, ml_dsa::MlDsa65, Level::MlDsa65, libcrux_ml_dsa::ml_dsa_65::verify);
level_suite!(level_87, ml_dsa::MlDsa87, Level::MlDsa87, libcrux_ml_dsa::ml_dsa_87::verify);

#[test]
fn keys_of_the_wrong_length_are_refused() {
    for level in [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87] {
        let expected = level.public_key_bytes();
        for found in [0, expected - 1, expected + 1] {
            let error = PreparedKey::new(level, &std::vec![0; found]).unwrap_err();
            assert_eq!(error, KeyError::WrongLength { expected, found });
        }
    }
}

/// Marsaglia's generator: small, and the same on every host.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 40).unwrap() % bound
    }
}

const ROUNDS: u8 = 10;
