//! Tokens for the pages of a search.
//!
//! A token holds the position of the next page. It is valid for one search of one caller, for an
//! hour, and carries a MAC: a token that was changed or taken from another caller is refused. It
//! holds no secret.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base64ct::{Base64UrlUnpadded, Encoding};
use subtle::ConstantTimeEq;
use wardgate_crypto::blake3;
use wardgate_native::protocol::authzen::Search;

use crate::files::secret;

/// Writes and reads tokens with a key of its own.
pub(crate) struct PageTokens {
    key: [u8; 32],
}

/// The payload of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PagePosition {
    pub(crate) from: usize,
    pub(crate) limit: u64,
}

impl PageTokens {
    /// Takes the secret of a file into use. Servers that serve the same callers must share it.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let bytes = secret(path)?;
        let secret = bytes.trim_ascii();
        if secret.len() < 32 {
            return Err(format!("`{}` must hold at least 32 bytes", path.display()));
        }
        Ok(Self { key: blake3::derive_key("wardgate 2026 tokens of pages", secret) })
    }

    /// Returns the token for the page of this search that begins at a place.
    pub(crate) fn write(&self, search: &Search, caller: &str, position: PagePosition) -> String {
        let numbers = [
            u32::try_from(position.from).unwrap_or(u32::MAX),
            u32::try_from(position.limit).unwrap_or(u32::MAX),
            u32::try_from(now() + LIFETIME).unwrap_or(u32::MAX),
        ];
        let payload: Vec<u8> = numbers.into_iter().flat_map(u32::to_be_bytes).collect();
        let mac = self.mac(&payload, search, caller);
        Base64UrlUnpadded::encode_string(&[payload.as_slice(), &mac].concat())
    }

    /// Returns the place that a token means, for the same search by the same caller.
    pub(crate) fn position(
        &self,
        token: &str,
        search: &Search,
        caller: &str,
    ) -> Result<PagePosition, &'static str> {
        let token = Some(token).filter(|token| token.len() <= MAX_TOKEN_BYTES).ok_or(REFUSED)?;
        let bytes = Base64UrlUnpadded::decode_vec(token).map_err(|_| REFUSED)?;
        let (payload, mac) = bytes.split_at_checked(PAYLOAD_BYTES).ok_or(REFUSED)?;
        if !bool::from(self.mac(payload, search, caller).ct_eq(mac)) {
            return Err(REFUSED);
        }
        let (numbers, _) = payload.as_chunks::<4>();
        let [from, limit, end] = numbers else { return Err(REFUSED) };
        if u64::from(u32::from_be_bytes(*end)) <= now() {
            return Err("`page.token` has expired: search again");
        }
        let limit = u64::from(u32::from_be_bytes(*limit));
        let requested = search.page.as_ref().and_then(|page| page.limit);
        if requested.is_some_and(|requested| requested.min(u64::from(u32::MAX)) != limit) {
            return Err(REFUSED);
        }
        let from = usize::try_from(u32::from_be_bytes(*from)).map_err(|_| REFUSED)?;
        Ok(PagePosition { from, limit })
    }

    /// Returns the MAC over the payload, the identity of the caller, and the search with the
    /// properties of its page: members in the order of their names, so that two spellings of one
    /// search are one. The token of a page cannot hold itself, and its limit is in the payload.
    fn mac(&self, payload: &[u8], search: &Search, caller: &str) -> [u8; 32] {
        let Search { search_kind, subject, action, resource, context, candidates, page } = search;
        let properties =
            page.as_ref().map(|page| &page.properties).filter(|all| !all.entries().is_empty());
        let whole = (search_kind, subject, action, resource, context, candidates, properties);
        let search = blake3::hash(format!("{caller:?} {whole:?}").as_bytes());
        blake3::keyed(&self.key, &[payload, &search].concat())
    }
}

impl std::fmt::Debug for PageTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

const REFUSED: &str = "`page.token` is not a token for this search";

/// Seconds.
const LIFETIME: u64 = 3600;
const PAYLOAD_BYTES: usize = 12;
const MAX_TOKEN_BYTES: usize = 64;
