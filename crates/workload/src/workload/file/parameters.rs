//! `[parameters]`: values with names. An operation that has `"$name"` for a value has the parameter's, and `--param NAME=VALUE` sets it.

use super::{
    error::{Source, WorkloadFileError},
    fields::short,
    name::is_index,
};
use crate::config::nearest;
use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Longest value: it may be used in many places.
const LONGEST: usize = 100;

/// What a user sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    name: String,
    value: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or_else(|| "write NAME=VALUE, for example ranks=4".to_owned())?;
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        if value.is_empty() || value.chars().count() > LONGEST {
            return Err(format!("a value has 1 to {LONGEST} characters"));
        }
        Ok(Self { name, value })
    }
}

type Values<'t> = BTreeMap<String, Spanned<DeValue<'t>>>;

/// Puts values for names in all operations.
pub(super) fn settle<'t>(
    table: &mut DeTable<'t>,
    settings: &'t [Setting],
    source: &Source,
) -> Result<(), WorkloadFileError> {
    let mut values = table.remove("parameters").map_or_else(|| Ok(Values::new()), |value| read(value, source))?;
    for setting in settings {
        let Some(value) = values.get_mut(&setting.name) else { return Err(unknown(setting, &values)) };
        let parsed = DeValue::parse(&setting.value).map(Spanned::into_inner);
        *value.get_mut() =
            parsed.ok().filter(is_scalar).unwrap_or_else(|| DeValue::String(setting.value.as_str().into()));
    }
    let mut errors = Vec::new();
    if let Some(operations) = table.get_mut("operations") {
        put(operations, &values, source, &mut errors);
    }
    WorkloadFileError::all(errors)
}

const fn is_scalar(value: &DeValue<'_>) -> bool {
    !matches!(value, DeValue::Table(_) | DeValue::Array(_))
}

fn read<'t>(value: Spanned<DeValue<'t>>, source: &Source) -> Result<Values<'t>, WorkloadFileError> {
    let span = value.span();
    let DeValue::Table(table) = value.into_inner() else {
        let error = WorkloadFileError::new("wrong_type", "`parameters` must be a table").at(source, span);
        return Err(error.remedy("write for example parameters = { ranks = 8, bucket_cap = \"25 MiB\" }"));
    };
    let (mut values, mut errors) = (Values::new(), Vec::new());
    for (key, value) in table {
        let name = key.get_ref().to_string();
        let long = value.get_ref().as_str().is_some_and(|text| text.chars().count() > LONGEST);
        let what = match () {
            () if !is_index(&name) => format!("`{}` cannot be the name of a parameter", short(&name)),
            () if !is_scalar(value.get_ref()) => format!("parameter `{name}` is a list or a table"),
            () if long => format!("parameter `{name}` has more than {LONGEST} characters"),
            () => {
                values.insert(name, value);
                continue;
            }
        };
        let remedy =
            "a parameter has a name of letters, digits and `_`, and a text, a number or a switch for its value";
        errors.push(WorkloadFileError::new("parameter", what).at(source, key.span()).remedy(remedy));
    }
    WorkloadFileError::all(errors).map(|()| values)
}

/// The list of parameters as a remedy.
fn known(values: &Values<'_>) -> String {
    let names = values.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.is_empty() { "the workload has no parameters".into() } else { format!("its parameters are {names}") }
}

/// A remedy for a name that no parameter has.
fn remedy(name: &str, values: &Values<'_>) -> String {
    let meant = nearest(name, values.keys().map(String::as_str));
    meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? ")) + &known(values)
}

fn unknown(setting: &Setting, values: &Values<'_>) -> WorkloadFileError {
    let what = format!("--param: there is no parameter `{}`", short(&setting.name));
    WorkloadFileError::new("unknown_parameter", what).remedy(remedy(&setting.name, values))
}

/// Puts values for names in a value and all that is in it.
fn put<'t>(
    value: &mut Spanned<DeValue<'t>>,
    values: &Values<'t>,
    source: &Source,
    errors: &mut Vec<WorkloadFileError>,
) {
    let span = value.span();
    match value.get_mut() {
        DeValue::Array(items) => items.iter_mut().for_each(|item| put(item, values, source, errors)),
        DeValue::Table(table) => table.iter_mut().for_each(|(_, item)| put(item, values, source, errors)),
        DeValue::String(text) => {
            let Some(name) = text.strip_prefix('$') else { return };
            if let Some(known) = values.get(name) {
                *value = known.clone();
            } else {
                let what = format!("there is no parameter `{}`", short(name));
                let error = WorkloadFileError::new("unknown_parameter", what).at(&Arc::clone(source), span);
                errors.push(error.remedy(remedy(name, values)));
            }
        }
        _ => {}
    }
}
