//! `sealsim.software`: AES-GCM as bytes, with its stages.

use super::fault::Fault;
use pyo3::{prelude::*, types::PyBytes};
use sealsim::gcm::{
    aes::RoundKeys,
    bulk::{BulkError, Key},
    counter::advanced,
    field::Element,
};

/// A key, expanded.
#[pyclass(frozen)]
pub struct AesGcm {
    key: Key,
    rounds: RoundKeys,
}

#[pymethods]
impl AesGcm {
    #[new]
    fn new(py: Python<'_>, key: &[u8]) -> PyResult<Self> {
        let rounds = RoundKeys::expand(key);
        let key = Key::new(key).map_err(|error| refused(py, &error))?;
        let rounds = rounds.ok_or_else(|| Fault::usage("no AES key").raised(py))?;
        Ok(Self { key, rounds })
    }

    fn seal<'py>(&self, py: Python<'py>, iv: &[u8], aad: &[u8], text: &[u8]) -> PyResult<Pair<'py>> {
        let mut text = text.to_vec();
        let tag = self.key.seal(iv, aad, &mut text).map_err(|error| refused(py, &error))?;
        Ok((PyBytes::new(py, &text), PyBytes::new(py, &tag)))
    }

    fn h<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.key.h().to_bytes())
    }

    fn counter_block<'py>(&self, py: Python<'py>, iv: &[u8], steps: u32) -> PyResult<Bound<'py, PyBytes>> {
        let j0 = self.key.j0(iv).map_err(|error| refused(py, &error))?;
        Ok(PyBytes::new(py, &advanced(j0, steps)))
    }

    fn encrypt<'py>(&self, py: Python<'py>, block: [u8; 16]) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.key.encrypt_block(block))
    }

    fn rounds<'py>(&self, py: Python<'py>, block: [u8; 16]) -> Vec<Bound<'py, PyBytes>> {
        self.rounds.states(block).iter().map(|state| PyBytes::new(py, &state.to_bytes())).collect()
    }

    /// GHASH of blocks: zeros stand behind a last one that is short.
    fn ghash<'py>(&self, py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyBytes> {
        let h = self.key.h();
        let sum = bytes.chunks(16).fold(Element(0), |sum, block| (sum ^ Element::from_partial(block)).times(h));
        PyBytes::new(py, &sum.to_bytes())
    }
}

/// Text and tag.
type Pair<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn refused(py: Python<'_>, error: &BulkError) -> PyErr {
    Fault::usage(error).raised(py)
}
