//! Copies that are too long to be simulated whole: a tebibyte takes minutes, and a replay asks for it on a dozen machines.

/// Copies up to this size are simulated whole.
pub(super) const LONGEST: u64 = 4 << 30;
/// Longer ones are taken as copies of this size, one behind the other.
const PIECE: u64 = 1 << 30;

/// Sizes of the copies that stand for one, each with how often it comes.
pub(super) fn pieces(bytes: u64) -> [(u64, u64); 2] {
    if bytes <= LONGEST { [(bytes, 1), (0, 0)] } else { [(PIECE, bytes / PIECE), (bytes % PIECE, 1)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_bytes_of_the_whole() {
        for bytes in [1, LONGEST, LONGEST + 1, 5 << 30, 1 << 40, u64::MAX] {
            let sum: u64 = pieces(bytes).iter().map(|(size, count)| size * count).sum();
            assert_eq!(sum, bytes);
        }
        assert_eq!(pieces(LONGEST), [(LONGEST, 1), (0, 0)]);
        assert_eq!(pieces(1 << 40), [(1 << 30, 1024), (0, 1)]);
    }
}
