//! The reasons for refusing bytes.
//!
//! Every refusal has a name of its own and a stable code. Messages are for the operator: they state
//! the expected and the found value, and contain no content of the bundle except its name and names of keys.

use core::fmt;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::Flaw;

use crate::format::VERSION;
use crate::key_id::KeyId;
use crate::limits::MAX_SIGNATURES;
use crate::short_name::ShortName;

/// Declares the refusals; each row ends with the stable name for programs.
macro_rules! refusals {
    ($(
        $(#[$doc:meta])*
        $name:ident $(($inner:ty))? $({ $($(#[$of_field:meta])* $field:ident: $type:ty,)+ })?
            = $code:literal;
    )+) => {
        /// The reason for refusing a bundle.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum OpenError {
            $($(#[$doc])* $name $(($inner))? $({ $($(#[$of_field])* $field: $type,)+ })?,)+
        }

        impl OpenError {
            /// The stable names of all refusals.
            pub const CODES: &[&str] = &[$($code,)+];

            /// Returns a stable name for programs.
            #[must_use]
            pub const fn code(&self) -> &'static str {
                match self { $(Self::$name { .. } => $code,)+ }
            }
        }
    };
}

refusals! {
    /// The bytes are no bundle.
    NotABundle = "not-a-bundle";
    /// The container has a version that this program does not know.
    UnsupportedVersion {
        /// The version found.
        found: u32,
    } = "unsupported-version";
    /// The container has a kind that this program does not know.
    UnsupportedKind {
        /// The kind found.
        found: u32,
    } = "unsupported-kind";
    /// The bundle is sealed and must be unsealed first.
    Sealed = "sealed";
    /// The bytes passed to unseal are not sealed.
    NotSealed = "not-sealed";
    /// The bytes are a delta and must be applied to its base first.
    Delta = "delta";
    /// The bytes passed to apply are no delta.
    NotADelta = "not-a-delta";
    /// The bundle is larger than the host accepts.
    TooLarge {
        /// The length of the bundle in bytes.
        bytes: usize,
        /// The largest length that is accepted.
        most: usize,
    } = "too-large";
    /// The lengths in the prefix differ from those of the bytes that follow.
    WrongLength {
        /// The number of bytes that the prefix announces.
        expected: u64,
        /// The number of bytes found.
        found: u64,
    } = "wrong-length";
    /// A digest differs from that of the bytes it covers.
    WrongDigest = "wrong-digest";
    /// The list of chunks is malformed.
    MalformedIndex = "malformed-index";
    /// A chunk does not decompress to its stated length, or the words of the table are malformed.
    MalformedContent = "malformed-content";
    /// The envelope is not the required COSE structure, byte for byte.
    MalformedEnvelope = "malformed-envelope";
    /// The bundle has more signatures than are verified.
    TooManySignatures {
        /// The number of signatures found.
        found: u64,
    } = "too-many-signatures";
    /// The bundle carries no signature.
    NotSigned = "not-signed";
    /// No signature is by a trusted key.
    UnknownSigner = "unknown-signer";
    /// A signature names a trusted key and another algorithm than that of the key.
    WrongAlgorithm {
        /// The key that the signature names.
        key: KeyId,
    } = "wrong-algorithm";
    /// A signature that names a trusted key is not by it, or not over this bundle.
    WrongSignature {
        /// The key that the signature names.
        key: KeyId,
    } = "wrong-signature";
    /// A key that must have signed did not.
    MissingSigner {
        /// The key.
        key: KeyId,
    } = "missing-signer";
    /// Fewer trusted keys have signed than the quorum requires.
    TooFewSigners {
        /// The number of keys that must sign.
        expected: usize,
        /// The number of trusted keys that signed.
        found: usize,
    } = "too-few-signers";
    /// The header is malformed.
    MalformedHeader = "malformed-header";
    /// The bundle has dates, and the host passed no time.
    TimeRequired = "time-required";
    /// The bundle is not valid yet.
    NotYetValid {
        /// The time from which it may be opened, in seconds since 1970.
        not_before: u64,
        /// The time of the host.
        now: u64,
    } = "not-yet-valid";
    /// The bundle has expired.
    Expired {
        /// The time from which it is no longer opened, in seconds since 1970.
        expires: u64,
        /// The time of the host.
        now: u64,
    } = "expired";
    /// The bundle has another name than the host expects.
    WrongName {
        /// The name that the host expects.
        expected: ShortName,
        /// The name of the bundle.
        found: ShortName,
    } = "wrong-name";
    /// The revision is lower than the host accepts.
    OldRevision {
        /// The lowest revision that is accepted.
        expected: u64,
        /// The revision found.
        found: u64,
    } = "old-revision";
    /// The text is not UTF-8.
    NotText = "not-text";
    /// The table inside is malformed.
    Malformed(Flaw) = "malformed";
    /// The rules of SPOCP inside are malformed.
    MalformedRules = "malformed-rules";
    /// The header states another mode of evaluation than the table.
    WrongEvaluation = "wrong-evaluation";
    /// The sealed structure is not the required one, byte for byte.
    MalformedSeal = "malformed-seal";
    /// The sealed text was changed, or sealed with another key.
    Forged = "forged";
    /// The delta is for another base than the one given.
    WrongBase {
        /// The revision that the delta is for.
        expected: u64,
        /// The revision of the base.
        found: u64,
    } = "wrong-base";
}

impl OpenError {
    /// Returns the message of a refusal without fields.
    const fn plain(&self) -> &'static str {
        match self {
            Self::NotABundle => "these bytes are not a bundle",
            Self::Sealed => "the bundle is sealed, and must be unsealed first",
            Self::NotSealed => "the bundle is not sealed",
            Self::Delta => "this is a delta, and must be applied to its base first",
            Self::NotADelta => "these bytes are not a delta",
            Self::WrongDigest => "the digest does not fit the content",
            Self::MalformedIndex => "the list of chunks is malformed",
            Self::MalformedContent => "a part of the table is malformed",
            Self::MalformedEnvelope => "the envelope is malformed",
            Self::NotSigned => "the bundle is not signed",
            Self::UnknownSigner => "no signature is by a trusted key",
            Self::MalformedHeader => "the header is malformed",
            Self::TimeRequired => {
                "the bundle has a validity period, and no time was given to check it"
            }
            Self::NotText => "the text of the bundle is not UTF-8",
            Self::MalformedRules => "the rules of the bundle are malformed",
            Self::WrongEvaluation => "header and table disagree about the mode of evaluation",
            Self::MalformedSeal => "the sealed bundle is malformed",
            Self::Forged => "the sealed bundle was changed, or sealed with another key",
            _ => "",
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedVersion { found } => {
                write!(f, "bundle version {found} is not supported, expected {VERSION}")
            }
            Self::UnsupportedKind { found } => write!(f, "unknown kind of bundle {found}"),
            Self::TooLarge { bytes, most } => {
                write!(f, "the bundle has {bytes} bytes, at most {most} are accepted")
            }
            Self::WrongLength { expected, found } => {
                write!(f, "the bundle announces {expected} bytes, found {found}")
            }
            Self::TooManySignatures { found } => {
                write!(
                    f,
                    "the bundle has {found} signatures, at most {MAX_SIGNATURES} are verified"
                )
            }
            Self::WrongAlgorithm { key } => {
                write!(f, "the signature of `{key}` is of another algorithm than the key")
            }
            Self::WrongSignature { key } => write!(f, "the signature of `{key}` is wrong"),
            Self::MissingSigner { key } => {
                write!(f, "the required signature by `{key}` is missing")
            }
            Self::TooFewSigners { expected, found } => {
                write!(f, "expected {expected} trusted signers, found {found}")
            }
            Self::NotYetValid { not_before, now } => {
                let (begin, now) = (Time(*not_before), Time(*now));
                write!(f, "the bundle is valid from {begin} on, and it is {now}")
            }
            Self::Expired { expires, now } => {
                let (end, now) = (Time(*expires), Time(*now));
                write!(f, "the bundle expired at {end}, and it is {now}")
            }
            Self::OldRevision { expected, found } => {
                write!(f, "expected revision {expected} or later, found {found}")
            }
            Self::WrongName { expected, found } if found.is_empty() => {
                write!(f, "the bundle has no name, expected `{expected}`")
            }
            Self::WrongName { expected, found } => {
                write!(f, "the bundle is called `{found}`, expected `{expected}`")
            }
            #[cfg(feature = "ratelimit")]
            Self::Malformed(Flaw::HasLimits) => {
                f.write_str("the policies have rate limits, which this host does not enforce")
            }
            Self::Malformed(flaw) => write!(f, "the policy table is malformed: {flaw}"),
            Self::WrongBase { expected, found } if expected == found => {
                write!(f, "the delta is for another bundle of revision {found} than this one")
            }
            Self::WrongBase { expected, found } => write!(
                f,
                "the delta is for another base: expected revision {expected}, found {found}"
            ),
            plain => f.write_str(plain.plain()),
        }
    }
}

impl core::error::Error for OpenError {}

/// Seconds since 1970, formatted as a date and time if they are one.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = i64::try_from(self.0).ok().and_then(|seconds| Timestamp::new(seconds, 0));
        match time {
            Some(time) => time.fmt(f),
            None => write!(f, "{} seconds after 1970", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn messages_state_times_and_revisions() {
        let check = |error: OpenError, expected: &str| assert_eq!(error.to_string(), expected);
        check(
            OpenError::Expired { expires: 1_609_459_200, now: u64::MAX },
            "the bundle expired at 2021-01-01T00:00:00Z, and it is 18446744073709551615 seconds after 1970",
        );
        check(
            OpenError::NotYetValid { not_before: 1_609_459_200, now: 0 },
            "the bundle is valid from 2021-01-01T00:00:00Z on, and it is 1970-01-01T00:00:00Z",
        );
        check(
            OpenError::WrongBase { expected: 1, found: 2 },
            "the delta is for another base: expected revision 1, found 2",
        );
        check(
            OpenError::WrongBase { expected: 1, found: 1 },
            "the delta is for another bundle of revision 1 than this one",
        );
    }
}
