//! A standalone engine: each parameter with what it means.

use crate::config::{ConfigField, DEFAULT, DescribedEngine, Kind, Provenance, fields};
use serde::Serialize;
use serde_json::{Value, json};

/// A parameter or switch.
#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    value: String,
    /// None for a switch and for what no layer gives.
    kind: Option<Kind>,
    source: Option<&'a str>,
    /// Its sentence, and that of the text it has where it is one of several.
    meaning: String,
    takes: String,
}

impl<'a> Row<'a> {
    fn new(fields: &[ConfigField], path: &'a str, value: &str, provenance: Option<&'a Provenance>) -> Self {
        let (mut meaning, mut takes) = (String::new(), String::new());
        if let Some(field) = fields.iter().find(|field| field.path == path) {
            meaning.clone_from(&field.meaning);
            let chosen = field.choices.iter().find(|(name, means)| name == value && !means.is_empty());
            chosen.into_iter().for_each(|(name, means)| meaning += &format!(" {name}: {means}"));
            let names: Vec<_> = field.choices.iter().map(|(name, _)| name.as_str()).collect();
            takes = if names.is_empty() { field.takes.clone() } else { names.join(", ") };
        }
        let source = provenance.map(|one| one.source.as_str());
        let kind = provenance.filter(|one| one.source != DEFAULT).map(|one| one.kind);
        Self { path, value: value.to_owned(), kind, source, meaning, takes }
    }
}

/// Everything, in the order of the paths.
fn rows(engine: &DescribedEngine) -> Vec<Row<'_>> {
    let fields = fields();
    let parameters =
        engine.parameters.iter().map(|one| Row::new(&fields, &one.path, &one.value, Some(&one.provenance)));
    let switches = engine.switches.iter().map(|(path, truth)| Row::new(&fields, path, &truth.to_string(), None));
    let mut rows: Vec<_> = parameters.chain(switches).collect();
    rows.sort_by_key(|row| row.path);
    rows
}

pub fn text(engine: &DescribedEngine) -> String {
    let rows = rows(engine);
    let paths = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
    let values = rows.iter().map(|row| row.value.len()).max().unwrap_or(0);
    let mut text = format!("{}: {}\n  from {}\n\n", engine.name, engine.summary, engine.layers.join(", then "));
    for Row { path, value, kind, meaning, takes, .. } in &rows {
        let line = format!("{path:paths$}  {value:values$}  {}", kind.map_or("", Kind::name));
        text += &format!("{}\n    {meaning} Takes {takes}.\n", line.trim_end());
    }
    let mut sources: Vec<_> = rows.iter().filter_map(|row| row.source).collect();
    sources.sort_unstable();
    sources.dedup();
    text += "\nsources:\n";
    sources.iter().for_each(|source| text += &format!("  {source}\n"));
    text
}

/// Fields name, summary, layers, parameters, and the engine under the name of its table.
pub fn to_json(engine: &DescribedEngine) -> Value {
    json!({
        "name": engine.name,
        "summary": engine.summary,
        "layers": engine.layers,
        "parameters": rows(engine),
        engine.table: engine.engine,
    })
}
