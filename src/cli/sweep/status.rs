//! `sealsim sweep status`: how far a sweep is.

use super::{Failure, array::array};
use crate::cli::output;
use crate::explore::sweep::{Origins, ShardStatus, SweepStatus};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Says how far the sweep of a folder is, whatever runs it. The folder is not locked.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder of results.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: StatusFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum StatusFormat {
    /// Lines for people
    #[default]
    Text,
    /// One object
    Json,
}

/// Missing shards that a line names; JSON names all.
const SHOWN: usize = 200;

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let status = SweepStatus::of(&arguments.folder)?;
    match arguments.format {
        StatusFormat::Json => output::print(&output::json(&status)?),
        StatusFormat::Text => output::print(&output::fitted(&text(&status))),
    }
    Ok(())
}

fn text(status: &SweepStatus) -> String {
    let SweepStatus { study, points, done, refused, .. } = status;
    let missing = points.saturating_sub(*done);
    let mut text = format!("study {study}: {done} of {points} points are done, {missing} are missing");
    if *refused > 0 {
        text += &format!("; {refused} of those done have no figures");
    }
    text += &origins(&status.origins);
    text.push('\n');
    if let Some(ShardStatus { count, missing }) = &status.shards {
        text += &match missing.len() {
            0 => format!("all {count} shards are done\n"),
            some => format!("{some} of {count} shards are missing: {}\n", shown(missing)),
        };
    }
    if let Some(seconds) = status.seconds_since_last {
        text += &format!("the last rows came {seconds:.0} s ago");
        if let Some(rate) = status.points_per_second {
            text += &format!("; {rate:.1} points per second");
            let left = missing as f64 / rate;
            if missing > 0 && left.is_finite() {
                text += &format!(", {left:.0} s left at this rate");
            }
        }
        text.push('\n');
    }
    text
}

/// Where figures are from, behind what is said of points.
pub(super) fn origins(origins: &Origins) -> String {
    let shown = origins.iter().map(|(origin, points)| format!("{points} {}", origin.name())).collect::<Vec<_>>();
    if shown.is_empty() { String::new() } else { format!("; {}", shown.join(", ")) }
}

fn shown(missing: &[u32]) -> String {
    let text = array(missing);
    match text.char_indices().filter(|(_, letter)| *letter == ',').map(|(place, _)| place).find(|place| *place > SHOWN)
    {
        Some(place) => format!("{} and more", text.get(..place).unwrap_or_default()),
        None => text,
    }
}
