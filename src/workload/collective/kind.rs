//! The collectives there are.

use serde::{Deserialize, Serialize};

/// What GPUs do together. All but the last are as rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collective {
    /// Each ends with the sum of all buffers: a reduce-scatter, then an all-gather.
    AllReduce,
    /// Each ends with its part of the sum.
    ReduceScatter,
    /// Each begins with a part, and ends with all parts.
    AllGather,
    /// All end with the buffer of the first, which passes it on along a chain.
    Broadcast,
    /// Each has a part for each other.
    AllToAll,
    /// The sum again, up a binary tree and down.
    TreeAllReduce,
}

impl Collective {
    pub const ALL: [Self; 6] =
        [Self::AllReduce, Self::ReduceScatter, Self::AllGather, Self::Broadcast, Self::AllToAll, Self::TreeAllReduce];

    /// The name as files and outputs have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllGather => "all-gather",
            Self::Broadcast => "broadcast",
            Self::AllToAll => "all-to-all",
            Self::TreeAllReduce => "tree-all-reduce",
        }
    }

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
