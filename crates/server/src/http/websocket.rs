//! The handshake of WebSocket (RFC 6455, section 4.2), behind which MQTT is spoken.
//!
//! A browser connects for any page that asks for it, with the client certificate of its user, and names the
//! page by `Origin`. So a page of another host must be on the list of the configuration. Programs may leave
//! `Origin` out.

use base64ct::{Base64, Encoding};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONNECTION, HOST, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use super::cerbos::bad;
use super::peer::Peer;
use super::reply::{Problem, Result};
use crate::config::WebSocket;

/// Answers a request for WebSocket. Its connection becomes one of MQTT once the answer is written.
pub(super) fn switch(
    request: Request<Incoming>,
    config: &WebSocket,
    peer: &Peer,
) -> Result<Response<Full<Bytes>>> {
    let accept = accepted(&request, config)?;
    peer.upgrade(hyper::upgrade::on(request));
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok(response)
}

/// Checks a request, and returns the proof that it was understood.
fn accepted<B>(request: &Request<B>, config: &WebSocket) -> Result<HeaderValue> {
    let headers = request.headers();
    if request.method() != Method::GET {
        return Err(Problem::wrong_method("GET"));
    }
    if request.version() != Version::HTTP_11 {
        return Err(bad("WebSocket needs HTTP/1.1".to_owned()));
    }
    if !lists(headers, &UPGRADE, "websocket") || !lists(headers, &CONNECTION, "upgrade") {
        return Err(must_upgrade());
    }
    if once(headers, &SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        return Err(must_upgrade());
    }
    if !admits(config, headers) {
        let message = "pages of this origin may not connect; `origins` of the configuration lists those that may";
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    if !offers(headers) {
        return Err(bad(format!("`Sec-WebSocket-Protocol` must offer `{SUBPROTOCOL}`")));
    }
    let key = once(headers, &SEC_WEBSOCKET_KEY).filter(|key| is_key(key));
    let key =
        key.ok_or_else(|| bad("`Sec-WebSocket-Key` must be 16 bytes in base64".to_owned()))?;
    let proof = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
    HeaderValue::from_str(&Base64::encode_string(proof.as_ref()))
        .map_err(|_| Problem::failed("the handshake has no answer"))
}

/// Returns true if the page that connects may do so.
fn admits(config: &WebSocket, headers: &HeaderMap) -> bool {
    if !headers.contains_key(ORIGIN) {
        return true;
    }
    let Some(origin) = once(headers, &ORIGIN) else { return false };
    match &config.origins {
        Some(origins) => origins.iter().any(|known| known.eq_ignore_ascii_case(origin)),
        None => {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.zip(once(headers, &HOST)).is_some_and(|(of, at)| of.eq_ignore_ascii_case(at))
        }
    }
}

/// Returns true if the client offers MQTT. The name has upper and lower case.
fn offers(headers: &HeaderMap) -> bool {
    tokens(headers, &SEC_WEBSOCKET_PROTOCOL).any(|token| token == SUBPROTOCOL)
}

/// Returns true if a header has this word, in any case.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    tokens(headers, name).any(|token| token.eq_ignore_ascii_case(word))
}

/// Returns the words of a header, which may stand in one line or several.
fn tokens<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Returns the value of a header that stands there once.
fn once<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    all.next().filter(|_| all.next().is_none())?.to_str().ok()
}

fn is_key(text: &str) -> bool {
    let mut bytes = [0; 18];
    Base64::decode(text, &mut bytes).is_ok_and(|key| key.len() == 16)
}

/// Refuses a request that cannot become WebSocket, and tells the version (section 4.4).
fn must_upgrade() -> Problem {
    let message = "this is WebSocket of version 13, for MQTT";
    let header = Some((SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION)));
    Problem { header, ..Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade-required", message) }
}

/// The subprotocol of MQTT [MQTT-6.0.0-3].
const SUBPROTOCOL: &str = "mqtt";

const VERSION: &str = "13";

