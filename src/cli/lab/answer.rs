//! The answer to a command: what it prints as JSON, from the same code.

use super::super::{Arguments, Failure, Verb, compare, explain, run, run::Interruption};
use crate::report::plot::drawing::Drawing;
use clap::Parser;
use miette::miette;

/// What a command says.
#[derive(Debug)]
pub struct Answer {
    /// What `--format json` prints.
    pub json: String,
    /// What `--plot` draws.
    pub drawing: Option<Drawing>,
    /// What `--format toml` prints.
    pub toml: Option<String>,
}

impl Answer {
    const fn of(json: String) -> Self {
        Self { json, drawing: None, toml: None }
    }
}

/// Answers a command as the command line does, in one thread. `stop` ends it.
///
/// # Errors
/// What the command would have failed for.
pub fn answer(command: &[String], stop: &Interruption) -> Result<Answer, Failure> {
    let mut words: Vec<_> = command.iter().map(String::as_str).collect();
    if let Some(&("run" | "compare")) = words.get(1) {
        words.extend(["--threads", "1"]);
    }
    let parsed = Arguments::try_parse_from(words);
    match parsed.map_err(|error| Failure::Usage(miette!("{}", error.render())))?.verb {
        Verb::Run(arguments) => run::answer(&arguments, stop).map(Answer::of),
        Verb::Explain(arguments) => explain::answer(&arguments, stop).map(Answer::of),
        Verb::Compare(arguments) => {
            let (json, drawing) = compare::answer(&arguments, stop)?;
            Ok(Answer { drawing: Some(drawing), ..Answer::of(json) })
        }
        Verb::Describe(arguments) => {
            let (json, toml) = arguments.answer()?;
            Ok(Answer { toml: Some(toml), ..Answer::of(json) })
        }
        _ => Err(Failure::Usage(miette!("a verb that the page does not ask"))),
    }
}
