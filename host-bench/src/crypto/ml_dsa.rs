//! ML-DSA-87: signatures over 256 bytes, by one key.
//!
//! Rows that prepare the key have it ready; the others get its bytes, as their interface wants.

use std::cell::RefCell;

use aws_lc_rs::signature::{ML_DSA_87, ParsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fips204::ml_dsa_87 as fips;
use fips204::traits::{SerDes, Verifier};
use libcrux_ml_dsa::ml_dsa_87::{self as libcrux, MLDSA87Signature, MLDSA87VerificationKey};
use ml_dsa::{MlDsa87, Signature, SigningKey, VerifyingKey};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value as Json, json};
use wardgate_crypto::ml_dsa::{Level, PreparedKey, Question, verify_batch};

use super::versions::{AWS_LC, FIPS204, LIBCRUX, ML_DSA};
use super::{Entry, Work, bytes};
use crate::measure::Side;
use crate::report::Section;

/// Signed messages.
pub(super) struct Signed {
    key: Vec<u8>,
    /// Each message with its signature.
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Signed {
    /// Signs, with a library of others.
    pub(super) fn make() -> Result<Self, String> {
        let key = SigningKey::<MlDsa87>::from_seed(&SEED.into());
        let sign = |at| {
            let message = bytes(at, MESSAGE_BYTES);
            let signature = key.expanded_key().sign_deterministic(&message, b"");
            let signature = signature.map_err(|error| format!("{ML_DSA}: {error}"))?;
            Ok((message, signature.encode().to_vec()))
        };
        let pairs = (0..PAIRS).map(sign).collect::<Result<_, String>>()?;
        Ok(Self { key: key.as_ref().encode().to_vec(), pairs })
    }

    /// Returns a signature with one bit flipped.
    fn forged(&self) -> (&[u8], Vec<u8>) {
        let (message, signature) = self.pair(0);
        let mut forged = signature.to_vec();
        if let Some(byte) = forged.get_mut(1000) {
            *byte ^= 1;
        }
        (message, forged)
    }

    fn pair(&self, at: usize) -> (&[u8], &[u8]) {
        self.pairs.get(at % PAIRS).map_or((&[], &[]), |(message, signature)| (message, signature))
    }

    /// Makes a row that verifies one signature after the other.
    fn one_by_one<'a>(
        &'a self,
        name: &str,
        side: Side,
        verify: impl Fn(&[u8], &[u8]) -> bool + 'a,
    ) -> Result<Entry<'a>, String> {
        let (message, forged) = self.forged();
        if verify(message, &forged) {
            return Err(format!("{name}: accepts what is forged"));
        }
        Ok(Entry::new(name, side, move |at| {
            let (message, signature) = self.pair(at);
            verify(message, signature)
        }))
    }

    fn ours(&self) -> Result<Vec<Entry<'_>>, String> {
        let prepare = || PreparedKey::new(Level::MlDsa87, &self.key);
        let key = prepare().map_err(|error| error.to_string())?;
        let mut entries = vec![
            self.one_by_one("Wardgate, prepared key", Side::Ours, {
                let key = key.clone();
                move |message, signature| key.verify(message, b"", signature)
            })?,
            self.one_by_one("Wardgate, prepare and verify", Side::Ours, move |message, signed| {
                prepare().is_ok_and(|key| key.verify(message, b"", signed))
            })?,
        ];
        for size in BATCHES {
            entries.push(self.batch(&key, *size)?);
        }
        Ok(entries)
    }

    fn batch(&self, key: &PreparedKey, size: usize) -> Result<Entry<'_>, String> {
        let name = format!("Wardgate, batch of {size}");
        let (message, forged) = self.forged();
        let question = |message, signature| Question { key, message, context: b"", signature };
        let mut accepted = [true];
        verify_batch(&[question(message, &forged)], &mut accepted);
        if accepted == [true] {
            return Err(format!("{name}: accepts what is forged"));
        }
        let key = key.clone();
        let accepted = RefCell::new(vec![false; size]);
        let act = move |_| {
            let question =
                |(message, signature)| Question { key: &key, message, context: b"", signature };
            let questions: Vec<Question<'_>> =
                (0..size).map(|at| question(self.pair(at))).collect();
            let mut accepted = accepted.borrow_mut();
            verify_batch(&questions, &mut accepted);
            accepted.iter().all(|accepted| *accepted)
        };
        Ok(Entry::new(&name, Side::Ours, act).each_of(size))
    }

    fn ml_dsa(&self) -> Result<[Entry<'_>; 2], String> {
        let decode = || self.key.as_slice().try_into().map(VerifyingKey::<MlDsa87>::decode);
        let key = decode().map_err(|_| format!("{ML_DSA}: wrong length"))?;
        let verify = |key: &VerifyingKey<MlDsa87>, message: &[u8], signature: &[u8]| {
            let signature = Signature::try_from(signature);
            signature.is_ok_and(|signature| key.verify_with_context(message, b"", &signature))
        };
        let (prepared, cold) = (format!("{ML_DSA}, prepared key"), format!("{ML_DSA}, from bytes"));
        Ok([
            self.one_by_one(&prepared, Side::Rival, move |message, signature| {
                verify(&key, message, signature)
            })?,
            self.one_by_one(&cold, Side::Rival, move |message, signature| {
                decode().is_ok_and(|key| verify(&key, message, signature))
            })?,
        ])
    }

    fn libcrux(&self) -> Result<Entry<'_>, String> {
        let key = self.key.as_slice().try_into().map(MLDSA87VerificationKey::new);
        let key = key.map_err(|_| format!("{LIBCRUX}: wrong length"))?;
        self.one_by_one(LIBCRUX, Side::Rival, move |message, signature| {
            let signature = signature.try_into().map(MLDSA87Signature::new);
            signature.is_ok_and(|signature| libcrux::verify(&key, message, b"", &signature).is_ok())
        })
    }

    fn fips204(&self) -> Result<Entry<'_>, String> {
        let key = self.key.as_slice().try_into().map(fips::PublicKey::try_from_bytes);
        let key = key.map_err(|_| format!("{FIPS204}: wrong length"))??;
        self.one_by_one(FIPS204, Side::Rival, move |message, signature| {
            signature.try_into().is_ok_and(|signature| key.verify(message, signature, b""))
        })
    }

    fn aws_lc(&self) -> Result<[Entry<'_>; 2], String> {
        let parse = || {
            let key = ParsedPublicKey::new(&ML_DSA_87, &self.key);
            key.map_err(|error| format!("{AWS_LC}: {error}"))
        };
        let (one, all) = (parse()?, parse()?);
        let name = format!("all cores, batch of {PAIRS}: {AWS_LC}");
        let batch = Entry::new(&name, Side::Rival, move |_| {
            self.pairs
                .par_iter()
                .all(|(message, signature)| all.verify_sig(message, signature).is_ok())
        });
        let one = self.one_by_one(AWS_LC, Side::Rival, move |message, signature| {
            one.verify_sig(message, signature).is_ok()
        })?;
        Ok([one, batch.each_of(PAIRS)])
    }
}

