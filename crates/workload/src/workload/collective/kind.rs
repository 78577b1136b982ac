//! The collectives there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::units::named! {
    /// What GPUs do together. All but the last are as rings.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Collective {
        /// Each ends with the sum of all buffers: a reduce-scatter, then an all-gather.
        AllReduce = "all-reduce",
        /// Each ends with its part of the sum.
        ReduceScatter = "reduce-scatter",
        /// Each begins with a part, and ends with all parts.
        AllGather = "all-gather",
        /// All end with the buffer of the first, which passes it on along a chain.
        Broadcast = "broadcast",
        /// Each has a part for each other.
        AllToAll = "all-to-all",
        /// The sum again, up a binary tree and down.
        TreeAllReduce = "tree-all-reduce",
    }
}

impl Collective {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether all GPUs do the same at the same time, each with its neighbours: one of them then stands for all.
    pub const fn is_ring(self) -> bool {
        matches!(self, Self::AllReduce | Self::ReduceScatter | Self::AllGather)
    }

    /// By what the rate of the buffer is multiplied for that of the links: the share of the buffer that each GPU sends at the least.
    pub fn bus_factor(self, ranks: usize) -> f64 {
        let others = (ranks.max(1) - 1) as f64 / ranks.max(1) as f64;
        match self {
            Self::AllReduce | Self::TreeAllReduce => 2.0 * others,
            Self::ReduceScatter | Self::AllGather | Self::AllToAll => others,
            Self::Broadcast => 1.0,
        }
    }
}
