//! Texts that a message quotes, and what a mistyped name was meant to be.

use std::borrow::Cow;

/// At most `most` characters of what a message quotes; what is left out is marked by an ellipsis.
pub fn excerpt(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The candidate that needs the fewest edits to become `name`, if that is few enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let allowed = (length / 3).max(2);
    candidates
        .into_iter()
        // It takes as many edits at least, so that long texts cost nothing.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .map(|candidate| (edits(name, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= allowed && *edits < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements that lead from one text to the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_between_characters() {
        assert_eq!(excerpt("äöü", 3), "äöü");
        assert_eq!(excerpt("äöü", 2), "äö…");
    }

    #[test]
    fn a_slip_finds_its_field_and_a_stranger_finds_none() {
        let fields = ["max_payload", "max_read_request", "flight"];
        assert_eq!(nearest("max_paylod", fields), Some("max_payload"));
        assert_eq!(nearest("Flihgt", fields), Some("flight"));
        assert_eq!(nearest("frequency", fields), None);
        assert_eq!(nearest("ab", ["xy"]), None);
        assert_eq!(nearest(&"flight".repeat(1 << 16), fields), None);
    }

    #[test]
    fn edits_count_insertions_deletions_and_replacements() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "abc"), 0);
    }
}
