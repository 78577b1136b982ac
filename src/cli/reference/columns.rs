//! The columns of a sweep's table.

use super::markdown::{code, table, text};
use crate::explore::sweep::COLUMNS;

pub fn page() -> String {
    let head = "# Columns of a sweep\n\nA row of `points.csv` and `points.parquet` is a point of a study. It holds `index`, its place in the study; a \
                column for each axis, named after the path that it varies; the columns below; `error`, why a point has no figures; and `id`, \
                which identifies the point. A cell without a value is empty. Labels are what plots write.\n\n";
    let rows = COLUMNS.iter().map(|column| [code(column.name), text(column.words), text(column.says)]);
    head.to_owned() + &table(["column", "label", "meaning"], rows)
}
