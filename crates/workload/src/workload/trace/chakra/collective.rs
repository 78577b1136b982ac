//! Collectives by their number, `CollectiveCommType` of the schema.

const NAMES: [&str; 10] = [
    "all_reduce",
    "reduce",
    "all_gather",
    "gather",
    "scatter",
    "broadcast",
    "all_to_all",
    "reduce_scatter",
    "reduce_scatter_block",
    "barrier",
];

pub(super) fn name(number: u64) -> Option<&'static str> {
    NAMES.get(usize::try_from(number).ok()?).copied()
}

/// The number of a collective, however profilers write it: `AllReduce`, `_allgather_base`. `None`: the schema has none for it.
pub(super) fn number(name: &str) -> Option<u64> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|one| one.to_ascii_lowercase()).collect()
    };
    let name = plain(name);
    let inside = (0..).zip(NAMES).filter(|(_, known)| name.contains(&plain(known)));
    inside.max_by_key(|(_, known)| known.len()).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_are_known_by_any_of_their_names() {
        for (number, name) in (0..).zip(NAMES) {
            assert_eq!((super::name(number), super::number(name)), (Some(name), Some(number)));
        }
        let names = ["AllReduce", "_allgather_base", "ReduceScatter", "alltoallv", "Broadcast", "SendRecv", ""];
        assert_eq!(names.map(number), [Some(0), Some(2), Some(7), Some(6), Some(5), None, None]);
        assert_eq!(super::name(10), None);
    }
}
