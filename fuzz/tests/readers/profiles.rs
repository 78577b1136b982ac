//! Profiles, and their replay without confidential computing.

use super::{draw, text};
use sealsim::{
    config::Layers,
    replay::{Job, Node, Part, Rules, Sparse, Times, import, play},
    sim::Control,
    validate::measured::{Measured, Mode, nvbandwidth},
    workload::trace::{self, Input},
};
use std::sync::OnceLock;

/// Every event is counted; what is read can be played, off and with the calls of confidential computing, and no call ends before it begins. Equal ranks are played alike.
pub fn profile(input: &[u8]) {
    static RULES: OnceLock<[Rules; 2]> = OnceLock::new();
    let trace = match trace::read(Input::Bytes { name: "in", bytes: input }, None, &mut |_, _| Control::Continue) {
        Ok(trace) => trace,
        Err(error) => return draw(error),
    };
    assert!(trace.events.add_up());
    let job = Job::of(&trace, 1_400);
    let rules = RULES.get_or_init(|| {
        let machine = Layers::new("h100-nvl-tdx").resolve().unwrap().machine;
        [false, true].map(|secure| Rules::of(&machine, secure).unwrap())
    });
    for rules in rules {
        let part = Part { job: &job, rules: rules.clone(), times: Times::default() };
        // Two ranks that are equal wait for each other nowhere.
        let node = Node::of(&[(&trace, &job), (&trace, &job)]);
        let (ranks, _) = play(&[part.clone(), part], &node);
        assert_eq!((ranks.len(), &ranks[0].calls, &ranks[0].ops), (2, &ranks[1].calls, &ranks[1].ops));
        let played = &ranks[0];
        assert_eq!((played.calls.len(), played.ops.len()), (job.calls.len(), job.ops.len()));
        assert!(played.calls.iter().chain(&played.ops).all(|span| span.start <= span.end));
    }
    let keys = Sparse(Vec::new());
    let _ = import(&job, &keys, "in");
}

/// What is used of it is a table.
pub fn bandwidth(input: &[u8]) {
    let Some(text) = text(input) else { return };
    if let Ok(found) = nvbandwidth(text, Mode::Cc) {
        let _ = Measured::read("in", &found.table);
    }
}
