//! `sealsim.tlp`: bytes to the JSON of `sealsim tlp`, and back.

use super::fault::Fault;
use pyo3::{prelude::*, types::PyBytes};
use sealsim::cli::{Failure, tlp_from_json, tlp_to_json};

/// What bytes hold, as JSON, an item each. `framed`: as they stand on a link of gen3 to gen5.
#[pyfunction]
pub fn tlp_decode(bytes: &[u8], framed: bool) -> Vec<String> {
    tlp_to_json(bytes, framed)
}

/// The bytes of each JSON object, one behind the other.
#[pyfunction]
pub fn tlp_encode<'py>(py: Python<'py>, json: &str, framed: bool) -> PyResult<Bound<'py, PyBytes>> {
    let encoded = tlp_from_json(json, framed).map_err(|error| Fault::from(Failure::Usage(error)).raised(py))?;
    Ok(PyBytes::new(py, &encoded.concat()))
}