impl Work for Signed {
    fn section(&self) -> Section {
        Section::new("crypto-ml-dsa-87", "ML-DSA-87: verifying a signature over 256 bytes", NOTE)
    }

    fn rows(&self) -> Result<Vec<Entry<'_>>, String> {
        let mut entries = self.ours()?;
        entries.extend(self.ml_dsa()?);
        entries.extend([self.libcrux()?, self.fips204()?]);
        entries.extend(self.aws_lc()?);
        Ok(entries)
    }

    fn job(&self) -> Json {
        let pair = |(message, signature): &(Vec<u8>, Vec<u8>)| {
            json!([STANDARD.encode(message), STANDARD.encode(signature)])
        };
        json!({
            "work": "ml-dsa",
            "key": STANDARD.encode(&self.key),
            "pairs": self.pairs.iter().map(pair).collect::<Vec<_>>(),
            "forged": STANDARD.encode(self.forged().1),
            "names": { "mlDsa": ML_DSA, "libcrux": LIBCRUX },
        })
    }
}

const NOTE: &str = "The time of a batch is divided by its signatures. Batches of more than eight run on all \
    cores, everything else on one.";
const SEED: [u8; 32] = [87; 32];
const MESSAGE_BYTES: usize = 256;
const PAIRS: usize = 128;
const BATCHES: &[usize] = &[8, 32, 64, PAIRS];
