//! The published maps and numbers.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn lce(number: u8) -> Lce {
    Lce::new(number).unwrap()
}

fn numbers(pces: Vec<Pce>) -> Vec<u8> {
    pces.into_iter().map(Pce::number).collect()
}

fn without_peers(number: u8, confidential: bool, generation: u8) -> Vec<u8> {
    numbers(pces(lce(number), confidential, generation))
}

#[test]
fn with_confidential_computing_each_lce_has_one_pce() {
    for number in 2..10 {
        assert_eq!(without_peers(number, true, 5), [number - 2]);
    }
    assert_eq!((without_peers(0, true, 5), without_peers(1, true, 4)), (vec![8], vec![9]));
    let map = PceMap::confidential();
    assert!((10..PCES).all(|pce| map.lce(Pce::new(pce).unwrap()).is_none()));
    assert!(Lce::all().all(|lce| map.shared_with(lce).is_none()), "GRCEs share nothing");
}

#[test]
fn the_secure_pces_sit_on_two_hshubs_and_never_on_fbhub() {
    let map = PceMap::confidential();
    let hubs: HashSet<_> = Lce::all().filter(|lce| lce.is_secure()).flat_map(|lce| map.hubs(lce)).collect();
    assert_eq!(hubs, HashSet::from([Hub::Hs(2), Hub::Hs(3)]));
    assert_eq!(PceMap::plain(5, &[]).unwrap().hubs(SYSMEM_READ), [Hub::Fb]);
}

#[test]
fn without_it_the_sysmem_lces_have_two_pces_on_gen5_and_one_before() {
    assert_eq!((without_peers(2, false, 5), without_peers(3, false, 5)), (vec![12, 14], vec![13, 15]));
    assert_eq!((without_peers(2, false, 6), without_peers(3, false, 6)), (vec![12, 14], vec![13, 15]));
    assert_eq!((without_peers(2, false, 4), without_peers(3, false, 4)), (vec![12], vec![13]));
}

#[test]
fn without_it_the_grces_share_the_sysmem_pces() {
    for generation in [3, 5] {
        assert_eq!(without_peers(0, false, generation), without_peers(2, false, generation));
        assert_eq!(without_peers(1, false, generation), without_peers(3, false, generation));
    }
}

#[test]
fn without_links_one_lce_has_all_twelve_hshub_pces() {
    assert_eq!(without_peers(4, false, 5), (0..12).collect::<Vec<_>>());
    assert!((5..10).all(|number| without_peers(number, false, 5).is_empty()));
}

#[test]
fn links_of_a_hub_get_pces_at_one_and_a_half_links_each() {
    for (links, expected) in [(1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 4)] {
        let map = PceMap::plain(5, &[Peer { links: [0, links, 0] }]).unwrap();
        let pces = numbers(map.pces(lce(4)));
        assert_eq!(pces, (4..4 + expected).collect::<Vec<_>>(), "{links} links");
    }
    assert_eq!(PceMap::plain(5, &[Peer { links: [7, 0, 0] }]), Err(MapError::Links(7)));
}

#[test]
fn a_switch_with_18_links_takes_all_hshub_pces() {
    let map = PceMap::plain(5, &[Peer { links: [6, 6, 6] }]).unwrap();
    assert_eq!(numbers(map.pces(lce(4))), (0..12).collect::<Vec<_>>());
}

#[test]
fn peers_take_even_lces_first_and_overflow_to_the_next_hub() {
    let three = [Peer { links: [6, 0, 0] }, Peer { links: [1, 0, 0] }, Peer { links: [0, 0, 3] }];
    let map = PceMap::plain(5, &three).unwrap();
    assert_eq!(numbers(map.pces(lce(4))), [0, 1, 2, 3]);
    assert_eq!(numbers(map.pces(lce(6))), [4], "hub 2 is full");
    assert_eq!(numbers(map.pces(lce(8))), [8, 9]);
    let four = [Peer { links: [0, 0, 1] }; 4];
    assert_eq!(numbers(PceMap::plain(5, &four).unwrap().pces(lce(5))), [11]);
    assert_eq!(PceMap::plain(5, &[Peer { links: [0, 0, 1] }; 7]), Err(MapError::Peers(7)));
    let all = Peer { links: [6, 6, 6] };
    assert_eq!(PceMap::plain(5, &[all, Peer { links: [0, 1, 0] }]), Err(MapError::NoPce(1)));
}

