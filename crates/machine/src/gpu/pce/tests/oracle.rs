//! Messages, opened and sealed as by another code base.

use super::*;
use proptest::prelude::*;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce as OracleNonce, UnboundKey};

/// Ciphertext and tag by another code base.
fn oracle(text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &KEY).unwrap());
    let mut sealed = text.to_vec();
    let nonce = OracleNonce::assume_unique_for_key(NONCE.0);
    let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut sealed).unwrap();
    (sealed, tag.as_ref().try_into().unwrap())
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let sizes = prop_oneof![
        prop::sample::select(vec![1usize, 3, 15, 16, 17, 31, 32, 33, 511, 512, 513]),
        4088usize..=4104,
        1usize..9000
    ];
    (sizes, any::<u8>()).prop_map(|(size, seed)| (0..size).map(|n| (n * 31) as u8 ^ seed).collect())
}

#[test]
fn a_message_of_sixteen_mebibytes_is_opened_and_sealed_as_by_another_code_base() {
    let text: Vec<_> = (0..16usize << 20).map(|n| (n * 31 + n / 4096) as u8).collect();
    let (sealed, tag) = oracle(&text);
    let mut bench = Bench::new(spec());
    bench.give(PceWork::Transfer(job(LaunchKind::Open, text.len() as u64)));
    serve_host(&mut bench, &sealed, &tag, |_| 5, 256);
    assert!(bench.reported.iter().all(|report| report.tag.as_deref() == Some(&tag[..])));
    let (_, payload) = bench.landed.last().and_then(|write| write.deposit.clone()).unwrap();
    assert!(payload.bytes() == Some(&text[..]));

    let mut bench = Bench::new(spec());
    bench.give(PceWork::Transfer(job(LaunchKind::Seal, text.len() as u64)));
    serve_device(&mut bench, &text);
    let data = bench.sent.iter().filter(|(_, tlp)| tlp.address < TAG_ADDRESS);
    assert!(data.flat_map(|(_, tlp)| tlp.payload.bytes().unwrap()).eq(&sealed));
    assert!(bench.sent.iter().any(|(_, tlp)| tlp.address == TAG_ADDRESS && tlp.payload.bytes() == Some(&tag[..])));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_message_is_opened_as_another_code_base_sealed_it_in_whatever_order_its_reads_are_answered(
        text in texts(), scatter in any::<u64>(), spread in 1u64..300, piece in prop::sample::select(vec![64u32, 128, 512]),
    ) {
        let (sealed, tag) = oracle(&text);
        let mut bench = Bench::new(spec());
        bench.give(PceWork::Transfer(job(LaunchKind::Open, text.len() as u64)));
        let delay = |address: u64| ((address >> 6) ^ scatter).wrapping_mul(0x9E37_79B9_7F4A_7C15) % spread;
        serve_host(&mut bench, &sealed, &tag, delay, piece);
        let tags: Vec<_> = bench.reported.iter().map(|report| report.tag.clone()).collect();
        prop_assert_eq!(tags, vec![Some(tag.to_vec()); 2]);
        prop_assert_eq!(bench.landed.iter().map(|w| u64::from(w.bytes)).sum::<u64>(), text.len() as u64);
        let deposit = bench.landed.last().and_then(|write| write.deposit.clone());
        prop_assert!(bench.landed.last().is_some_and(|write| write.last));
        let (address, payload) = deposit.unwrap();
        prop_assert_eq!(address, DEVICE);
        prop_assert_eq!(payload.bytes().unwrap(), &text[..]);
    }

    #[test]
    fn a_message_is_sealed_as_another_code_base_seals_it(text in texts()) {
        let (sealed, tag) = oracle(&text);
        let mut bench = Bench::new(spec());
        bench.give(PceWork::Transfer(job(LaunchKind::Seal, text.len() as u64)));
        serve_device(&mut bench, &text);
        let mut written = vec![None; text.len()];
        let (data, rest): (Vec<_>, Vec<_>) = bench.sent.iter().partition(|(_, tlp)| tlp.address < TAG_ADDRESS);
        for (_, tlp) in data {
            for (place, byte) in (tlp.address - SOURCE..).zip(tlp.payload.bytes().unwrap()) {
                prop_assert!(written[place as usize].replace(*byte).is_none());
            }
        }
        prop_assert_eq!(written.into_iter().collect::<Option<Vec<_>>>().unwrap(), sealed);
        prop_assert_eq!(rest.len(), 2);
        prop_assert_eq!(rest[0].1.payload.bytes().unwrap(), &tag[..]);
        prop_assert_eq!(rest[1].1.payload.bytes().unwrap(), &[3; 12][..]);
    }
}

