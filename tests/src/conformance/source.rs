//! The origin of the cases of a suite.

use std::fs;
use std::path::Path;

/// A project whose tests are run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The project.
    pub project: &'static str,
    /// Its folder in the corpora.
    pub folder: &'static str,
    /// The state of it, where the folder has no `SOURCE.txt` with one.
    pub state: &'static str,
}

/// The specification of CEL.
pub const CEL_SPEC: Source = Source { project: "cel-expr/cel-spec", folder: "cel-spec", state: "" };
/// Cerbos.
pub const CERBOS: Source = Source { project: "cerbos/cerbos", folder: "cerbos", state: "" };
/// The working group of AuthZEN.
pub const AUTHZEN: Source =
    Source { project: "openid/authzen", folder: "authzen", state: "e287920" };
/// The draft of SPOCP.
pub const SPOCP: Source =
    Source { project: "draft-hedberg-spocp-sexp", folder: "spocp", state: "00" };
/// The tests of topics of mosquitto, and examples of MQTT 5.0, section 4.7.
pub const MQTT: Source = Source { project: "eclipse/mosquitto", folder: "mqtt", state: "fb9b115" };
/// The tests of topics of mosquitto as their source.
pub const MOSQUITTO: Source =
    Source { project: "eclipse-mosquitto/mosquitto", folder: "mosquitto", state: "7b8aba1" };
/// A codec of MQTT in JavaScript.
pub const MQTT_PACKET: Source =
    Source { project: "mqttjs/mqtt-packet", folder: "mqtt-packet", state: "dd17095" };
/// BLAKE3.
pub const BLAKE3: Source =
    Source { project: "BLAKE3-team/BLAKE3", folder: "blake3", state: "77b257e" };
/// The validation program for algorithms of the NIST.
pub const ACVP: Source =
    Source { project: "usnistgov/ACVP-Server", folder: "acvp-mldsa", state: "1.1.0.43" };
/// Project Wycheproof.
pub const WYCHEPROOF: Source =
    Source { project: "C2SP/wycheproof", folder: "wycheproof", state: "dac1dd4" };

impl Source {
    /// Returns the commit or the version, short.
    #[must_use]
    pub fn commit(&self, corpora: &Path) -> String {
        let text = fs::read_to_string(corpora.join(self.folder).join("SOURCE.txt"));
        let text = text.unwrap_or_default();
        let is_commit =
            |word: &&str| word.len() == HEX_DIGITS && word.chars().all(|c| c.is_ascii_hexdigit());
        let found = text.split_whitespace().find(is_commit).and_then(|commit| commit.get(..7));
        found.unwrap_or(self.state).to_owned()
    }
}

/// Hexadecimal digits of a commit.
const HEX_DIGITS: usize = 40;
