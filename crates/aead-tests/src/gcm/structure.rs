use proptest::prelude::*;
use sealsim_aead::gcm::field::Element;
use sealsim_aead::gcm::structure::*;

proptest! {
    #[test]
    fn every_structure_gives_the_same_product(a: u128, b: u128, levels in 1..=MOST_LEVELS) {
        let (a, b) = (Element(a), Element(b));
        prop_assert_eq!(Structure::Schoolbook.product(a, b), a.product(b));
        prop_assert_eq!(Structure::Karatsuba { levels }.product(a, b), a.product(b));
    }
}

#[test]
fn the_corners_of_every_structure_agree() {
    for levels in 1..=MOST_LEVELS {
        for a in [0, 1, 1 << 127, !0, 1 << 63, 1 << 64].map(Element) {
            for b in [0, 1, 1 << 127, !0, 1 << 63, 1 << 64].map(Element) {
                assert_eq!(Structure::Schoolbook.product(a, b), a.product(b));
                assert_eq!(Structure::Karatsuba { levels }.product(a, b), a.product(b), "{levels} levels");
            }
        }
    }
}
