//! Rules across the packets of a stream, each broken and found in its place.

use sealsim::items::{Form, Item, Way, judge, read, write};
use sealsim::pcie::split::{Completion, CompletionRule, CompletionSplit, Request};
use sealsim::pcie::wire::tlp::{Attributes, MemoryOp, TlpRepr};

fn memory(op: MemoryOp, address: u64, bytes: u32, tag: u16) -> TlpRepr {
    TlpRepr::memory(op, Request { address, bytes }, 0x100, tag, Attributes::default())
}

/// The completions of a read, cut at 64 B and at 256 B.
fn completions(read: &TlpRepr, address: u64, bytes: u32) -> Vec<TlpRepr> {
    let rule = CompletionRule::new(64, 256).unwrap();
    CompletionSplit::new(Request { address, bytes }, rule).map(|piece| TlpRepr::completion(read, piece, 0)).collect()
}

fn bare(tlps: &[TlpRepr]) -> Vec<(Option<Way>, Item)> {
    let whole = |tlp: &TlpRepr| [tlp.emit(), &vec![0; 4 * usize::from(tlp.payload_dw())]].concat();
    read(&tlps.iter().flat_map(whole).collect::<Vec<_>>(), Form::Tlps).into_iter().map(|item| (None, item)).collect()
}

fn codes(mut items: Vec<(Option<Way>, Item)>) -> Vec<(usize, String)> {
    judge(&mut items);
    let of = |(place, (_, item)): (usize, &(Option<Way>, Item))| {
        item.errors().map(|problem| (place, problem.code.clone())).collect::<Vec<_>>()
    };
    items.iter().enumerate().flat_map(of).collect()
}

fn found(tlps: &[TlpRepr]) -> Vec<(usize, String)> {
    codes(bare(tlps))
}

#[test]
fn reads_of_any_extent_are_answered_as_the_splitter_cuts_them() {
    for (address, bytes) in (0..200).map(|n| (0x1000 + 37 * n % 512, 1 + (n as u32 * 97) % 1500)) {
        let read = memory(MemoryOp::Read, address, bytes, 5);
        let stream = [vec![read], completions(&read, address, bytes), vec![read]].concat();
        assert_eq!(found(&stream), [], "{address:#x} {bytes}");
    }
}

