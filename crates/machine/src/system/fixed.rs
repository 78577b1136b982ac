//! What of a machine stands in the code.

use super::parts;
use crate::{
    fabric::sender,
    gpu::{methods, sm},
    host,
    pcie::{port, switch},
    units::Fixed,
};

/// Every value that shapes a machine and that no configuration changes, in the order of the path.
pub fn fixed() -> impl Iterator<Item = &'static Fixed> {
    let gpu = [methods::FIXED, sm::aes::FIXED, sm::ghash::FIXED, sm::kernel::FIXED];
    let all = host::FIXED.into_iter().chain([parts::FIXED, port::FIXED, switch::FIXED, sender::FIXED]).chain(gpu);
    all.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use std::collections::BTreeSet;

    #[test]
    fn each_has_a_name_of_its_own_that_is_no_parameter() {
        let names: Vec<_> = fixed().map(|one| one.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap();
        assert!(names.iter().all(|name| machine.parameter(name).is_none()), "{names:?}");
        assert!(fixed().all(|one| one.value > 0 && !one.why.is_empty()));
    }
}
