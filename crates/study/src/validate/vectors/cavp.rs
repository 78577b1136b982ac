//! Response files of NIST's Cryptographic Algorithm Validation Program for GCM, and the text files of pyca and BoringSSL for all AEADs.
//!
//! Lines are comments (`#`), group headers in bits (`[IVlen = 96]`), and the values of a case in hexadecimal after its
//! `Count`. In a decryption file a case ends in `PT` or in `FAIL`.
//!
//! A case after `COUNT` is one of pyca's or BoringSSL's: other names stand for the same values, these may be quoted text, AAD may be left out, and `Result = ...` says that the
//! message must not open. What it is of is what a comment (`#Cipher = aes-128-gcm-siv`) says, or is not said.

use super::{Algorithm, Case, Place, Problem, VectorError, hex_bytes};
use crate::aead::bytes::Scheme;
use crate::files::excerpt;

const HEADERS: [&str; 5] = ["Keylen", "IVlen", "PTlen", "AADlen", "Taglen"];
const VALUES: [&str; 6] = ["Key", "IV", "PT", "AAD", "CT", "Tag"];
/// What they are called after `COUNT`, in capitals.
const SYNONYMS: [&[&str]; 6] =
    [&["KEY"], &["IV", "NONCE"], &["PT", "IN", "PLAINTEXT"], &["AAD", "AD"], &["CT", "CIPHERTEXT"], &["TAG"]];
/// Which header announces the length of which value.
const ANNOUNCED: [usize; 6] = [0, 1, 2, 3, 2, 4];

struct Open {
    line: usize,
    count: String,
    /// Of what it is, if it stands after `COUNT`.
    loose: Option<Algorithm>,
    values: [Option<Vec<u8>>; 6],
    fail: bool,
}

impl Open {
    fn close(mut self) -> Result<Case, VectorError> {
        let (line, count, fail) = (self.line, self.count, self.fail);
        if fail && self.loose.is_none() && self.values[2].is_some() {
            let text = format!("Count = {count}");
            return Err(VectorError { place: Place::Line(line), problem: Problem::Contradiction, text });
        }
        if self.loose.is_some() {
            self.values[3].get_or_insert_default();
        }
        let mut take = |index: usize| {
            self.values[index].take().ok_or_else(|| VectorError {
                place: Place::Line(line),
                problem: Problem::Missing(VALUES[index]),
                text: excerpt(&format!("Count = {count}"), 80).into(),
            })
        };
        let plaintext = if fail { None } else { Some(take(2)?) };
        Ok(Case {
            id: format!("line {line}, Count = {count}"),
            algorithm: self.loose.unwrap_or(Algorithm::AES_GCM),
            key: take(0)?,
            iv: take(1)?,
            aad: take(3)?,
            plaintext,
            ciphertext: take(4)?,
            tag: take(5)?,
            valid: !fail,
            may_refuse: false,
        })
    }
}

/// The algorithm that OpenSSL calls so.
fn of_cipher(name: &str) -> Option<Algorithm> {
    let name = name.trim().to_ascii_lowercase();
    match name {
        _ if name.ends_with("-gcm-siv") => Some(Algorithm::AES_GCM_SIV),
        _ if name.ends_with("-gcm") => Some(Algorithm::AES_GCM),
        _ if name == "chacha20-poly1305" => Some(Algorithm::Aead(Scheme::ChaCha20Poly1305)),
        _ => None,
    }
}

/// A value after `COUNT`: hexadecimal, or text in quotes.
fn loose_bytes(name: &'static str, value: &str, place: &Place) -> Result<Vec<u8>, VectorError> {
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => hex_bytes(name, value, place),
    }
}

