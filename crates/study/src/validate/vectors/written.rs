//! Sets of messages as files: NIST CAVP response files, Wycheproof's and ACVP's JSON, CSV, and words for `$readmemh`.
//!
//! Messages go out in their order, one by one. Formats that group messages of equal sizes have a group for each run of such messages, so that those with the key of the
//! message before stay behind it.
//!
//! | `$readmemh`: words of 128 bits | of |
//! | --- | --- |
//! | 1, at the beginning | how many messages |
//! | 1 a message | from the top: 8 bits bytes of the key, 8 bits bytes of the tag, 8 bits 1 if it must open, 8 bits 1 if its key is new, 32 bits each bytes of IV, AAD and text |
//! | 2, then as many as hold it | key; IV, AAD, plaintext, ciphertext, each from the top and filled up with zeros |
//! | 1 | tag, from the top |
//! | with stages | round keys, H to H^8, J0, mask, keystream, GHASH, a word each |

use super::generate::{Dimension, Message, Plan};
use super::stage_values::{STAGES, StageValues, stages};
use super::{Algorithm, Case};
use serde_json::{Value, json};
use std::io::{self, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Cavp,
    Wycheproof,
    Acvp,
    Csv,
    Memh,
}

impl Style {
    pub const fn holds(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Cavp => matches!(algorithm, Algorithm::AES_GCM),
            Self::Acvp => matches!(algorithm, Algorithm::AES_GCM | Algorithm::AesGmac | Algorithm::AES_GCM_SIV),
            Self::Wycheproof | Self::Csv | Self::Memh => true,
        }
    }

    /// Whether it has a place for the values of stages.
    pub const fn holds_stages(self) -> bool {
        matches!(self, Self::Csv | Self::Memh)
    }
}

/// The columns of a CSV file; with stages, theirs follow.
pub const COLUMNS: [&str; 11] =
    ["tc_id", "algorithm", "key", "iv", "aad", "plaintext", "ciphertext", "tag", "result", "key_is_new", "comment"];

/// A file of messages in progress.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    style: Style,
    stages: bool,
    /// The sizes of the group that is open.
    group: Option<Vec<usize>>,
    given: u64,
}

impl<W: Write> Writer<W> {
    pub fn begin(mut out: W, style: Style, plan: &Plan, with_stages: bool) -> io::Result<Self> {
        let (algorithm, Plan { messages, seed, longest, .. }) = (plan.algorithm, *plan);
        let what = format!("{algorithm}: {messages} messages, seed {seed}, longest text and AAD {longest} bytes");
        match style {
            Style::Cavp => writeln!(out, "# sealsim {}. {what}", env!("CARGO_PKG_VERSION"))?,
            Style::Memh => {
                let stages = if with_stages { ", with stages" } else { "" };
                writeln!(out, "// sealsim {}. {what}{stages}\n{messages:032x}", env!("CARGO_PKG_VERSION"))?;
            }
            Style::Csv => {
                let more: &[&str] = if with_stages { &STAGES } else { &[] };
                writeln!(out, "{}", [&COLUMNS, more].concat().join(","))?;
            }
            Style::Wycheproof => {
                let gmac = algorithm == Algorithm::AesGmac;
                let schema = if gmac { "mac_with_iv_test_schema_v1.json" } else { "aead_test_schema_v1.json" };
                let notes =
                    json!({"Forged": {"bugType": "AUTH_BYPASS", "description": "A bit was flipped after sealing."}});
                write!(
                    out,
                    "{{\n\"algorithm\": {}, \"schema\": \"{schema}\", \"numberOfTests\": {messages},\n\"header\": [{}], \"notes\": {notes},\n\"testGroups\": [",
                    json!(algorithm.name()),
                    json!(what),
                )?;
            }
            Style::Acvp => {
                let name = format!("ACVP-{algorithm}");
                write!(
                    out,
                    "{{\n\"vsId\": 1, \"algorithm\": {}, \"revision\": \"1.0\", \"isSample\": true,\n\"testGroups\": [",
                    json!(name)
                )?;
            }
        }
        Ok(Self { out, style, stages: with_stages, group: None, given: 0 })
    }

