//! A state of the page: a machine, what lies over it, and a copy. It is written as a query, with the names of the command line's options, and it is
//! answered by commands.

use crate::{
    cli::Switch,
    config::{Role, Shipped},
    system::{Direction, Memory},
    units::Bytes,
    workload::{Copy, CopyArgument, CopyError, direction_name, memory_name},
};
use clap::ValueEnum;
use thiserror::Error;

/// Designs and settings of a state.
const MOST: usize = 64;
/// Bytes of one of them.
const LONGEST: usize = 200;
/// Larger copies are sampled for a first answer.
const QUICK: u64 = 64 << 20;
/// Larger copies are sampled for each answer.
const EXACT: u64 = 1 << 30;
/// Copies of a curve: 4 KiB to 64 MiB.
const CURVE: [u64; 8] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
/// The path of a message is that of a copy of at most so much.
const PATH: u64 = 4 << 20;

crate::units::named! {
    /// What may be asked of a state.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Question {
        /// The machine's parameters and costs.
        Describe = "describe",
        /// The copy, soon.
        Quick = "quick",
        /// The copy, and what limits it.
        Run = "run",
        /// The way of a message, and of the time.
        Path = "path",
        /// The rate by the size of a copy, beside the designs that are always compared.
        Curve = "curve",
    }
}

/// Why a query is no state.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StateError {
    /// A byte that is not written as a query writes it.
    #[error("the query is not text in UTF-8")]
    Encoding,
    #[error("`{0}` is no part of a state: it has machine, design, cc, set and copy")]
    Unknown(String),
    #[error("the state has no {0}")]
    Missing(&'static str),
    #[error("more than {MOST} designs and settings, or one of more than {LONGEST} bytes")]
    TooMany,
    /// Neither shipped, nor given on the command line of the server.
    #[error("`{0}` is not shipped, and `sealsim lab` was not started with it")]
    NotOffered(String),
    /// What is played is none of these.
    #[error("`{0}` is not here: drop or choose the file again, or start `sealsim lab` with it")]
    NoProgram(String),
    #[error("ranks: give a number, as 8")]
    Expand,
    #[error("time of a step: give a time, as 11.2ms")]
    StepTime,
    #[error("cc is on or off")]
    Switch,
    #[error("copy: {0}")]
    Copy(#[from] CopyError),
    /// What has no place on the page.
    #[error("copy: give a direction h2d or d2h and a size, of GPU 0")]
    OtherCopy,
}

/// A machine, what lies over it, and a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    machine: String,
    designs: Vec<String>,
    cc: Option<Switch>,
    set: Vec<String>,
    copy: Copy,
}

impl State {
    /// Reads a state, in which machines and designs are shipped, or are files that were offered.
    pub fn read(query: &str, offered: &[String]) -> Result<Self, StateError> {
        let (mut machine, mut designs, mut cc, mut set, mut copy) = (None, Vec::new(), None, Vec::new(), None);
        for (name, value) in pairs(query)? {
            if value.len() > LONGEST || designs.len() + set.len() > MOST {
                return Err(StateError::TooMany);
            }
            match name.as_str() {
                "machine" => machine = Some(known(Role::Machine, value, offered)?),
                "design" => designs.push(known(Role::Design, value, offered)?),
                "cc" => cc = Some(Switch::from_str(&value, false).map_err(|_| StateError::Switch)?),
                "set" => set.push(value),
                "copy" => copy = Some(value.parse::<CopyArgument>()?),
                _ => return Err(StateError::Unknown(name)),
            }
        }
        let machine = machine.ok_or(StateError::Missing("machine"))?;
        let CopyArgument { gpu, direction, bytes, memory } = copy.ok_or(StateError::Missing("copy"))?;
        let bytes = bytes.filter(|_| gpu == 0 && direction != Direction::D2d).ok_or(StateError::OtherCopy)?;
        Ok(Self { machine, designs, cc, set, copy: Copy { gpu, direction, bytes, memory } })
    }

    /// The command that answers a question, as a person would type it.
    pub fn command(&self, question: Question) -> Vec<String> {
        let Copy { bytes, .. } = self.copy;
        let (verb, more): (_, Vec<String>) = match question {
            Question::Describe => ("describe", Vec::new()),
            Question::Quick => {
                ("run", vec![self.copy_of(bytes), words("--data none --what-if 0"), sample(bytes, QUICK)])
            }
            Question::Run => ("run", vec![self.copy_of(bytes), words("--data none --what-if 3"), sample(bytes, EXACT)]),
            Question::Path => ("explain", vec![self.copy_of(bytes.min(PATH)), words("--message 1")]),
            Question::Curve => {
                let mut sizes = CURVE.to_vec();
                sizes.push(bytes);
                sizes.sort_unstable();
                sizes.dedup();
                let copies = sizes.into_iter().map(|bytes| self.copy_of(bytes));
                ("compare", copies.chain([sample(bytes, QUICK)]).collect())
            }
        };
        let mut command = vec!["sealsim".to_owned(), verb.to_owned(), self.machine.clone()];
        let mut add = |option: &str, value: &str| command.extend([option.to_owned(), value.to_owned()]);
        match question {
            // One that is always compared: without any, all that are shipped are.
            Question::Curve if self.designs.is_empty() => add("--design", "h100-cc"),
            Question::Curve => add("--design", &self.designs.join("+")),
            _ => self.designs.iter().for_each(|design| add("--design", design)),
        }
        self.cc.iter().for_each(|cc| add("--cc", cc.name()));
        self.set.iter().for_each(|set| add("--set", set));
        command.extend(more.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned));
        command
    }

    /// The command of a run to look inside: with its bytes.
    pub fn watched(&self) -> Vec<String> {
        let mut command = self.command(Question::Quick);
        let end = command.iter().position(|word| word == "--data").unwrap_or(command.len());
        command.truncate(end);
        command.extend(["--what-if", "0"].map(str::to_owned));
        command
    }

    /// Options that ask for a copy like this one.
    fn copy_of(&self, bytes: u64) -> String {
        let memory = match self.copy.memory {
            Memory::Pinned => String::new(),
            other => format!(":{}", memory_name(other)),
        };
        format!("--copy {}:{}{memory}", direction_name(self.copy.direction), Bytes(bytes).to_string().replace(' ', ""))
    }
}

