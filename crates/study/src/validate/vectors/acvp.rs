//! NIST's ACVP files for AES-GCM, GMAC and AES-GCM-SIV: JSON vector sets of `testGroups` with `tests`, lengths in bits.
//!
//! | a set | its tests have |
//! | --- | --- |
//! | internal projection | inputs and answers |
//! | prompt | inputs; on encryption no tag, on decryption neither plaintext nor `testPassed` |
//! | expected results | answers by `tcId`, and no key |
//!
//! A file holds one set, or an array of sets, whose header (`acvVersion`) says nothing here. AES-GCM-SIV's ciphertext ends in its tag.

use super::{Algorithm, Case, Place, Problem, VectorError, hex_bytes};
use crate::files::{excerpt, json_fault, parse_json};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Clone)]
pub struct Set {
    id: u64,
    algorithm: Algorithm,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    vs_id: u64,
    algorithm: String,
    test_groups: Vec<Group>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    direction: Option<AcvpDirection>,
    key_len: Option<u64>,
    iv_len: Option<u64>,
    payload_len: Option<u64>,
    aad_len: Option<u64>,
    tag_len: Option<u64>,
    tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum AcvpDirection {
    Encrypt,
    Decrypt,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    tc_id: u64,
    key: Option<String>,
    iv: Option<String>,
    pt: Option<String>,
    aad: Option<String>,
    ct: Option<String>,
    tag: Option<String>,
    test_passed: Option<bool>,
}

/// Whether a JSON text looks like an ACVP file rather than one of Wycheproof's.
pub(super) fn looks_so(text: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head {
        vs_id: Option<IgnoredAny>,
        algorithm: Option<Value>,
    }
    let named = |algorithm: &Value| algorithm.as_str().is_some_and(|name| name.starts_with("ACVP-"));
    let head = serde_json::from_str::<Head>(text);
    text.starts_with('[') || head.is_ok_and(|head| head.vs_id.is_some() || head.algorithm.as_ref().is_some_and(named))
}

pub(super) fn read(text: &str) -> Result<Vec<Set>, VectorError> {
    let of_file = |problem, text: &str| VectorError { place: Place::File, problem, text: excerpt(text, 80).into() };
    let value = parse_json(text).map_err(|error| VectorError {
        place: Place::Line(error.line()),
        ..of_file(
            Problem::Json(json_fault(&error)),
            text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default(),
        )
    })?;
    let (mut open, mut sets) = (vec![value], Vec::new());
    while let Some(value) = open.pop() {
        match value {
            Value::Array(values) => open.extend(values.into_iter().rev()),
            Value::Object(fields) if fields.contains_key("acvVersion") && !fields.contains_key("testGroups") => {}
            value => {
                let file: File = serde_json::from_value(value)
                    .map_err(|error| of_file(Problem::Json(json_fault(&error)), "a vector set"))?;
                let algorithm = match file.algorithm.as_str() {
                    "ACVP-AES-GCM" => Algorithm::AES_GCM,
                    "ACVP-AES-GMAC" => Algorithm::AesGmac,
                    "ACVP-AES-GCM-SIV" => Algorithm::AES_GCM_SIV,
                    other => return Err(of_file(Problem::Algorithm, other)),
                };
                sets.push(Set { id: file.vs_id, algorithm, groups: file.test_groups });
            }
        }
    }
    let tests = sets.iter().map(|set| set.tests().count() as u64);
    if tests.clone().any(|tests| tests == 0) || sets.is_empty() {
        return Err(of_file(Problem::Count { expected: 1, found: 0 }, "testGroups"));
    }
    Ok(sets)
}

impl Set {
    fn tests(&self) -> impl Iterator<Item = &Test> {
        self.groups.iter().flat_map(|group| &group.tests)
    }

    /// Whether it has answers to another set's tests and nothing else.
    pub(super) fn answers(&self) -> bool {
        self.tests().all(|test| test.key.is_none())
    }

