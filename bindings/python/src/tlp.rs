//! `sealsim.tlp`: bytes to the JSON of `sealsim tlp`, and back.

use super::fault::Fault;
use pyo3::{prelude::*, types::PyBytes};
use sealsim::cli::{Failure, TlpForm, tlp_from_json, tlp_logs_to_json, tlp_to_json};

/// What bytes hold, as JSON, an item each. `form`: what they are, by a name of `TlpForm::ALL`.
#[pyfunction]
pub fn tlp_decode(py: Python<'_>, bytes: &[u8], form: &str) -> PyResult<Vec<String>> {
    Ok(tlp_to_json(bytes, named(py, form)?))
}

/// The headers in lines of a kernel's log, as JSON, an item each.
#[pyfunction]
pub fn tlp_logs(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    tlp_logs_to_json(text).map_err(|error| Fault::from(Failure::Usage(error)).raised(py))
}

/// The bytes of each JSON object, one behind the other.
#[pyfunction]
pub fn tlp_encode<'py>(py: Python<'py>, json: &str, form: &str) -> PyResult<Bound<'py, PyBytes>> {
    let encoded = tlp_from_json(json, named(py, form)?);
    let encoded = encoded.map_err(|error| Fault::from(Failure::Usage(error)).raised(py))?;
    Ok(PyBytes::new(py, &encoded.concat()))
}

fn named(py: Python<'_>, form: &str) -> PyResult<TlpForm> {
    let found = TlpForm::ALL.iter().find(|(name, _)| *name == form);
    found.map(|(_, form)| *form).ok_or_else(|| {
        let names: Vec<_> = TlpForm::ALL.iter().map(|(name, _)| *name).collect();
        Fault::usage(format!("`{form}` is none of {}", names.join(", "))).raised(py)
    })
}
