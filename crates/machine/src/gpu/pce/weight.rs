//! The weight of a part: the power of H that its GHASH value is multiplied by, on a multiplier next to the GHASH unit.
//!
//! | contract | |
//! | --- | --- |
//! | power | made from the cycle on in which the engine starts the part, one product after the other, by squaring; kept for the next part with as many blocks behind it |
//! | share | one product after both the part's value and its power stand |
//! | last part | has no weight: its value is a tag |

use crate::gcm::part::Part;

/// The cycles of a weight's multiplier.
#[derive(Debug)]
pub(super) struct Weight {
    /// Cycles of a product.
    product: u64,
    /// The power that is made or kept, and the cycle in which it is valid.
    power: u64,
    stands: u64,
}

impl Weight {
    pub fn new(product: u64) -> Self {
        Self { product, power: 1, stands: 0 }
    }

    /// Begins to make the power for a part in `cycle`, unless it is there.
    pub fn prepare(&mut self, part: Part, cycle: u64) {
        if self.power != part.behind() {
            self.power = part.behind();
            self.stands = cycle.max(self.stands) + part.power_products() * self.product;
        }
    }

    /// Cycle in which a part's share stands whose value stands in cycle `value`.
    pub fn applied(&self, part: Part, value: u64) -> u64 {
        if part.is_last() { value } else { value.max(self.stands) + self.product }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_made_by_squaring_kept_for_its_like_and_applied_by_one_product() {
        let part = |behind: u64| Part { start: 0, bytes: 32, total: 32 + 16 * (behind - 1) };
        let mut weight = Weight::new(4);
        weight.prepare(part(64), 10);
        // H^64: six squarings.
        assert_eq!(weight.applied(part(64), 0), 10 + 24 + 4);
        assert_eq!(weight.applied(part(64), 100), 104);
        weight.prepare(part(64), 200);
        assert_eq!(weight.applied(part(64), 0), 38);
        // H^67 = H^(64 + 2 + 1): six squarings and two products.
        weight.prepare(part(67), 200);
        assert_eq!(weight.applied(part(67), 0), 200 + 32 + 4);
        assert_eq!(weight.applied(Part::whole(32), 50), 50);
    }
}