#[test]
fn each_rule_of_pairing_is_broken_and_found_in_its_place() {
    let read = memory(MemoryOp::Read, 0x1004, 700, 5);
    let answer = completions(&read, 0x1004, 700);
    let swap = memory(MemoryOp::Swap, 0x2000, 8, 6);
    let piece = Completion { address: 0, bytes: 8, length_dw: 2, byte_count: 8, lower_address: 0 };
    let swapped = TlpRepr::completion(&swap, piece, 0);
    let written =
        TlpRepr::of(2, 4).unwrap().with(&[("requester_id", 0x100), ("tag", 7), ("length_dw", 1), ("first_be", 15)]);
    let done = TlpRepr::of(0, 10).unwrap().with(&[("requester_id", 0x100), ("tag", 7), ("byte_count", 4)]);
    let locked = memory(MemoryOp::ReadLocked, 0x1000, 4, 8);
    let one = Completion { bytes: 4, length_dw: 1, byte_count: 4, ..piece };
    let with = |tlp: TlpRepr, name, value| tlp.with(&[(name, value)]);
    assert_eq!(
        found(&[
            read,
            swap,
            written,
            answer[0],
            swapped,
            done,
            answer[1],
            locked,
            TlpRepr::completion(&locked, one, 0)
        ]),
        []
    );
    for (stream, place, code) in [
        (vec![read, answer[0], with(answer[1], "byte_count", 64)], 2, "bytes_left"),
        (vec![read, with(answer[0], "byte_count", 699), answer[1]], 1, "bytes_left"),
        (vec![swap, with(swapped, "byte_count", 12)], 1, "bytes_left"),
        (vec![swap, with(swapped, "length_dw", 3)], 1, "bytes_left"),
        (vec![read, answer[0], answer[1], with(answer[2], "length_dw", 49)], 3, "bytes_left"),
        (vec![read, with(answer[0], "lower_address", 0)], 1, "lower_address"),
        (vec![read, answer[0], with(answer[1], "lower_address", 0x40)], 2, "lower_address"),
        (vec![swap, with(swapped, "lower_address", 8)], 1, "lower_address"),
        (vec![read, with(answer[0], "length_dw", 62)], 1, "rcb"),
        (vec![read, answer[0], with(answer[1], "length_dw", 63)], 2, "rcb"),
        (vec![read, with(answer[0], "tag", 6)], 1, "unknown_tag"),
        (vec![written, done, done], 2, "unknown_tag"),
        (vec![read, with(answer[0], "requester_id", 0x200)], 1, "unknown_tag"),
        (vec![read, swap, with(swap, "tag", 5)], 2, "tag_in_use"),
        (vec![read, answer[0], read], 2, "tag_in_use"),
        (vec![written, with(read, "tag", 7)], 1, "tag_in_use"),
        (vec![read, with(answer[0], "tc", 1)], 1, "class"),
        (vec![read, with(answer[0], "attr", 2)], 1, "class"),
        (vec![read, answer[0], with(answer[1], "attr", 4)], 2, "class"),
        (vec![read, with(answer[0], "bcm", 1)], 1, "bcm"),
        (vec![swap, with(swapped, "bcm", 1)], 1, "bcm"),
        (vec![written, with(done, "bcm", 1)], 1, "bcm"),
        (vec![written, with(TlpRepr::completion(&written, one, 0), "tag", 7)], 1, "answer"),
        (vec![memory(MemoryOp::Read, 0x1000, 4, 7), done], 1, "answer"),
        (vec![memory(MemoryOp::Read, 0x1000, 4, 7), with(done, "status", 2)], 1, "answer"),
        (vec![locked, TlpRepr::completion(&memory(MemoryOp::Read, 0x1000, 4, 8), one, 0)], 1, "answer"),
    ] {
        assert!(found(&stream).contains(&(place, code.to_owned())), "{code} {place} {:?}", found(&stream));
    }
    // A failed completion ends its request, whatever it counts.
    assert_eq!(found(&[read, with(done, "status", 1).with(&[("tag", 5)]), read]), []);
}

/// Frames as `encode` makes them, with the way of each. `!` before one damages its LCRC.
fn framed(frames: &[(Way, &str)]) -> Vec<(Option<Way>, Item)> {
    let one = |&(way, json): &(Way, &str)| {
        let mut bytes = write(json.trim_start_matches('!'), Form::Wire).unwrap().concat();
        *bytes.last_mut().unwrap() ^= u8::from(json.starts_with('!'));
        read(&bytes, Form::Wire).into_iter().map(move |item| (Some(way), item)).collect::<Vec<_>>()
    };
    frames.iter().flat_map(one).collect()
}

