//! A picture as PDF of one page, with its font in it.

use super::{
    drawing::{Anchor, Colour, Drawing, Item, Paint, Step, Text},
    font,
};
use krilla::{
    Document,
    color::rgb,
    geom::{Path, PathBuilder, Point, Transform},
    page::PageSettings,
    paint::{Fill, Stroke, StrokeDash},
    surface::Surface,
    text::{Font, TextDirection},
};

/// Points of a page per pixel of a picture: 72 and 96 to an inch.
const SCALE: f32 = 0.75;
/// From a disc's edge to the control points of a quarter of it, over the radius.
const ROUND: f64 = 0.552_284_75;

/// The picture, or why there is none.
pub(super) fn write(drawing: &Drawing) -> Result<Vec<u8>, String> {
    let font = Font::new(font::FILE.into(), 0).ok_or("the font of texts cannot be read")?;
    let (width, height) = (drawing.width as f32 * SCALE, drawing.height as f32 * SCALE);
    let size = PageSettings::from_wh(width, height).ok_or("a picture without extent")?;
    let mut document = Document::new();
    let mut page = document.start_page_with(size);
    let mut surface = page.surface();
    surface.push_transform(&Transform::from_scale(SCALE, SCALE));
    for item in &drawing.items {
        match item {
            Item::Path(steps, paint) => shape(&mut surface, path(steps), *paint),
            Item::Disc(at, radius, paint) => shape(&mut surface, disc(*at, *radius), *paint),
            Item::Text(text) => line(&mut surface, &font, text),
        }
    }
    surface.pop();
    surface.finish();
    page.finish();
    document.finish().map_err(|error| format!("{error:?}"))
}

fn colour(Colour(red, green, blue): Colour) -> rgb::Color {
    rgb::Color::new(red, green, blue)
}

fn shape(surface: &mut Surface<'_>, path: Option<Path>, paint: Paint) {
    let Some(path) = path else { return };
    surface.set_fill(paint.fill.map(|fill| Fill { paint: colour(fill).into(), ..Fill::default() }));
    surface.set_stroke(paint.stroke.map(|stroke| {
        let array: Vec<f32> = stroke.dashes.iter().map(|length| *length as f32).collect();
        let dash = (!array.is_empty()).then_some(StrokeDash { array, offset: 0.0 });
        Stroke { paint: colour(stroke.colour).into(), width: stroke.width as f32, dash, ..Stroke::default() }
    }));
    surface.draw_path(&path);
}

fn path(steps: &[Step]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for step in steps {
        match *step {
            Step::Move(x, y) => builder.move_to(x as f32, y as f32),
            Step::Line(x, y) => builder.line_to(x as f32, y as f32),
            Step::Close => builder.close(),
        }
    }
    builder.finish()
}

fn disc((x, y): (f64, f64), radius: f64) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let place = |(across, up): (f64, f64)| ((x + across * radius) as f32, (y + up * radius) as f32);
    let (first, second) = place((1.0, 0.0));
    builder.move_to(first, second);
    let mut at = (1.0, 0.0);
    for to in [(0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)] {
        let (x1, y1) = place((at.0 + to.0 * ROUND, at.1 + to.1 * ROUND));
        let (x2, y2) = place((to.0 + at.0 * ROUND, to.1 + at.1 * ROUND));
        let (x3, y3) = place(to);
        builder.cubic_to(x1, y1, x2, y2, x3, y3);
        at = to;
    }
    builder.close();
    builder.finish()
}

fn line(surface: &mut Surface<'_>, font: &Font, text: &Text) {
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let shift = (font::width(&text.text, text.size) * before) as f32;
    let (x, y) = (text.at.0 as f32, text.at.1 as f32);
    if text.upwards {
        surface.push_transform(&Transform::from_rotate_at(-90.0, x, y));
    }
    surface.set_stroke(None);
    surface.set_fill(Some(Fill { paint: colour(text.colour).into(), ..Fill::default() }));
    let at = Point::from_xy(x - shift, y);
    surface.draw_text(at, font.clone(), text.size as f32, &text.text, false, TextDirection::LeftToRight);
    if text.upwards {
        surface.pop();
    }
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

    /// Whether a file has these bytes.
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
