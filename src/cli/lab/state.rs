//! A state of a view of the page, written as a query with the names of the command line's options, and the commands that answer questions about it.
//!
//! ```text
//!   a copy       machine, design, cc, set, copy              describe, run, explain, compare
//!   a workload   workload, param, design                     compare --workload
//!   a program    program, api, hw, expand, step_time,        replay --what-if
//!                design, change
//! ```

use super::query::{LONGEST, MOST, Offered, StateError, pairs};
use crate::{
    explore::levers::MOST_BYTES,
    replay::CHANGES,
    system::{Direction, Memory},
    units::Bytes,
    workload::{Copy, CopyArgument, direction_name, memory_name},
};

/// Larger copies are sampled for a first answer.
const QUICK: u64 = 64 << 20;
/// Larger copies are sampled for each answer.
const EXACT: u64 = 1 << 30;
/// Copies of a curve: 4 KiB to 64 MiB.
const CURVE: [u64; 8] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
/// The path of a message is that of a copy of at most so much.
const PATH: u64 = 4 << 20;

crate::units::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Question {
        Describe = "describe",
        /// The copy, soon.
        Quick = "quick",
        /// What can be done about the copy, or about one of as many bytes as that is tried for.
        Levers = "levers",
        /// The copy, and what limits it.
        Run = "run",
        /// The way of a message, and of the time.
        Path = "path",
        /// The rate by the size of a copy, beside the designs that are always compared.
        Curve = "curve",
        /// The copy on each design that the machine can have.
        Designs = "designs",
        /// A shipped workload, with designs beside each other.
        Workload = "workload",
        /// A profile, and what changes of it would give.
        Program = "program",
    }
}

impl Question {
    const fn verb(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Quick | Self::Levers | Self::Run => "run",
            Self::Path => "explain",
            Self::Curve | Self::Designs | Self::Workload => "compare",
            Self::Program => "replay",
        }
    }

    /// Parts of the state that it is asked of, in the order of the command line.
    const fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Workload => &["workload", "param", "design"],
            Self::Program => &["program", "api", "hw", "expand", "step_time", "design", "change"],
            _ => &["machine", "design", "cc", "set", "copy"],
        }
    }
}

/// Parts without which there is no state.
const NEEDED: [&str; 4] = ["machine", "copy", "workload", "program"];

/// A question about a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    question: Question,
    /// By the names of [`Question::parts`].
    parts: Vec<(&'static str, String)>,
    copy: Option<Copy>,
}

impl State {
    /// Reads a state, all of which is shipped, offered or dropped on the page.
    pub fn read(question: Question, query: &str, offered: &Offered) -> Result<Self, StateError> {
        let mut parts = Vec::new();
        for (name, value) in pairs(query)? {
            if value.len() > LONGEST || parts.len() >= MOST {
                return Err(StateError::TooMany);
            }
            let Some(known) = question.parts().iter().find(|known| **known == name) else {
                return Err(StateError::Unknown(name));
            };
            parts.push((*known, offered.value(known, value)?));
        }
        let state = Self { question, parts, copy: None };
        let is_missing = |part: &&&str| NEEDED.contains(part) && state.all(part).next().is_none();
        if let Some(missing) = question.parts().iter().find(is_missing) {
            return Err(StateError::Missing(missing));
        }
        let copy = state.all("copy").last().map(copy).transpose()?;
        Ok(Self { copy, ..state })
    }

    /// The values of a part.
    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The command that answers the question, as a person would type it.
    pub fn command(&self) -> Vec<String> {
        let mut command = vec!["sealsim".to_owned(), self.question.verb().to_owned()];
        for part in self.question.parts() {
            let mut add = |value: &str| command.extend([format!("--{}", part.replace('_', "-")), value.to_owned()]);
            let mut values = self.all(part).peekable();
            match (*part, self.question) {
                ("copy" | "change", _) => {}
                ("machine" | "program", _) => command.extend(values.map(str::to_owned)),
                // One that is always compared: without any, all that are shipped are.
                ("design", Question::Curve | Question::Workload) if values.peek().is_none() => add("h100-cc"),
                ("design", Question::Curve) => add(&values.collect::<Vec<_>>().join("+")),
                _ => values.for_each(add),
            }
        }
        command.extend(self.further().split_whitespace().map(str::to_owned));
        command
    }

