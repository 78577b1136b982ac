//! Every parameter that a machine may have, from the schema.

use super::markdown::{code, table, text};
use crate::config::{ConfigField, fields};

pub fn page() -> String {
    let mut page = "# Parameters\n\nEvery parameter that a configuration file or `--set` may give. A machine has those of the variants that it \
                    chooses. `sealsim describe` shows a machine's values, each with its source, and [values](values.md) those of one machine.\n\n"
        .to_owned();
    let fields = fields();
    let table_of = |field: &ConfigField| field.path.split(['.', '[']).next().unwrap_or_default().to_owned();
    for group in fields.chunk_by(|one, other| table_of(one) == table_of(other)) {
        let name = group.first().map(table_of).unwrap_or_default();
        page += &format!("## {name}\n\n{}", table(["parameter", "meaning", "takes"], group.iter().map(row)));
    }
    page
}

fn row(field: &ConfigField) -> [String; 3] {
    let words = if field.words.is_empty() { String::new() } else { format!("*{}*. ", text(&field.words)) };
    let mut meaning = words + &text(&field.meaning);
    for (name, means) in field.choices.iter().filter(|(_, means)| !means.is_empty()) {
        meaning += &format!("<br>{}: {}", code(name), text(means));
    }
    if let Some((tag, names)) = &field.only_with {
        let names: Vec<_> = names.iter().map(|name| code(name)).collect();
        meaning += &format!(" Only with {} {}.", code(tag), names.join(" or "));
    }
    let names: Vec<_> = field.choices.iter().map(|(name, _)| code(name)).collect();
    let takes = if names.is_empty() { text(&field.takes) } else { names.join(", ") };
    [code(&field.path), meaning, takes]
}
