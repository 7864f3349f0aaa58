//! The rivals, each called as its documentation has it.

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};

use super::{ASSOCIATED, Cipher, KEY, NONCE, Tag};
use crate::crypto::versions::{AWS_LC, CHACHA20POLY1305, RING};

/// A cipher by its name in the report.
type Named = (String, Box<dyn Cipher>);

/// Returns the rivals with the cipher of our format.
pub(super) fn chacha() -> Result<Vec<Named>, String> {
    let name = |library: &str| format!("{library} ChaCha20-Poly1305");
    Ok(vec![
        (CHACHA20POLY1305.to_owned(), Box::new(chacha20poly1305())),
        (name(RING), Box::new(Ring::new(&ring::aead::CHACHA20_POLY1305)?)),
        (name(AWS_LC), Box::new(AwsLc::new(&aws_lc_rs::aead::CHACHA20_POLY1305)?)),
        #[cfg(feature = "openssl")]
        (name(&super::super::versions::openssl()), Box::new(openssl::chacha())),
    ])
}

/// Returns the rivals with the cipher that processors have instructions for.
pub(super) fn aes() -> Result<Vec<Named>, String> {
    let name = |library: &str| format!("{library} AES-256-GCM");
    Ok(vec![
        (name(RING), expected_aes()?),
        (name(AWS_LC), Box::new(AwsLc::new(&aws_lc_rs::aead::AES_256_GCM)?)),
        #[cfg(feature = "openssl")]
        (name(&super::super::versions::openssl()), Box::new(openssl::aes())),
    ])
}

/// Returns the one whose tags are the reference of the others.
pub(super) fn expected_aes() -> Result<Box<dyn Cipher>, String> {
    Ok(Box::new(Ring::new(&ring::aead::AES_256_GCM)?))
}

/// Returns the one whose tags are the reference of all others.
pub(super) fn chacha20poly1305() -> impl Cipher {
    ChaCha20Poly1305::new(&KEY.into())
}

impl Cipher for ChaCha20Poly1305 {
    fn seal(&self, text: &mut [u8]) -> Option<Tag> {
        let tag = self.encrypt_inout_detached(&NONCE.into(), ASSOCIATED, text.into());
        tag.ok().map(Into::into)
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
        self.decrypt_inout_detached(&NONCE.into(), ASSOCIATED, text.into(), tag.into()).is_ok()
    }
}

/// `ring`.
struct Ring(ring::aead::LessSafeKey);

impl Ring {
    fn new(algorithm: &'static ring::aead::Algorithm) -> Result<Self, String> {
        let key = ring::aead::UnboundKey::new(algorithm, &KEY);
        Ok(Self(ring::aead::LessSafeKey::new(key.map_err(|error| format!("{RING}: {error}"))?)))
    }

    fn nonce() -> ring::aead::Nonce {
        ring::aead::Nonce::assume_unique_for_key(NONCE)
    }
}

impl Cipher for Ring {
    fn seal(&self, text: &mut [u8]) -> Option<Tag> {
        let associated = ring::aead::Aad::from(ASSOCIATED);
        let tag = self.0.seal_in_place_separate_tag(Self::nonce(), associated, text).ok()?;
        tag.as_ref().try_into().ok()
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
        let associated = ring::aead::Aad::from(ASSOCIATED);
        let tag = ring::aead::Tag::from(*tag);
        self.0.open_in_place_separate_tag(Self::nonce(), associated, tag, text, 0..).is_ok()
    }
}

/// `aws-lc-rs`, whose interface is that of `ring`.
struct AwsLc(aws_lc_rs::aead::LessSafeKey);

impl AwsLc {
    fn new(algorithm: &'static aws_lc_rs::aead::Algorithm) -> Result<Self, String> {
        let key = aws_lc_rs::aead::UnboundKey::new(algorithm, &KEY);
        let key = key.map_err(|error| format!("{AWS_LC}: {error}"))?;
        Ok(Self(aws_lc_rs::aead::LessSafeKey::new(key)))
    }

    fn nonce() -> aws_lc_rs::aead::Nonce {
        aws_lc_rs::aead::Nonce::assume_unique_for_key(NONCE)
    }
}

impl Cipher for AwsLc {
    fn seal(&self, text: &mut [u8]) -> Option<Tag> {
        let associated = aws_lc_rs::aead::Aad::from(ASSOCIATED);
        let tag = self.0.seal_in_place_separate_tag(Self::nonce(), associated, text).ok()?;
        tag.as_ref().try_into().ok()
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
        let associated = aws_lc_rs::aead::Aad::from(ASSOCIATED);
        self.0.open_in_place_separate_tag(Self::nonce(), associated, tag, text).is_ok()
    }
}

#[cfg(feature = "openssl")]
mod openssl {
    //! OpenSSL of the system: one context for all calls, with the key set once.

    use std::cell::RefCell;

    use ::openssl::cipher::{Cipher as Kind, CipherRef};
    use ::openssl::cipher_ctx::CipherCtx;
    use ::openssl::error::ErrorStack;

    use super::super::{ASSOCIATED, Cipher, KEY, NONCE, Tag};

    pub(super) fn chacha() -> impl Cipher {
        OpenSsl::new(Kind::chacha20_poly1305())
    }

    pub(super) fn aes() -> impl Cipher {
        OpenSsl::new(Kind::aes_256_gcm())
    }

    struct OpenSsl {
        seals: Context,
        opens: Context,
    }

    /// A context that has its key; `None` where OpenSSL gave none.
    type Context = RefCell<Option<CipherCtx>>;

    impl OpenSsl {
        fn new(kind: &CipherRef) -> Self {
            let seals = context(|context| context.encrypt_init(Some(kind), Some(&KEY), None));
            let opens = context(|context| context.decrypt_init(Some(kind), Some(&KEY), None));
            Self { seals, opens }
        }
    }

    impl Cipher for OpenSsl {
        fn seal(&self, text: &mut [u8]) -> Option<Tag> {
            sealed(self.seals.borrow_mut().as_mut()?, text).ok()
        }

        fn open(&self, text: &mut [u8], tag: &Tag) -> bool {
            let mut context = self.opens.borrow_mut();
            context.as_mut().is_some_and(|context| opened(context, text, tag).is_ok())
        }
    }

    fn context(init: impl FnOnce(&mut CipherCtx) -> Result<(), ErrorStack>) -> Context {
        let ready = CipherCtx::new().and_then(|mut context| init(&mut context).map(|()| context));
        RefCell::new(ready.ok())
    }

    fn sealed(context: &mut CipherCtx, text: &mut [u8]) -> Result<Tag, ErrorStack> {
        context.encrypt_init(None, None, Some(&NONCE))?;
        context.cipher_update(ASSOCIATED, None)?;
        context.cipher_update_inplace(text, text.len())?;
        context.cipher_final(&mut [])?;
        let mut tag = Tag::default();
        context.tag(&mut tag)?;
        Ok(tag)
    }

    fn opened(context: &mut CipherCtx, text: &mut [u8], tag: &Tag) -> Result<(), ErrorStack> {
        context.decrypt_init(None, None, Some(&NONCE))?;
        context.set_tag(tag)?;
        context.cipher_update(ASSOCIATED, None)?;
        context.cipher_update_inplace(text, text.len())?;
        context.cipher_final(&mut []).map(drop)
    }
}
