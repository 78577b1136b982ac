//! Seals and opens TLPs of IDE sub-streams, a line each, so that another implementation can be held against it.
//! `cargo run -p sealsim-pcie --features ide --example ide_streams < lines`
//!
//! ```text
//! seal KEY STREAM SUB_STREAM PCRC COUNTER HEAD:DATA:POSTED_SENT:LAST ...   gives the protected TLPs
//! open KEY STREAM SUB_STREAM PCRC COUNTER TLP ...                          gives the TLPs that came out, then `secure` or `insecure`
//! ```
//!
//! Bytes are hexadecimal, numbers decimal; COUNTER is that of the first MAC.

use sealsim_aead::gcm::bulk::Key;
use sealsim_pcie::wire::ide::{Opener, Protection, Sealer, SubStream};
use std::{
    error::Error,
    io::{BufRead, BufWriter, Write, stdin, stdout},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lock().lines() {
        let line = line?;
        let words: Vec<_> = line.split_whitespace().collect();
        let [verb, key, stream, sub_stream, pcrc, counter, tlps @ ..] = &words[..] else {
            return Err(format!("`{line}` is no line of a stream").into());
        };
        let protection = Protection {
            key: Key::new(&hex::decode(key)?)?,
            stream: stream.parse()?,
            sub_stream: *SubStream::ALL.get(sub_stream.parse::<usize>()?).ok_or("sub-streams are 0 to 2")?,
            pcrc: *pcrc == "1",
        };
        let mut given = match *verb {
            "seal" => seal(Sealer::new(protection, counter.parse()?), tlps)?,
            "open" => open(Opener::new(protection, counter.parse()?), tlps)?,
            _ => return Err(format!("`{verb}` is neither seal nor open").into()),
        };
        given.push('\n');
        out.write_all(given.as_bytes())?;
    }
    Ok(())
}

fn seal(mut sealer: Sealer, tlps: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut sealed = Vec::new();
    for tlp in tlps {
        let [head, data, sent, last] = tlp.split(':').collect::<Vec<_>>()[..] else {
            return Err(format!("`{tlp}` is no TLP").into());
        };
        sealed.push(hex::encode(sealer.seal(&hex::decode(head)?, &hex::decode(data)?, sent.parse()?, last == "1")));
    }
    Ok(sealed.join(" "))
}

fn open(mut opener: Opener, tlps: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut came = Vec::new();
    for tlp in tlps {
        // What is refused makes the stream insecure, which the last word tells.
        came.extend(opener.open(&hex::decode(tlp)?).unwrap_or_default().iter().map(hex::encode));
    }
    came.push(if opener.secure() { "secure" } else { "insecure" }.to_owned());
    Ok(came.join(" "))
}
