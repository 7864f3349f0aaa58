//! `Keccak-f[1600]` over as many states as a vector has lanes (FIPS 202, section 3).
//!
//! Lane `n` of the 25 vectors is state `n`: each step applies to all states alike. With one lane
//! this is the plain permutation.

use wardgate_simd::lanes::Lanes64;

/// The words of a state; word `x + 5 * y` is lane (x, y) of FIPS 202.
pub(crate) type State<V> = [V; 25];

/// Returns the initial state of a sponge.
#[inline(always)]
pub(crate) fn empty<L: Lanes64>(lanes: L) -> State<L::U64> {
    [lanes.splat_u64(0); 25]
}

/// Permutes every state.
pub(crate) fn permute<L: Lanes64>(lanes: L, state: &mut State<L::U64>) {
    lanes.enter(|lanes| {
        let mut words = *state;
        for constant in ROUND_CONSTANTS {
            words = round(lanes, words, lanes.splat_u64(constant));
        }
        *state = words;
    });
}

/// Applies one round. Every word has a name, because compilers put names into registers and arrays
/// into memory.
#[inline(always)]
#[rustfmt::skip]
fn round<L: Lanes64>(l: L, words: State<L::U64>, constant: L::U64) -> State<L::U64> {
    let [
        a00, a10, a20, a30, a40,
        a01, a11, a21, a31, a41,
        a02, a12, a22, a32, a42,
        a03, a13, a23, a33, a43,
        a04, a14, a24, a34, a44,
    ] = words;
    // Theta: the sums of the columns, and the same rotated by one bit.
    let c0 = sum(l, [a00, a01, a02, a03, a04]);
    let c1 = sum(l, [a10, a11, a12, a13, a14]);
    let c2 = sum(l, [a20, a21, a22, a23, a24]);
    let c3 = sum(l, [a30, a31, a32, a33, a34]);
    let c4 = sum(l, [a40, a41, a42, a43, a44]);
    let t0 = l.rotate_left::<1>(c0);
    let t1 = l.rotate_left::<1>(c1);
    let t2 = l.rotate_left::<1>(c2);
    let t3 = l.rotate_left::<1>(c3);
    let t4 = l.rotate_left::<1>(c4);
    // Rho and pi: each word is mixed, rotated by its own count and moved to its target of pi. Chi:
    // each row.
    let [b00, b10, b20, b30, b40] = chi(l, [
        l.xor3(a00, c4, t1),
        l.rotate_left::<44>(l.xor3(a11, c0, t2)),
        l.rotate_left::<43>(l.xor3(a22, c1, t3)),
        l.rotate_left::<21>(l.xor3(a33, c2, t4)),
        l.rotate_left::<14>(l.xor3(a44, c3, t0)),
    ]);
    let [b01, b11, b21, b31, b41] = chi(l, [
        l.rotate_left::<28>(l.xor3(a30, c2, t4)),
        l.rotate_left::<20>(l.xor3(a41, c3, t0)),
        l.rotate_left::<3>(l.xor3(a02, c4, t1)),
        l.rotate_left::<45>(l.xor3(a13, c0, t2)),
        l.rotate_left::<61>(l.xor3(a24, c1, t3)),
    ]);
    let [b02, b12, b22, b32, b42] = chi(l, [
        l.rotate_left::<1>(l.xor3(a10, c0, t2)),
        l.rotate_left::<6>(l.xor3(a21, c1, t3)),
        l.rotate_left::<25>(l.xor3(a32, c2, t4)),
        l.rotate_left::<8>(l.xor3(a43, c3, t0)),
        l.rotate_left::<18>(l.xor3(a04, c4, t1)),
    ]);
    let [b03, b13, b23, b33, b43] = chi(l, [
        l.rotate_left::<27>(l.xor3(a40, c3, t0)),
        l.rotate_left::<36>(l.xor3(a01, c4, t1)),
        l.rotate_left::<10>(l.xor3(a12, c0, t2)),
        l.rotate_left::<15>(l.xor3(a23, c1, t3)),
        l.rotate_left::<56>(l.xor3(a34, c2, t4)),
    ]);
    let [b04, b14, b24, b34, b44] = chi(l, [
        l.rotate_left::<62>(l.xor3(a20, c1, t3)),
        l.rotate_left::<55>(l.xor3(a31, c2, t4)),
        l.rotate_left::<39>(l.xor3(a42, c3, t0)),
        l.rotate_left::<41>(l.xor3(a03, c4, t1)),
        l.rotate_left::<2>(l.xor3(a14, c0, t2)),
    ]);
    [
        l.xor(b00, constant), b10, b20, b30, b40,
        b01, b11, b21, b31, b41,
        b02, b12, b22, b32, b42,
        b03, b13, b23, b33, b43,
        b04, b14, b24, b34, b44,
    ]
}

#[inline(always)]
fn sum<L: Lanes64>(lanes: L, [a, b, c, d, e]: [L::U64; 5]) -> L::U64 {
    lanes.xor3(lanes.xor3(a, b, c), d, e)
}

#[inline(always)]
fn chi<L: Lanes64>(lanes: L, [a, b, c, d, e]: [L::U64; 5]) -> [L::U64; 5] {
    [
        lanes.chi(a, b, c),
        lanes.chi(b, c, d),
        lanes.chi(c, d, e),
        lanes.chi(d, e, a),
        lanes.chi(e, a, b),
    ]
}

const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
