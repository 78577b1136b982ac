//! What a configuration may hold, field by field, for people to read.

use super::{
    shape::{Field, LABELS, Shape},
    tree::join,
    words::words,
};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigField {
    /// Its path, as `--set` takes it.
    pub path: String,
    /// What plots call it, without its unit; empty for a table without words of its own.
    pub words: String,
    /// What it takes, with an example where it has a unit.
    pub takes: String,
    pub meaning: String,
    /// Where it is one of several texts: each, and what it means.
    pub choices: Vec<(String, String)>,
    /// Where it is there only with some texts of another field: that field's path, and these texts.
    pub only_with: Option<(String, Vec<String>)>,
}

/// Every field that a machine may have, in the order of their paths.
pub fn fields() -> Vec<ConfigField> {
    let mut all = BTreeMap::new();
    collect(Shape::documented(), "", None, &mut all);
    all.into_values().filter(|field| !LABELS.contains(&field.path.as_str())).collect()
}

/// The variants of a union under which a field stands.
#[derive(Clone)]
struct Condition<'a> {
    tag: String,
    variant: &'a str,
}

fn collect(shape: &Shape, path: &str, condition: Option<&Condition<'_>>, all: &mut BTreeMap<String, ConfigField>) {
    match shape {
        Shape::Table(fields) => fields.iter().for_each(|field| add(field, path, condition, all)),
        Shape::Union { tag, variants } => {
            for variant in variants {
                let its = Condition { tag: join(path, tag), variant: &variant.name };
                variant.fields.iter().for_each(|field| add(field, path, Some(&its), all));
            }
            // What every variant has does not depend on which it is.
            let whole = join(path, tag);
            for field in all.values_mut() {
                field.only_with.take_if(|(tag, names)| *tag == whole && names.len() == variants.len());
            }
        }
        _ => {}
    }
}

fn add(field: &Field, path: &str, condition: Option<&Condition<'_>>, all: &mut BTreeMap<String, ConfigField>) {
    let path = join(path, &field.name);
    if field.shape.is_table() {
        return collect(&field.shape, &path, condition, all);
    }
    // Each of several has its own fields. Tables that it shares with the machine are described there.
    if let Shape::Array(each) = &field.shape {
        let each_path = format!("{path}[N]");
        for inner in each.fields() {
            if inner.shape.is_table() && Shape::documented().field(&inner.name, None).is_some() {
                note(inner, join(&each_path, &inner.name), condition, all);
            } else {
                add(inner, &each_path, condition, all);
            }
        }
    }
    note(field, path, condition, all);
}

fn note(field: &Field, path: String, condition: Option<&Condition<'_>>, all: &mut BTreeMap<String, ConfigField>) {
    let known = all.entry(path.clone()).or_insert_with(|| ConfigField {
        words: words(&path).unwrap_or_default(),
        takes: field.shape.expected(),
        meaning: field.meaning.clone(),
        choices: Vec::new(),
        only_with: condition.map(|one| (one.tag.clone(), Vec::new())),
        path,
    });
    known.choices.extend(field.choices.iter().filter(|one| !known.choices.contains(one)).cloned().collect::<Vec<_>>());
    if !known.meaning.contains(&field.meaning) {
        known.meaning = format!("{} Or: {}", known.meaning, field.meaning);
    }
    if let (Some((tag, names)), Some(one)) = (&mut known.only_with, condition)
        && *tag == one.tag
        && !names.iter().any(|name| name == one.variant)
    {
        names.push(one.variant.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_described() {
        let fields = fields();
        let own = fields.iter().filter(|field| !field.path.contains('['));
        assert_eq!(own.count(), Shape::documented().paths().len() - LABELS.len());
        let has = |path: &str| fields.iter().any(|field| field.path == path);
        assert!(
            has("gpu[N].node")
                && has("gpu[N].link")
                && !has("gpu[N].link.lanes")
                && has("switch[N].credits.completion_data")
        );
        for field in &fields {
            let has_words = !field.words.is_empty() || field.takes == "a table";
            assert!(!field.meaning.is_empty() && has_words, "{field:?}");
        }
    }

    #[test]
    fn a_field_of_some_variants_says_of_which() {
        let fields = fields();
        let of = |path: &str| fields.iter().find(|field| field.path == path).unwrap();
        let design = of("engine.ghash.design");
        assert!(design.choices.iter().any(|(name, means)| name == "segmented" && !means.is_empty()), "{design:?}");
        assert_eq!(design.only_with, None);
        let names =
            |names: &[&str]| Some(("engine.ghash.design".to_owned(), names.iter().map(|n| (*n).to_owned()).collect()));
        assert_eq!(of("engine.ghash.fold").only_with, names(&["folded"]));
        assert!(of("tag_queue.release").choices.iter().any(|(name, means)| name == "hold" && !means.is_empty()));
        assert_eq!(of("link.lanes").only_with, None);
    }
}
