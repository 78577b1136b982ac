//! The powers of H that a unit holds, made when a key is loaded.
//!
//! H^j is the product of H^ceil(j/2) and H^floor(j/2). Powers are issued in order, round robin over the multipliers that
//! the unit lends, each as soon as its operands are valid. With one multiplier of latency L that takes a pair in every cycle:
//!
//! | powers | cycles from H |
//! | --- | --- |
//! | 1 | 0 |
//! | 2 | L |
//! | 3 | 2 L |
//! | 4 | 2 L + 1 |
//! | n | at least L ceil(log2 n), at most L ceil(log2 n) + n - 2 |

use crate::gcm::field::Element;
use crate::gcm::spec::MultiplierSpec;

/// The registers that hold H^1 to H^n.
#[derive(Debug, Clone)]
pub struct Powers {
    values: Vec<Option<Element>>,
    issued: usize,
}

impl Powers {
    /// Room for H^1 to H^`count`.
    pub fn new(count: usize) -> Self {
        Self { values: vec![None; count], issued: 0 }
    }

    pub fn load(&mut self, h: Element) {
        self.values.fill(None);
        self.put(1, h);
        self.issued = 1;
    }

    pub fn ready(&self) -> bool {
        self.values.iter().all(Option::is_some)
    }

    /// The next power to be issued and its operands, once these are valid.
    pub fn next(&self) -> Option<(usize, Element, Element)> {
        let power = self.issued + 1;
        if self.issued == 0 || power > self.values.len() {
            return None;
        }
        let operand = |power: usize| self.values.get(power - 1).copied().flatten();
        Some((power, operand(power.div_ceil(2))?, operand(power / 2)?))
    }

    pub const fn issue(&mut self) {
        self.issued += 1;
    }

    /// H^`power` is valid.
    pub fn put(&mut self, power: usize, value: Element) {
        if let Some(place) = self.values.get_mut(power - 1) {
            *place = Some(value);
        }
    }

    /// H^`power`, zero where it is not valid.
    pub fn get(&self, power: usize) -> Element {
        self.values.get(power.wrapping_sub(1)).copied().flatten().unwrap_or_default()
    }

    pub fn registers(&mut self, see: &mut dyn FnMut(&'static str, usize, &mut u128)) {
        self.values.iter_mut().enumerate().for_each(|(index, value)| see_held("power", index + 1, value, see));
    }
}

/// Shows a register that holds nothing valid yet as zero.
pub(super) fn see_held(
    name: &'static str,
    index: usize,
    value: &mut Option<Element>,
    see: &mut dyn FnMut(&'static str, usize, &mut u128),
) {
    match value {
        Some(value) => see(name, index, &mut value.0),
        None => see(name, index, &mut 0),
    }
}

/// Cycles from H to the last of `count` powers, on `multipliers` multipliers.
pub fn setup(count: usize, multipliers: usize, spec: &MultiplierSpec) -> u64 {
    let (mut valid_at, mut free, mut issue) = (vec![0; count + 1], vec![0; multipliers.max(1)], 0);
    let slots = free.len();
    for power in 2..=count {
        let slot: &mut u64 = &mut free[(power - 2) % slots];
        issue = issue.max(*slot).max(valid_at[power.div_ceil(2)]);
        *slot = issue + spec.interval();
        valid_at[power] = issue + spec.latency();
    }
    valid_at[count]
}
