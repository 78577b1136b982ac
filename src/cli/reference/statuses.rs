//! What each exit status means, of all verbs and of each.

use super::markdown::{code, table, text};
use crate::cli::failure::STATUSES;
use clap::Command;

/// What a help text begins with where it describes statuses.
const MARK: &str = "Exit status: ";

pub fn page(program: &Command) -> String {
    let head = "# Exit statuses\n\n";
    let all = table(["status", "meaning"], STATUSES.iter().map(|(status, says)| [status.to_string(), text(says)]));
    let mut rows = Vec::new();
    collect(program, "", &mut rows);
    format!(
        "{head}{all}## By verb\n\nVerbs that are not listed have the statuses above.\n\n{}",
        table(["verb", "statuses"], rows)
    )
}

fn collect(command: &Command, name: &str, rows: &mut Vec<[String; 2]>) {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let about = command.get_long_about().map(ToString::to_string);
    let told = [after, about].into_iter().flatten().find_map(|help| {
        let (_, told) = help.split_once(MARK)?;
        Some(told.split("\n\n").next()?.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    rows.extend(told.map(|told| [code(name), text(&told)]));
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        collect(verb, format!("{name} {}", verb.get_name()).trim_start(), rows);
    }
}
