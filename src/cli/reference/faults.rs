//! Where `--inject` can place faults on a machine.

use super::markdown::{code, table, text};
use crate::cli::{Failure, list_faults};

pub fn page(machine: &str) -> Result<String, Failure> {
    let rows = list_faults::rows(machine, &[])?;
    let head = format!(
        "# Fault points\n\nWhat `sealsim run --inject` takes on {machine}: a place and what goes wrong there, and in brackets what can be chosen beside transfer, time and bit ([faults](../faults.md)). \
         `sealsim list --faults CONFIG` lists those of another machine.\n\n"
    );
    Ok(head
        + &table(["fault point", "what goes wrong"], rows.into_iter().map(|row| [code(&row.name), text(&row.summary)])))
}
