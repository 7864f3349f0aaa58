//! Verification is compared with other implementations, on valid and on changed signatures, and
//! with the oracle on all others.

#![expect(clippy::as_conversions, reason = "integers below 2^53 become doubles")]

use super::*;
use std::vec::Vec;

use fastrand::Rng;
use libcrux_ml_dsa::{MLDSASignature, MLDSAVerificationKey};
use ml_dsa::signature::Keypair;
use wardgate_simd::test_every_tier;

macro_rules! level_suite {
    ($name:ident, $set:ty, $level:expr, $others:path) => {
        mod $name {
            use super::*;
            use $others as their_verify;

            #[test]
            fn accepts_valid_signatures() {
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
                let mut random = Rng::with_seed(7);
                for _ in 0..20 * ROUNDS {
                    let mut bytes = signature.clone();
                    let bit = below(&mut random, bytes.len() * 8);
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
                for length in 0..19 {
                    let mut accepted = [true; 21];
                    verify_batch(&questions[..length], &mut accepted);
                    let expected = |index| index < length && ![5, 6, 11, 12].contains(&index);
                    assert_eq!(accepted, core::array::from_fn(expected), "{length} questions");
                    verify_batch(&questions, &mut accepted[..length]);
                    assert_eq!(accepted, core::array::from_fn(expected), "{length} places");
                }
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

test_every_tier! {
    commitments_agree_with_the_oracle => commitments;
    high_bits_agree_with_the_oracle => high_bits;
}

fn commitments<T: Tier>(tier: T) {
    for level in LEVELS {
        commitments_agree(tier, level);
    }
}

fn high_bits<T: Tier>(tier: T) {
    for level in LEVELS {
        high_bits_agree(tier, level);
    }
}

/// Compares random keys and signatures, with coefficients at the bound and hints at the edges.
fn commitments_agree<T: Tier>(tier: T, level: Level) {
    // With this seed some commitments of every level are refused.
    let mut random = Rng::with_seed(2);
    let mut kinds = [0; 2];
    for round in 0..ROUNDS {
        let key: Vec<u8> = random_bytes(&mut random, level.public_key_bytes());
        let signature = random_signature(level, round, &mut random);
        let key = PreparedKey::new(level, &key).unwrap();
        let expected = oracle::commitment(level, key.public_key(), &signature);
        let found = Signature::decode(level, &signature)
            .and_then(|signature| verify::commitment(tier, &key, signature));
        assert_eq!(found, expected, "round {round} of {level:?}");
        kinds[usize::from(found.is_some())] += 1;
    }
    assert!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
}

/// Returns a random signature. Coefficients of the response are small in most rounds, so that most
/// are within the bound.
fn random_signature(level: Level, round: u8, random: &mut Rng) -> Vec<u8> {
    let set = level.parameters();
    let mut signature = random_bytes(random, level.signature_bytes());
    let hints = signature.len() - set.max_hints - set.rows;
    let (gamma1, limit) = (u64::from(set.response_range()), u64::from(set.response_limit()));
    let mut bits = 8 * set.challenge_bytes;
    while bits < 8 * hints {
        let magnitude = match random.u8(..40) {
            0 => limit,
            1 if round % 4 == 3 && random.u8(..64) == 0 => limit + 1,
            _ => random.u64(..limit),
        };
        let packed = if random.bool() { gamma1 - magnitude } else { gamma1 + magnitude };
        for bit in 0..set.response_bits {
            let (byte, position) = (bits / 8, bits % 8);
            let value = u8::from(packed >> bit & 1 == 1);
            signature[byte] = signature[byte] & !(1 << position) | value << position;
            bits += 1;
        }
    }
    random_hints(&mut signature[hints..], set.max_hints, random);
    signature
}

/// Writes positions that rise within each polynomial, the first and the last coefficient among
/// them.
fn random_hints(hints: &mut [u8], most: usize, random: &mut Rng) {
    let (positions, ends) = hints.split_at_mut(most);
    positions.fill(0);
    let (mut used, share) = (0, most / ends.len());
    for end in ends {
        let mut own: Vec<u8> = (0..below(random, share + 1)).map(|_| random.u8(..)).collect();
        if own.len() + 2 <= share {
            own.extend([0, 255]);
        }
        own.sort_unstable();
        own.dedup();
        positions[used..used + own.len()].copy_from_slice(&own);
        used += own.len();
        *end = u8::try_from(used).unwrap();
    }
}

/// Compares every value near a middle between two high parts, and near the ends.
fn high_bits_agree<T: Tier>(tier: T, level: Level) {
    let set = level.parameters();
    let width = i64::from(set.low_range);
    let near = |middle: i64| (middle - 2..=middle + 2).collect::<Vec<_>>();
    let values: Vec<i64> = (0..=2 * i64::from(set.high_values()))
        .flat_map(|steps| near(steps * width))
        .flat_map(|value| [value, -value, value - 8_380_417 * 5, value + 8_380_417 * 77])
        .collect();
    for values in values.chunks(256) {
        let mut rows = field::ZEROS;
        for (row, value) in rows.iter_mut().zip(values) {
            row.0 = [*value as f64; 8];
        }
        let mut packed = [0; level::MAX_HIGH_BYTES];
        commitment::pack(tier, &set, &rows, &mut packed);
        compare(level, values, &packed, false);
        for position in 0..values.len() {
            let position = u8::try_from(position).unwrap();
            (0..set.rows)
                .for_each(|row| commitment::use_hint(&set, (row, position), &rows, &mut packed));
        }
        compare(level, values, &packed, true);
    }
}

fn compare(level: Level, values: &[i64], packed: &[u8], hint: bool) {
    let set = level.parameters();
    for (row, own) in packed.chunks(set.high_bytes()).take(set.rows).enumerate() {
        let found = oracle::bits(own, usize::try_from(set.high_bits()).unwrap());
        for (value, found) in values.iter().zip(found) {
            let expected = oracle::use_hint_of(level, hint, *value);
            assert_eq!(found, expected, "{value} in row {row} of {level:?}, hint {hint}");
        }
    }
}

const LEVELS: [Level; 3] = [Level::MlDsa44, Level::MlDsa65, Level::MlDsa87];

#[test]
fn keys_of_the_wrong_length_are_refused() {
    for level in LEVELS {
        let expected = level.public_key_bytes();
        for found in [0, expected - 1, expected + 1] {
            let error = PreparedKey::new(level, &std::vec![0; found]).unwrap_err();
            assert_eq!(error, KeyError::WrongLength { expected, found });
        }
    }
}

/// Returns a number below `bound`, the same on hosts with 32 and with 64 bits.
fn below(random: &mut Rng, bound: usize) -> usize {
    usize::try_from(random.u64(..u64::try_from(bound).unwrap())).unwrap()
}

fn random_bytes(random: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.u8(..)).collect()
}

const ROUNDS: u8 = 10;
