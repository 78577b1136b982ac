//! What each channel carries, for those who follow messages.

use crate::sim::{ChannelOutline, Places};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    /// Jobs for the cipher's threads.
    Jobs,
    JobsDone,
    Doorbells,
    Pushes,
    Work,
    /// Reads and writes of a PCE.
    Requests,
    Completions,
    /// Bursts to device memory.
    Writes,
    Verdicts,
    Done,
    /// Writes that come to the root complex.
    HostWrites,
}

impl Site {
    /// That of a channel, by what it carries from where to where.
    fn of(channel: &ChannelOutline) -> Option<Self> {
        let (from, to) = (unit(&channel.from), unit(&channel.to));
        Some(match (channel.item, from, to) {
            ("CipherJob", _, _) => Self::Jobs,
            ("CipherDone", _, _) => Self::JobsDone,
            ("Tlp", "driver", _) => Self::Doorbells,
            ("CopyPush", _, _) => Self::Pushes,
            ("PceWork", _, _) => Self::Work,
            ("Tlp", "pce", _) => Self::Requests,
            ("Tlp", _, "pce") => Self::Completions,
            ("MemoryWrite", _, _) => Self::Writes,
            ("Verdict", "tag_queue", to) if to.starts_with("front_end") => Self::Verdicts,
            ("Done", _, _) => Self::Done,
            ("Tlp", _, "root_complex") if channel.path.ends_with("writes") => Self::HostWrites,
            _ => return None,
        })
    }
}

/// The last part of a unit's path, without its number.
fn unit(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path).trim_end_matches(|digit: char| digit.is_ascii_digit())
}

/// A channel of interest, with the units at its ends by their numbers among the accounts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tap {
    pub site: Site,
    pub gpu: usize,
    pub from: usize,
    pub to: usize,
}

/// By channel: what it carries.
pub(super) fn taps(places: &Places) -> Vec<Option<Tap>> {
    let number = |path: &str| places.accounts.iter().position(|unit| unit.name == path).unwrap_or(usize::MAX);
    let tap = |channel: &ChannelOutline| {
        let site = Site::of(channel)?;
        Some(Tap { site, gpu: gpu_of(&channel.path), from: number(&channel.from), to: number(&channel.to) })
    };
    places.channels.iter().map(tap).collect()
}

pub(super) fn is_tapped(channel: &ChannelOutline) -> bool {
    Site::of(channel).is_some()
}

/// The GPU, or the session on the host, that a path belongs to: the number behind its first part.
pub(in crate::observe) fn gpu_of(path: &str) -> usize {
    let part = path.split('.').next().unwrap_or(path);
    part.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap_or(0)
}
