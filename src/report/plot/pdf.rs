//! A picture as PDF of one page, with what it uses of its font in it.

use super::{
    drawing::{Anchor, Colour, Drawing, Item, Paint, Step, Text},
    font,
};
use flate2::{Compression, write::ZlibEncoder};
use pdf_writer::{
    Content, Filter, Name, Pdf, Rect, Ref, Str,
    types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap},
};
use std::{collections::BTreeMap, io::Write as _};
use subsetter::GlyphRemapper;

/// Points of a page per pixel of a picture: 72 and 96 to an inch.
const SCALE: f32 = 0.75;
/// From a disc's edge to the control points of a quarter of it, over the radius.
const ROUND: f64 = 0.552_284_75;
/// The font's name in the page's content.
const FONT: Name<'static> = Name(b"F");
/// Codes of characters are glyphs of the font's subset.
const IDENTITY: SystemInfo<'static> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The picture, or why there is none.
pub(super) fn write(drawing: &Drawing) -> Result<Vec<u8>, String> {
    let (width, height) = (drawing.width as f32 * SCALE, drawing.height as f32 * SCALE);
    if !(width > 0.0 && height > 0.0) {
        return Err("a picture without extent".to_owned());
    }
    let mut content = Content::new();
    let mut used = Used::default();
    // A page's origin is its lower left corner.
    content.transform([SCALE, 0.0, 0.0, -SCALE, 0.0, height]);
    for item in &drawing.items {
        match item {
            Item::Path(steps, paint) => shape(&mut content, *paint, |content| path(content, steps)),
            Item::Disc(at, radius, paint) => shape(&mut content, *paint, |content| disc(content, *at, *radius)),
            Item::Text(text) => line(&mut content, &mut used, text),
        }
    }
    let [catalog, pages, page, body, font] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut sheet = pdf.page(page);
    sheet.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(body);
    sheet.resources().fonts().pair(FONT, font);
    drop(sheet);
    pdf.stream(body, &packed(&content.finish())).filter(Filter::FlateDecode);
    used.write(&mut pdf, font)?;
    Ok(pdf.finish())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes what it is given")
}

/// What is used of the font: its glyphs, and of each in the subset a character that it shows.
#[derive(Default)]
struct Used {
    glyphs: GlyphRemapper,
    shown: BTreeMap<u16, char>,
}

impl Used {
    /// The code of a character in the subset.
    fn code(&mut self, letter: char) -> u16 {
        let code = self.glyphs.remap(font::file::glyph(letter));
        if code > 0 {
            self.shown.entry(code).or_insert(letter);
        }
        code
    }

    /// The font of these glyphs, as object `whole` and those that follow.
    fn write(&self, pdf: &mut Pdf, whole: Ref) -> Result<(), String> {
        let subset = subsetter::subset(font::FILE, 0, &self.glyphs).map_err(|error| error.to_string())?;
        let [glyphs, descriptor, unicode, file] = [1, 2, 3, 4].map(|after| Ref::new(whole.get() + after));
        // Six letters distinguish subsets of one font.
        let digest = crc32fast::hash(&subset);
        let tag: String = (0..6).map(|place| char::from(b'A' + (digest >> (4 * place) & 15) as u8)).collect();
        let name = format!("{tag}+LiberationSans");
        let name = Name(name.as_bytes());

        let mut root = pdf.type0_font(whole);
        root.base_font(name).encoding_predefined(Name(b"Identity-H")).descendant_font(glyphs).to_unicode(unicode);
        drop(root);

        let mut cid = pdf.cid_font(glyphs);
        cid.subtype(CidFontType::Type2).base_font(name).system_info(IDENTITY).font_descriptor(descriptor);
        cid.cid_to_gid_map_predefined(Name(b"Identity"));
        cid.widths().consecutive(0, self.glyphs.remapped_gids().map(|glyph| font::file::advance(glyph) as f32));
        drop(cid);

        // The rest as its tables `head`, `hhea` and `OS/2` have it, in thousandths of the size.
        let mut about = pdf.font_descriptor(descriptor);
        about.name(name).flags(FontFlags::NON_SYMBOLIC).bbox(Rect::new(-544.0, -303.0, 1302.0, 980.0));
        about.italic_angle(0.0).ascent(905.0).descent(-212.0).cap_height(688.0).stem_v(80.0).font_file2(file);
        drop(about);

        let mut map = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
        self.shown.iter().for_each(|(code, letter)| map.pair(*code, *letter));
        pdf.cmap(unicode, &packed(&map.finish())).filter(Filter::FlateDecode);
        let length = i32::try_from(subset.len()).map_err(|error| error.to_string())?;
        pdf.stream(file, &packed(&subset)).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
        Ok(())
    }
}

