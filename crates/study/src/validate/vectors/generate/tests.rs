use super::*;
use crate::config::Layers;
use crate::validate::vectors::written::{Style, Writer};
use crate::validate::vectors::{Bulk, read, subject};
use proptest::prelude::*;

fn messages(algorithm: Algorithm, messages: u64, seed: u64) -> (Vec<Message>, Coverage) {
    let mut generator = Generator::new(Plan { algorithm, messages, seed, longest: 300, valid_percent: 50 });
    let set = generator.by_ref().collect::<Result<_, _>>().unwrap();
    (set, generator.coverage())
}

fn file(set: &[Message], algorithm: Algorithm, style: Style, stages: bool) -> String {
    let plan = Plan { algorithm, messages: set.len() as u64, seed: 1, longest: 300, valid_percent: 50 };
    let mut writer = Writer::begin(Vec::new(), style, &plan, stages).unwrap();
    set.iter().for_each(|message| writer.message(message).unwrap());
    String::from_utf8(writer.end().unwrap()).unwrap()
}

#[test]
fn two_hundred_and_fifty_six_messages_have_all_pairs_of_choices() {
    for algorithm in Algorithm::all() {
        let (set, coverage) = messages(algorithm, 256, 3);
        assert_eq!((set.len(), coverage.missing), (256, vec![]), "{algorithm}");
        assert_eq!(coverage.pairs, coverage.possible, "{algorithm}");
    }
    for valid_percent in [0, 50, 100] {
        let plan = Plan { algorithm: Algorithm::AES_GCM, messages: 400, seed: 3, longest: 300, valid_percent };
        let valid = Generator::new(plan).filter(|message| message.as_ref().unwrap().case.valid).count() as i64;
        assert!((valid - 4 * i64::from(valid_percent)).abs() < 40, "{valid} of 400 at {valid_percent} %");
    }
    let (_, few) = messages(Algorithm::AES_GCM, 4, 3);
    assert_eq!(few.pairs + few.missing.len(), few.possible);
}

#[test]
fn counters_wrap_where_they_are_said_to() {
    let (set, _) = messages(Algorithm::AES_GCM, 256, 5);
    let mut wrapped = [0; 3];
    for Message { case, shape } in set.iter().filter(|message| !message.shape.has(Dimension::Outcome, 4)) {
        let forged_key = shape.has(Dimension::Outcome, 5);
        let j0 = Key::new(&case.key).unwrap().j0(&case.iv).unwrap();
        let start = u32::from_be_bytes([j0[12], j0[13], j0[14], j0[15]]);
        let steps = u64::from(u32::MAX - start);
        let blocks = case.ciphertext.len().div_ceil(16) as u64;
        let kind = if steps == 0 {
            1
        } else if steps < blocks {
            2
        } else {
            0
        };
        if !forged_key {
            assert_eq!(shape.bin(Dimension::Counter), kind, "{}", case.id);
            wrapped[usize::from(kind)] += 1;
        }
    }
    assert!(wrapped.into_iter().all(|count| count > 5), "{wrapped:?}");
}

#[test]
fn every_style_is_read_back_as_it_was() {
    for algorithm in Algorithm::all() {
        let (set, _) = messages(algorithm, 40, 9);
        for style in [Style::Cavp, Style::Wycheproof, Style::Acvp, Style::Csv, Style::Memh] {
            if !style.holds(algorithm) {
                continue;
            }
            let stages = style.holds_stages() && algorithm == Algorithm::AES_GCM;
            let cases = read(&file(&set, algorithm, style, stages))
                .unwrap_or_else(|error| panic!("{algorithm} {style:?}: {error}"));
            assert_eq!(cases.len(), set.len());
            for (case, Message { case: own, .. }) in cases.iter().zip(&set) {
                let plaintext = if own.valid { &own.plaintext } else { &case.plaintext };
                let own = Case { id: case.id.clone(), plaintext: plaintext.clone(), ..own.clone() };
                assert_eq!(*case, own, "{algorithm} {style:?}");
            }
        }
    }
}

#[test]
fn engines_pass_what_is_generated() {
    for algorithm in Algorithm::all() {
        let (set, _) = messages(algorithm, 24, 11);
        let engine = Layers::new(algorithm.engine()).resolve_standalone().unwrap();
        let mut subject = subject(engine);
        for Message { case, .. } in &set {
            assert_eq!(case.check(&mut *subject), Ok(()), "{algorithm} {}", case.id);
        }
    }
}

proptest! {
    #[test]
    fn what_is_valid_opens_and_what_is_forged_does_not(seed in any::<u64>()) {
        let (set, _) = messages(Algorithm::AES_GCM, 12, seed);
        for Message { case, .. } in &set {
            prop_assert_eq!(case.check(&mut Bulk), Ok(()), "{}", &case.id);
        }
        prop_assert_eq!(messages(Algorithm::AES_GCM, 12, seed).0[11].case.clone(), set[11].case.clone());
    }

    #[test]
    fn no_words_panic(words in "([0-9a-f]{32}\n|// x\n|[0-9a-g]{0,34}\n){0,12}", rows in "([0-9a-z,\"]{0,40}\n){0,5}") {
        let _ = read(&format!("// sealsim 0.1.0. AES-GCM: x\n{words}"));
        let _ = read(&format!("tc_id,algorithm,key,iv,aad,plaintext,ciphertext,tag,result,key_is_new,comment\n{rows}"));
    }
}
