//! Bytes in hexadecimal, with the place of what cannot be read.

/// Why a text is no sequence of bytes, and where. Line and column count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct HexError {
    pub line: usize,
    pub column: usize,
    pub fault: HexFault,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HexFault {
    #[error("{0:?} is no hexadecimal digit")]
    NoDigit(char),
    #[error("the digit {0:?} stands alone: a byte has two")]
    HalfByte(char),
    #[error(
        "the lines begin with offsets, as those of a dump: leave out offsets and characters, as `xxd -r | xxd -p` does"
    )]
    Dump,
}

/// Whether lines begin with offsets: the first with 0 in four digits or more, and `:` or a byte of two digits behind it.
fn is_dump(text: &str) -> bool {
    let mut tokens = text.split_whitespace();
    let first = tokens.next().map(|token| token.strip_prefix("0x").unwrap_or(token)).unwrap_or_default();
    let digits = first.strip_suffix(':').unwrap_or(first);
    let bytes = tokens.next().is_some_and(|token| first.len() > digits.len() || token.len() == 2);
    digits.len() >= 4 && digits.bytes().all(|digit| digit == b'0') && bytes
}

/// Reads bytes; spaces, line ends, `,`, `:`, `_` and a leading `0x` are skipped between bytes.
pub fn parse(text: &str) -> Result<Vec<u8>, HexError> {
    if is_dump(text) {
        return Err(HexError { line: 1, column: 1, fault: HexFault::Dump });
    }
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for (line, content) in text.lines().enumerate() {
        let error = |column: usize, fault| HexError { line: line + 1, column: column + 1, fault };
        let mut characters = content.chars().enumerate().peekable();
        let mut word_start = true;
        while let Some((column, character)) = characters.next() {
            if character.is_whitespace() || matches!(character, ',' | ':' | '_') {
                word_start = true;
                continue;
            }
            let high = character.to_digit(16).ok_or(error(column, HexFault::NoDigit(character)))?;
            let prefix = word_start && character == '0' && matches!(characters.peek(), Some((_, 'x' | 'X')));
            word_start = false;
            if prefix {
                characters.next();
                continue;
            }
            let Some((column, second)) = characters.next() else {
                return Err(error(column, HexFault::HalfByte(character)));
            };
            match second.to_digit(16) {
                Some(low) => bytes.push((high << 4 | low) as u8),
                None if second.is_whitespace() || matches!(second, ',' | ':' | '_') => {
                    return Err(error(column - 1, HexFault::HalfByte(character)));
                }
                None => return Err(error(column, HexFault::NoDigit(second))),
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn separators_between_bytes_are_skipped() {
        assert_eq!(parse("0x4a00 00,10:ff\n 0XAb_00"), Ok(vec![0x4a, 0, 0, 0x10, 0xff, 0xab, 0]));
        assert_eq!(parse("00x1").unwrap_err().column, 3);
    }

    #[test]
    fn the_offending_character_is_named_with_its_place() {
        let error = parse("00 11\n22 3é").unwrap_err();
        assert_eq!(error, HexError { line: 2, column: 5, fault: HexFault::NoDigit('é') });
        assert_eq!(parse("001").unwrap_err(), HexError { line: 1, column: 3, fault: HexFault::HalfByte('1') });
        assert_eq!(parse("1 2").unwrap_err(), HexError { line: 1, column: 1, fault: HexFault::HalfByte('1') });
        assert_eq!(parse("g0").unwrap_err().column, 1);
    }

    /// As Wireshark, `xxd`, `tcpdump -X` and `od` print them.
    #[test]
    fn a_dump_with_offsets_is_refused_by_name_and_words_of_zeros_are_data() {
        for dump in
            ["0000 4a 00 00 01", "00000000: 4a00 0001  J...", "\t0x0000:  4a00 0001", "0000000 4a 00\n0000020 00"]
        {
            assert_eq!(parse(dump).unwrap_err().fault, HexFault::Dump, "{dump}");
        }
        for (data, bytes) in [("00000000 00000001", 8), ("0000 4a00", 4), ("00 00 00 00 4a", 5), ("0000,00", 3)] {
            assert_eq!(parse(data).map(|read| read.len()), Ok(bytes), "{data}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = parse(&text);
        }
    }
}
