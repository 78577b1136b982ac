//! How the numbers of an outcome go on when work gets longer: told once, where each is declared, so that a sample of long work leaves none out.

use crate::units::Femtos;

/// How a number goes on when work gets longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// By as much with each unit of length: a count of what work consists of.
    Count,
    /// The same but for what varies: a date.
    Date,
    /// And a sum over what happens.
    Sum,
    /// And cycles of a unit.
    Cycles,
    /// Not at all, once it has come to its height.
    Peak,
}

/// Sees each number of an outcome, and may change it.
pub type Visit<'v> = dyn FnMut(Growth, &mut u64) + 'v;

/// A number of an outcome, in the unit of its type.
pub trait Number {
    fn number(&mut self) -> &mut u64;
}

impl Number for u64 {
    fn number(&mut self) -> &mut u64 {
        self
    }
}

impl Number for Femtos {
    fn number(&mut self) -> &mut u64 {
        &mut self.0
    }
}

/// A struct of numbers, each with how it grows.
macro_rules! outcome {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$of:meta])* $field:ident: $number:ty = $growth:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$of])* pub $field: $number,)*
        }

        impl $name {
            /// Shows each number, in the order in which they are declared.
            pub fn visit(&mut self, visit: &mut $crate::growth::Visit<'_>) {
                $(visit($crate::growth::Growth::$growth, $crate::growth::Number::number(&mut self.$field));)*
            }
        }
    };
}

pub(crate) use outcome;
