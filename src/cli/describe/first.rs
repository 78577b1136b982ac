//! The first screen of a machine: what was set or differs, then a line for each unit in the order of the path.

use super::{head, kinds};
use crate::{
    config::{Kind, Parameter, Resolved, relaxes},
    report::{
        layout::{screen, some},
        replay::cut,
        table::Table,
    },
};

/// Where a copy to the GPU passes, in this order; what is beside it comes last.
const PATH: [&str; 14] = [
    "driver",
    "cipher",
    "staging",
    "memory",
    "root_complex",
    "link",
    "switch",
    "copy_engine",
    "engine",
    "aead",
    "sm",
    "tag_queue",
    "hbm",
    "compute",
];
/// Values that have a line, since they were set or differ.
const MOST: usize = 5;

/// `own` is the machine as its file has it.
pub fn text(resolved: &Resolved, own: &Resolved, width: usize) -> String {
    let mut text = some(head(resolved), 6).join("\n") + "\n" + &kinds(resolved) + "\n\n";
    let mut lines = differing(resolved, own);
    if !lines.is_empty() {
        lines.insert(0, "set, or other than in the machine's file".to_owned());
        text += &(some(lines, MOST + 1).join("\n") + "\n\n");
    }
    let is_of = |one: &Parameter, unit: &str| {
        one.path.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let of = |name| resolved.parameters.iter().filter(|one| is_of(one, name)).collect::<Vec<_>>();
    let mut table = Table::new(&["unit", "", "in the order of the path"], &[0, 2]);
    for name in PATH {
        let mut own = of(name);
        if own.is_empty() {
            continue;
        }
        // What can limit comes first.
        own.sort_by_key(|one| relaxes(&one.path).is_none());
        let values = own.iter().map(|one| {
            format!("{} {}", one.path.strip_prefix(name).unwrap_or_default().trim_start_matches('.'), one.value)
        });
        let values = values.collect::<Vec<_>>().join(", ");
        table.row([name.to_owned(), own.len().to_string(), values]);
    }
    let beside = resolved.parameters.iter().filter(|one| !PATH.iter().any(|unit| is_of(one, unit))).count();
    let room = width.saturating_sub(2);
    text += &table.lines().iter().map(|line| cut(line, room)).collect::<Vec<_>>().join("\n");
    text += &format!("\n{beside} parameters are beside the path: calls, fabric, the CPU's sockets\n");
    screen(&text, "--all: every value, its origin and range, costs   --format toml: a file of it", width)
}

fn differing(resolved: &Resolved, own: &Resolved) -> Vec<String> {
    let was = |path: &str| own.parameter(path).map(|one| one.value.as_str());
    let values = resolved
        .parameters
        .iter()
        .filter(|one| was(&one.path) != Some(one.value.as_str()) || one.provenance.kind == Kind::User);
    let mut values: Vec<_> = values.collect();
    values.sort_by_key(|one| one.provenance.kind != Kind::User);
    let values = values.into_iter().map(|one| {
        let before = match was(&one.path) {
            Some(before) if before != one.value => format!(" (was {before})"),
            Some(_) => String::new(),
            None => " (new)".to_owned(),
        };
        format!("  {} = {}{before}", one.path, one.value)
    });
    let switches = resolved.switches.iter().filter(|switch| !own.switches.contains(switch));
    switches.map(|(path, truth)| format!("  {path} = {truth}")).chain(values).collect()
}
