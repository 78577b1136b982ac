//! Release policies: when what was opened may be seen and used, and what becomes of it until then.
//!
//! | policy | plaintext until its verdict | semaphore of its push | room that it needs |
//! | --- | --- | --- | --- |
//! | `hold` | waits in the copy engine | waits for the verdict | quarantine for one message at least |
//! | `skid` | as `hold`, but for the first `tag_queue.skid` bytes of each copy engine that have no verdict: they land in device memory | waits for the verdict | quarantine for one message at least, less these bytes |
//! | `withhold_completion` | lands in device memory | waits for the verdict | none |
//! | `eager` | lands in device memory | goes out; a second one says verified | none |
//!
//! Whoever acts on a policy asks it here, so that a policy that is added answers every question before anything compiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::units::named! {
    /// When consumers may see plaintext.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Release {
        /// Plaintext waits in a quarantine buffer.
        Hold = "hold",
        /// Plaintext waits in a quarantine buffer, but for the first bytes, which go ahead of their verdict.
        Skid = "skid",
        /// Plaintext lands in memory; the semaphore waits.
        WithholdCompletion = "withhold_completion",
        /// Consumers start before the verdict and are squashed on failure.
        Eager = "eager",
    }
}

impl Release {
    /// What becomes of plaintext, in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Hold => "Plaintext waits in quarantine",
            Self::Skid => "Plaintext waits in quarantine, but for the first bytes",
            Self::WithholdCompletion => "Plaintext lands, its semaphore waits",
            Self::Eager => "Consumers start when plaintext has landed",
        }
    }

    /// Whether a copy engine keeps plaintext in quarantine until its verdict, and so has room for it.
    pub const fn quarantines(self) -> bool {
        match self {
            Self::Hold | Self::Skid => true,
            Self::WithholdCompletion | Self::Eager => false,
        }
    }

    /// Bytes of a copy engine that may go on to device memory while they have no verdict, where `skid` of them may under `skid`.
    pub const fn ahead(self, skid: u64) -> u64 {
        match self {
            Self::Hold => 0,
            Self::Skid => skid,
            Self::WithholdCompletion | Self::Eager => u64::MAX,
        }
    }

    /// Whether the semaphore of a push, on which its consumers start, waits for the verdicts of its messages.
    pub const fn completion_waits(self) -> bool {
        match self {
            Self::Hold | Self::Skid | Self::WithholdCompletion => true,
            Self::Eager => false,
        }
    }

    /// Whether a second semaphore notifies the driver when all verdicts of a push are good.
    pub const fn tells_verified(self) -> bool {
        match self {
            Self::Hold | Self::Skid | Self::WithholdCompletion => false,
            Self::Eager => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_a_configuration() {
        for release in Release::ALL {
            assert_eq!(serde_json::to_value(release).unwrap(), release.name());
        }
    }

    #[test]
    fn consumers_start_on_one_semaphore_and_what_they_may_not_see_yet_is_out_of_sight_or_not_told_of() {
        for release in Release::ALL {
            assert_ne!(release.completion_waits(), release.tells_verified(), "{release:?}");
            assert!(!release.quarantines() || release.completion_waits(), "{release:?}");
            assert_eq!(release.quarantines(), release.ahead(1) < u64::MAX, "{release:?}");
        }
    }
}
