//! Numbers of shards as schedulers take them.

use std::fmt::Write;

/// Ascending numbers, those that follow each other as a range: `0-4,7`.
pub(super) fn array(numbers: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = numbers.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if(|next| *next == last + 1) {
            last = next;
        }
        let comma = if text.is_empty() { "" } else { "," };
        let _ = if first == last { write!(text, "{comma}{first}") } else { write!(text, "{comma}{first}-{last}") };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_say_which_numbers_there_are(numbers in prop::collection::btree_set(0_u32..300, 0..200)) {
            let text = array(&numbers.iter().copied().collect::<Vec<_>>());
            let mut said = BTreeSet::new();
            for piece in text.split(',').filter(|piece| !piece.is_empty()) {
                let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
                said.extend(first.parse::<u32>().unwrap()..=last.parse::<u32>().unwrap());
            }
            prop_assert_eq!(said, numbers);
        }
    }

    #[test]
    fn ranges_are_as_short_as_can_be() {
        assert_eq!(array(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
        assert_eq!(array(&(0..1000).collect::<Vec<_>>()), "0-999");
    }
}