fn parts(Colour(red, green, blue): Colour) -> [f32; 3] {
    [red, green, blue].map(|part| f32::from(part) / 255.0)
}

fn shape(content: &mut Content, paint: Paint, outline: impl FnOnce(&mut Content)) {
    if let Some(fill) = paint.fill {
        let [red, green, blue] = parts(fill);
        content.set_fill_rgb(red, green, blue);
    }
    if let Some(stroke) = paint.stroke {
        let [red, green, blue] = parts(stroke.colour);
        content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width as f32);
        content.set_dash_pattern(stroke.dashes.iter().map(|length| *length as f32), 0.0);
    }
    outline(content);
    match (paint.fill, paint.stroke) {
        (Some(_), Some(_)) => content.fill_nonzero_and_stroke(),
        (Some(_), None) => content.fill_nonzero(),
        (None, Some(_)) => content.stroke(),
        (None, None) => content.end_path(),
    };
}

fn path(content: &mut Content, steps: &[Step]) {
    for step in steps {
        match *step {
            Step::Move(x, y) => content.move_to(x as f32, y as f32),
            Step::Line(x, y) => content.line_to(x as f32, y as f32),
            Step::Close => content.close_path(),
        };
    }
}

fn disc(content: &mut Content, (x, y): (f64, f64), radius: f64) {
    let place = |(across, up): (f64, f64)| ((x + across * radius) as f32, (y + up * radius) as f32);
    let mut at = (1.0, 0.0);
    let (first, second) = place(at);
    content.move_to(first, second);
    for to in [(0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)] {
        let (x1, y1) = place((at.0 + to.0 * ROUND, at.1 + to.1 * ROUND));
        let (x2, y2) = place((to.0 + at.0 * ROUND, to.1 + at.1 * ROUND));
        let (x3, y3) = place(to);
        content.cubic_to(x1, y1, x2, y2, x3, y3);
        at = to;
    }
    content.close_path();
}

fn line(content: &mut Content, used: &mut Used, text: &Text) {
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let width: f64 = text.text.chars().map(|letter| font::file::advance(font::file::glyph(letter))).sum();
    let shift = (width * text.size / 1000.0 * before) as f32;
    let (x, y) = (text.at.0 as f32, text.at.1 as f32);
    // Across and up, where y of the picture runs downwards.
    let matrix = if text.upwards { [0.0, -1.0, -1.0, 0.0, x, y + shift] } else { [1.0, 0.0, 0.0, -1.0, x - shift, y] };
    let codes: Vec<u8> = text.text.chars().flat_map(|letter| used.code(letter).to_be_bytes()).collect();
    let [red, green, blue] = parts(text.colour);
    content.begin_text().set_fill_rgb(red, green, blue).set_font(FONT, text.size as f32);
    content.set_text_matrix(matrix).show(Str(&codes)).end_text();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::drawing::{BLACK, Stroke as Line};

    fn picture() -> Drawing {
        let mut drawing = Drawing::new(100.0, 50.0);
        drawing.lines(&[(1.0, 2.0), (9.0, 7.0)], Line { dashes: &[5.0, 4.0], ..Line::solid(BLACK, 1.5) });
        drawing.disc((3.0, 4.0), 2.5, Paint::fill(Colour(0, 114, 178)));
        drawing.text((5.0, 6.0), Anchor::End, "GB/s, µs \u{4e00}");
        drawing
    }

    fn has(pdf: &[u8], wanted: &str) -> bool {
        pdf.windows(wanted.len()).any(|bytes| bytes == wanted.as_bytes())
    }

    #[test]
    fn a_page_brings_its_font_whatever_fonts_there_are() {
        let pdf = write(&picture()).unwrap();
        assert!(pdf.starts_with(b"%PDF-") && has(&pdf, "LiberationSans") && has(&pdf, "/FontFile2"));
        // Of the whole font only what is used.
        assert!(pdf.len() < font::FILE.len() / 4, "{}", pdf.len());
        assert!(has(&pdf, "/MediaBox [0 0 75 37.5]"));
    }

    #[test]
    fn equal_pictures_are_equal_files() {
        assert_eq!(write(&picture()), write(&picture()));
    }

    #[test]
    fn a_picture_without_extent_is_an_error() {
        assert!(write(&Drawing::new(0.0, 10.0)).is_err());
    }
}
