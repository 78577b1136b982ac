//! Colours, and what they mean.

use super::{
    Part,
    layout::{LEFT, LINE},
};
use crate::{
    replay::{Mark, Ns},
    report::{
        plot::drawing::{Anchor, BLACK, Colour, Drawing, Paint, Stroke},
        replay::time,
    },
};

/// The line at the end of a run.
pub(super) const END: Stroke = Stroke { colour: BLACK, width: 1.5, dashes: &[4.0, 3.0] };

/// Colours that are distinguished by people who do not see red and green apart as well (Okabe and Ito), and grey.
pub(super) const fn colour(mark: Mark) -> Colour {
    match mark {
        Mark::Holds => BLACK,
        Mark::Copies => Colour(0x00, 0x72, 0xb2),
        Mark::Launches => Colour(0xe6, 0x9f, 0x00),
        Mark::Waits => Colour(0x00, 0x9e, 0x73),
        Mark::OtherCalls | Mark::OtherWork => Colour(0x8c, 0x8c, 0x8c),
        Mark::Kernels => Colour(0xd5, 0x5e, 0x00),
        Mark::H2d => Colour(0x56, 0xb4, 0xe9),
        Mark::D2h => Colour(0xcc, 0x79, 0xa7),
    }
}

const fn words(mark: Mark) -> &'static str {
    match mark {
        Mark::Holds => "copies that hold it",
        Mark::Copies => "other copies",
        Mark::Launches => "launches and fills",
        Mark::Waits => "waits for the GPU",
        Mark::OtherCalls => "other calls",
        Mark::Kernels => "kernels",
        Mark::H2d => "h2d copies",
        Mark::D2h => "d2h copies",
        Mark::OtherWork => "fills, copies on the GPU",
    }
}

/// What each colour and each line means, below `top`; a column of pixels is so long.
pub(super) fn legend(drawing: &mut Drawing, part: Part, column: Ns, top: usize) {
    let mut low = (top + LINE) as f64;
    for (who, marks) in [("host, in calls", &Mark::HOST[..]), ("GPU", &Mark::GPU)] {
        drawing.text(((LEFT - 8) as f64, low), Anchor::End, who);
        for (place, mark) in marks.iter().copied().enumerate() {
            let left = (LEFT + place * 180) as f64;
            drawing.rectangle((left, low - 10.0), (left + 12.0, low + 2.0), Paint::fill(colour(mark)));
            drawing.text((left + 18.0, low), Anchor::Start, words(mark));
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
