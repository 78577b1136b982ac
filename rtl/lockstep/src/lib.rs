//! The units of `rtl/src` beside the simulator's, cycle by cycle: both are given the same inputs, and what they show, the cycle in which they show it and
//! the registers that both name are equal, over random keys, lengths, stalls and tags.
//!
//! ```text
//!                +--> Rust unit of sealsim ----------+
//!   random ------+                                   +---> equal in every cycle, or a difference
//!   drive        +--> RTL, Verilated (`twins.sv`) ---+
//! ```
//!
//! Where a register of the RTL holds what a round or a product has yet to make, what becomes of it is compared; registers that hold nothing are not.

pub mod aes;
pub mod engine;
pub mod ghash;
pub mod multiplier;
pub mod queue;
pub mod shape;
pub mod twin;

pub use rand::{Rng, SeedableRng};
pub use rand_chacha::ChaCha8Rng as Random;
use sealsim::gcm::spec::MultiplierSpec;
use sealsim::gcm::structure::Structure;
use sealsim::units::Cycles;
use std::fmt::{Debug, Display};
use thiserror::Error;

/// Why a run does not end well.
#[derive(Debug, Error)]
pub enum Failure {
    /// There is no twin.
    #[error(transparent)]
    Twin(#[from] twin::TwinError),
    /// Both sides differ.
    #[error("cycle {cycle}: {what} is {rtl} in RTL and {model} in the model")]
    Differs {
        /// In which cycle.
        cycle: u64,
        /// In what.
        what: String,
        /// The RTL's.
        rtl: String,
        /// The model's.
        model: String,
    },
}

/// Holds two values of a cycle equal.
///
/// # Errors
/// [`Failure::Differs`].
pub fn equal<T: PartialEq + Debug>(cycle: u64, what: impl Display, rtl: &T, model: &T) -> Result<(), Failure> {
    if rtl == model {
        return Ok(());
    }
    let (rtl, model) = (format!("{rtl:x?}"), format!("{model:x?}"));
    Err(Failure::Differs { cycle, what: what.to_string(), rtl, model })
}

/// How a product is cut into cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Levels of Karatsuba.
    pub levels: u32,
    /// Cycles of the product.
    pub product: u64,
    /// Cycles of the reduction.
    pub reduction: u64,
}

impl Cut {
    /// Any of modest size.
    #[must_use]
    pub fn draw(random: &mut Random) -> Self {
        let (product, reduction) = (random.random_range(0..5), random.random_range(0..4));
        Self { levels: random.random_range(0..3), product: product.max(u64::from(reduction == 0)), reduction }
    }

    /// The same for a bit-parallel multiplier of the model.
    #[must_use]
    pub const fn spec(self) -> MultiplierSpec {
        let structure =
            if self.levels == 0 { Structure::Schoolbook } else { Structure::Karatsuba { levels: self.levels } };
        MultiplierSpec { product: Cycles(self.product), reduction: Cycles(self.reduction), digit_bits: 128, structure }
    }

    /// As parameters of the RTL.
    #[must_use]
    pub fn parameters(self) -> [(&'static str, u64); 3] {
        [("LEVELS", self.levels.into()), ("PRODUCT", self.product), ("REDUCTION", self.reduction)]
    }
}
