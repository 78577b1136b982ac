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

/// The number that a line begins with, in four digits or more, with those digits and what stands behind them.
fn offset(line: &str) -> Option<(u64, &str, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix("0x").unwrap_or(line);
    let end = line.find(|c: char| !c.is_ascii_hexdigit()).filter(|end| *end >= 4)?;
    let (digits, rest) = line.split_at(end);
    let spaced = rest.strip_prefix(':').unwrap_or(rest).starts_with(char::is_whitespace);
    Some((u64::from_str_radix(digits, 16).ok()?, digits, rest)).filter(|_| spaced)
}

/// Whether lines begin with offsets: with `:` behind them, with 0 before a byte of two digits or in a number of digits that no bytes have, or such that the second
/// line counts the bytes of the first.
fn is_dump(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some((start, digits, rest)) = lines.next().and_then(offset) else { return false };
    let is_bytes = |token: &&str| token.len().is_multiple_of(2) && token.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bytes: Vec<_> = rest.split_whitespace().skip_while(|token| *token == ":").take_while(is_bytes).collect();
    let on_line: u64 = bytes.iter().map(|token| token.len() as u64 / 2).sum();
    let counts =
        on_line > 0 && lines.next().and_then(offset).is_some_and(|(next, ..)| start.checked_add(on_line) == Some(next));
    let zero = start == 0 && (!digits.len().is_multiple_of(2) || bytes.first().is_some_and(|token| token.len() == 2));
    rest.starts_with(':') || counts || zero
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
        for dump in [
            "0000 4a 00 00 01",
            "00000000: 4a00 0001  J...",
            "\t0x0000:  4a00 0001",
            "0000000 4a 00\n0000020 00",
            "0000000 004a 0100",
            "00000010: 4a00 0001",
            "0010 4a 00\n0012 00",
            "00000000 4a00\n00000002 0001",
        ] {
            assert_eq!(parse(dump).unwrap_err().fault, HexFault::Dump, "{dump}");
        }
        for (data, bytes) in [
            ("00000000 00000001", 8),
            ("0000 4a00", 4),
            ("00 00 00 00 4a", 5),
            ("0000,00", 3),
            ("4a00:0001 00", 5),
            ("ffffffffffffffff 00\nffffffff 00", 14),
        ] {
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
