//! `[parameters]`: values with names. An operation that has `"$name"` for a value has the parameter's, and `--param NAME=VALUE` sets it.

use super::{DOCUMENT, name::is_index};
use crate::{
    config::{Node, Value, nearest},
    files::{Refusal, Refusals, excerpt},
};
use std::{borrow::Cow, collections::BTreeMap, fmt, str::FromStr};

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

type Values = BTreeMap<String, Node>;

/// Puts values for names in all operations.
pub(super) fn settle(tree: &mut Node, settings: &[Setting]) -> Result<(), Refusal> {
    let Value::Table(table) = &mut tree.value else { return Ok(()) };
    let mut values = table.remove("parameters").map_or_else(|| Ok(Values::new()), |entry| read(entry.node))?;
    for setting in settings {
        let Some(value) = values.get_mut(&setting.name) else {
            let what = format!("--param: there is no parameter `{}`", short(&setting.name));
            return Err(DOCUMENT.refused("unknown_parameter", what).remedy(remedy(&setting.name, &values)));
        };
        value.value = Value::scalar(&setting.value);
    }
    let mut faults = Refusals::default();
    if let Some(operations) = table.get_mut("operations") {
        put(&mut operations.node, &values, &mut faults);
    }
    faults.sorted().result()
}

/// What a user wrote, as messages quote it.
fn short(text: &str) -> Cow<'_, str> {
    excerpt(text, 100)
}

fn read(node: Node) -> Result<Values, Refusal> {
    let Value::Table(table) = node.value else {
        let refusal = DOCUMENT.refused("wrong_type", "`parameters` must be a table").at(node.place.as_ref());
        return Err(refusal.remedy("write for example parameters = { ranks = 8, bucket_cap = \"25 MiB\" }"));
    };
    let (mut values, mut faults) = (Values::new(), Refusals::default());
    for (name, entry) in table {
        let what = match &entry.node.value {
            _ if !is_index(&name) => format!("`{}` cannot be the name of a parameter", short(&name)),
            Value::Table(_) | Value::Array(_) => format!("parameter `{name}` is a list or a table"),
            Value::Text(text) if text.chars().count() > LONGEST => {
                format!("parameter `{name}` has more than {LONGEST} characters")
            }
            _ => {
                values.insert(name, entry.node);
                continue;
            }
        };
        let remedy =
            "a parameter has a name of letters, digits and `_`, and a text, a number or a switch for its value";
        faults.push(|| DOCUMENT.refused("parameter", what).at(entry.key.as_ref()).remedy(remedy));
    }
    faults.sorted().result().map(|()| values)
}

/// A remedy for a name that no parameter has.
fn remedy(name: &str, values: &Values) -> String {
    let meant = nearest(name, values.keys().map(String::as_str));
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
    let names = values.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.is_empty() {
        "the workload has no parameters".into()
    } else {
        format!("{meant}its parameters are {names}")
    }
}

/// Puts values for names in a value and all that is in it.
fn put(node: &mut Node, values: &Values, faults: &mut Refusals) {
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, values, faults)),
        Value::Table(table) => table.values_mut().for_each(|entry| put(&mut entry.node, values, faults)),
        Value::Text(text) => {
            let Some(name) = text.strip_prefix('$') else { return };
            match values.get(name) {
                Some(value) => *node = value.clone(),
                None => faults.push(|| {
                    let what = format!("there is no parameter `{}`", short(name));
                    DOCUMENT.refused("unknown_parameter", what).at(node.place.as_ref()).remedy(remedy(name, values))
                }),
            }
        }
        _ => {}
    }
}
