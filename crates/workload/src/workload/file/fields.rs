//! Reads the fields of one operation: each by its type, with a message that says where it is wrong.

use super::{
    error::{Source, WorkloadFileError},
    examples::example,
    name::Name,
};
use crate::{config, files::excerpt, units::QuantityError};
use std::{borrow::Cow, ops::Range, str::FromStr, sync::Arc};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Errors after which nothing is searched for what was meant.
const SEARCHES: usize = 20;

/// What a user wrote, as messages quote it.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    excerpt(text, 100)
}

/// A table as written.
pub(super) struct Given<'t> {
    pub table: &'t DeTable<'t>,
    pub span: Range<usize>,
    pub what: String,
}

type Value<'t> = Spanned<DeValue<'t>>;

impl<'t> Given<'t> {
    pub fn get(&self, field: &str) -> Option<&'t Value<'t>> {
        self.table.iter().find(|(key, _)| key.get_ref() == field).map(|(_, value)| value)
    }
}

/// What has been read so far.
pub(super) struct Reader {
    pub source: Source,
    pub errors: Vec<WorkloadFileError>,
    /// Indices of the repeats around what is read, innermost last.
    pub indices: Vec<String>,
    /// Tensors and layers of all models so far.
    pub tensors: u64,
}

impl Reader {
    pub fn new(source: &Source) -> Self {
        Self { source: Arc::clone(source), errors: Vec::new(), indices: Vec::new(), tensors: 0 }
    }

    /// What was probably meant by a text, as the beginning of a remedy. After some errors nobody reads on, and no search is worth it.
    pub fn meant<'a>(&self, text: &str, known: impl IntoIterator<Item = &'a str>, mark: char) -> String {
        let found = (self.errors.len() < SEARCHES).then(|| config::nearest(text, known)).flatten();
        found.map_or_else(String::new, |meant| format!("did you mean {mark}{meant}{mark}? "))
    }

    pub fn wrong(&mut self, kind: &'static str, span: Range<usize>, what: String, remedy: impl Into<String>) {
        self.errors.push(WorkloadFileError::new(kind, what).at(&self.source, span).remedy(remedy));
    }

    /// Refuses fields that are none of `known`.
    pub fn check_fields(&mut self, given: &Given<'_>, known: &[&str]) {
        let all = known.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        for (key, _) in given.table {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let meant = self.meant(name, known.iter().copied(), '`');
            let what = format!("{} has no field `{}`", given.what, short(name));
            self.wrong("unknown_field", key.span(), what, format!("{meant}its fields are {all}"));
        }
    }

    pub fn required<'t>(&mut self, given: &Given<'t>, field: &str) -> Option<&'t Value<'t>> {
        let found = given.get(field);
        if found.is_none() {
            let what = format!("{} lacks `{field}`", given.what);
            self.wrong("missing", given.span.clone(), what, format!("add for example {}", example(field)));
        }
        found
    }

    pub fn wrong_type(&mut self, field: &str, value: &Value<'_>, expected: &str, remedy: &str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        let what = format!("`{field}` is {found}, but must be {expected}");
        self.wrong("wrong_type", value.span(), what, format!("write for example {remedy}"));
    }

    pub fn text<'v>(&mut self, field: &str, value: &'v Value<'_>) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => {
                self.wrong_type(field, value, "a text", example(field));
                None
            }
        }
    }

    pub fn choice<T: Copy>(&mut self, field: &str, value: &Value<'_>, list: &[(&str, T)]) -> Option<T> {
        let names = list.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_type(field, value, &format!("one of {names}"), &format!("{field} = \"{}\"", list[0].0));
            return None;
        };
        let found = list.iter().find(|(name, _)| text == name).map(|(_, choice)| *choice);
        if found.is_none() {
            let meant = self.meant(text, list.iter().map(|(name, _)| *name), '"');
            let what = format!("`{field}` cannot be \"{}\"", short(text));
            self.wrong("choice", value.span(), what, format!("{meant}it is one of {names}"));
        }
        found
    }

    pub fn switch(&mut self, field: &str, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(on) => Some(*on),
            _ => {
                self.wrong_type(field, value, "true or false", &format!("{field} = true"));
                None
            }
        }
    }

    /// A number with its unit.
    pub fn quantity<Q: FromStr<Err = QuantityError>>(&mut self, field: &str, value: &Value<'_>) -> Option<Q> {
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_type(field, value, "a text: a number with its unit", example(field));
            return None;
        };
        match text.parse() {
            Ok(quantity) => Some(quantity),
            Err(error) => {
                self.wrong(
                    "quantity",
                    value.span(),
                    format!("`{field}`: {}", excerpt(&error.to_string(), 300)),
                    format!("for example {}", example(field)),
                );
                None
            }
        }
    }

    /// An integer from 1 on.
    pub fn count(&mut self, field: &str, value: &Value<'_>) -> Option<u64> {
        let count = self.integer(field, value)?;
        if count == 0 {
            let what = format!("`{field}` is 0: nothing would be done");
            self.wrong("range", value.span(), what, "write 1 or more, or leave the operation out");
            return None;
        }
        Some(count)
    }

    /// An integer from 0 on.
    pub fn integer(&mut self, field: &str, value: &Value<'_>) -> Option<u64> {
        let DeValue::Integer(integer) = value.get_ref() else {
            self.wrong_type(field, value, "an integer", example(field));
            return None;
        };
        let count = i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(i128::MAX);
        if count < 0 {
            let what = format!("`{field}` is {count}: nothing would be done");
            self.wrong("range", value.span(), what, "write 1 or more, or leave the operation out");
            return None;
        }
        // What is larger unrolls to too much all the same.
        Some(u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// The number of a GPU, in which the turns of the repeats around it may stand.
    pub fn gpu(&mut self, value: &Value<'_>) -> Option<Name> {
        let read = match value.get_ref() {
            DeValue::Integer(integer) => Name::read(integer.as_str(), &self.indices),
            _ => return self.name("gpu", value).and_then(|name| self.number(value, name)),
        };
        match read {
            Ok(name) => self.number(value, name),
            Err(_) => self.no_number(value),
        }
    }

    fn number(&mut self, value: &Value<'_>, name: Name) -> Option<Name> {
        if name.is_number() { Some(name) } else { self.no_number(value) }
    }

    fn no_number(&mut self, value: &Value<'_>) -> Option<Name> {
        let what = "`gpu` is no number of a GPU".to_owned();
        self.wrong(
            "range",
            value.span(),
            what,
            "GPUs are counted from 0: write for example gpu = 1, or gpu = \"{i}\" within a repeat",
        );
        None
    }

    /// A name, in which the turns of the repeats around it may stand.
    pub fn name(&mut self, field: &str, value: &Value<'_>) -> Option<Name> {
        let text = self.text(field, value)?;
        match Name::read(text, &self.indices) {
            Ok(name) => Some(name),
            Err((what, remedy)) => {
                self.wrong("name", value.span(), format!("`{field}`: {what}"), short(&remedy));
                None
            }
        }
    }
}
