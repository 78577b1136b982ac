//! The answer to a command: what it prints as JSON, from the same code.

use super::super::{Arguments, Failure, Verb, compare, explain, page::shell_words, replay, run, run::Interruption};
use crate::{explore::Finished, figures::Row, replay::Known, report::plot::drawing::Drawing};
use clap::Parser;
use miette::miette;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub struct Answer {
    /// What `--format json` prints, or `--report` writes.
    pub text: String,
    /// What `--plot` draws.
    pub drawing: Option<Drawing>,
    /// What `--format toml` prints.
    pub toml: Option<String>,
}

impl Answer {
    const fn of(text: String) -> Self {
        Self { text, drawing: None, toml: None }
    }
}

/// Rows of comparisons that are kept: those of some hundred curves.
const MOST_ROWS: usize = 4096;

/// What is known from earlier answers.
#[derive(Debug, Default)]
pub struct Memory {
    /// What copies take in the program that was asked about last, so that each of its switches is answered soon.
    program: Mutex<(Vec<String>, Arc<Known>)>,
    /// Rows of comparisons: the machine beside which others are seen is simulated once, and so is one that differs in bounds that it does not reach.
    rows: Mutex<Arc<Finished<Row>>>,
}

impl Memory {
    pub(super) fn rows(&self) -> Arc<Finished<Row>> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.kept().0 > MOST_ROWS {
            *rows = Arc::default();
        }
        Arc::clone(&rows)
    }

    fn of(&self, command: &[String]) -> Arc<Known> {
        // Changes and designs play the same copies again.
        let same = |two: &[String]| ["--what-if", "--design"].contains(&two[0].as_str());
        let mut program = Vec::new();
        let mut words = command;
        while let [first, rest @ ..] = words {
            let skipped = words.len() >= 2 && same(words);
            words = if skipped { &rest[1..] } else { rest };
            program.extend((!skipped).then(|| first.clone()));
        }
        let mut last = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != program {
            *last = (program, Arc::default());
        }
        Arc::clone(&last.1)
    }
}

/// Answers a command as the command line does, in one thread. `stop` ends it. If it ends with `--report FILE`, the answer is what that file would hold.
pub fn answer(command: &[String], stop: &Interruption, memory: &Memory) -> Result<Answer, Failure> {
    let (asked, page) = match command {
        [asked @ .., report, _] if report == "--report" => (asked, Some(shell_words(command))),
        _ => (command, None),
    };
    let mut words: Vec<_> = asked.iter().map(String::as_str).collect();
    if let Some(&("run" | "compare" | "replay")) = words.get(1) {
        words.extend(["--threads", "1"]);
    }
    let parsed = Arguments::try_parse_from(words);
    let drawn = |(json, drawing)| Answer { drawing: Some(drawing), ..Answer::of(json) };
    match parsed.map_err(|error| Failure::Usage(miette!("{}", error.render())))?.verb {
        Some(Verb::Run(arguments)) => run::answer(&arguments, page, stop).map(Answer::of),
        Some(Verb::Explain(arguments)) => explain::answer(&arguments, stop).map(Answer::of),
        Some(Verb::Compare(arguments)) => compare::answer(&arguments, page, stop, &memory.rows()).map(drawn),
        Some(Verb::Replay(arguments)) => replay::answer(&arguments, page, stop, &memory.of(asked)).map(drawn),
        Some(Verb::Describe(arguments)) => {
            let (json, toml) = arguments.answer()?;
            Ok(Answer { toml: Some(toml), ..Answer::of(json) })
        }
        _ => Err(Failure::Usage(miette!("a verb that the page does not ask"))),
    }
}