/// The text of section 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::accepted;
    use crate::config::WebSocket;

    /// The request of RFC 6455, section 1.3, for MQTT. `-` takes a header out, `+` adds one.
    fn answer(changes: &[&str], origins: Option<&[&str]>) -> Result<String, u16> {
        let origins = origins.map(|all| all.iter().map(|&origin| origin.to_owned()).collect());
        let config = WebSocket { path: "/mqtt".to_owned(), origins };
        let mut headers = vec![
            "Host: server.example.com",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol: mqtt",
            "Sec-WebSocket-Version: 13",
        ];
        for change in changes {
            let (sign, header) = change.split_at(1);
            match sign {
                "-" => headers.retain(|known| !known.starts_with(header)),
                _ => headers.push(header),
            }
        }
        let mut request = Request::get("/mqtt");
        for header in headers {
            let (name, value) = header.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let request = request.body(()).unwrap();
        accepted(&request, &config)
            .map(|accept| accept.to_str().unwrap().to_owned())
            .map_err(|problem| problem.status.as_u16())
    }

    #[test]
    fn handshakes_are_proved() {
        let expected = Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".to_owned());
        for changes in [
            &[][..],
            &["-Upgrade", "+Upgrade: WebSocket"],
            &["-Connection", "+Connection: keep-alive, upgrade"],
            &["-Sec-WebSocket-Protocol", "+Sec-WebSocket-Protocol: mqttv3.1, mqtt"],
            &[
                "-Sec-WebSocket-Protocol",
                "+Sec-WebSocket-Protocol: a",
                "+Sec-WebSocket-Protocol: mqtt",
            ],
        ] {
            assert_eq!(answer(changes, None), expected, "{changes:?}");
        }
    }

    #[test]
    fn requests_that_lack_something_are_refused() {
        for (changes, expected) in [
            (&["-Upgrade"][..], 426),
            (&["-Upgrade", "+Upgrade: h2c"], 426),
            (&["-Connection"], 426),
            (&["-Connection", "+Connection: close"], 426),
            (&["-Sec-WebSocket-Version"], 426),
            (&["-Sec-WebSocket-Version", "+Sec-WebSocket-Version: 8"], 426),
            (&["+Sec-WebSocket-Version: 13"], 426),
            (&["-Sec-WebSocket-Key"], 400),
            (&["+Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], 400),
            (&["-Sec-WebSocket-Key", "+Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j"], 400),
            (&["-Sec-WebSocket-Key", "+Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ"], 400),
            (&["-Sec-WebSocket-Protocol"], 400),
            (&["-Sec-WebSocket-Protocol", "+Sec-WebSocket-Protocol: mqttv3.1"], 400),
            (&["-Sec-WebSocket-Protocol", "+Sec-WebSocket-Protocol: MQTT"], 400),
        ] {
            assert_eq!(answer(changes, None), Err(expected), "{changes:?}");
        }
    }

    #[test]
    fn pages_of_other_hosts_must_be_on_the_list() {
        const LIST: Option<&[&str]> = Some(&["https://app.example.com"]);
        for (origin, origins, expected) in [
            ("+Origin: https://server.example.com", None, true),
            ("+Origin: https://SERVER.example.com", None, true),
            ("+Origin: https://server.example.com:8443", None, false),
            ("+Origin: https://app.example.com", None, false),
            ("+Origin: null", None, false),
            ("+Origin: https://app.example.com", LIST, true),
            ("+Origin: http://app.example.com", LIST, false),
            ("+Origin: https://app.example.com.evil.example", LIST, false),
            ("+Origin: https://server.example.com", LIST, false),
            ("+Origin: null", LIST, false),
            ("-Origin", LIST, true),
            ("-Origin", Some(&[]), true),
            ("+Origin: https://server.example.com", Some(&[]), false),
        ] {
            assert_eq!(answer(&[origin], origins).is_ok(), expected, "{origin} {origins:?}");
        }
        let twice = ["+Origin: https://app.example.com", "+Origin: https://app.example.com"];
        assert_eq!(answer(&twice, LIST), Err(403));
    }
}