fn inline() -> PceSpec {
    let mut spec = spec();
    spec.tag_queue.placement = Some(TagPlacement::Inline);
    spec
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn shares_of_parts_in_several_engines_sum_to_the_tag_of_another_code_base(text in texts(), pces in 1u64..9) {
        let (sealed, tag) = oracle(&text);
        let whole = job(LaunchKind::Open, text.len() as u64);
        let cut = whole.bytes.div_ceil(pces).next_multiple_of(512);
        let (mut sum, mut joined) = ([0; 16], Vec::new());
        for number in 0..whole.bytes.div_ceil(cut) {
            let part = whole.part(number as u32, cut);
            let last = part.share.part.is_last();
            let mut bench = Bench::new(spec());
            bench.give(PceWork::Transfer(part));
            serve_host(&mut bench, &sealed, &tag, |_| 5, 512);
            let (computed, fetched): (Vec<&TagReport>, Vec<_>) = bench.reported.iter().partition(|report| report.computed);
            prop_assert_eq!((computed.len(), fetched.len()), (1, usize::from(last)));
            prop_assert_eq!((computed[0].job, u64::from(computed[0].part)), (1, number));
            sum.iter_mut().zip(computed[0].tag.clone().unwrap()).for_each(|(sum, byte)| *sum ^= byte);
            let (address, payload) = bench.landed.last().and_then(|write| write.deposit.clone()).unwrap();
            prop_assert_eq!(address, DEVICE + joined.len() as u64);
            joined.extend_from_slice(payload.bytes().unwrap());
        }
        prop_assert_eq!(sum, tag);
        prop_assert_eq!(&joined, &text);

        let whole = job(LaunchKind::Seal, text.len() as u64);
        let (mut sum, mut joined) = ([0; 16], Vec::new());
        for number in 0..whole.bytes.div_ceil(cut) {
            let mut bench = Bench::new(spec());
            bench.give(PceWork::Transfer(whole.part(number as u32, cut)));
            serve_device(&mut bench, &text);
            joined.extend(bench.sent.iter().flat_map(|(_, tlp)| tlp.payload.bytes().unwrap().to_vec()));
            match bench.ended()[..] {
                // Alone it is a message like any other.
                [Done::Transfer { ok: true, .. }] if cut >= whole.bytes => return Ok(()),
                [Done::Share { job, tag }, Done::Transfer { ok: true, .. }] => {
                    prop_assert_eq!(job, 1 + number);
                    sum.iter_mut().zip(tag).for_each(|(sum, byte)| *sum ^= byte);
                }
                ref other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert_eq!((sum, joined), (tag, sealed));
    }

    #[test]
    fn an_inline_tag_comes_with_the_reads_of_its_message_and_goes_with_its_writes(
        text in texts(), shift in 0u64..16, piece in prop::sample::select(vec![64u32, 128, 512]),
    ) {
        let (sealed, tag) = oracle(&text);
        let mut bench = Bench::new(inline());
        let source = SOURCE + 32 * shift;
        bench.give(PceWork::Transfer(Job { source, ..job(LaunchKind::Open, text.len() as u64) }));
        let memory = [&vec![0; 32 * shift as usize][..], &sealed, &tag].concat();
        serve_host(&mut bench, &memory, &[0; 16], |_| 5, piece);
        prop_assert!(bench.reported.iter().all(|report| report.tag.as_deref() == Some(&tag[..])));
        prop_assert_eq!(bench.reported.len(), 2);
        let (start, end) = (32 * shift, 32 * shift + text.len() as u64 + 16);
        prop_assert_eq!(bench.reads_sent().len() as u64, end.div_ceil(512) - start / 512);
        let (_, payload) = bench.landed.last().and_then(|write| write.deposit.clone()).unwrap();
        prop_assert_eq!(payload.bytes().unwrap(), &text[..]);
        bench.run_to(bench.cycle + text.len() as u64 / 16);
        prop_assert_eq!(bench.pce.buffered, 0);

        let mut bench = Bench::new(inline());
        // Bursts of device memory end where writes do, if both ends lie alike.
        let (source, destination) = (DEVICE + 32 * shift, SOURCE + 32 * shift);
        bench.give(PceWork::Transfer(Job { source, destination, ..job(LaunchKind::Seal, text.len() as u64) }));
        serve_device(&mut bench, &[&vec![0; 32 * shift as usize][..], &text].concat());
        let (stream, rest): (Vec<_>, Vec<_>) = bench.sent.iter().partition(|(_, tlp)| tlp.address < TAG_ADDRESS);
        let bytes: Vec<_> = stream.iter().flat_map(|(_, tlp)| tlp.payload.bytes().unwrap().to_vec()).collect();
        prop_assert_eq!(bytes, [&sealed[..], &tag].concat());
        prop_assert_eq!(stream.len() as u64, end.div_ceil(256) - start / 256);
        // The IV.
        prop_assert_eq!(rest.len(), 1);
    }
}
