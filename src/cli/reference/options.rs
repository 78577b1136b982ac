//! Every verb with its arguments, from the definitions that the program parses with.

use super::markdown::{prose, text};
use clap::{Arg, ArgAction, Command, builder::PossibleValue};

pub fn page(program: &Command) -> String {
    let mut page = "# Verbs and options\n\nWhat each verb takes. `sealsim VERB --help` shows the same.\n\n".to_owned();
    let verbs = || program.get_subcommands().filter(|verb| verb.get_name() != "help");
    for verb in verbs() {
        page += &format!("- [`{0}`](#{0}): {1}\n", verb.get_name(), text(&about(verb, false)));
    }
    page.push('\n');
    verbs().for_each(|one| section(one, one.get_name(), 2, &mut page));
    page
}

fn about(verb: &Command, at_length: bool) -> String {
    let long = at_length.then(|| verb.get_long_about()).flatten();
    long.or(verb.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// A verb, then its own verbs, a level deeper. The heading of a verb is its words: `verify vectors`.
fn section(verb: &Command, name: &str, level: usize, page: &mut String) {
    *page += &format!("{} {name}\n\n{}", "#".repeat(level), prose(&about(verb, true)));
    let usage = verb.clone().render_usage().to_string();
    *page += &format!("```text\n{}\n```\n\n", usage.trim_start_matches("Usage: ").replace("\n       ", "\n"));
    let shown = |argument: &&Arg| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str());
    for argument in verb.get_arguments().filter(shown) {
        *page += &entry(argument);
    }
    page.push('\n');
    if let Some(after) = verb.get_after_long_help().or(verb.get_after_help()) {
        *page += &prose(&after.to_string());
    }
    for inner in verb.get_subcommands().filter(|inner| inner.get_name() != "help") {
        section(inner, &format!("{name} {}", inner.get_name()), level + 1, page);
    }
}

/// An argument: its form, what it says, its default, and what it may be.
fn entry(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut entry = format!("- `{argument}`: {}", text(&help));
    let takes_values = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_values && !defaults.is_empty() {
        let stop = if entry.ends_with('.') { "" } else { "." };
        entry += &format!("{stop} Default: `{}`.", defaults.join(" "));
    }
    entry.push('\n');
    if takes_values {
        let values = argument.get_possible_values();
        entry.extend(values.iter().filter(|value| !value.is_hide_set()).map(choice));
    }
    entry
}

fn choice(value: &PossibleValue) -> String {
    let says = value.get_help().map(|help| format!(": {}", text(&help.to_string()))).unwrap_or_default();
    format!("  - `{}`{says}\n", value.get_name())
}
