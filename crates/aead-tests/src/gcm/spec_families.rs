use crate::gcm::arbitrary;
use sealsim_aead::gcm::spec::GhashSpec;
use sealsim_aead::units::Bytes;

fn serial() -> Box<GhashSpec> {
    Box::new(arbitrary::serial(1, 1))
}

fn segmented(units: u32, segment: u32, ports: u32, buffer: u32, unit: Box<GhashSpec>) -> GhashSpec {
    GhashSpec::Segmented { units, segment, ports, buffer, unit }
}

fn message_parallel(units: u32, unit: Box<GhashSpec>) -> GhashSpec {
    GhashSpec::MessageParallel { units, ports: 4, buffer: 8, unit }
}

fn sub_chains(chains: u32, chunk: u64, unit: Box<GhashSpec>) -> GhashSpec {
    GhashSpec::SubChains { chains, chunk: Bytes(chunk), ports: 4, buffer: 8, unit }
}

#[test]
fn what_cannot_be_built_is_refused_with_its_reason() {
    let reason = |spec: &GhashSpec| spec.check().unwrap_err().to_string();
    let range = |field, low, high| format!("{field} is 0: it must be from {low} to {high}");
    assert_eq!(reason(&segmented(0, 64, 4, 8, serial())), range("ghash.units", 1, 64));
    assert_eq!(reason(&segmented(2, 0, 4, 8, serial())), range("ghash.segment", 2, 1 << 24));
    assert_eq!(reason(&segmented(2, 64, 0, 8, serial())), range("ghash.ports", 1, 256));
    assert!(reason(&segmented(2, 64, 4, 3, serial())).contains("3 blocks cannot take the 4 blocks"));
    assert_eq!(reason(&message_parallel(0, serial())), range("ghash.units", 1, 64));
    assert_eq!(reason(&sub_chains(0, 64, serial())), range("ghash.chains", 1, 64));
    assert!(reason(&sub_chains(2, 8, serial())).contains("shorter than the tag"));
    assert!(reason(&sub_chains(2, 40, serial())).contains("blocks of 16 B"));
    let nested = message_parallel(2, Box::new(sub_chains(2, 64, serial())));
    assert!(reason(&nested).contains("`sub_chains`") && reason(&nested).contains("`message_parallel`"));
    assert!(segmented(2, 64, 4, 8, Box::new(arbitrary::serial(0, 0))).check().is_err());
}

#[test]
fn only_several_chains_leave_the_wire_format() {
    assert!(serial().wire_compatible() && segmented(2, 64, 4, 8, serial()).wire_compatible());
    assert!(message_parallel(3, serial()).wire_compatible());
    assert!(sub_chains(1, 64, serial()).wire_compatible());
    assert!(!sub_chains(2, 64, serial()).wire_compatible());
}
