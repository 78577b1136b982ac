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

/// The font itself (SIL Open Font License 1.1; `assets/LiberationSans-LICENSE.txt`).
#[cfg(feature = "plot")]
pub(super) static FILE: &[u8] = include_bytes!("../../../assets/LiberationSans-Regular.ttf");

/// What SVG asks for: the font, and those of the same widths.
pub const FAMILY: &str = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif";

/// Pixels that a text of so many pixels in size is wide.
#[must_use]
pub fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| {
        let place = (letter as usize).checked_sub(' ' as usize);
        place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or(OTHER)
    };
    text.chars().map(|letter| f64::from(of(letter))).sum::<f64>() * size / 1000.0
}

#[cfg(all(test, feature = "plot"))]
mod tests {
    use super::*;

    /// A big-endian number of two bytes.
    fn short(place: usize) -> usize {
        usize::from(u16::from_be_bytes([FILE[place], FILE[place + 1]]))
    }

    /// Where a table of the font begins.
    fn table(name: &[u8; 4]) -> usize {
        let found = (0..short(4)).map(|n| 12 + 16 * n).find(|place| FILE[*place..*place + 4] == name[..]).unwrap();
        short(found + 8) << 16 | short(found + 10)
    }

    /// The glyph of a character of the basic plane, by the table of format 4.
    fn glyph(letter: char) -> usize {
        let cmap = table(b"cmap");
        let unicode = (0..short(cmap + 2)).map(|n| cmap + 4 + 8 * n);
        let record = unicode.into_iter().find(|at| (short(*at), short(at + 2)) == (3, 1)).unwrap();
        let map = cmap + (short(record + 4) << 16 | short(record + 6));
        let (double, code) = (short(map + 6), letter as usize);
        let segment = (0..double / 2).find(|n| short(map + 14 + 2 * n) >= code).unwrap();
        let start = short(map + 16 + double + 2 * segment);
        let delta = short(map + 16 + 2 * double + 2 * segment);
        let offset = map + 16 + 3 * double + 2 * segment;
        let mapped = if short(offset) == 0 { code } else { short(offset + short(offset) + 2 * (code - start)) };
        (mapped + delta) & 0xffff
    }

    #[test]
    fn widths_are_those_of_the_font() {
        let (em, measured) = (short(table(b"head") + 18), short(table(b"hhea") + 34));
        for letter in ' '..='~' {
            let advance = short(table(b"hmtx") + 4 * glyph(letter).min(measured - 1));
            let own = width(&letter.to_string(), 1000.0);
            assert!((own - advance as f64 * 1000.0 / em as f64).abs() <= 0.5, "{letter}: {own}");
        }
    }
}
