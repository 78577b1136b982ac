//! An event as it is written. Numbers stay text, so that no digit is lost and a number between quotes is one too.

use super::super::decimal;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub ph: Raw<'a>,
    #[serde(borrow)]
    pub cat: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub pid: Raw<'a>,
    #[serde(borrow)]
    pub tid: Raw<'a>,
    #[serde(borrow)]
    pub ts: Raw<'a>,
    #[serde(borrow)]
    pub dur: Raw<'a>,
    #[serde(borrow)]
    pub args: Raw<'a>,
}

/// What an event says beyond that.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Args<'a> {
    #[serde(borrow)]
    pub device: Raw<'a>,
    #[serde(borrow)]
    pub stream: Raw<'a>,
    #[serde(borrow)]
    pub correlation: Raw<'a>,
    #[serde(borrow)]
    pub bytes: Raw<'a>,
    #[serde(borrow, rename = "memory bandwidth (GB/s)")]
    pub bandwidth: Raw<'a>,
    #[serde(borrow, rename = "graph node id")]
    pub graph_node: Raw<'a>,
    #[serde(borrow, rename = "Collective name")]
    pub collective: Raw<'a>,
    #[serde(borrow, rename = "In msg nelems")]
    pub elements_in: Raw<'a>,
    #[serde(borrow, rename = "Out msg nelems")]
    pub elements_out: Raw<'a>,
    #[serde(borrow)]
    pub dtype: Raw<'a>,
    #[serde(borrow, rename = "Group size")]
    pub group: Raw<'a>,
    #[serde(borrow, rename = "Process Group Name")]
    pub group_name: Raw<'a>,
    #[serde(borrow, rename = "Process Group Ranks")]
    pub group_ranks: Raw<'a>,
    #[serde(borrow, rename = "cuda_sync_kind")]
    pub wait: Raw<'a>,
    #[serde(borrow, rename = "wait_on_stream")]
    pub wait_stream: Raw<'a>,
    #[serde(borrow, rename = "wait_on_cuda_event_record_corr_id")]
    pub wait_record: Raw<'a>,
}

/// A text; a number as it is written.
pub(super) fn text(raw: Raw<'_>) -> Cow<'_, str> {
    let Some(raw) = raw else { return Cow::Borrowed("") };
    let text = raw.get();
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        Some(_) => serde_json::from_str(text).map_or(Cow::Borrowed(text), Cow::Owned),
        None => Cow::Borrowed(text),
    }
}

/// A number times ten to `power`.
pub(super) fn number(raw: Raw<'_>, power: i32) -> Option<i128> {
    decimal::scaled(&text(raw), power)
}

/// A whole number that is not negative. The largest ones stand for "none" where a number is unsigned.
pub(super) fn id(raw: Raw<'_>) -> Option<u64> {
    number(raw, 0).and_then(|number| u64::try_from(number).ok())
}

/// The number at the end of a text: 7 of `7` and of `stream 7`.
pub(super) fn last_number(text: &str) -> Option<u32> {
    let digits = text.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
