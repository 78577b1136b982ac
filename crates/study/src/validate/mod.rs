//! Holding the model against what is known from elsewhere.
//!
//! ```text
//!  validation/*.csv --> measured: points --+
//!  validation/datasets.toml -> catalogue --+--> reproduce: what was measured, on the machine --> score: errors by data set and class
//!                                          |
//!  a stage file ---------------------------+--> calibrate: parameters fitted to points, and how well they are determined
//! ```
//!
//! [`vectors`] holds the engine against published AES-GCM vectors.

pub mod calibrate;
pub mod catalogue;
pub mod class;
pub mod measured;
pub mod register;
pub mod reproduce;
pub mod score;
pub mod selector;
pub mod summary;
pub mod vectors;
