use sealsim_aead::gcm::ghash::powers::*;
#[test]
fn the_set_up_lies_within_its_closed_bounds() {
    for latency in 1..8 {
        let spec = crate::gcm::arbitrary::multiplier(latency, 0, 128);
        assert_eq!([1, 2, 3, 4].map(|n| setup(n, 1, &spec)), [0, latency, 2 * latency, 2 * latency + 1]);
        for count in 2..70_usize {
            let doublings = u64::from(count.next_power_of_two().trailing_zeros());
            let cycles = setup(count, 1, &spec);
            assert!(cycles >= latency * doublings, "{count} powers, latency {latency}: {cycles}");
            assert!(cycles <= latency * doublings + count as u64 - 2, "{count} powers, latency {latency}: {cycles}");
            assert!(setup(count, 4, &spec) <= cycles);
        }
    }
}