#[test]
fn sequence_numbers_replays_acks_and_credits_are_followed_each_way() {
    use Way::{Back, There};
    let write = |seq: u16, address: u64| {
        format!(
            r#"{{"kind":"tlp","payload":"00000000","seq":{seq},"fields":{{"fmt":2,"type":0,"length_dw":1,"address":{address},"first_be":15,"last_be":0}}}}"#
        )
    };
    let dllp = |kind: &str, fields: &str| format!(r#"{{"kind":"dllp","fields":{{"type":"{kind}",{fields}}}}}"#);
    let [first, second, other, third, wrapped] =
        [write(4094, 0), write(4095, 64), write(4095, 128), write(1, 0), write(0, 0)];
    let (ack, early) = (dllp("ACK", "\"seq\":4095"), dllp("NAK", "\"seq\":2"));
    let (ack_first, ack_wrapped) = (dllp("ACK", "\"seq\":4094"), dllp("ACK", "\"seq\":0"));
    let damaged = format!("!{second}");
    let given = |kind, headers| dllp(kind, &format!("\"vc\":0,\"hdr_fc\":{headers},\"data_fc\":16"));
    let (init, more) = (given("INIT_FC1_P", 2), given("UPDATE_FC_P", 3));
    for (frames, expected) in [
        (vec![(There, &first), (There, &second), (Back, &ack), (There, &second), (There, &wrapped)], None),
        (vec![(There, &first), (There, &damaged), (There, &wrapped), (There, &second)], Some((1, "lcrc"))),
        (vec![(There, &first), (Back, &third), (There, &second)], None),
        (vec![(There, &first), (There, &third)], Some((1, "sequence_gap"))),
        (vec![(There, &second), (There, &third)], Some((1, "sequence_gap"))),
        (vec![(There, &first), (There, &second), (There, &third), (There, &third)], Some((2, "sequence_gap"))),
        (vec![(There, &first), (There, &second), (There, &other)], Some((2, "replay"))),
        (vec![(There, &second), (There, &wrapped), (There, &other)], Some((2, "replay"))),
        (vec![(There, &other), (There, &second)], Some((1, "replay"))),
        (
            vec![(There, &first), (Back, &ack_first), (There, &second), (There, &wrapped), (There, &wrapped)],
            Some((4, "replay_order")),
        ),
        (
            vec![(There, &second), (There, &wrapped), (Back, &ack_first), (There, &second), (There, &third)],
            Some((4, "replay_order")),
        ),
        (vec![(There, &second), (There, &wrapped), (There, &second), (Back, &ack_wrapped), (There, &third)], None),
        (vec![(There, &second), (Back, &early)], Some((1, "ack_unsent"))),
        (vec![(There, &first), (Back, &ack)], Some((1, "ack_unsent"))),
        (vec![(Back, &first), (There, &ack)], Some((1, "ack_unsent"))),
        (vec![(Back, &init), (There, &first), (There, &second), (Back, &more), (There, &wrapped)], None),
        (vec![(Back, &init), (There, &first), (There, &second), (There, &second)], None),
        (vec![(Back, &init), (There, &first), (There, &second), (There, &wrapped)], Some((3, "credits"))),
        (
            vec![(Back, &init), (Back, &more), (There, &first), (There, &second), (There, &wrapped), (There, &third)],
            Some((5, "credits")),
        ),
        (vec![(There, &init), (Back, &first), (Back, &second), (Back, &wrapped)], Some((3, "credits"))),
    ] {
        let frames: Vec<_> = frames.into_iter().map(|(way, json)| (way, json.as_str())).collect();
        let found: Vec<_> = codes(framed(&frames));
        assert_eq!(found.first().map(|(place, code)| (*place, code.as_str())), expected, "{frames:?}");
    }
}

/// The receiver drops what is damaged and all behind it until that comes again.
#[test]
fn a_tlp_that_is_damaged_and_sent_again_breaks_no_other_rule() {
    let read = |seq: u16, tag: u16| {
        format!(
            r#"{{"kind":"tlp","seq":{seq},"payload":"","fields":{{"fmt":0,"type":0,"length_dw":1,"address":0,"first_be":15,"last_be":0,"tag":{tag}}}}}"#
        )
    };
    let nak = r#"{"kind":"dllp","fields":{"type":"NAK","seq":4}}"#;
    let [before, lost, behind] = [read(4, 1), read(5, 2), read(6, 3)];
    let (damaged, again) = (format!("!{lost}"), read(7, 3));
    let ways = [&before, &damaged, &behind, &lost, &behind, &again].map(|frame| (Way::There, frame.as_str()));
    let replayed = [&ways[..3], &[(Way::Back, nak)], &ways[3..]].concat();
    let expected = |place| vec![(1, "lcrc".to_owned()), (place, "tag_in_use".to_owned())];
    assert_eq!(codes(framed(&replayed)), expected(6));
    let one_way = framed(&ways).into_iter().map(|(_, item)| (None, item));
    assert_eq!(codes(one_way.collect()), vec![(1, "lcrc".to_owned())]);
    let skipped = [&replayed[..4], &replayed[5..]].concat();
    assert_eq!(codes(framed(&skipped))[1], (4, "replay_order".to_owned()));
}

#[test]
fn in_one_direction_of_a_link_nobody_is_answered() {
    let read = r#"{"kind":"tlp","seq":SEQ,"payload":"","fields":{"fmt":0,"type":0,"length_dw":1,"address":0,"first_be":15,"last_be":0,"tag":3}}"#;
    let frames = [0, 1].map(|seq| read.replace("SEQ", &seq.to_string()));
    let mut items = framed(&[(Way::There, &frames[0]), (Way::There, &frames[1])]);
    assert_eq!(codes(items.clone()), [(1, "tag_in_use".to_owned())]);
    items.iter_mut().for_each(|(way, _)| *way = None);
    assert_eq!(codes(items), []);
}
