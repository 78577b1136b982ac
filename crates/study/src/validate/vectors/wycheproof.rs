//! Wycheproof's JSON files for AEADs (`aead_test_schema_v1.json`) and GMAC (`mac_with_iv_test_schema_v1.json`); those of 0.8 (without `_v1`) also call cases
//! `acceptable`, which may be refused for the length of key, IV or tag; if they are not, what they say must come out.

use super::{Algorithm, Case, Place, Problem, VectorError, hex_bytes};
use crate::files::{excerpt, json_fault};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    algorithm: String,
    schema: String,
    number_of_tests: u64,
    test_groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    key_size: u64,
    iv_size: u64,
    tag_size: u64,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    tc_id: u64,
    key: String,
    iv: String,
    aad: Option<String>,
    msg: String,
    ct: Option<String>,
    tag: String,
    result: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Schema {
    Aead,
    /// The message is authenticated and not enciphered: it is the AAD of an empty text.
    Gmac,
}

pub fn read(text: &str) -> Result<Vec<Case>, VectorError> {
    let file: File = serde_json::from_str(text).map_err(|error| VectorError {
        place: Place::Line(error.line()),
        problem: Problem::Json(json_fault(&error)),
        text: text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default().chars().take(80).collect(),
    })?;
    let of_file = |problem, text: &str| VectorError { place: Place::File, problem, text: excerpt(text, 80).into() };
    let schema = match file.schema.as_str() {
        "aead_test_schema_v1.json" | "aead_test_schema.json" => Schema::Aead,
        "mac_with_iv_test_schema_v1.json" | "mac_with_iv_test_schema.json" => Schema::Gmac,
        other => return Err(of_file(Problem::Unknown("schema"), other)),
    };
    let fits = |algorithm: &Algorithm| (*algorithm == Algorithm::AesGmac) == (schema == Schema::Gmac);
    let algorithm = Algorithm::named(&file.algorithm).filter(fits);
    let algorithm = algorithm.ok_or_else(|| of_file(Problem::Algorithm, &file.algorithm))?;
    let mut cases = Vec::new();
    for group in &file.test_groups {
        for test in &group.tests {
            cases.push(case(algorithm, group, test)?);
        }
    }
    let (expected, found) = (file.number_of_tests, cases.len() as u64);
    if expected != found || found == 0 {
        return Err(of_file(Problem::Count { expected: expected.max(1), found }, "numberOfTests"));
    }
    Ok(cases)
}

