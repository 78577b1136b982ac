//! A target for each reader: nothing that is read panics or takes long, and what is printed of it reads as the same.

#[path = "readers/configurations.rs"]
mod configurations;
#[path = "readers/looks.rs"]
mod looks;
#[path = "readers/profiles.rs"]
mod profiles;
#[path = "readers/programs.rs"]
mod programs;
#[path = "readers/tables.rs"]
mod tables;
#[path = "readers/wire.rs"]
mod wire;

sealsim_fuzz::targets! {
    machine "machine": configurations::machine,
    design "design": configurations::design,
    workload "workload": programs::workload,
    arguments "arguments": programs::arguments,
    manifest "manifest": programs::manifest,
    study "study": tables::study,
    points "points": tables::points,
    stages "stages": tables::stages,
    measured "measured": tables::measured,
    trace "trace": profiles::profile,
    nvbandwidth "nvbandwidth": profiles::bandwidth,
    cavp "cavp": tables::vectors,
    wycheproof "wycheproof": tables::vectors,
    tlp_bytes "tlp-bytes": wire::bytes,
    tlp_json "tlp-json": wire::json,
    events "events": looks::events,
    page "page": looks::page,
}

/// The text of an input, if it is one; shows what is wrong with it to nobody, since to show it may fail as well.
fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

/// Draws an error as the program does.
fn draw(error: impl Into<miette::Report>) {
    let drawn = format!("{:?}", error.into());
    assert!(drawn.len() < 40_000, "a message of {} bytes", drawn.len());
}