    /// Words behind the parts.
    fn further(&self) -> String {
        let changes =
            || CHANGES.iter().map(|(name, ..)| *name).filter(|name| self.all("change").any(|one| one == *name));
        match (self.question, &self.copy) {
            (Question::Quick, Some(copy)) => {
                format!("{} --data none --what-if 0{}", option(copy), sample(copy.bytes, QUICK))
            }
            (Question::Levers, Some(copy)) => format!("{} --data none --what-if 3", option(&at_most(MOST_BYTES, copy))),
            (Question::Run, Some(copy)) => {
                format!("{} --data none --what-if 3{}", option(copy), sample(copy.bytes, EXACT))
            }
            (Question::Path, Some(copy)) => format!("{} --message 1", option(&at_most(PATH, copy))),
            (Question::Designs, Some(copy)) => option(copy) + sample(copy.bytes, QUICK),
            (Question::Curve, Some(copy)) => {
                let mut sizes = CURVE.to_vec();
                sizes.push(copy.bytes);
                sizes.sort_unstable();
                sizes.dedup();
                let options: Vec<_> = sizes.into_iter().map(|bytes| option(&Copy { bytes, ..*copy })).collect();
                options.join(" ") + sample(copy.bytes, QUICK)
            }
            (Question::Program, _) if changes().next().is_none() => "--what-if changes".to_owned(),
            (Question::Program, _) => {
                format!("--what-if changes --what-if {}", changes().collect::<Vec<_>>().join("+"))
            }
            _ => String::new(),
        }
    }

    /// The command of a run to look inside: with its bytes.
    pub fn watched(&self) -> Vec<String> {
        let mut command = self.command();
        let end = command.iter().position(|word| word == "--data").unwrap_or(command.len());
        command.truncate(end);
        command.extend(["--what-if", "0"].map(str::to_owned));
        command
    }
}

/// A copy that has a place on the page.
fn copy(text: &str) -> Result<Copy, StateError> {
    let CopyArgument { gpu, direction, bytes, memory } = text.parse()?;
    let bytes = bytes.filter(|_| gpu == 0 && direction != Direction::D2d).ok_or(StateError::OtherCopy)?;
    Ok(Copy { gpu, direction, bytes, memory })
}

/// A copy, or the beginning of a larger one.
fn at_most(bytes: u64, copy: &Copy) -> Copy {
    Copy { bytes: copy.bytes.min(bytes), ..*copy }
}

/// The option that asks for a copy.
fn option(copy: &Copy) -> String {
    let memory = match copy.memory {
        Memory::Pinned => String::new(),
        other => format!(":{}", memory_name(other)),
    };
    format!("--copy {}:{}{memory}", direction_name(copy.direction), Bytes(copy.bytes).to_string().replace(' ', ""))
}

