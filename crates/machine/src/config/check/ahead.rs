//! Rules of what is sealed before its call.

use super::{Rule, host::longest_message, rule};
use crate::host::spec::CipherWork;

const MOST_WORKERS: u32 = 1024;

/// Most IVs that a misprediction leaves over: each takes a copy of its own.
const MOST_NOPS: u32 = 4096;

pub(super) const RULES: &[Rule] = &[
    rule("cipher.ahead", "write cipher.work = \"seal\", or leave cipher.ahead out (the design pipellm)", |m| {
        let other = m.cipher.ahead.is_some() && m.cipher.work != CipherWork::Seal;
        other.then(|| "there is nothing to seal ahead: what is copied comes sealed by the user".to_owned())
    }),
    rule("cipher.ahead.hit_permille", "write 0 to 1000", |m| {
        let hits = m.cipher.ahead?.hit_permille;
        (hits > 1000).then(|| format!("{hits} of 1000 guesses cannot be right"))
    }),
    rule("cipher.ahead.workers", "write at most 1024 for cipher.ahead.workers and cipher.ahead.open_workers", |m| {
        let ahead = m.cipher.ahead?;
        let most = ahead.workers.max(ahead.open_workers);
        (most > MOST_WORKERS).then(|| format!("{most} threads are more than a host runs"))
    }),
    rule("cipher.ahead.nops", "write at most 4096", |m| {
        let nops = m.cipher.ahead?.nops;
        (nops > MOST_NOPS).then(|| format!("{nops} NOPs for each wrong guess, and each is a copy"))
    }),
    rule("cipher.ahead.buffer", "write at least the longest message (driver.*.message)", |m| {
        let (buffer, (path, message)) = (m.cipher.ahead?.buffer, longest_message(m));
        (buffer < message).then(|| format!("{buffer} cannot hold one message of {message} ({path} = {message})"))
    }),
];
