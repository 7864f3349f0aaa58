//! Lists of which a client mostly has a single item.
//!
//! There is one of each kind for every client, so room to spare is memory that clients who do nothing take.

use alloc::vec::Vec;

/// Makes room for one more item: no spare room while the list is short, and half as much again later.
pub(crate) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 2).max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::make_room;
    use alloc::vec::Vec;

    #[test]
    fn short_lists_have_no_spare_room_and_long_ones_grow_by_shares() {
        let mut list = Vec::new();
        let mut grown = 0;
        for n in 0..10_000_u64 {
            let before = list.capacity();
            make_room(&mut list);
            list.push(n);
            grown += usize::from(list.capacity() != before);
            assert!(list.capacity() <= list.len().max(2) * 3 / 2);
        }
        assert!(grown < 30, "{grown}");
    }
}