/// The option that samples a copy of more than `most`.
const fn sample(bytes: u64, most: u64) -> &'static str {
    match most {
        _ if bytes <= most => "",
        QUICK => " --sample 32",
        _ => " --sample auto",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::lab::Dropped;
    use std::sync::Arc;

    fn read(question: Question, query: &str) -> Result<State, StateError> {
        let (files, programs) = (vec!["mine.toml".to_owned()], vec!["job.json.gz".to_owned()]);
        State::read(question, query, &Offered { files, programs, dropped: Arc::new(Dropped::new().unwrap()) })
    }

    /// The words of a command that the program understands.
    fn command(question: Question, query: &str) -> String {
        let command = read(question, query).unwrap().command();
        assert!(crate::cli::understands(&command), "{command:?}");
        command.join(" ")
    }

    #[test]
    fn a_state_becomes_the_command_that_a_person_would_type() {
        let state = "machine=h100-nvl-tdx&design=direct%2Boverlap&set=link.max_payload%3D512+B&copy=h2d:64MiB";
        assert_eq!(
            command(Question::Quick, state),
            "sealsim run h100-nvl-tdx --design direct+overlap --set link.max_payload=512 B --copy h2d:64MiB --data none --what-if 0"
        );
        let watched = read(Question::Quick, state).unwrap().watched().join(" ");
        assert!(watched.ends_with("--set link.max_payload=512 B --copy h2d:64MiB --what-if 0"), "{watched}");
        let all = command(Question::Designs, "machine=h100-nvl-tdx&copy=h2d:64MiB");
        assert_eq!(all, "sealsim compare h100-nvl-tdx --copy h2d:64MiB");
        assert!(command(Question::Path, state).ends_with("--copy h2d:4MiB --message 1"));
        assert!(command(Question::Curve, state).contains("--copy h2d:4KiB --copy h2d:16KiB"));
        assert!(
            command(Question::Describe, state).starts_with("sealsim describe h100-nvl-tdx --design direct+overlap ")
        );
        let odd = "machine=h100-nvl-tdx&copy=h2d:5000";
        assert!(command(Question::Path, odd).contains("--copy h2d:5kB "));
        assert!(command(Question::Curve, odd).contains(" --design h100-cc --copy h2d:4KiB "));
        let large = "machine=h100-nvl-tdx&copy=d2h:8GiB:pageable";
        let quick = command(Question::Quick, large);
        assert!(quick.ends_with("--copy d2h:8GiB:pageable --data none --what-if 0 --sample 32"), "{quick}");
        assert!(command(Question::Run, large).ends_with("--what-if 3 --sample auto"));
        assert!(command(Question::Levers, large).ends_with("--copy d2h:64MiB:pageable --data none --what-if 3"));
        assert_eq!(command(Question::Levers, odd), command(Question::Run, odd));
    }

    #[test]
    fn a_workload_becomes_a_comparison() {
        let query = "workload=ddp-bert-large&param=ranks%3D4&design=link&design=staged";
        let words = "sealsim compare --workload ddp-bert-large --param ranks=4 --design link --design staged";
        assert_eq!(command(Question::Workload, query), words);
        assert!(command(Question::Workload, "workload=decode-loop").ends_with("decode-loop --design h100-cc"));
        for wrong in
            ["", "workload=/etc/passwd", "workload=decode-loop&machine=x", "workload=decode-loop&design=x.toml"]
        {
            assert!(read(Question::Workload, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_program_becomes_a_replay_with_what_is_switched_on() {
        let query = "program=job.json.gz&hw=hgx-h100-8gpu&design=fastrack&expand=8&step_time=11.2ms&change=pinned&change=graph&change=pinned";
        let words = "sealsim replay job.json.gz --hw hgx-h100-8gpu --expand 8 --step-time 11.2ms --design fastrack --what-if changes --what-if graph+pinned";
        assert_eq!(command(Question::Program, query), words);
        assert!(command(Question::Program, "program=decode-loop").ends_with("decode-loop --what-if changes"));
        for wrong in [
            "",
            "program=/etc/passwd",
            "program=other.json",
            "program=decode-loop&api=x",
            "program=decode-loop&hw=x.toml",
            "program=decode-loop&change=rm",
            "program=decode-loop&expand=x",
            "program=decode-loop&step_time=--all",
            "program=decode-loop&out=x",
        ] {
            assert!(read(Question::Program, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_state_says_why() {
        let read = |query: &str| read(Question::Quick, query);
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
        assert_eq!(read(&"set=a%3D1&".repeat(MOST + 1)), Err(StateError::TooMany));
        assert_eq!(read(&format!("set={}", "a".repeat(LONGEST + 1))), Err(StateError::TooMany));
    }
}
