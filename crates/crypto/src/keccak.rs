//! Keccak-f[1600] over as many states as a vector has lanes (FIPS 202, section 3).
//!
//! Lane `n` of the 25 vectors is state `n`: the steps of one state are those of all. With one lane this is
//! the obvious permutation.

#![expect(
    clippy::indexing_slicing,
    reason = "every index is a constant below 25, or below 5 columns"
)]

use wardgate_simd::lanes::Lanes64;

/// The words of a state; word `x + 5 * y` is lane (x, y) of FIPS 202.
pub(crate) type State<V> = [V; 25];

/// Returns the state from which every sponge begins.
#[inline(always)]
pub(crate) fn empty<L: Lanes64>(lanes: L) -> State<L::U64> {
    [lanes.splat_u64(0); 25]
}

/// Permutes every state.
pub(crate) fn permute<L: Lanes64>(lanes: L, state: &mut State<L::U64>) {
    lanes.enter(|lanes| {
        let mut words = *state;
        for constant in ROUND_CONSTANTS {
            words = round(lanes, &words, constant);
        }
        *state = words;
    });
}

#[inline(always)]
fn round<L: Lanes64>(lanes: L, words: &State<L::U64>, constant: u64) -> State<L::U64> {
    let mixed = theta(lanes, words);
    let mut next = chi(lanes, &rho_and_pi(lanes, &mixed));
    next[0] = lanes.xor(next[0], lanes.splat_u64(constant));
    next
}

#[inline(always)]
fn theta<L: Lanes64>(lanes: L, a: &State<L::U64>) -> State<L::U64> {
    let column = |x: usize| lanes.xor3(lanes.xor3(a[x + 20], a[x], a[x + 5]), a[x + 10], a[x + 15]);
    let sums = [column(0), column(1), column(2), column(3), column(4)];
    let turned = sums.map(
        #[inline(always)]
        |sum| lanes.rotate_left::<1>(sum),
    );
    let mut mixed = *a;
    for (place, word) in mixed.iter_mut().enumerate() {
        let x = place % 5;
        *word = lanes.xor3(*word, sums[(x + 4) % 5], turned[(x + 1) % 5]);
    }
    mixed
}

/// Rotates each word by its own count and puts it where pi wants it, row after row.
#[inline(always)]
fn rho_and_pi<L: Lanes64>(l: L, a: &State<L::U64>) -> State<L::U64> {
    [
        a[0],
        l.rotate_left::<44>(a[6]),
        l.rotate_left::<43>(a[12]),
        l.rotate_left::<21>(a[18]),
        l.rotate_left::<14>(a[24]),
        l.rotate_left::<28>(a[3]),
        l.rotate_left::<20>(a[9]),
        l.rotate_left::<3>(a[10]),
        l.rotate_left::<45>(a[16]),
        l.rotate_left::<61>(a[22]),
        l.rotate_left::<1>(a[1]),
        l.rotate_left::<6>(a[7]),
        l.rotate_left::<25>(a[13]),
        l.rotate_left::<8>(a[19]),
        l.rotate_left::<18>(a[20]),
        l.rotate_left::<27>(a[4]),
        l.rotate_left::<36>(a[5]),
        l.rotate_left::<10>(a[11]),
        l.rotate_left::<15>(a[17]),
        l.rotate_left::<56>(a[23]),
        l.rotate_left::<62>(a[2]),
        l.rotate_left::<55>(a[8]),
        l.rotate_left::<39>(a[14]),
        l.rotate_left::<41>(a[15]),
        l.rotate_left::<2>(a[21]),
    ]
}

#[inline(always)]
fn chi<L: Lanes64>(lanes: L, b: &State<L::U64>) -> State<L::U64> {
    let mut next = *b;
    for (place, word) in next.iter_mut().enumerate() {
        let (row, x) = (place / 5 * 5, place % 5);
        *word = lanes.chi(b[place], b[row + (x + 1) % 5], b[row + (x + 2) % 5]);
    }
    next
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
