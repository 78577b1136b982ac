//! The published maps and numbers.

use super::*;
use std::collections::HashSet;

fn lce(number: u8) -> Lce {
    Lce::new(number).unwrap()
}

fn served(number: u8, confidential: bool, generation: u8) -> Vec<u8> {
    pces(lce(number), confidential, generation).into_iter().map(Pce::number).collect()
}

#[test]
fn with_confidential_computing_each_lce_has_one_pce() {
    for number in 2..10 {
        assert_eq!(served(number, true, 5), [number - 2]);
    }
    assert_eq!((served(0, true, 5), served(1, true, 4)), (vec![8], vec![9]));
    assert!(Lce::all().all(|lce| PceMap::confidential().shared_with(lce).is_none()), "GRCEs share nothing");
}

#[test]
fn without_it_the_sysmem_lces_have_two_pces_on_gen5_and_one_before() {
    assert_eq!((served(2, false, 5), served(3, false, 5)), (vec![12, 14], vec![13, 15]));
    assert_eq!((served(2, false, 6), served(3, false, 6)), (vec![12, 14], vec![13, 15]));
    assert_eq!((served(2, false, 4), served(3, false, 4)), (vec![12], vec![13]));
}

#[test]
fn without_it_the_grces_share_the_sysmem_pces() {
    for generation in [3, 5] {
        assert_eq!(served(0, false, generation), served(2, false, generation));
        assert_eq!(served(1, false, generation), served(3, false, generation));
    }
}

#[test]
fn without_it_one_lce_has_all_twelve_hshub_pces() {
    assert_eq!(served(4, false, 5), (0..12).collect::<Vec<_>>());
    assert!((5..10).all(|number| served(number, false, 5).is_empty()));
}

#[test]
fn channel_errors_are_those_of_nverror() {
    let errors: Vec<_> = Lce::all().map(Lce::channel_error).collect();
    assert_eq!(errors, [39, 40, 41, 70, 71, 72, 75, 76, 77, 85]);
}

#[test]
fn all_engines_but_the_grces_have_keys_and_all_keys_and_masks_differ() {
    let keys: Vec<_> = Lce::all()
        .flat_map(|lce| [KeyDirection::H2d, KeyDirection::D2h].map(|direction| KeyName::new(lce, direction)))
        .collect();
    assert!(keys[..4].iter().all(Option::is_none) && Lce::new(10).is_none());
    let keys: Vec<_> = keys[4..].iter().map(|key| key.unwrap()).collect();
    assert_eq!(keys[0].to_string(), "Lce00_h2d_user");
    let mut seen = HashSet::new();
    for (master, version) in [([1; 32], 0), ([1; 32], 1), ([2; 32], 0), ([2; 32], 1)] {
        for &key in &keys {
            assert!(seen.insert(simulation_key(&master, version, key)[..12].to_vec()));
            assert!(seen.insert(simulation_mask(&master, version, key).0.to_vec()));
        }
    }
}
