//! The values of one machine, each with where it comes from.

use super::markdown::{code, table, text};
use crate::{
    cli::Failure,
    config::{Layers, Parameter},
};

pub fn page(machine: &str) -> Result<String, Failure> {
    let resolved = Layers::new(machine).resolve()?;
    let head = format!(
        "# Values of {machine}\n\n{}. What each parameter means, [parameters](parameters.md) say. `sealsim describe` \
         shows any other machine like this. A value is *documented* (a public source states it), *measured* \
         (published measurements give it), *calibrated* (fitted so that the model meets measurements) or *assumed* \
         (nobody has published it; the source gives the reason).\n\n",
        text(&resolved.machine.summary)
    );
    let heads = ["parameter", "value", "origin", "range", "source"];
    Ok(head + &table(heads, resolved.parameters.iter().map(row)))
}

fn row(one: &Parameter) -> [String; 5] {
    let known = &one.provenance;
    let bounds = [&known.low, &known.high].map(|bound| bound.clone().unwrap_or_default());
    let range = if bounds.iter().all(String::is_empty) { String::new() } else { bounds.join(" to ") };
    [code(&one.path), code(&one.value), known.kind.name().to_owned(), text(&range), text(&known.source)]
}
