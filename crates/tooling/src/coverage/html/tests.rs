#![expect(clippy::as_conversions, reason = "the arithmetic of a standard")]

use super::{STYLE, STYLE_HASH, coded, escaped};

#[test]
fn the_policy_of_the_page_lets_its_style_in() {
    assert_eq!(STYLE_HASH, format!("sha256-{}", base64(&sha256(STYLE.as_bytes()))));
    assert_eq!(
        base64(&sha256(b"abc")),
        "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
        "the first example of FIPS 180"
    );
}

#[test]
fn no_source_can_write_into_the_page() {
    let check = |text: &str, expected: &str| assert_eq!(escaped(text), expected);
    check("a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
    check("</td><script>", "&lt;/td&gt;&lt;script&gt;");
    check("\u{202e}\u{7}", "\\u{202e}\\u{7}");
    assert_eq!(coded("rule `a<b`: never"), "rule <code>a&lt;b</code>: never");
    assert_eq!(coded("`a`b`: x"), "<code>a`b</code>: x");
}

/// Returns the digest of a short message (FIPS 180-4, section 6.2).
fn sha256(message: &[u8]) -> Vec<u8> {
    let primes: Vec<u32> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let fraction = |root: f64| ((root - root.floor()) * 4_294_967_296.0) as u32;
    let k: Vec<u32> = primes.iter().take(64).map(|p| fraction(f64::from(*p).cbrt())).collect();
    let mut state: Vec<u32> =
        primes.iter().take(8).map(|p| fraction(f64::from(*p).sqrt())).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut w: Vec<u32> =
            block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
        }
        let mut v = state.clone();
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = [s1, choice, k[t], w[t]].iter().fold(v[7], |sum, x| sum.wrapping_add(*x));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        state.iter_mut().zip(v).for_each(|(s, v)| *s = s.wrapping_add(v));
    }
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|chunk| {
        let group = (0..3).fold(0, |sum, at| sum << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        let digit = |at: usize| DIGITS[(group >> (18 - 6 * at) & 63) as usize] as char;
        (0..4).map(|at| if at <= chunk.len() { digit(at) } else { '=' }).collect::<String>()
    });
    groups.collect()
}
