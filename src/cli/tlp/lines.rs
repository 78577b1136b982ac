//! Both directions of `sealsim tlp` as functions, for programs that hold one against the other.

use super::{Generation, Stream, decode, document::Document, encode};
use miette::Report;

/// What bytes hold, as `sealsim tlp decode --format json` prints it, a line each. `framed`: as they are on a link of gen3 to gen5.
pub fn tlp_to_json(bytes: &[u8], framed: bool) -> Vec<String> {
    let stream = if framed { Stream::Wire(Generation::Gen3) } else { Stream::Tlps };
    let line = |item| serde_json::to_string(&Document::from(item)).unwrap_or_default();
    decode::items(bytes, stream).iter().map(line).collect()
}

/// The bytes of each JSON object, as `sealsim tlp encode` prints them.
///
/// # Errors
/// What is wrong with the first that is no TLP or DLLP.
pub fn tlp_from_json(json: &str, framed: bool) -> Result<Vec<Vec<u8>>, Report> {
    encode::lines(json, framed.then_some(Generation::Gen3))
}