    pub fn message(&mut self, message: &Message) -> io::Result<()> {
        self.given += 1;
        let case = &message.case;
        let values = match self.stages {
            true => Some(stages(case).map_err(io::Error::other)?),
            false => None,
        };
        match self.style {
            Style::Cavp => self.cavp(case),
            Style::Wycheproof => {
                let sizes = vec![case.key.len(), case.iv.len(), case.tag.len()];
                self.json(sizes, wycheproof_group(case, self.given), &wycheproof_test(message, self.given))
            }
            Style::Acvp => {
                let (encrypts, gmac) = (self.encrypts(case), case.algorithm == Algorithm::AesGmac);
                let bytes = [&case.key, &case.iv, &case.ciphertext, &case.aad, &case.tag];
                let mut sizes: Vec<usize> = bytes.map(Vec::len).to_vec();
                sizes.push(usize::from(encrypts));
                let group = acvp_group(case, encrypts, gmac, self.given);
                self.json(sizes, group, &acvp_test(case, encrypts, gmac, self.given))
            }
            Style::Csv => self.csv(message, values.as_ref()),
            Style::Memh => self.memh(message, values.as_ref()),
        }
    }

    pub fn end(mut self) -> io::Result<W> {
        if matches!(self.style, Style::Wycheproof | Style::Acvp) {
            self.out.write_all(if self.group.is_some() { b"]}\n]}\n" } else { b"]}\n" })?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Whether a message of ACVP is to be sealed: each second one that is valid.
    const fn encrypts(&self, case: &Case) -> bool {
        case.valid && self.given % 2 == 1
    }

    fn cavp(&mut self, case: &Case) -> io::Result<()> {
        let sizes: Vec<usize> = [&case.key, &case.iv, &case.ciphertext, &case.aad, &case.tag]
            .into_iter()
            .map(|bytes| 8 * bytes.len())
            .collect();
        if self.group.as_ref() != Some(&sizes) {
            writeln!(self.out)?;
            for (name, bits) in ["Keylen", "IVlen", "PTlen", "AADlen", "Taglen"].iter().zip(&sizes) {
                writeln!(self.out, "[{name} = {bits}]")?;
            }
            self.group = Some(sizes);
        }
        writeln!(self.out, "\nCount = {}", self.given - 1)?;
        let Case { key, iv, aad, ciphertext, tag, .. } = case;
        for (name, bytes) in [("Key", key), ("IV", iv), ("CT", ciphertext), ("AAD", aad), ("Tag", tag)] {
            writeln!(self.out, "{name} = {}", hex::encode(bytes))?;
        }
        match &case.plaintext {
            Some(plaintext) if case.valid => writeln!(self.out, "PT = {}", hex::encode(plaintext)),
            _ => writeln!(self.out, "FAIL"),
        }
    }

    fn json(&mut self, sizes: Vec<usize>, group: Value, test: &Value) -> io::Result<()> {
        if self.group.as_ref() == Some(&sizes) {
            return write!(self.out, ",\n{test}");
        }
        let end = if self.group.is_some() { "]},\n" } else { "\n" };
        let head = group.to_string();
        write!(self.out, "{end}{}, \"tests\": [\n{test}", head.strip_suffix('}').unwrap_or(&head))?;
        self.group = Some(sizes);
        Ok(())
    }

    fn csv(&mut self, message: &Message, stages: Option<&[StageValues; 6]>) -> io::Result<()> {
        let case = &message.case;
        let plaintext = case.plaintext.as_deref().unwrap_or_default();
        let texts = [&case.key, &case.iv, &case.aad, plaintext, &case.ciphertext, &case.tag].map(hex::encode::<&[u8]>);
        let result = if case.valid { "valid" } else { "invalid" };
        let (new, comment) = (u8::from(is_new(message)), comment(message).replace(", ", "; "));
        write!(self.out, "{},{},{},{result},{new},{comment}", self.given, case.algorithm, texts.join(","))?;
        for (_, values) in stages.into_iter().flatten() {
            write!(self.out, ",{}", hex::encode(values.concat()))?;
        }
        writeln!(self.out)
    }

    fn memh(&mut self, message: &Message, stages: Option<&[StageValues; 6]>) -> io::Result<()> {
        let case = &message.case;
        let Case { key, iv, aad, ciphertext, tag, valid, .. } = case;
        let lengths = [iv.len(), aad.len(), ciphertext.len()].map(|length| format!("{length:08x}")).concat();
        let flags = format!("{:02x}{:02x}", u8::from(*valid), u8::from(is_new(message)));
        writeln!(self.out, "// {}: {}", self.given, comment(message))?;
        writeln!(self.out, "{:02x}{:02x}{flags}{lengths}", key.len(), tag.len())?;
        let plaintext = case.plaintext.as_deref().unwrap_or_default();
        let padded_key = [&key[..], &vec![0; 32 - key.len().min(32)]].concat();
        for bytes in [&padded_key, iv, aad, plaintext, ciphertext, tag] {
            for word in bytes.chunks(16) {
                writeln!(self.out, "{:0<32}", hex::encode(word))?;
            }
        }
        for value in stages.into_iter().flatten().flat_map(|(_, values)| values) {
            writeln!(self.out, "{}", hex::encode(value))?;
        }
        Ok(())
    }
}

const fn is_new(message: &Message) -> bool {
    message.shape.has(Dimension::KeyChange, 0)
}

/// What a message is like.
fn comment(message: &Message) -> String {
    let word = |dimension: Dimension| format!("{} {}", dimension.name(), message.shape.word(dimension));
    Dimension::ALL.map(word).join(", ")
}

fn bits(bytes: &[u8]) -> usize {
    8 * bytes.len()
}

fn wycheproof_group(case: &Case, first: u64) -> Value {
    let kind = if case.algorithm == Algorithm::AesGmac { "MacWithIvTest" } else { "AeadTest" };
    json!({
        "type": kind, "source": {"name": format!("sealsim, from tcId {first}"), "version": env!("CARGO_PKG_VERSION")},
        "keySize": bits(&case.key), "ivSize": bits(&case.iv), "tagSize": bits(&case.tag),
    })
}

fn wycheproof_test(message: &Message, id: u64) -> Value {
    let case = &message.case;
    let mut test = json!({
        "tcId": id, "comment": comment(message), "key": hex::encode(&case.key), "iv": hex::encode(&case.iv),
        "tag": hex::encode(&case.tag), "result": if case.valid { "valid" } else { "invalid" },
        "flags": if case.valid { vec![] } else { vec!["Forged"] },
    });
    if case.algorithm == Algorithm::AesGmac {
        test["msg"] = hex::encode(&case.aad).into();
    } else {
        test["aad"] = hex::encode(&case.aad).into();
        test["msg"] = hex::encode(case.plaintext.as_deref().unwrap_or_default()).into();
        test["ct"] = hex::encode(&case.ciphertext).into();
    }
    test
}

fn acvp_group(case: &Case, encrypts: bool, gmac: bool, first: u64) -> Value {
    let siv = case.algorithm == Algorithm::AES_GCM_SIV;
    let mut group = json!({
        "tgId": first, "testType": "AFT", "direction": if encrypts { "encrypt" } else { "decrypt" },
        "keyLen": bits(&case.key), "aadLen": bits(&case.aad),
    });
    if !gmac {
        group["payloadLen"] = bits(&case.ciphertext).into();
    }
    if !siv {
        group["ivLen"] = bits(&case.iv).into();
        group["tagLen"] = bits(&case.tag).into();
        group["ivGen"] = "external".into();
    }
    group
}

fn acvp_test(case: &Case, encrypts: bool, gmac: bool, id: u64) -> Value {
    let (key, iv, aad) = (hex::encode(&case.key), hex::encode(&case.iv), hex::encode(&case.aad));
    let mut test = json!({"tcId": id, "key": key, "iv": iv, "aad": aad});
    if case.algorithm == Algorithm::AES_GCM_SIV {
        test["ct"] = hex::encode([&case.ciphertext[..], &case.tag].concat()).into();
    } else {
        test["tag"] = hex::encode(&case.tag).into();
        if !gmac {
            test["ct"] = hex::encode(&case.ciphertext).into();
        }
    }
    if let (Some(plaintext), true, false) = (&case.plaintext, case.valid, gmac) {
        test["pt"] = hex::encode(plaintext).into();
    }
    if !encrypts {
        test["testPassed"] = case.valid.into();
    }
    test
}
