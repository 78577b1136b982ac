//! `sealsim.tlp`: bytes to the JSON of `sealsim tlp`, and back.

use super::fault::Fault;
use pyo3::{prelude::*, types::PyBytes};
use sealsim::items::{self, Form, Item};

/// What bytes hold, as JSON, an item each. `form`: what they are, by a name of `Form::ALL`.
#[pyfunction]
pub fn tlp_decode(py: Python<'_>, bytes: &[u8], form: &str) -> PyResult<Vec<String>> {
    Ok(items::read(bytes, named(py, form)?).iter().map(Item::to_json).collect())
}

/// The headers in lines of a kernel's log, as JSON, an item each.
#[pyfunction]
pub fn tlp_logs(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    let read = items::some_logs(text).map_err(|error| Fault::from(error).raised(py))?;
    Ok(read.iter().map(Item::to_json).collect())
}

/// The bytes of each JSON object, one behind the other.
#[pyfunction]
pub fn tlp_encode<'py>(py: Python<'py>, json: &str, form: &str) -> PyResult<Bound<'py, PyBytes>> {
    let encoded = items::write(json, named(py, form)?).map_err(|error| Fault::from(error).raised(py))?;
    Ok(PyBytes::new(py, &encoded.concat()))
}

fn named(py: Python<'_>, form: &str) -> PyResult<Form> {
    let found = Form::ALL.iter().find(|(name, _)| *name == form);
    found.map(|(_, form)| *form).ok_or_else(|| {
        let names: Vec<_> = Form::ALL.iter().map(|(name, _)| *name).collect();
        Fault::usage(format!("`{form}` is none of {}", names.join(", "))).raised(py)
    })
}
