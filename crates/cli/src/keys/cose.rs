//! Keys as COSE_Key (RFC 9052, section 7) with the key type AKP of RFC 9964: read, never written.

use minicbor::Decoder;
use minicbor::data::Type;
use minicbor::decode::Error;
use wardgate_bundle::{KeyId, Level};
use zeroize::Zeroizing;

use super::{Key, jwk};

/// Reads a key.
pub(super) fn read(bytes: &[u8]) -> Result<Key, String> {
    let found = members(bytes)
        .map_err(|_| "expected a JSON Web Key, or a COSE_Key in definite lengths".to_owned())?;
    if found.kind != Some(AKP) {
        return Err("expected a COSE_Key of the type 7, AKP".to_owned());
    }
    let level = match found.algorithm {
        Some(-48) => Level::MlDsa44,
        Some(-49) => Level::MlDsa65,
        Some(-50) => Level::MlDsa87,
        _ => return Err("expected the algorithm -48, -49 or -50, which are ML-DSA".to_owned()),
    };
    let id = found.id.map(|id| KeyId::new(id).ok_or("the id of a key must have 1 to 64 bytes"));
    let id = id.transpose()?;
    match (found.private, found.public) {
        (Some(seed), public) => {
            let seed = seed.try_into().map_err(|_| "the private key must have 32 bytes")?;
            jwk::private(level, Zeroizing::new(seed), id, public)
        }
        (None, Some(public)) => jwk::verifying(level, public.to_vec(), id),
        (None, None) => Err("the public key is missing".to_owned()),
    }
}

#[derive(Default)]
struct Members<'b> {
    kind: Option<i64>,
    algorithm: Option<i64>,
    id: Option<&'b [u8]>,
    public: Option<&'b [u8]>,
    private: Option<&'b [u8]>,
}

fn members(bytes: &[u8]) -> Result<Members<'_>, Error> {
    let mut cbor = Decoder::new(bytes);
    let mut members = Members::default();
    let count = cbor.map()?.filter(|count| *count <= MOST).ok_or_else(wrong)?;
    for _ in 0..count {
        // Labels may be texts too; none of those has a meaning here.
        let label = match cbor.datatype()? {
            Type::String => cbor.str().map(|_| None)?,
            _ => Some(cbor.i64()?),
        };
        let fresh = match label {
            Some(KIND) => members.kind.replace(cbor.i64()?).is_none(),
            Some(ALGORITHM) => members.algorithm.replace(cbor.i64()?).is_none(),
            Some(ID) => members.id.replace(cbor.bytes()?).is_none(),
            Some(PUBLIC) => members.public.replace(cbor.bytes()?).is_none(),
            Some(PRIVATE) => members.private.replace(cbor.bytes()?).is_none(),
            _ => cbor.skip().map(|()| true)?,
        };
        if !fresh {
            return Err(wrong());
        }
    }
    if cbor.position() == bytes.len() { Ok(members) } else { Err(wrong()) }
}

fn wrong() -> Error {
    Error::message("")
}

const AKP: i64 = 7;
const MOST: u64 = 64;

const KIND: i64 = 1;
const ID: i64 = 2;
const ALGORITHM: i64 = 3;
const PUBLIC: i64 = -1;
const PRIVATE: i64 = -2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::PrivateKey;

    /// Writes a key with an id, and perhaps members of other meanings.
    fn written(public: Option<&[u8]>, private: Option<&[u8]>, extra: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut cbor = minicbor::Encoder::new(&mut bytes);
        let halves = u64::from(public.is_some()) + u64::from(private.is_some());
        cbor.map(3 + halves + 2 * u64::from(extra)).unwrap();
        cbor.u8(1).unwrap().u8(7).unwrap().u8(2).unwrap().bytes(b"release").unwrap();
        cbor.u8(3).unwrap().i8(-48).unwrap();
        if let Some(public) = public {
            cbor.i8(-1).unwrap().bytes(public).unwrap();
        }
        if let Some(private) = private {
            cbor.i8(-2).unwrap().bytes(private).unwrap();
        }
        if extra {
            cbor.str("note").unwrap().bool(true).unwrap().u8(4).unwrap().array(0).unwrap();
        }
        bytes
    }

    #[test]
    fn both_halves_and_each_of_them_are_read() {
        let key = PrivateKey::from_seed(Level::MlDsa44, Zeroizing::new([7; 32]), None);
        let (public, seed) = (key.public.bytes.as_slice(), [7; 32]);
        let check = |bytes: &[u8], expected: &str| {
            let found = read(bytes).map_or_else(|why| why, |key| key.what().to_owned());
            assert_eq!(found, expected);
        };
        check(&written(Some(public), None, false), "a public key");
        check(&written(Some(public), Some(&seed), true), "a private key");
        check(&written(None, Some(&seed), false), "a private key");
        check(&written(None, None, true), "the public key is missing");
        check(&written(None, Some(&seed[1..]), false), "the private key must have 32 bytes");
        let mixed = "its private and its public half do not belong together";
        check(&written(Some(public), Some(&[8; 32]), false), mixed);
        let (long, none) = (written(Some(public), None, false), b"key".as_slice());
        let malformed = "expected a JSON Web Key, or a COSE_Key in definite lengths";
        check(none, malformed);
        check(&[long.as_slice(), none].concat(), malformed);
        check(long.get(..100).unwrap(), malformed);
    }
}