    /// Whether another set has the answers to some of its tests.
    pub(super) fn asks(&self) -> bool {
        let asked = |group: &Group, test: &Test| match (group.direction, self.algorithm) {
            (Some(AcvpDirection::Decrypt), Algorithm::AesGmac) => test.test_passed.is_none(),
            (Some(AcvpDirection::Decrypt), _) => test.test_passed.is_none() && test.pt.is_none(),
            (_, Algorithm::AES_GCM_SIV) => test.ct.is_none(),
            _ => test.tag.is_none(),
        };
        !self.answers() && self.groups.iter().any(|group| group.tests.iter().any(|test| asked(group, test)))
    }

    /// Whether a set of answers belongs to this one.
    pub(super) fn is_answered_by(&self, answers: &Self) -> bool {
        (self.id, self.algorithm) == (answers.id, answers.algorithm)
    }

    /// Why it cannot be used by itself.
    pub(super) fn alone(&self) -> VectorError {
        let problem = if self.answers() { Problem::NoPrompt } else { Problem::NoAnswers };
        VectorError { place: Place::File, problem, text: format!("{}, vsId {}", self.algorithm, self.id) }
    }

    /// Takes over the answers of another set, test by test. Each test must have one, each answer a test, and neither may say otherwise than the other.
    pub(super) fn answered(mut self, answers: &Self) -> Result<Self, VectorError> {
        let mut by_id = HashMap::new();
        for answer in answers.tests() {
            if by_id.insert(answer.tc_id, answer).is_some() {
                return Err(answer.error(Problem::Twice));
            }
        }
        let mut taken = 0;
        for test in self.groups.iter_mut().flat_map(|group| &mut group.tests) {
            let answer = by_id.remove(&test.tc_id).ok_or_else(|| test.error(Problem::Missing("answer")))?;
            test.take(answer)?;
            taken += 1;
        }
        match by_id.into_values().next() {
            None => Ok(self),
            Some(answer) => {
                Err(answer.error(Problem::Count { expected: taken, found: answers.tests().count() as u64 }))
            }
        }
    }

    pub(super) fn cases(&self) -> Result<Vec<Case>, VectorError> {
        let in_group = |group| Group::cases(group, self.algorithm);
        self.groups.iter().flat_map(in_group).collect()
    }
}

impl Group {
    fn cases(&self, algorithm: Algorithm) -> impl Iterator<Item = Result<Case, VectorError>> {
        self.tests.iter().map(move |test| self.case(algorithm, test))
    }

    fn case(&self, algorithm: Algorithm, test: &Test) -> Result<Case, VectorError> {
        let direction = self.direction.ok_or_else(|| test.error(Problem::Missing("direction")))?;
        let valid = test.test_passed != Some(false);
        if !valid && direction == AcvpDirection::Encrypt {
            return Err(test.error(Problem::Contradiction));
        }
        let (siv, gmac) = (algorithm == Algorithm::AES_GCM_SIV, algorithm == Algorithm::AesGmac);
        let payload = if gmac { Some(0) } else { self.payload_len };
        // AES-GCM-SIV's ciphertext has the tag at its end, unless the test has one apart.
        let appended = siv && test.tag.is_none();
        let enciphered = payload.map(|bits| bits.saturating_add(if appended { 128 } else { 0 }));
        let mut ciphertext = test.bytes("ct", &test.ct, enciphered)?;
        let tag = match ciphertext.len().checked_sub(16).filter(|_| appended) {
            Some(text) => ciphertext.split_off(text),
            None if appended => return Err(test.error(Problem::Missing("tag at the end of ct"))),
            None => test.bytes("tag", &test.tag, self.tag_len)?,
        };
        Ok(Case {
            id: format!("tcId {}", test.tc_id),
            algorithm,
            key: test.bytes("key", &test.key, self.key_len)?,
            iv: test.bytes("iv", &test.iv, self.iv_len)?,
            aad: test.bytes("aad", &test.aad, self.aad_len)?,
            plaintext: if valid { Some(test.bytes("pt", &test.pt, payload)?) } else { None },
            ciphertext,
            tag,
            valid,
            may_refuse: false,
        })
    }
}

impl Test {
    fn error(&self, problem: Problem) -> VectorError {
        VectorError { place: Place::Case(self.tc_id), problem, text: format!("tcId {}", self.tc_id) }
    }

