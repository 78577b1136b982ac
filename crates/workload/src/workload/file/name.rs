//! Names of streams, events and buffers, in which `{i}` stands for the turn of a repeat.
//!
//! | written | stands for |
//! | --- | --- |
//! | `{i}` | the turn, from 0 |
//! | `{i+1}` | a later one |
//! | `{i%2}`, `{(i+1)%2}` | what is left of it by 2: slots that take turns |

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

/// Longest name as written.
const LONGEST: usize = 64;

/// A turn by the name of its repeat's index, innermost last.
pub(super) type Turns = Vec<(String, u64)>;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Name(String);

/// The number of a GPU, or a text that is one in every turn.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Gpu(Json);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Turn { index: String, plus: u64, modulus: Option<u64> },
}

/// Why a text is no name, and what to do about it.
#[derive(Debug)]
pub(super) struct Wrong {
    pub what: String,
    pub remedy: String,
}

fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Wrong {
    Wrong { what: what.into(), remedy: remedy.into() }
}

/// Refuses what is no name. `indices` are those of the repeats around it.
pub(super) fn check(text: &str, indices: &[String]) -> Result<(), Wrong> {
    let pieces = pieces(text)?;
    let mut turns =
        pieces.iter().filter_map(|piece| if let Piece::Turn { index, .. } = piece { Some(index) } else { None });
    let Some(unknown) = turns.find(|index| !indices.contains(index)) else { return Ok(()) };
    let what = format!("no repeat around this has the index `{unknown}`");
    Err(match indices.last() {
        None => wrong(what, "`{i}` can stand only within the operations of a repeat"),
        Some(known) => wrong(what, format!("use `{{{known}}}`, or give a repeat around it `index = \"{unknown}\"`")),
    })
}

fn pieces(text: &str) -> Result<Vec<Piece>, Wrong> {
    if text.is_empty() || text.chars().count() > LONGEST {
        let what = format!("a name has 1 to {LONGEST} characters, this one {}", text.chars().count());
        return Err(wrong(what, "give it a short name"));
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let open = || wrong("`{` is not closed", format!("write for example `{before}{{i}}`"));
        let (inner, after) = after.split_once('}').ok_or_else(open)?;
        pieces.push(Piece::Text(plain(before)?));
        pieces.push(turn(inner)?);
        rest = after;
    }
    pieces.push(Piece::Text(plain(rest)?));
    Ok(pieces)
}

impl Piece {
    fn at(&self, turns: &Turns) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Turn { index, plus, modulus } => {
                let turn = turns.iter().rev().find(|(name, _)| name == index).map_or(0, |(_, turn)| *turn);
                let turn = turn.saturating_add(*plus);
                modulus.map_or(turn, |modulus| turn % modulus.max(1)).to_string()
            }
        }
    }

    /// Whether it is made of digits in every turn.
    fn is_number(&self) -> bool {
        match self {
            Self::Text(text) => text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Turn { .. } => true,
        }
    }
}

impl Name {
    /// The name in one turn of all repeats around it.
    pub fn at(&self, turns: &Turns) -> String {
        at(&self.0, turns)
    }
}

fn at(text: &str, turns: &Turns) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    pieces(text).iter().flatten().map(|piece| piece.at(turns)).collect()
}

impl Gpu {
    fn text(&self) -> Option<String> {
        match &self.0 {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => number.as_u64().map(|number| number.to_string()),
            _ => None,
        }
    }

    /// Whether it is a number in every turn. `indices` are those of the repeats around it.
    pub fn is_number(&self, indices: &[String]) -> bool {
        self.text().is_some_and(|text| {
            check(&text, indices).is_ok() && pieces(&text).is_ok_and(|pieces| pieces.iter().all(Piece::is_number))
        })
    }

    /// The number in one turn of all repeats around it; the largest there is for one that is larger.
    pub fn number(&self, turns: &Turns) -> usize {
        self.text().and_then(|text| at(&text, turns).parse().ok()).unwrap_or(usize::MAX)
    }
}

fn plain(text: &str) -> Result<String, Wrong> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    match text.chars().find(|c| !fits(*c)) {
        None => Ok(text.to_owned()),
        Some(c) => Err(wrong(
            format!("{c:?} cannot stand in a name"),
            "a name is made of the letters a to z and A to Z, digits, `_`, `-`, `.` and `{i}`",
        )),
    }
}

/// Whether a text can be the index of a repeat.
pub(super) fn is_index(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn turn(inner: &str) -> Result<Piece, Wrong> {
    let malformed = || {
        let what = format!("`{{{inner}}}` is no turn of a repeat");
        wrong(what, "write `{i}`, `{i+1}`, `{i%2}` or `{(i+1)%2}`")
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
    Ok(Piece::Turn { index: index.to_owned(), plus, modulus })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), Wrong> {
        check(text, &["i".into(), "slot".into()])
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
            assert_eq!((checked(text).is_ok(), at(text, &turns)), (true, expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn of_two_repeats_with_one_index_the_inner_counts() {
        let turns = vec![("i".to_owned(), 7), ("i".to_owned(), 1)];
        assert_eq!(at("{i}", &turns), "1");
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
            let Wrong { what, .. } = checked(text).unwrap_err();
            assert!(what.contains(phrase), "{text}: {what}");
        }
        assert!(checked(&"x".repeat(65)).is_err() && checked(&"x".repeat(64)).is_ok());
        assert!(check("{i}", &[]).unwrap_err().remedy.contains("within the operations of a repeat"));
    }
}
