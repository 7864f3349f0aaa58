use super::*;

#[test]
fn a_value_stays_small() {
    assert!(size_of::<Value<'_>>() <= 32);
    assert!(size_of::<Error<'_>>() <= 24);
}
