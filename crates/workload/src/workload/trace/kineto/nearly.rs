//! What is nearly JSON, as JSON: profilers write names of files and numbers as they come.
//!
//! | in the file | read as |
//! | --- | --- |
//! | a control character in a text, a byte that is no UTF-8 | a space, a question mark |
//! | a backslash that escapes nothing (`C:\py`) | a backslash |
//! | `NaN`, `Infinity`, `-inf` | nothing (`null`) |

use std::{
    cell::Cell,
    collections::VecDeque,
    io::{self, Read},
    rc::Rc,
};

pub(super) struct Nearly<R> {
    source: R,
    ahead: VecDeque<u8>,
    out: VecDeque<u8>,
    inside: bool,
    /// The last byte outside of texts.
    before: u8,
    places: Rc<Cell<u64>>,
}

impl<R: Read> Nearly<R> {
    /// Counts in `places` what is no JSON.
    pub fn new(source: R, places: Rc<Cell<u64>>) -> Self {
        let (ahead, out) = (VecDeque::new(), VecDeque::new());
        Self { source, ahead, out, inside: false, before: b' ', places }
    }

    fn peek(&mut self, at: usize) -> io::Result<Option<u8>> {
        while self.ahead.len() <= at {
            let mut byte = [0];
            if self.source.read(&mut byte)? == 0 {
                return Ok(None);
            }
            self.ahead.push_back(byte[0]);
        }
        Ok(self.ahead.get(at).copied())
    }

    /// Writes `instead` of so many bytes that come next.
    fn mend(&mut self, bytes: usize, instead: &[u8]) {
        self.ahead.drain(..bytes);
        self.out.extend(instead);
        self.places.set(self.places.get() + 1);
    }

    fn pass(&mut self, bytes: usize) {
        self.out.extend(self.ahead.drain(..bytes));
    }

    fn text(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'"' => {
                self.inside = false;
                self.pass(1);
            }
            b'\\' => {
                let escaped = self.peek(1)?;
                let digits = (2..6).map(|at| Ok(self.peek(at)?.is_some_and(|digit| digit.is_ascii_hexdigit())));
                match escaped {
                    Some(b'u') if digits.collect::<io::Result<Vec<_>>>()?.into_iter().all(|is| is) => self.pass(6),
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pass(2),
                    _ => self.mend(1, br"\\"),
                }
            }
            ..b' ' => self.mend(1, b" "),
            b' '..0x80 => self.pass(1),
            _ => {
                let length = 1 + (byte << 1).leading_ones() as usize;
                self.peek(length - 1)?;
                let whole = self.ahead.range(..length.min(self.ahead.len())).copied().collect::<Vec<_>>();
                if std::str::from_utf8(&whole).is_ok() { self.pass(length) } else { self.mend(1, b"?") }
            }
        }
        Ok(())
    }

    /// How many bytes from here on are a number that JSON does not have.
    fn unwritten(&mut self) -> io::Result<usize> {
        let sign = usize::from(self.peek(0)? == Some(b'-'));
        let mut word = String::new();
        while let Some(letter) = self.peek(sign + word.len())?.filter(|byte| byte.is_ascii_alphabetic()) {
            word.push(letter.to_ascii_lowercase() as char);
            if word.len() > "infinity".len() {
                break;
            }
        }
        Ok(if ["nan", "inf", "infinity"].contains(&word.as_str()) { sign + word.len() } else { 0 })
    }
}

impl<R: Read> Read for Nearly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.out.is_empty() {
            let Some(byte) = self.peek(0)? else { return Ok(0) };
            if self.inside {
                self.text(byte)?;
                continue;
            }
            let begins = matches!(byte, b'-' | b'n' | b'N' | b'i' | b'I') && !self.before.is_ascii_alphanumeric();
            self.before = byte;
            match if begins { self.unwritten()? } else { 0 } {
                0 => {
                    self.inside = byte == b'"';
                    self.pass(1);
                }
                bytes => self.mend(bytes, b"null"),
            }
        }
        self.out.read(buffer)
    }
}