fn words(text: &str) -> String {
    text.to_owned()
}

/// The option that samples a copy of more than `most`.
fn sample(bytes: u64, most: u64) -> String {
    match most {
        _ if bytes <= most => String::new(),
        QUICK => words("--sample 32"),
        _ => words("--sample auto"),
    }
}

/// A name, or several joined by `+`, if each is of something that is shipped or offered.
pub(super) fn known(role: Role, name: String, offered: &[String]) -> Result<String, StateError> {
    let is_known =
        |name: &str| Shipped::names(role).any(|shipped| shipped == name) || offered.iter().any(|one| one == name);
    let is = is_known(&name) || (role == Role::Design && name.split('+').all(is_known));
    if is { Ok(name) } else { Err(StateError::NotOffered(name)) }
}

/// Names and values of a query, as forms encode them.
pub(super) fn pairs(query: &str) -> Result<Vec<(String, String)>, StateError> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// A value as a query holds it.
pub(super) fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

fn decoded(text: &str) -> Result<String, StateError> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit =
                    || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or(StateError::Encoding);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high << 4 | low).map_err(|_| StateError::Encoding)?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| StateError::Encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_becomes_the_command_that_a_person_would_type() {
        let state = State::read(
            "machine=h100-nvl-tdx&design=direct%2Boverlap&set=link.max_payload%3D512+B&copy=h2d:64MiB",
            &[],
        );
        let command = |question| state.clone().unwrap().command(question).join(" ");
        assert_eq!(
            command(Question::Quick),
            "sealsim run h100-nvl-tdx --design direct+overlap --set link.max_payload=512 B --copy h2d:64MiB --data none --what-if 0"
        );
        assert!(command(Question::Path).ends_with("--copy h2d:4MiB --message 1"), "{}", command(Question::Path));
        assert!(command(Question::Curve).contains("--copy h2d:4KiB --copy h2d:16KiB"), "{}", command(Question::Curve));
        for question in Question::ALL {
            assert!(crate::cli::understands(state.clone().unwrap().command(question)), "{}", command(question));
        }
        let odd = State::read("machine=h100-nvl-tdx&copy=h2d:5000", &[]).unwrap();
        assert!(odd.command(Question::Path).join(" ").contains("--copy h2d:5kB "));
        let large = State::read("machine=h100-nvl-tdx&copy=d2h:8GiB:pageable", &[]).unwrap();
        assert!(
            large
                .command(Question::Quick)
                .join(" ")
                .ends_with("--copy d2h:8GiB:pageable --data none --what-if 0 --sample 32")
        );
        assert!(large.command(Question::Run).join(" ").ends_with("--what-if 3 --sample auto"));
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let text = "a+b c%/=&ü.toml";
        assert_eq!(pairs(&format!("set={}", encoded(text))), Ok(vec![("set".to_owned(), text.to_owned())]));
    }

    #[test]
    fn what_is_no_state_says_why() {
        let read = |query: &str| State::read(query, &["mine.toml".to_owned()]);
        let copy = "copy=h2d:1MiB";
        assert!(read(&format!("machine=mine.toml&{copy}")).is_ok());
        for name in ["/etc/passwd", "other.toml", "..", "h100-nvl-tdx.toml", ""] {
            let query = format!("machine={}&{copy}", name.replace('/', "%2f"));
            assert_eq!(read(&query), Err(StateError::NotOffered(name.to_owned())));
            let query = format!("machine=h100-nvl-tdx&design=direct%2B{}&{copy}", name.replace('/', "%2F"));
            assert_eq!(read(&query), Err(StateError::NotOffered(format!("direct+{name}"))));
        }
        assert_eq!(read(copy), Err(StateError::Missing("machine")));
        assert_eq!(read("machine=h100-nvl-tdx"), Err(StateError::Missing("copy")));
        for other in ["d2d:1MiB", "h2d", "gpu1:h2d:1MiB"] {
            assert_eq!(read(&format!("machine=h100-nvl-tdx&copy={other}")), Err(StateError::OtherCopy), "{other}");
        }
        assert!(matches!(read("machine=h100-nvl-tdx&copy=h2d:99999TiB"), Err(StateError::Copy(_))));
        assert_eq!(read("out=x"), Err(StateError::Unknown("out".to_owned())));
        for broken in ["set=%", "set=%4", "set=%ff", "set=%zz", "set=%+1"] {
            assert_eq!(read(broken), Err(StateError::Encoding), "{broken}");
        }
        assert_eq!(read(&"set=a%3D1&".repeat(MOST + 2)), Err(StateError::TooMany));
        assert_eq!(read(&format!("set={}", "a".repeat(LONGEST + 1))), Err(StateError::TooMany));
    }
}
