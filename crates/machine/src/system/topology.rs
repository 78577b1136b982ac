//! Which root complexes a machine has, and which GPUs each of them reaches by which of its root ports.

use crate::config::MachineSpec;

/// What a root port leads to: GPUs by their numbers among all of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leaf {
    Gpu(usize),
    /// A switch, and the GPUs below it.
    Switch {
        /// Its number among the machine's switches.
        switch: usize,
        gpus: Vec<usize>,
    },
}

impl Leaf {
    pub fn gpus(&self) -> &[usize] {
        match self {
            Self::Gpu(gpu) => std::slice::from_ref(gpu),
            Self::Switch { gpus, .. } => gpus,
        }
    }
}

/// A root complex: what its root ports lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    /// Its number, if the machine gives it one.
    pub number: Option<u32>,
    pub leaves: Vec<Leaf>,
}

impl Root {
    /// The GPUs below it: their places are their requesters.
    pub fn gpus(&self) -> impl Iterator<Item = usize> {
        self.leaves.iter().flat_map(|leaf| leaf.gpus().iter().copied())
    }

    /// Its path in a machine of so many GPUs: that of the session whose GPU is the first below it, unless it has a number.
    pub fn path(&self, gpus: usize) -> String {
        match (self.number, self.gpus().next()) {
            (Some(number), _) if gpus > 1 => format!("root{number}"),
            (_, Some(first)) if gpus > 1 => format!("host{first}"),
            _ => "host".to_owned(),
        }
    }
}

/// The root complexes of a machine, in the order of their first GPUs.
pub(super) fn roots(machine: &MachineSpec) -> Vec<Root> {
    let mut roots: Vec<Root> = Vec::new();
    for leaf in leaves(machine) {
        let number = match &leaf {
            Leaf::Gpu(gpu) => machine.root_of(*gpu),
            Leaf::Switch { switch, .. } => machine.switch.get(*switch).and_then(|switch| switch.root),
        };
        match roots.iter_mut().find(|root| number.is_some() && root.number == number) {
            Some(root) => root.leaves.push(leaf),
            None => roots.push(Root { number, leaves: vec![leaf] }),
        }
    }
    roots
}

fn leaves(machine: &MachineSpec) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = Vec::new();
    for gpu in 0..machine.gpus() {
        let Some(below) = machine.switch_of(gpu) else {
            leaves.push(Leaf::Gpu(gpu));
            continue;
        };
        let known = leaves.iter_mut().find_map(|leaf| match leaf {
            Leaf::Switch { switch, gpus } if *switch == below => Some(gpus),
            _ => None,
        });
        match known {
            Some(gpus) => gpus.push(gpu),
            None => leaves.push(Leaf::Switch { switch: below, gpus: vec![gpu] }),
        }
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Layers, system::link_of};

    fn machine(settings: &[&str]) -> MachineSpec {
        Layers::h100(settings).machine
    }

    #[test]
    fn each_gpu_has_a_root_complex_of_its_own_unless_the_machine_says_otherwise() {
        let alone = |gpu| Root { number: None, leaves: vec![Leaf::Gpu(gpu)] };
        assert_eq!(roots(&machine(&[])), [alone(0)]);
        assert_eq!(roots(&machine(&["gpu=[{count=3}]"])), [alone(0), alone(1), alone(2)]);
    }

    #[test]
    fn gpus_gather_below_switches_and_both_below_shared_root_complexes() {
        const SWITCH: &str = "{latency=\"100 ns\",cut_through=true,credits={posted_headers=64,posted_data=512,non_posted_headers=64,\
                              non_posted_data=64,completion_headers=64,completion_data=512}";
        let switches = format!("switch=[{SWITCH},root=7}},{SWITCH}}}]");
        let gpus = "gpu=[{switch=0},{root=7},{switch=1},{switch=0},{}]";
        let machine = machine(&[&switches, gpus]);
        let switch = |switch, gpus: &[usize]| Leaf::Switch { switch, gpus: gpus.to_vec() };
        let expected = [
            Root { number: Some(7), leaves: vec![switch(0, &[0, 3]), Leaf::Gpu(1)] },
            Root { number: None, leaves: vec![switch(1, &[2])] },
            Root { number: None, leaves: vec![Leaf::Gpu(4)] },
        ];
        assert_eq!(roots(&machine), expected);
        assert_eq!(expected[0].gpus().collect::<Vec<_>>(), [0, 3, 1]);
        let (host, gpu) = (machine.link.host_credits.posted_headers, machine.link.gpu_credits.posted_headers);
        let posted = |path: &str| {
            let link = link_of(&machine, path)?;
            Some((link.host_credits.posted_headers, link.gpu_credits.posted_headers))
        };
        assert_eq!(
            ["link1.h2d", "link3.retimer.d2h", "switch1.link.h2d", "link5.h2d"].map(posted),
            [Some((host, gpu)), Some((64, gpu)), Some((host, 64)), None]
        );
    }
}
