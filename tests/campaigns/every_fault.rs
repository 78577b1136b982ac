//! What docs/faults.md says of every single fault: members of a class come to what their representative comes to.

use sealsim::{
    config::Layers,
    explore::faults::{Extent, Question, Single, clopper_pearson, single},
    pool,
    sim::{Control, Kernel},
    system::{DataMode, FaultClass},
    workload::{Workload, sized},
};

fn ask(designs: &[&str], extent: Extent) -> Single {
    let layers = designs.iter().fold(Layers::new("h100-nvl-tdx"), |layers, design| layers.overlay(*design));
    let copies: Vec<_> = ["h2d:4KiB", "d2h:4KiB"].iter().map(|copy| copy.parse().unwrap()).collect();
    let workload = Workload {
        copies: sized(&copies, None).unwrap(),
        steps: None,
        payload: None,
        data: DataMode::Exact,
        seed: 0,
        kernel: Kernel::Skip,
        injections: Vec::new(),
    };
    let machine = layers.resolve().unwrap().machine;
    let question = Question { machine, workload, sets: 0, most: 1, seed: 1, both_kernels: false };
    single(&question, extent, pool::threads(), &|| Control::Continue, (&|_| {}, &|| {})).unwrap()
}

/// Ten thousand with all states of all points, under each release policy.
#[test]
#[ignore = "a campaign: minutes for each policy"]
fn members_of_a_class_come_to_what_their_representative_comes_to() {
    for design in ["h100-cc", "hold", "skid", "eager"] {
        let all = ask(&[design], Extent { per_point: None, members: 10_000 });
        assert!(all.findings.is_empty(), "{design}: {:?}", all.findings);
        let [low, high] = clopper_pearson(all.agreed, all.members);
        println!("{design}: {} of {} agree, {low:.4} to {high:.4}", all.agreed, all.members);
        println!("{design}: {:?}", all.total.coverage());
        // In an engine no bit makes a silent fault of a detected one, or the reverse.
        let crossed = all.disagreements.iter().filter(|(fault, theirs, own)| {
            let one_is = |class| [theirs, own].contains(&&Some(class));
            fault.contains(".engine.") && one_is(FaultClass::Detected) && one_is(FaultClass::Silent)
        });
        assert_eq!(crossed.count(), 0, "{design}: {:?}", all.disagreements);
    }
}
