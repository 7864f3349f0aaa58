//! The replies of the protocol, byte for byte.
//!
//! Codes and texts are those of appendix A of draft-hedberg-spocp-00, in the frame of
//! draft-hedberg-spocp-tcp-00: `9:3:2002:Ok`. Where section 4 of the draft and its appendix name
//! different codes, the appendix holds.

use super::codec;

/// Declares the replies and their bytes on the wire.
macro_rules! replies {
    ($($(#[$doc:meta])* $name:ident = $bytes:literal,)*) => {
        /// A reply of a code and its text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reply { $($(#[$doc])* $name,)* }

        impl Reply {
            /// Every reply.
            pub const ALL: [Self; [$(Self::$name,)*].len()] = [$(Self::$name,)*];

            /// Returns the bytes of the reply on the wire.
            #[must_use]
            pub const fn bytes(self) -> &'static [u8] {
                match self { $(Self::$name => $bytes,)* }
            }
        }
    };
}

replies! {
    /// 200: done.
    Ok = b"9:3:2002:Ok",
    /// 202: no rule allows the query.
    Denied = b"13:3:2026:Denied",
    /// 203: the connection ends because the client wants it.
    Bye = b"10:3:2033:Bye",
    /// 204: all changes of the transaction are made.
    TransactionComplete = b"28:3:20420:Transaction complete",
    /// 301: the mechanism needs another token. The text is its challenge, which is empty here.
    AuthenticationInProgress = b"5:3:301",
    /// 400: the message or an expression in it is malformed.
    SyntaxError = b"20:3:40012:Syntax error",
    /// 401: the connection is encrypted already.
    AlreadyInOperation = b"28:3:40120:Already in operation",
    /// 402: the command takes fewer arguments.
    TooManyArguments = b"26:3:40218:Too many arguments",
    /// 404: only for administrators, or only for clients that may query.
    AccessDenied = b"21:3:40413:Access denied",
    /// 405: an argument is missing or malformed.
    ArgumentError = b"22:3:40514:Argument error",
    /// 406: part of the protocol, but not offered here.
    NotSupported = b"21:3:40613:Not supported",
    /// 407: the rule is there.
    AlreadyExists = b"22:3:40714:Already exists",
    /// 409: the bytes cannot be cut into messages, or the command has no meaning now.
    ProtocolError = b"22:3:40914:Protocol error",
    /// 410: no command of the protocol.
    UnknownCommand = b"23:3:41015:Unknown command",
    /// 411: longer than allowed.
    SizeLimitExceeded = b"27:3:41119:Size limit exceeded",
    /// 500: the change could not be stored, and was not made; or the decision cannot be recorded, and there is none.
    OperationsError = b"24:3:50016:Operations error",
    /// 501: too many connections.
    ServiceNotAvailable = b"29:3:50121:Service not available",
    /// 503: no rule has this id.
    UnknownId = b"18:3:50310:Unknown ID",
    /// 504: a transaction is open.
    AlreadyActive = b"22:3:50414:Already active",
    /// 506: the message was not complete in time.
    TimeLimitExceeded = b"27:3:50619:Time limit exceeded",
    /// 509: the token proves nothing.
    AuthenticationError = b"28:3:50920:Authentication error",
}

impl Reply {
    /// Returns the answer to a query.
    pub(super) const fn to_query(is_allowed: bool) -> Self {
        if is_allowed { Self::Ok } else { Self::Denied }
    }

    /// Returns the code, which follows two lengths.
    #[must_use]
    pub fn code(self) -> &'static str {
        let code = self.bytes().splitn(3, |byte| *byte == b':').nth(2);
        let code = code.and_then(|code| code.get(..3)).unwrap_or_default();
        str::from_utf8(code).unwrap_or_default()
    }

    /// Writes the reply behind those before it.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.bytes());
    }
}

/// Writes one of several lines before the last one, whose code differs.
pub fn write_line(values: [&[u8]; 3], out: &mut Vec<u8>) {
    let [path, id, rule] = values;
    codec::write_all(&[b"201", path, id, rule], out);
}

/// Writes the answer to `CAPABILITY`: 200 and a list.
pub fn write_capabilities(list: &[u8], out: &mut Vec<u8>) {
    match list {
        [] => Reply::Ok.write(out),
        list => codec::write_all(&[b"200", list], out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spocp::codec::{Values, message};

    #[test]
    fn every_reply_is_a_code_and_a_text_in_one_message() {
        for reply in Reply::ALL {
            let bytes = reply.bytes();
            let whole = message(bytes, 100).unwrap().unwrap();
            assert_eq!(whole.used, bytes.len(), "{reply:?}");
            let values: Result<Vec<_>, _> = Values::of(whole.body).collect();
            let values = values.unwrap();
            let has_text = reply != Reply::AuthenticationInProgress;
            assert_eq!(values.len(), 1 + usize::from(has_text), "{reply:?}");
            assert!(values[0].len() == 3 && values[0].iter().all(u8::is_ascii_digit), "{reply:?}");
            assert_eq!(reply.code().as_bytes(), values[0]);
        }
    }

    #[test]
    fn every_reply_has_a_row_in_the_documents() {
        let page = include_str!("../../../../docs/spocp.md");
        for reply in Reply::ALL {
            let text = reply.bytes().rsplit(|byte| *byte == b':').next().unwrap();
            let text = if reply == Reply::AuthenticationInProgress { &b"none"[..] } else { text };
            let row = format!("\n| {} | {} | ", reply.code(), str::from_utf8(text).unwrap());
            assert!(page.contains(&row), "docs/spocp.md has no row {row:?}");
        }
    }

    #[test]
    fn the_examples_of_the_draft_are_answered_byte_for_byte() {
        assert_eq!(Reply::Ok.bytes(), b"9:3:2002:Ok");
        assert_eq!(Reply::Bye.bytes(), b"10:3:2033:Bye");
        assert_eq!(Reply::Denied.bytes(), b"13:3:2026:Denied");
    }

    #[test]
    fn a_line_of_a_list_has_a_path_an_id_and_the_rule() {
        let mut out = Vec::new();
        write_line([b"/", b"0cc175b9c0f1b6a831c399e269772661", b"(1:a)"], &mut out);
        assert_eq!(out, b"50:3:2011:/32:0cc175b9c0f1b6a831c399e2697726615:(1:a)");
    }

    #[test]
    fn no_capabilities_are_a_plain_ok() {
        let mut out = Vec::new();
        write_capabilities(b"", &mut out);
        write_capabilities(b"SASL:PLAIN", &mut out);
        assert_eq!(out, b"9:3:2002:Ok18:3:20010:SASL:PLAIN");
    }
}