#[test]
fn channel_errors_are_those_of_nverror() {
    let errors: Vec<_> = Lce::all().map(Lce::channel_error).collect();
    assert_eq!(errors[..3], [39, 40, 41]);
    assert_eq!(errors[3..6], [70, 71, 72]);
    assert_eq!(errors[6..], [75, 76, 77, 85]);
    assert!(!errors.contains(&SEC2_CHANNEL_ERROR));
}

#[test]
fn grces_are_not_secure_and_have_no_keys() {
    for number in 0..LCES {
        let secure = lce(number).is_secure();
        assert_eq!(secure, number >= 2);
        assert_eq!(KeyName::new(lce(number), Owner::User, KeyDirection::H2d).is_some(), secure);
    }
    assert_eq!((Lce::new(10), Pce::new(16)), (None, None));
}

#[test]
fn copy2_has_the_first_key() {
    let name = |number, owner, direction| KeyName::new(lce(number), owner, direction).unwrap();
    let first = name(2, Owner::User, KeyDirection::H2d);
    assert_eq!((first.to_string().as_str(), first.slot(), first.global_id()), ("Lce00_h2d_user", 18, 2 << 16));
    let last = name(9, Owner::Kernel, KeyDirection::D2h);
    assert_eq!((last.to_string().as_str(), last.slot(), last.global_id()), ("Lce07_d2h_kernel", 63, 9 << 16 | 3));
    assert_eq!(first.partner().to_string(), "Lce00_d2h_user");
}

#[test]
fn the_32_keys_come_in_slot_order_even_slots_to_the_gpu() {
    let all: Vec<_> = key_names().collect();
    assert_eq!(all.len(), LCE_KEYS);
    assert!(all.windows(2).all(|pair| pair[0].slot() < pair[1].slot()));
    for key in all {
        assert_eq!(key.slot() % 2 == 0, key.direction() == KeyDirection::H2d);
        assert_eq!(KeyName::from_slot(key.slot()), Ok(key));
        assert_eq!(key.partner().slot(), key.slot() ^ 1);
        assert_eq!(KeyName::new(key.lce(), key.owner(), key.direction()), Some(key));
    }
    for none in [17, 22, 23, 64, u16::MAX] {
        assert_eq!(KeyName::from_slot(none), Err(KeySlotIndexError(none)));
    }
}

#[test]
fn simulation_keys_and_masks_all_differ() {
    let masters = [[1; 32], [2; 32]];
    let mut seen = HashSet::new();
    for (master, version, key) in
        masters.iter().flat_map(|m| (0..2).flat_map(move |v| key_names().map(move |k| (m, v, k))))
    {
        assert!(seen.insert(simulation_key(master, version, key)[..12].to_vec()));
        assert!(seen.insert(simulation_mask(master, version, key).0.to_vec()));
    }
    assert_eq!(seen.len(), 2 * 2 * 2 * LCE_KEYS);
}

proptest! {
    #[test]
    fn no_pce_serves_two_lces_and_peers_get_what_their_links_need(links in prop::collection::vec(prop::array::uniform3(0u8..7), 0..7)) {
        let peers: Vec<_> = links.iter().map(|links| Peer { links: *links }).filter(|peer| peer.links != [0; 3]).collect();
        let need = |links: u8| (usize::from(links) * 2).div_ceil(3);
        match PceMap::plain(5, &peers) {
            Ok(map) if peers.is_empty() => prop_assert_eq!(map.pces(lce(4)).len(), 12),
            Ok(map) => {
                let owned: Vec<_> = Lce::all().skip(2).flat_map(|lce| map.pces(lce)).collect();
                prop_assert_eq!(owned.iter().collect::<HashSet<_>>().len(), owned.len());
                for (peer, number) in peers.iter().zip([4, 6, 8, 5, 7, 9]) {
                    let expected = peer.links.iter().map(|links| need(*links).min(4)).sum::<usize>();
                    // Five links ask for 3.33 PCEs and get 3, two for 1.33 and get 1.
                    let rounded_down = peer.links.iter().filter(|links| [2, 5].contains(*links)).count();
                    prop_assert_eq!(map.pces(lce(number)).len(), expected - rounded_down);
                }
            }
            Err(MapError::NoPce(_)) => {
                let total: usize = links.iter().flatten().map(|links| need(*links)).sum();
                prop_assert!(total > 12);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
