use sealsim_aead::gcm::bench::*;
#[test]
fn a_seed_gives_bytes_that_differ_by_label_and_number_and_begin_alike_whatever_the_length() {
    assert_eq!(bytes(1, "iv", 0, 12), bytes(1, "iv", 0, 40)[..12]);
    let others = [bytes(2, "iv", 0, 12), bytes(1, "aad", 0, 12), bytes(1, "iv", 1, 12)];
    assert!(others.iter().all(|other| *other != bytes(1, "iv", 0, 12)));
}

#[test]
fn stages_follow_each_other_and_sum_up_to_the_total() {
    let stages = Stages { start: 10, first_input: Some(14), first_text: Some(20), last_text: Some(50), end: 57 };
    let metrics = stages.metrics(1, 11);
    let parts = [metrics.setup_cycles, metrics.first_output_cycles, metrics.output_span_cycles, metrics.tail_cycles];
    assert_eq!(parts, [Some(5), Some(6), Some(30), Some(7)]);
    assert_eq!((metrics.total_cycles, metrics.cycles_per_block), (Some(48), Some(3.0)));
    assert_eq!(stages.span(1).cycles_per_block, None);
}

#[test]
fn long_bytes_are_shown_by_their_digest_alone() {
    let (short, long) = (vec![0; SHOWN], vec![0; SHOWN + 1]);
    let outcome = MessageOutcome::new(Metrics::default(), 0, [&[1], &short, &long, &[], &[2]]);
    assert!(outcome.aad.is_some() && outcome.input.is_none() && outcome.output.is_some());
    assert_eq!((outcome.iv.as_str(), outcome.tag.as_str(), outcome.input_sha256.len()), ("01", "02", 64));
}