fn case(algorithm: Algorithm, group: &Group, test: &Test) -> Result<Case, VectorError> {
    let place = Place::Case(test.tc_id);
    let error = |problem, text: &str| VectorError { place: place.clone(), problem, text: excerpt(text, 80).into() };
    let bytes = |name, text: &str| hex_bytes(name, text, &place);
    let announced = |name, text: &str, announced: u64| {
        let bytes = bytes(name, text)?;
        let got = 8 * bytes.len() as u64;
        if got == announced { Ok(bytes) } else { Err(error(Problem::Length { name, got, announced }, text)) }
    };
    let given = |name, text: &Option<String>| {
        let text = text.as_deref().ok_or_else(|| error(Problem::Missing(name), &format!("tcId {}", test.tc_id)))?;
        bytes(name, text)
    };
    let (valid, may_refuse) = match test.result.as_str() {
        "valid" => (true, false),
        "invalid" => (false, false),
        "acceptable" => (true, true),
        other => return Err(error(Problem::Unknown("result"), other)),
    };
    let message = bytes("msg", &test.msg)?;
    let (aad, plaintext, ciphertext) = match algorithm {
        Algorithm::AesGmac => (message, Vec::new(), Vec::new()),
        _ => (given("aad", &test.aad)?, message, given("ct", &test.ct)?),
    };
    Ok(Case {
        id: format!("tcId {}", test.tc_id),
        algorithm,
        key: announced("key", &test.key, group.key_size)?,
        iv: announced("iv", &test.iv, group.iv_size)?,
        aad,
        plaintext: Some(plaintext),
        ciphertext,
        // A tag that is not valid may have another length, too.
        tag: if valid { announced("tag", &test.tag, group.tag_size)? } else { bytes("tag", &test.tag)? },
        valid,
        may_refuse,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(schema: &str, number: u64, test: &str) -> String {
        format!(
            r#"{{"algorithm": "AES-GCM", "schema": "{schema}", "numberOfTests": {number}, "testGroups":
               [{{"keySize": 8, "ivSize": 8, "tagSize": 8, "tests": [{test}]}}]}}"#
        )
    }

    fn test(key: &str, tag: &str, result: &str) -> String {
        format!(
            r#"{{"tcId": 7, "key": "{key}", "iv": "01", "aad": "", "msg": "", "ct": "", "tag": "{tag}", "result": "{result}"}}"#
        )
    }

    #[test]
    fn a_long_value_of_another_type_is_quoted_in_short_and_its_line_is_named() {
        let value = format!("\n\"{}\"", "f".repeat(100_000));
        let error = read(&file("aead_test_schema_v1.json", 1, &value)).err().unwrap().to_string();
        assert!(error.len() < 500 && error.contains("line 3 column"), "{error}");
    }

    #[test]
    fn acceptable_cases_may_be_refused_for_their_lengths_and_must_else_come_out() {
        use super::super::{Bulk, Mismatch};
        // The case of Wycheproof 0.8 that "acceptable" is tried on: AES-128-GCM, 96 bits of IV.
        let whole = |iv: &str, tag: &str, bits: [usize; 2]| {
            format!(
                r#"{{"algorithm": "aes-gcm", "schema": "aead_test_schema.json", "numberOfTests": 1, "testGroups": [{{"keySize": 128, "ivSize": {}, "tagSize": {},
                "tests": [{{"tcId": 1, "key": "38b4e652e44da7f2370d9e260e271365", "iv": "{iv}", "aad": "7504d90e945de2e8f54ee781cc75f636d8509909",
                "msg": "24083fd22b902f8911e81818f8c99d5d5d983195", "ct": "3acac985dd2efbd8cd545512b62bfc72486d7698", "tag": "{tag}", "result": "acceptable"}}]}}]}}"#,
                bits[0], bits[1]
            )
        };
        let judged = |iv: &str, tag: &str, bits: [usize; 2]| read(&whole(iv, tag, bits)).unwrap()[0].check(&mut Bulk);
        let (iv, tag) = ("50a4a3a6d07f5c0c332f8b12", "c70ebcf2dab23cf9798da537e603cfda");
        assert_eq!(judged(iv, tag, [96, 128]), Ok(()));
        assert_eq!(judged("", tag, [0, 128]), Ok(()));
        assert_eq!(judged(iv, &tag[..2], [96, 8]), Ok(()));
        assert!(matches!(judged(iv, &tag.replace("c70e", "c70f"), [96, 128]), Err(Mismatch::Differs { .. })));
        assert!(matches!(judged(&iv.replace("50a4", "50a5"), tag, [96, 128]), Err(Mismatch::Differs { .. })));
    }

    #[test]
    fn names_are_known_whatever_their_case() {
        for (name, known) in [
            ("aegis256x2", "AEGIS256X2"),
            ("Aegis-128L", "AEGIS128L"),
            ("ChaCha20-Poly1305", "CHACHA20-POLY1305"),
            ("aes-gmac", "AES-GMAC"),
        ] {
            assert_eq!(Algorithm::named(name).map(Algorithm::name), Some(known));
        }
        assert_eq!(Algorithm::named("aegis256x3"), None);
    }

    #[test]
    fn every_mistake_is_found_in_its_case() {
        const AEAD: &str = "aead_test_schema_v1.json";
        let refusal = |text: String| {
            let error = read(&text).unwrap_err();
            (error.place, error.problem)
        };
        assert_eq!(read(&file(AEAD, 1, &test("00", "02", "valid"))).map(|cases| cases.len()), Ok(1));
        assert_eq!(refusal(file(AEAD, 1, &test("0", "02", "valid"))), (Place::Case(7), Problem::Hex("key")));
        let length = Problem::Length { name: "tag", got: 16, announced: 8 };
        assert_eq!(refusal(file(AEAD, 1, &test("00", "0203", "valid"))), (Place::Case(7), length));
        assert!(read(&file(AEAD, 1, &test("00", "0203", "invalid"))).is_ok());
        assert_eq!(refusal(file(AEAD, 1, &test("00", "02", "fine"))), (Place::Case(7), Problem::Unknown("result")));
        let count = Problem::Count { expected: 2, found: 1 };
        assert_eq!(refusal(file(AEAD, 2, &test("00", "02", "valid"))), (Place::File, count));
        for algorithm in ["ARIA-GCM", "AES-GMAC"] {
            let other = file(AEAD, 1, &test("00", "02", "valid")).replace("AES-GCM", algorithm);
            assert_eq!(refusal(other), (Place::File, Problem::Algorithm));
        }
        assert_eq!(refusal(file("other", 1, "")), (Place::File, Problem::Unknown("schema")));
        let missing = test("00", "02", "valid").replace(r#""ct": "","#, "");
        assert_eq!(refusal(file(AEAD, 1, &missing)), (Place::Case(7), Problem::Missing("ct")));
        assert!(matches!(refusal("{\n\n\"schema\": ]".into()), (Place::Line(3), Problem::Json(_))));
    }
}
