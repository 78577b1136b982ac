//! How wide texts are: Liberation Sans, whose widths are those of Helvetica and Arial. So a text takes the same room whichever of them a
//! viewer has, and in PDF, where it comes along.

/// Widths of the characters from the space to the tilde, in thousandths of the size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
/// That of any other character: the widest of the common ones.
const OTHER: u16 = 1000;
/// Those of the others that labels have.
const KNOWN: [(char, u16); 3] = [('µ', 576), ('×', 584), ('–', 556)];

/// The font itself (SIL Open Font License 1.1; `assets/LiberationSans-LICENSE.txt`).
#[cfg(feature = "plot")]
pub(super) static FILE: &[u8] = include_bytes!("../../../assets/LiberationSans-Regular.ttf");

/// What SVG asks for: the font, and those of the same widths.
pub const FAMILY: &str = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif";

/// Pixels that a text of so many pixels in size is wide.
pub fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| {
        let place = (letter as usize).checked_sub(' ' as usize);
        let other = || KNOWN.iter().find(|(known, _)| *known == letter).map_or(OTHER, |(_, width)| *width);
        place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or_else(other)
    };
    text.chars().map(|letter| f64::from(of(letter))).sum::<f64>() * size / 1000.0
}

/// What PDF takes from the font's file.
#[cfg(feature = "plot")]
pub(super) mod file {
    use super::FILE;

    /// A big-endian number of two bytes.
    fn short(place: usize) -> usize {
        usize::from(u16::from_be_bytes([FILE[place], FILE[place + 1]]))
    }

    /// Where a table of the font begins.
    fn table(name: &[u8; 4]) -> usize {
        let found = (0..short(4)).map(|n| 12 + 16 * n).find(|place| FILE[*place..*place + 4] == name[..]);
        let entry = found.expect("the font has every table");
        short(entry + 8) << 16 | short(entry + 10)
    }

    /// The glyph of a character, by the table of format 4; 0, a box, for one that the font lacks.
    pub fn glyph(letter: char) -> u16 {
        let Ok(code) = u16::try_from(u32::from(letter)).map(usize::from) else { return 0 };
        let cmap = table(b"cmap");
        let unicode = (0..short(cmap + 2)).map(|n| cmap + 4 + 8 * n).find(|at| (short(*at), short(at + 2)) == (3, 1));
        let record = unicode.expect("the font has a Unicode map");
        let map = cmap + (short(record + 4) << 16 | short(record + 6));
        let double = short(map + 6);
        // The last segment ends at 0xffff.
        let segment = (0..double / 2).find(|n| short(map + 14 + 2 * n) >= code).unwrap_or(0);
        let start = short(map + 16 + double + 2 * segment);
        if code < start {
            return 0;
        }
        let delta = short(map + 16 + 2 * double + 2 * segment);
        let offset = map + 16 + 3 * double + 2 * segment;
        let mapped = if short(offset) == 0 { code } else { short(offset + short(offset) + 2 * (code - start)) };
        (mapped + delta) as u16
    }

    /// How wide a glyph is, in thousandths of the size.
    pub fn advance(glyph: u16) -> f64 {
        let (em, measured) = (short(table(b"head") + 18), short(table(b"hhea") + 34));
        short(table(b"hmtx") + 4 * usize::from(glyph).min(measured - 1)) as f64 * 1000.0 / em as f64
    }
}

#[cfg(all(test, feature = "plot"))]
mod tests {
    use super::{
        file::{advance, glyph},
        *,
    };

    #[test]
    fn widths_are_those_of_the_font() {
        for letter in (' '..='~').chain(KNOWN.map(|(letter, _)| letter)) {
            let own = width(&letter.to_string(), 1000.0);
            assert!((own - advance(glyph(letter))).abs() <= 0.5, "{letter}: {own}");
        }
    }

    #[test]
    fn a_character_that_the_font_lacks_is_a_box() {
        assert_eq!(['\u{4e00}', '\u{1f600}', '\u{ffff}'].map(glyph), [0; 3]);
        assert!(['µ', '…', '×', 'Ω'].map(glyph).iter().all(|glyph| *glyph > 0));
    }
}
