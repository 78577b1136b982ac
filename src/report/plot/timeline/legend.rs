//! Colours, and what they mean.

use super::{
    Part,
    layout::{LEFT, LINE},
};
use crate::{
    replay::{Mark, Ns},
    report::{
        names,
        plot::drawing::{Anchor, BLACK, Colour, Drawing, Paint, Stroke},
        replay::time,
    },
};

/// The line at the end of a run.
pub(super) const END: Stroke = Stroke { colour: BLACK, width: 1.5, dashes: &[4.0, 3.0] };

const GREY: Colour = Colour(0x8c, 0x8c, 0x8c);

/// Its label and its colour; grey for what has none of its own.
pub(super) fn named(mark: Mark) -> (&'static str, Colour) {
    let (label, number) = names::nth("operation", mark as usize);
    (label, number.map_or(GREY, names::colour))
}

/// What each colour and each line means, below `top`; a column of pixels is so long.
pub(super) fn legend(drawing: &mut Drawing, part: Part, column: Ns, top: usize) {
    let mut low = (top + LINE) as f64;
    for (who, marks) in [("host, in calls", &Mark::HOST[..]), ("GPU", &Mark::GPU)] {
        drawing.text(((LEFT - 8) as f64, low), Anchor::End, who);
        for (place, mark) in marks.iter().copied().enumerate() {
            let left = (LEFT + place * 180) as f64;
            let (label, colour) = named(mark);
            drawing.rectangle((left, low - 10.0), (left + 12.0, low + 2.0), Paint::fill(colour));
            drawing.text((left + 18.0, low), Anchor::Start, label);
        }
        low += LINE as f64;
    }
    let left = LEFT as f64;
    drawing.lines(&[(left, low - 4.0), (left + 24.0, low - 4.0)], END);
    let end = if part == Part::Step { "end of the step" } else { "end of the last operation" };
    drawing.text((left + 32.0, low), Anchor::Start, end);
    let heights = format!(
        "Heights are shares of each column of {}, one pixel at least. Light grey: the host is outside calls, the GPU has no work.",
        time(column)
    );
    drawing.text((left, low + LINE as f64), Anchor::Start, &heights);
}