/// Reads a response file. A case that does not say of what it is, after `COUNT`, is one of `unnamed`.
pub fn read(text: &str, unnamed: Algorithm) -> Result<Vec<Case>, VectorError> {
    let (mut cases, mut open) = (Vec::new(), None::<Open>);
    let mut cipher = unnamed;
    let mut announced = [None; 5];
    for (index, raw) in text.lines().enumerate() {
        let (number, line) = (index + 1, raw.trim());
        let error = |problem| VectorError { place: Place::Line(number), problem, text: excerpt(line, 80).into() };
        if line.is_empty() || line.starts_with('#') {
            let said = line.strip_prefix("#Cipher").and_then(|rest| rest.trim_start().strip_prefix('='));
            cipher = said.and_then(of_cipher).unwrap_or(cipher);
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.strip_suffix(']').ok_or_else(|| error(Problem::Syntax))?;
            let (name, value) = header.split_once('=').ok_or_else(|| error(Problem::Syntax))?;
            let place = HEADERS.iter().position(|&header| header == name.trim());
            let place = place.ok_or_else(|| error(Problem::UnknownName))?;
            let bits: u64 = value.trim().parse().map_err(|_| error(Problem::Number))?;
            cases.extend(open.take().map(Open::close).transpose()?);
            announced[place] = Some(bits);
            continue;
        }
        if line == "FAIL" {
            open.as_mut().ok_or_else(|| error(Problem::Syntax))?.fail = true;
            continue;
        }
        let (name, value) = line.split_once('=').ok_or_else(|| error(Problem::Syntax))?;
        let (name, value) = (name.trim(), value.trim());
        if name == "Count" || name == "COUNT" {
            value.parse::<u64>().map_err(|_| error(Problem::Number))?;
            cases.extend(open.take().map(Open::close).transpose()?);
            let loose = (name == "COUNT").then_some(cipher);
            open = Some(Open { line: number, count: value.to_owned(), loose, values: Default::default(), fail: false });
            continue;
        }
        let loose = open.as_ref().is_some_and(|case| case.loose.is_some());
        if loose && name == "Result" {
            open.as_mut().ok_or_else(|| error(Problem::Syntax))?.fail = true;
            continue;
        }
        let known = |place: &usize| match loose {
            true => SYNONYMS[*place].contains(&name.to_ascii_uppercase().as_str()),
            false => VALUES[*place] == name,
        };
        let place = (0..VALUES.len()).find(known).ok_or_else(|| error(Problem::UnknownName))?;
        let case = open.as_mut().ok_or_else(|| error(Problem::Missing("Count")))?;
        let read = if loose { loose_bytes } else { hex_bytes };
        let bytes = read(VALUES[place], value, &Place::Line(number))?;
        let got = 8 * bytes.len() as u64;
        if let Some(announced) = announced[ANNOUNCED[place]].filter(|&announced| announced != got) {
            return Err(error(Problem::Length { name: VALUES[place], got, announced }));
        }
        if case.values[place].replace(bytes).is_some() {
            return Err(error(Problem::Twice));
        }
    }
    cases.extend(open.map(Open::close).transpose()?);
    if cases.is_empty() {
        let problem = Problem::Count { expected: 1, found: 0 };
        let text = text.lines().next().unwrap_or_default().chars().take(80).collect();
        return Err(VectorError { place: Place::File, problem, text });
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (Place, Problem) {
        let error = read(text, Algorithm::AES_GCM).unwrap_err();
        (error.place, error.problem)
    }

    #[test]
    fn a_long_count_is_not_echoed_whole() {
        let file =
            format!("[Keylen = 128]\n[IVlen = 96]\n\nCount = {}1\nKey = {}\n", "0".repeat(100_000), "00".repeat(16));
        assert!(read(&file, Algorithm::AES_GCM).unwrap_err().to_string().len() < 400);
    }

    #[test]
    fn every_mistake_is_found_in_its_line() {
        let head = "# x\n[Keylen = 128]\n[IVlen = 96]\n\nCount = 0\n";
        assert_eq!(refusal(&format!("{head}Key = 0g")), (Place::Line(6), Problem::Hex("Key")));
        let length = Problem::Length { name: "Key", got: 8, announced: 128 };
        assert_eq!(refusal(&format!("{head}Key = 00")), (Place::Line(6), length));
        assert_eq!(refusal(&format!("{head}AAD =\nAAD = \n")), (Place::Line(7), Problem::Twice));
        assert_eq!(refusal(&format!("{head}Kye = 00")), (Place::Line(6), Problem::UnknownName));
        assert_eq!(refusal(&format!("{head}Key")), (Place::Line(6), Problem::Syntax));
        assert_eq!(refusal(&format!("{head}AAD =\n")), (Place::Line(5), Problem::Missing("PT")));
        let both = "Count = 0\nKey = \nIV = 01\nCT = \nAAD = \nTag = 02\nPT = \nFAIL";
        assert_eq!(refusal(both), (Place::Line(1), Problem::Contradiction));
        assert!(read(&"x".repeat(100_000), Algorithm::AES_GCM).unwrap_err().to_string().len() < 300);
        assert_eq!(refusal("[Keylen = x]"), (Place::Line(1), Problem::Number));
        assert_eq!(refusal("[Keylen 128"), (Place::Line(1), Problem::Syntax));
        assert_eq!(refusal("FAIL"), (Place::Line(1), Problem::Syntax));
        assert_eq!(refusal("Key = 00"), (Place::Line(1), Problem::Missing("Count")));
        assert_eq!(refusal("\n\n"), (Place::File, Problem::Count { expected: 1, found: 0 }));
        assert!(read("Count = 1\nKey = 0g", Algorithm::AES_GCM).unwrap_err().to_string().contains("0g"));
    }

    #[test]
    fn a_failing_case_has_no_plaintext_and_is_not_valid() {
        let cases =
            read("Count = 4\r\nKey = 00\r\nIV = 01\r\nCT = \r\nAAD = \r\nTag = 02\r\nFAIL\r\n", Algorithm::AES_GCM)
                .unwrap();
        assert_eq!(cases.len(), 1);
        assert_eq!((cases[0].plaintext.as_ref(), cases[0].valid), (None, false));
        assert_eq!(cases[0].id, "line 1, Count = 4");
    }

    #[test]
    fn cases_after_count_in_capitals_have_other_names_and_name_their_cipher() {
        // The first is the case of RFC 8439, section 2.8.2, in part; the bytes need not belong together here.
        let text = "COUNT = 1\nKEY= 00\nNONCE= 01\nIN= \"ab\"\nAD= \"\"\nCT= 0203\nTAG= 04\n
            #Cipher = aes-128-gcm-siv\nCOUNT = 2\nKey = 00\nIV = 01\nTag = 02\nPlaintext = 03\nCiphertext = 04\nResult = CIPHERFINAL_ERROR\n";
        let cases = read(text, Algorithm::Aead(Scheme::ChaCha20Poly1305)).unwrap();
        assert_eq!(
            (cases[0].algorithm, cases[0].plaintext.as_deref()),
            (Algorithm::Aead(Scheme::ChaCha20Poly1305), Some(&b"ab"[..]))
        );
        assert_eq!((cases[0].aad.len(), &cases[0].tag[..], cases[0].valid), (0, &[4][..], true));
        assert_eq!((cases[1].algorithm, cases[1].valid), (Algorithm::AES_GCM_SIV, false));
        assert_eq!(refusal("COUNT = 1\nNUNCE = 00"), (Place::Line(2), Problem::UnknownName));
        assert_eq!(refusal("COUNT = 1\nKEY = \"0"), (Place::Line(2), Problem::Hex("Key")));
    }
}
