//! Colours, and what they mean.

use super::layout::{LEFT, LINE};
use crate::{
    replay::{Mark, Ns},
    report::{plot::svg::text, replay::time},
};
use std::fmt::Write;

/// Colours that are told apart by people who do not see red and green apart as well (Okabe and Ito), and grey.
pub(super) const fn colour(mark: Mark) -> &'static str {
    match mark {
        Mark::Copies => "#0072b2",
        Mark::Launches => "#e69f00",
        Mark::Waits => "#009e73",
        Mark::OtherCalls | Mark::OtherWork => "#8c8c8c",
        Mark::Kernels => "#d55e00",
        Mark::H2d => "#56b4e9",
        Mark::D2h => "#cc79a7",
    }
}

const fn words(mark: Mark) -> &'static str {
    match mark {
        Mark::Copies => "copies",
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
pub(super) fn legend(svg: &mut String, column: Ns, top: usize) {
    let mut low = top + LINE;
    for (who, marks) in [("host, in calls", Mark::HOST), ("GPU", Mark::GPU)] {
        text(svg, (LEFT - 8) as f64, low as f64, "end", who);
        for (place, mark) in marks.into_iter().enumerate() {
            let left = LEFT + place * 180;
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>",
                low - 10,
                colour(mark)
            );
            text(svg, (left + 18) as f64, low as f64, "start", words(mark));
        }
        low += LINE;
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {}h24\" stroke=\"#000000\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\"/>",
        low - 4
    );
    text(svg, (LEFT + 32) as f64, low as f64, "start", "end of the last operation");
    let heights = format!(
        "Heights are shares of each column of {}, one pixel at least. Light grey: the host is outside calls, the GPU has no work.",
        time(column)
    );
    text(svg, LEFT as f64, (low + LINE) as f64, "start", &heights);
}
