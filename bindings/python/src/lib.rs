//! sealsim for Python: thin functions over the library. What users see is the package in `python/sealsim`, which gives these types.
//!
//! ```text
//!   python/sealsim/*.py      names, types, objects over JSON
//!   sealsim._native          this crate: arguments to the library's types, results as the library's JSON
//!   sealsim                  the library
//! ```

mod compare;
mod engine;
mod fault;
mod machine;
mod run;
mod software;
mod sweep;
mod tlp;
mod watch;

use pyo3::prelude::*;

/// The native half of the package `sealsim`.
#[pymodule]
mod _native {
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::compare::{compare, compare_workload};
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::software::AesGcm;
    #[pymodule_export]
    use super::sweep::sweep;
    #[pymodule_export]
    use super::tlp::{tlp_decode, tlp_encode, tlp_logs};
}
