//! What a design's tags and keys leave to an attacker.

pub use crate::aead::aes_gcm::forgery_log2;
pub use crate::aead::model::AfterSuccess;

use crate::gpu::key_rotation::Thresholds;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KeyBudget {
    /// Messages of this size until the open driver's upper threshold.
    pub messages: u64,
    pub bytes: u64,
}

/// The budget of a key whose messages are of `message_bytes`, under the attacker advantage that the open driver starts with.
///
/// A message is worth floor(bytes / 16) + 1 units of work; the threshold is that of `gpu::key_rotation`. None for a message of no bytes.
pub fn key_budget(message_bytes: u64) -> Option<KeyBudget> {
    let messages = Thresholds::default().upper / (message_bytes / 16 + 1);
    (message_bytes > 0).then(|| KeyBudget { messages, bytes: messages.saturating_mul(message_bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    #[test]
    fn the_bound_grows_with_blocks_and_tags_and_ends_at_certainty() {
        assert_eq!(forgery_log2(128, 0, 1), -128.0);
        assert_eq!(forgery_log2(128, 65_535, 1), -112.0);
        assert_eq!(forgery_log2(96, 15, 1024), -82.0);
        assert_eq!(forgery_log2(4, 65_535, 1), 0.0);
    }

    #[test]
    fn other_aeads_have_their_own_bounds() {
        let spec = |name: &str| Layers::new(name).resolve_standalone().unwrap();
        let bound = |name, tags| spec(name).model().forgery_log2(1 << 20, tags);
        // 65,536 blocks of text, one of AAD: two polynomials of degree 65,538 have so many roots each among 2^128 keys.
        assert!((bound("gcm-siv", 1) - (2.0 * 65_538.0_f64).log2() + 128.0).abs() < 1e-9);
        assert_eq!(bound("gcm-siv", 1), forgery_log2(128, 65_537, 2));
        assert_eq!(bound("folded-8", 2), forgery_log2(128, 65_537, 2));
        assert_eq!(bound("aegis-256", 4), -126.0);
        assert!((bound("chacha20-poly1305", 1) - (3.0 + 65_537_f64.log2() - 106.0)).abs() < 1e-9);
    }

    #[test]
    fn one_success_opens_all_nonces_where_they_share_the_hash_key_and_no_other_where_not() {
        let after = |name: &str| Layers::new(name).resolve_standalone().unwrap().model().after_success();
        let expected = [AfterSuccess::Certain, AfterSuccess::AsBefore, AfterSuccess::AsBefore, AfterSuccess::AsClaimed];
        assert_eq!(["folded-8", "gcm-siv", "chacha20-poly1305", "aegis-256"].map(after), expected);
    }

    #[test]
    fn sixteen_shorter_messages_cost_a_key_fifteen_units_more() {
        let (long, short) = (key_budget(4096).unwrap(), key_budget(256).unwrap());
        assert!(short.bytes < long.bytes && short.messages > long.messages);
        assert_eq!(key_budget(0), None);
    }
}
