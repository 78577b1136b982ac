//! Names of streams, events and buffers, in which `{i}` stands for the turn of a repeat.
//!
//! | written | stands for |
//! | --- | --- |
//! | `{i}` | the turn, from 0 |
//! | `{i+1}` | a later one |
//! | `{i%2}`, `{(i+1)%2}` | what is left of it by 2: slots that take turns |

/// Longest name as written.
const LONGEST: usize = 64;

/// A turn by the name of its repeat's index, innermost last.
pub(super) type Turns = Vec<(String, u64)>;

#[derive(Debug, Clone)]
pub(super) struct Name {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Turn { index: String, plus: u64, modulus: Option<u64> },
}

/// Why a text is no name: what is wrong, and what to do.
pub(super) type Refusal = (String, String);

impl Name {
    /// Reads a name. `indices` are those of the repeats around it.
    pub fn read(text: &str, indices: &[String]) -> Result<Self, Refusal> {
        if text.is_empty() || text.chars().count() > LONGEST {
            let what = format!("a name has 1 to {LONGEST} characters, this one {}", text.chars().count());
            return Err((what, "give it a short name".into()));
        }
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let open = || ("`{` is not closed".to_owned(), format!("write for example `{before}{{i}}`"));
            let (inner, after) = after.split_once('}').ok_or_else(open)?;
            pieces.push(Piece::Text(plain(before)?));
            pieces.push(turn(inner, indices)?);
            rest = after;
        }
        pieces.push(Piece::Text(plain(rest)?));
        Ok(Self { pieces })
    }

    /// Whether it is a number in every turn.
    pub fn is_number(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            Piece::Text(text) => text.bytes().all(|byte| byte.is_ascii_digit()),
            Piece::Turn { .. } => true,
        })
    }

    /// The number in one turn of all repeats around it; the largest there is for one that is larger.
    pub fn number(&self, turns: &Turns) -> usize {
        self.at(turns).parse().unwrap_or(usize::MAX)
    }

    /// The name in one turn of all repeats around it.
    pub fn at(&self, turns: &Turns) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Turn { index, plus, modulus } => {
                let turn = turns.iter().rev().find(|(name, _)| name == index).map_or(0, |(_, turn)| *turn);
                let turn = turn.saturating_add(*plus);
                modulus.map_or(turn, |modulus| turn % modulus.max(1)).to_string()
            }
        };
        self.pieces.iter().map(piece).collect()
    }
}

fn plain(text: &str) -> Result<String, Refusal> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    match text.chars().find(|c| !fits(*c)) {
        None => Ok(text.to_owned()),
        Some(wrong) => Err((
            format!("{wrong:?} cannot stand in a name"),
            "a name is made of the letters a to z and A to Z, digits, `_`, `-`, `.` and `{i}`".into(),
        )),
    }
}

/// Whether a text can be the index of a repeat.
pub(super) fn is_index(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn turn(inner: &str, indices: &[String]) -> Result<Piece, Refusal> {
    let malformed = || {
        let what = format!("`{{{inner}}}` is no turn of a repeat");
        (what, "write `{i}`, `{i+1}`, `{i%2}` or `{(i+1)%2}`".to_owned())
    };
    let number = |text: &str| text.trim().parse::<u32>().map(u64::from).map_err(|_| malformed());
    let (sum, modulus) = match inner.split_once('%') {
        None => (inner.trim(), None),
        Some((sum, modulus)) => (sum.trim(), Some(number(modulus)?)),
    };
    let in_brackets = sum.strip_prefix('(').and_then(|sum| sum.strip_suffix(')'));
    let (index, plus) = match in_brackets.unwrap_or(sum).split_once('+') {
        // Without brackets a reader would take the remainder first.
        Some(_) if modulus.is_some() && in_brackets.is_none() => return Err(malformed()),
        Some((index, plus)) => (index.trim(), number(plus)?),
        None => (in_brackets.unwrap_or(sum).trim(), 0),
    };
    if !is_index(index) || modulus == Some(0) {
        return Err(malformed());
    }
    if indices.iter().any(|known| known == index) {
        return Ok(Piece::Turn { index: index.to_owned(), plus, modulus });
    }
    let what = format!("no repeat around this has the index `{index}`");
    Err(match indices.last() {
        None => (what, "`{i}` can stand only within the operations of a repeat".into()),
        Some(known) => (what, format!("use `{{{known}}}`, or give a repeat around it `index = \"{index}\"`")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Result<Name, Refusal> {
        Name::read(text, &["i".into(), "slot".into()])
    }

    #[test]
    fn turns_are_counted_added_to_and_wrapped() {
        let turns = vec![("i".to_owned(), 7), ("slot".to_owned(), 1)];
        for (text, expected) in [
            ("up", "up"),
            ("s{i}", "s7"),
            ("{i}.{slot}-x", "7.1-x"),
            ("{i+3}", "10"),
            ("{ i % 4 }", "3"),
            ("{(slot+1)%2}", "0"),
            ("{(i)%2}", "1"),
        ] {
            assert_eq!(name(text).unwrap().at(&turns), expected, "{text}");
        }
    }

    #[test]
    fn of_two_repeats_with_one_index_the_inner_counts() {
        let turns = vec![("i".to_owned(), 7), ("i".to_owned(), 1)];
        assert_eq!(name("{i}").unwrap().at(&turns), "1");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, phrase) in [
            ("", "1 to 64"),
            ("a b", "' ' cannot stand"),
            ("a}", "'}' cannot stand"),
            ("\u{fc}", "cannot stand"),
            ("s{i", "not closed"),
            ("{}", "no turn"),
            ("{i+}", "no turn"),
            ("{i-1}", "no turn"),
            ("{i%0}", "no turn"),
            ("{i+1%2}", "no turn"),
            ("{i+99999999999}", "no turn"),
            ("{k}", "has the index `k`"),
        ] {
            let (what, _) = name(text).unwrap_err();
            assert!(what.contains(phrase), "{text}: {what}");
        }
        assert!(name(&"x".repeat(65)).is_err() && name(&"x".repeat(64)).is_ok());
        assert!(Name::read("{i}", &[]).unwrap_err().1.contains("within the operations of a repeat"));
    }
}
