//! The figures that verbs show.

use super::markdown::{code, table, text};
use crate::figures::{Column, columns, table::SHOWN};

pub fn page() -> String {
    let head = "# Figures\n\nWhat JSON, CSV and Parquet hold, and which verb has it: a column of `sweep`, a field or a column of `compare`, \
                of `cost` within it, of `run` or of `collective`. A figure that does not apply is null in JSON, and an empty cell in a table. Labels are what plots write.\n\n\
                A row of `points.csv` and `points.parquet` is a point of a study. It holds `index`, its place in the study; a \
                column for each axis, named after the path that it varies; figures; `error`, why a point has none; and `id`, \
                which identifies the point.\n\n";
    let mut all: Vec<(Column, Vec<&str>)> = Vec::new();
    for (verb, list) in SHOWN {
        for column in columns(list) {
            match all.iter_mut().find(|(known, _)| known.name() == column.name()) {
                Some((_, verbs)) => verbs.push(verb),
                None => all.push((column, vec![verb])),
            }
        }
    }
    let rows = all.into_iter().map(|(column, verbs)| {
        [code(&column.name()), text(&column.words()), text(&column.says()), text(&verbs.join(", "))]
    });
    head.to_owned() + &table(["figure", "label", "meaning", "in"], rows)
}
