//! A picture as SVG that needs no other file.

use super::{
    drawing::{Anchor, Colour, Drawing, Item, Paint, SIZE, Step, Text},
    font::{self, FAMILY},
};
use std::fmt::Write;

/// Items that have a hint are of class `mark`; the script of a page takes these and shows what they say.
pub fn write(drawing: &Drawing) -> String {
    let (width, height) = (number(drawing.width), number(drawing.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FAMILY}\" font-size=\"{SIZE}\">\n"
    );
    for (place, item) in drawing.items.iter().enumerate() {
        let label = |hint: &String| escaped(hint).replace('"', "&quot;").replace('\n', "&#10;");
        let says = |hint| format!(" class=\"mark\" role=\"img\" aria-label=\"{}\"", label(hint));
        let says = drawing.hints.get(&place).map_or_else(String::new, says);
        match item {
            Item::Path(steps, paint) => {
                let _ = writeln!(svg, "<path d=\"{}\"{}{says}/>", path(steps), painted(*paint));
            }
            Item::Disc((x, y), radius, paint) => {
                let [x, y, radius] = [*x, *y, *radius].map(number);
                let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{}{says}/>", painted(*paint));
            }
            Item::Text(text) => svg.push_str(&line(text)),
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A tenth of a pixel is as exact as anybody sees.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned).replace("-0", "0")
}

fn hexadecimal(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn painted(paint: Paint) -> String {
    let mut text = format!(" fill=\"{}\"", paint.fill.map_or_else(|| "none".to_owned(), hexadecimal));
    if let Some(stroke) = paint.stroke {
        let _ = write!(text, " stroke=\"{}\" stroke-width=\"{}\"", hexadecimal(stroke.colour), number(stroke.width));
        if !stroke.dashes.is_empty() {
            let dashes: Vec<_> = stroke.dashes.iter().map(|length| number(*length)).collect();
            let _ = write!(text, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    text
}

/// A path in few characters: lines along an axis are the most.
fn path(steps: &[Step]) -> String {
    let (mut text, mut last) = (String::new(), (String::new(), String::new()));
    for step in steps {
        let (letter, x, y) = match *step {
            Step::Move(x, y) => ('M', number(x), number(y)),
            Step::Line(x, y) => ('L', number(x), number(y)),
            Step::Close => {
                text.push('Z');
                continue;
            }
        };
        let _ = match letter {
            'L' if y == last.1 => write!(text, "H{x}"),
            'L' if x == last.0 => write!(text, "V{y}"),
            _ => write!(text, "{letter}{x} {y}"),
        };
        last = (x, y);
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn line(Text { at, anchor, size: size_of, upwards, colour, text }: &Text) -> String {
    let (x, y) = (number(at.0), number(at.1));
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turned = if *upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let size = if *size_of == SIZE { String::new() } else { format!(" font-size=\"{}\"", number(*size_of)) };
    // Another font takes the same room.
    let long = if text.chars().count() > 1 {
        format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", number(font::width(text, *size_of)))
    } else {
        String::new()
    };
    let (text, colour) = (escaped(text), hexadecimal(*colour));
    format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{colour}\"{size}{long}{turned}>{text}</text>\n")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::plot::drawing::{BLACK, Stroke};

    /// Whether each tag is closed in its turn. Enough for what is drawn here, which has neither comments nor `>` in attributes.
    pub fn well_formed(svg: &str) -> bool {
        let mut open = Vec::new();
        for part in svg.split('<').skip(1) {
            let Some((tag, text)) = part.split_once('>') else { return false };
            let stray = text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").contains('&');
            let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap_or("");
            let closes = tag.starts_with('/');
            if stray || tag.matches('"').count() % 2 != 0 || closes && open.pop() != Some(name) {
                return false;
            }
            if !closes && !tag.ends_with('/') {
                open.push(name);
            }
        }
        open.is_empty()
    }

    #[test]
    fn a_picture_is_one_element_with_a_child_for_each_item() {
        let mut drawing = Drawing::new(100.0, 50.0);
        drawing.lines(
            &[(1.0, 2.0), (9.0, 2.0), (9.0, 7.25), (3.0, 4.0)],
            Stroke { dashes: &[5.0, 4.0], ..Stroke::solid(BLACK, 1.5) },
        );
        drawing.disc((3.0, 4.0), 2.5, Paint::fill(Colour(0, 114, 178)));
        drawing.text((5.0, 6.0), Anchor::End, "a<b & \u{1}c");
        let svg = write(&drawing);
        assert!(well_formed(&svg) && svg.lines().count() == 2 + 4, "{svg}");
        assert!(
            svg.contains(
                "d=\"M1 2H9V7.2L3 4\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\""
            ),
            "{svg}"
        );
        assert!(svg.contains("<circle cx=\"3\" cy=\"4\" r=\"2.5\" fill=\"#0072b2\"/>"), "{svg}");
        assert!(svg.contains("text-anchor=\"end\" fill=\"#000000\" textLength=\"47.7\" lengthAdjust=\"spacingAndGlyphs\">a&lt;b &amp; ?c<"), "{svg}");
        drawing.hints.insert(2, "\"a\"".into());
        let says = "fill=\"#0072b2\" class=\"mark\" role=\"img\" aria-label=\"&quot;a&quot;\"/>";
        assert!(write(&drawing).contains(says) && well_formed(&write(&drawing)));
    }
}
