//! The reasons for which a call has no outcomes, as long as its slot may be elsewhere.

use crate::store::Away;

/// A store that is away, or the node that has a key of a slot that is moving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Away(Away),
    /// This node has the slot. Nothing was done.
    Moved {
        host: String,
        port: u16,
    },
    /// The slot is on its way, and this node has its new keys. Nothing was done.
    Ask {
        host: String,
        port: u16,
    },
}

impl Fault {
    /// Reads the error of a server, of which nothing but its code and an address are kept.
    pub(super) fn of(text: &str) -> Self {
        let mut words = text.split(' ');
        let code = words.next().unwrap_or_default();
        if let "ASK" | "MOVED" = code
            && let Some((host, port)) = words.nth(1).and_then(|address| address.rsplit_once(':'))
            && let Ok(port) = port.parse()
        {
            let host = host.to_owned();
            return if code == "ASK" {
                Self::Ask { host, port }
            } else {
                Self::Moved { host, port }
            };
        }
        if code.is_empty() || code.len() > MAX_CODE {
            return Self::Away(Away::Garbled);
        }
        Self::Away(Away::Refused { code: code.to_owned() })
    }

    /// Returns true if the slot of a key is elsewhere or on its way: the node is well, and nothing was
    /// done.
    pub(super) fn is_of_slot(&self) -> bool {
        matches!(self, Self::Ask { .. } | Self::Moved { .. }) || self.is_split()
    }

    /// Returns true if the slot is on its way, and some keys of the call are here and others there.
    pub(super) fn is_split(&self) -> bool {
        matches!(self, Self::Away(Away::Refused { code }) if code == "TRYAGAIN")
    }
}

impl From<Away> for Fault {
    fn from(away: Away) -> Self {
        Self::Away(away)
    }
}

impl From<Fault> for Away {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Away(away) => away,
            Fault::Ask { .. } => Self::Refused { code: "ASK".to_owned() },
            Fault::Moved { .. } => Self::Refused { code: "MOVED".to_owned() },
        }
    }
}

/// The most bytes of a code.
const MAX_CODE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_code_and_sometimes_an_address() {
        let refused = |code: &str| Fault::Away(Away::Refused { code: code.to_owned() });
        assert_eq!(Fault::of("ASK 1 ::1:7000"), Fault::Ask { host: "::1".into(), port: 7000 });
        assert_eq!(Fault::of("ASK 1 nowhere"), refused("ASK"));
        assert_eq!(Fault::of("MOVED 1 a:1"), Fault::Moved { host: "a".into(), port: 1 });
        assert_eq!(Fault::of("OOM command not allowed"), refused("OOM"));
        assert_eq!(Fault::of(""), Fault::Away(Away::Garbled));
        assert_eq!(Fault::of(&"A".repeat(65)), Fault::Away(Away::Garbled));
        assert!(Fault::of("TRYAGAIN").is_of_slot() && !Fault::of("OOM").is_of_slot());
    }
}