    /// A value of so many bits; one of none need not be given.
    fn bytes(&self, name: &'static str, text: &Option<String>, bits: Option<u64>) -> Result<Vec<u8>, VectorError> {
        let text = match (text, bits) {
            (Some(text), _) => text,
            (None, Some(0)) => "",
            (None, _) => return Err(self.error(Problem::Missing(name))),
        };
        let bytes = hex_bytes(name, text, &Place::Case(self.tc_id))?;
        let got = 8 * bytes.len() as u64;
        match bits.filter(|&bits| bits != got) {
            Some(announced) => Err(self.error(Problem::Length { name, got, announced })),
            None => Ok(bytes),
        }
    }

    fn take(&mut self, answer: &Self) -> Result<(), VectorError> {
        let values = [
            (&mut self.iv, &answer.iv),
            (&mut self.pt, &answer.pt),
            (&mut self.ct, &answer.ct),
            (&mut self.tag, &answer.tag),
        ];
        for (value, answer_value) in values {
            if let (Some(value), Some(other)) = (&*value, answer_value)
                && !value.eq_ignore_ascii_case(other)
            {
                return Err(answer.error(Problem::Twice));
            }
            *value = value.take().or_else(|| answer_value.clone());
        }
        self.test_passed = self.test_passed.or(answer.test_passed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{join, parse, read};
    use super::*;
    use proptest::prelude::*;

    const ZERO: &str = "00000000000000000000000000000000";
    // Test case 1 of the GCM specification.
    const TAG: &str = "58e2fccefa7e3061367f1d57a4e7455a";

    fn set(algorithm: &str, group: &str, tests: &str) -> String {
        format!(
            r#"{{"vsId": 3, "algorithm": "{algorithm}", "testGroups": [{{"tgId": 1, {group}, "keyLen": 128, "tests": [{tests}]}}]}}"#
        )
    }

    fn encrypt(test: &str) -> String {
        let group = r#""direction": "encrypt", "ivLen": 96, "payloadLen": 0, "aadLen": 0, "tagLen": 128"#;
        set("ACVP-AES-GCM", group, &format!(r#"{{"tcId": 7, {test}}}"#))
    }

    fn inputs() -> String {
        format!(r#""key": "{ZERO}", "iv": "000000000000000000000000", "aad": "", "pt": """#)
    }

    fn both(prompt: &str, answers: &str) -> Result<Vec<Case>, VectorError> {
        let cases = join(vec![parse(prompt, Algorithm::AES_GCM)?, parse(answers, Algorithm::AES_GCM)?])
            .map_err(|(_, error)| error)?;
        Ok(cases.into_iter().flatten().collect())
    }

    #[test]
    fn a_prompt_and_its_answers_are_the_projection() {
        let answer = format!(r#""ct": "", "tag": "{TAG}""#);
        let projection = read(&encrypt(&format!("{}, {answer}", inputs()))).unwrap();
        assert_eq!(projection[0].tag, hex::decode(TAG).unwrap());
        let (prompt, answers) = (encrypt(&inputs()), encrypt(&answer));
        assert_eq!(both(&prompt, &answers), Ok(projection.clone()));
        assert_eq!(both(&answers, &prompt), Ok(projection.clone()));
        let wrapped = format!(r#"[{{"acvVersion": "1.0"}}, [{prompt}], {answers}]"#);
        assert_eq!(read(&wrapped), Ok(projection));
    }

    #[test]
    fn every_mistake_is_found_in_its_test() {
        let refusal = |result: Result<Vec<Case>, VectorError>| {
            let error = result.unwrap_err();
            (error.place, error.problem)
        };
        let answer = |text: &str| encrypt(&format!(r#""ct": "", {text}"#));
        assert_eq!(refusal(read(&encrypt(&inputs()))), (Place::File, Problem::NoAnswers));
        assert_eq!(refusal(read(&answer(r#""tag": "00""#))), (Place::File, Problem::NoPrompt));
        let length = Problem::Length { name: "tag", got: 8, announced: 128 };
        assert_eq!(refusal(both(&encrypt(&inputs()), &answer(r#""tag": "00""#))), (Place::Case(7), length));
        let odd = refusal(both(&encrypt(&inputs()), &answer(r#""tag": "0g""#)));
        assert_eq!(odd, (Place::Case(7), Problem::Hex("tag")));
        let other = answer(&format!(r#""tag": "{TAG}""#)).replace("\"tcId\": 7", "\"tcId\": 8");
        assert_eq!(refusal(both(&encrypt(&inputs()), &other)), (Place::Case(7), Problem::Missing("answer")));
        let said = answer(&format!(r#""tag": "{TAG}", "iv": "00""#));
        assert_eq!(refusal(both(&encrypt(&inputs()), &said)), (Place::Case(7), Problem::Twice));
        let failed = encrypt(&format!(r#"{}, "tag": "{TAG}", "testPassed": false"#, inputs()));
        assert_eq!(refusal(read(&failed)), (Place::Case(7), Problem::Contradiction));
        let missing = encrypt(&format!(r#""key": "{ZERO}", "tag": "{TAG}""#));
        assert_eq!(refusal(read(&missing)), (Place::Case(7), Problem::Missing("iv")));
        for algorithm in ["ACVP-AES-XPN", "ACVP-AES-CCM"] {
            let error = read(&encrypt(&inputs()).replace("ACVP-AES-GCM", algorithm)).unwrap_err();
            assert_eq!((error.problem, error.text.as_str()), (Problem::Algorithm, algorithm));
        }
        assert!(matches!(refusal(read("[{}]")).1, Problem::Json(_)));
        assert_eq!(refusal(read("[[]]")), (Place::File, Problem::Count { expected: 1, found: 0 }));
    }

    #[test]
    fn what_must_not_open_has_no_plaintext_and_gcm_siv_has_its_tag_behind_the_text() {
        let group = r#""direction": "decrypt", "payloadLen": 8, "aadLen": 0"#;
        let test = |passed: bool| {
            format!(
                r#"{{"tcId": 1, "testPassed": {passed}, "key": "{ZERO}", "iv": "0000", "aad": "", "pt": "ab", "ct": "01{TAG}"}}"#
            )
        };
        let case = |passed| read(&set("ACVP-AES-GCM-SIV", group, &test(passed))).unwrap().remove(0);
        assert_eq!((case(true).plaintext, case(true).ciphertext), (Some(vec![0xab]), vec![1]));
        assert_eq!((case(false).plaintext, case(false).valid), (None, false));
        assert_eq!(case(false).tag, hex::decode(TAG).unwrap());
    }

    proptest! {
        #[test]
        fn no_text_panics(
            test in r#"("(key|iv|pt|ct|tag|aad|testPassed)": ("[0-9a-f]{0,4}"|[0-9]|true|null),? ?){0,6}"#,
            group in r#"("(direction|payloadLen|tagLen)": ("(en|de)crypt"|[0-9]{1,20})),?"#,
        ) {
            for algorithm in ["ACVP-AES-GCM", "ACVP-AES-GMAC", "ACVP-AES-GCM-SIV"] {
                let _ = read(&set(algorithm, group.trim_end_matches(','), &format!("{{\"tcId\": 1, {}}}", test.trim_end_matches([',', ' ']))));
            }
        }
    }
}
