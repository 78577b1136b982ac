//! Changes to a seed, as a script of random bytes says.

/// The longest input that is made.
pub const LONGEST: usize = 1 << 17;

/// The most changes to one seed.
const MOST: usize = 5;

/// Pieces that are at the edge of what some reader takes.
const PIECES: [&str; 48] = [
    "",
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "340282366920938463463374607431768211455",
    "0x7fffffffffffffff",
    "0.1",
    "1 fs",
    "18446744073709551615 B",
    "16 EiB",
    "1 B",
    "0 B",
    "1e-9 GHz",
    "true",
    "null",
    "\"\"",
    "\"",
    "'''",
    "\"\"\"",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "[[axis]]",
    "=",
    ",",
    ".",
    "#",
    "\n",
    "\r",
    "\0",
    "\u{feff}",
    "\u{fffd}",
    "ü",
    "\\u0000",
    "{i}",
    "{(i+1)%2}",
    "extends = \"h100-nvl-tdx\"\n",
    ":",
    "-",
    "--",
    "+",
];

/// Reads a script byte by byte; after its end, from a generator that it has seeded.
struct Script<'s> {
    bytes: std::slice::Iter<'s, u8>,
    state: u64,
}

impl<'s> Script<'s> {
    fn new(bytes: &'s [u8]) -> Self {
        let hash = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self { state: bytes.iter().fold(0xcbf2_9ce4_8422_2325, hash) | 1, bytes: bytes.iter() }
    }

    fn byte(&mut self) -> u8 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.bytes.next().copied().unwrap_or((self.state >> 32) as u8)
    }

    /// A number below `end`, which is at least 1.
    fn below(&mut self, end: usize) -> usize {
        let number = (0..4).fold(0_usize, |number, _| number << 8 | usize::from(self.byte()));
        number % end.max(1)
    }

    /// How often to repeat something: mostly seldom, at most 2 to a power.
    fn times(&mut self, power: usize) -> usize {
        let power = self.below(power + 1);
        self.below(1 << power)
    }

    /// A range of a text: mostly short.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let most = if self.byte() < 200 { 16 } else { length };
        start..(start + self.below(most + 1)).min(length)
    }
}

/// A seed, changed as the script says.
#[must_use]
pub fn changed(seeds: &[Vec<u8>], script: &[u8]) -> Vec<u8> {
    let mut script = Script::new(script);
    let mut text = seeds[script.below(seeds.len())].clone();
    for _ in 0..=script.below(MOST) {
        change(&mut text, seeds, &mut script);
        text.truncate(LONGEST);
    }
    text
}

fn change(text: &mut Vec<u8>, seeds: &[Vec<u8>], script: &mut Script<'_>) {
    let piece = |script: &mut Script<'_>| PIECES[script.below(PIECES.len())].as_bytes().to_vec();
    match script.below(10) {
        0 => {
            let at = script.below(text.len());
            if let Some(byte) = text.get_mut(at) {
                *byte ^= 1 << script.below(8);
            }
        }
        1 => drop(text.drain(script.range(text.len()))),
        2 => {
            let piece = piece(script);
            put(text, script, &piece);
        }
        3 => {
            let (from, other) = (text.clone(), script.range(text.len()));
            put(text, script, &from[other]);
        }
        4 => number(text, script),
        5 => {
            let other = &seeds[script.below(seeds.len())];
            let range = script.range(other.len());
            put(text, script, &other[range]);
        }
        6 => line(text, &seeds[script.below(seeds.len())], script),
        7 => {
            // What is not linear shows with many repetitions.
            let range = script.range(text.len());
            let piece = text[range.clone()].to_vec();
            let times = script.times(13).min(LONGEST / piece.len().max(1));
            text.splice(range.end..range.end, piece.repeat(times));
        }
        8 => {
            let piece = piece(script).repeat(script.times(14));
            put(text, script, &piece);
        }
        _ => {
            let random: Vec<u8> = (0..script.below(8)).map(|_| script.byte()).collect();
            put(text, script, &random);
        }
    }
}

/// Puts something in place of a range, or of nothing.
fn put(text: &mut Vec<u8>, script: &mut Script<'_>, piece: &[u8]) {
    let mut range = script.range(text.len());
    if script.byte() < 128 {
        range.end = range.start;
    }
    text.splice(range, piece.iter().copied());
}

/// Puts a piece in place of a number.
fn number(text: &mut Vec<u8>, script: &mut Script<'_>) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let from = script.below(text.len() + 1);
    let Some(start) = text[from..].iter().position(digit).map(|at| from + at) else { return };
    let end = text[start..].iter().position(|byte| !digit(byte)).map_or(text.len(), |at| start + at);
    let piece = PIECES[script.below(18)].as_bytes().to_vec();
    text.splice(start..end, piece);
}

/// Puts a line of another text in place of a line, or beside it.
fn line(text: &mut Vec<u8>, other: &[u8], script: &mut Script<'_>) {
    let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let piece = lines[script.below(lines.len())].to_vec();
    let from = script.below(text.len() + 1);
    let start = text[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = text[start..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| start + at + 1);
    text.splice(start..if script.byte() < 128 { start } else { end }, piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_always_makes_the_same_and_scripts_make_different_inputs() {
        let seeds = [b"name = \"a\"\nsize = 12\n".to_vec(), b"x = 4\n".to_vec()];
        let made = |script: &[u8]| changed(&seeds, script);
        assert_eq!(made(b"some script"), made(b"some script"));
        let all: std::collections::HashSet<_> = (0..1000_u16).map(|number| made(&number.to_le_bytes())).collect();
        assert!(all.len() > 700 && all.iter().all(|one| one.len() <= LONGEST), "{}", all.len());
    }
}
