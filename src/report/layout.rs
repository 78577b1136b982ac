//! Text for a terminal of some width.

/// Columns that any terminal has, and what is written where nobody says how many there are.
pub const WIDTH: usize = 80;

/// Least columns that are left to what is broken into lines of its own.
const LEAST: usize = 24;

const LINES: usize = 30;

/// A first screen, which ends in a hint at what else there is; what it has no room for is counted.
pub fn screen(text: &str, hint: &str, width: usize) -> String {
    let (text, hint) = (fitted(text, width), fitted(hint, width));
    let room = LINES - 1 - hint.lines().count();
    let mut lines = some(text.trim_end().lines().map(str::to_owned).collect(), room);
    lines.extend([String::new(), hint]);
    lines.join("\n").trim_end().to_owned() + "\n"
}

/// The first lines, and how many are left out.
pub fn some(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        let left = lines.len() + 1 - most;
        lines.truncate(most - 1);
        lines.push(format!("and {left} more lines (--all)"));
    }
    lines
}

/// A unit in the field's words; one that has none by its path.
pub fn part(unit: &str) -> &str {
    const WORDS: [(&str, &str); 12] = [
        (".driver", "driver"),
        (".cipher", "CPU cipher"),
        (".host_port", "host PCIe port"),
        (".gpu_port", "GPU PCIe port"),
        (".root_complex", "root complex"),
        (".scheduler", "GPU scheduler"),
        (".front_end", "front end"),
        (".engine", "GPU cipher"),
        (".pce", "copy engine"),
        (".tag_queue", "tag queue"),
        (".hbm", "device memory"),
        (".compute", "GPU kernels"),
    ];
    WORDS.iter().find(|(path, _)| unit.contains(path)).map_or(unit, |(_, words)| words)
}

/// Three digits, or as many as stand before the point.
pub fn digits(value: f64) -> String {
    if value > 0.0 && value < 0.01 {
        return format!("{value:.*}", (2.0 - value.log10().floor()).min(15.0) as usize);
    }
    let before = if value >= 1.0 { value.log10().floor() as usize } else { 0 };
    format!("{value:.*}", 2_usize.saturating_sub(before) + usize::from(value < 0.9995))
}

/// A text in lines of at most `width` columns, as far as its words allow: none is broken. What follows a break stands below the column that
/// it belongs to. A command ends in `\` where it is broken, so that a shell takes it whole.
pub fn fitted(text: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if line.chars().count() <= width {
            fitted.push_str(line);
        } else {
            fitted.push_str(&broken(line, width).join("\n"));
        }
        fitted.push_str(end);
    }
    fitted
}

/// The place of the last column of a line, if what is behind it has room there; else some way behind the line's begin.
fn hang(line: &[char], width: usize) -> usize {
    let begin = line.iter().take_while(|letter| **letter == ' ').count();
    let column = |place: &usize| line[*place] != ' ' && line[place - 2..*place] == [' ', ' '];
    let last = (begin + 2..line.len()).rev().find(column);
    last.filter(|place| place + LEAST <= width).unwrap_or_else(|| (begin + 4).min(width / 2))
}

/// Whether a blank stands between a number and its unit, which stay together.
fn between(line: &[char], place: usize) -> bool {
    let (before, after) = (place.checked_sub(1).map(|place| line[place]), line.get(place + 1));
    let number = before.is_some_and(|letter| letter.is_ascii_digit());
    let word: String = line[place + 1..].iter().take_while(|letter| **letter != ' ').collect();
    let unit = word.trim_end_matches([',', ';', '.', ')']);
    number && after.is_some() && UNITS.contains(&unit)
}

/// What stays on the line of the number before it.
const UNITS: [&str; 19] = [
    "%", "ps", "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "GB", "GB/s", "MB/s", "GHz", "MHz", "cycles",
    "B/cycle", "kGE", "TiB",
];

fn broken(line: &str, width: usize) -> Vec<String> {
    let command = line.trim_start().starts_with("sealsim ");
    let (limit, end) = if command { (width - 2, " \\") } else { (width, "") };
    let mut rest: Vec<char> = line.trim_end().chars().collect();
    let hang = hang(&rest, width);
    let mut lines = Vec::new();
    loop {
        let begin = rest.iter().take_while(|letter| **letter == ' ').count();
        if rest.len() <= width {
            lines.push(rest.into_iter().collect());
            return lines;
        }
        let space = |place: &usize| rest[*place] == ' ' && !between(&rest, *place);
        let at = (begin + 1..=limit).rev().find(space).or_else(|| (limit + 1..rest.len()).find(space));
        let Some(at) = at else {
            lines.push(rest.into_iter().collect());
            return lines;
        };
        let head: String = rest[..at].iter().collect();
        lines.push(format!("{}{end}", head.trim_end()));
        let tail: Vec<char> = rest[at..].iter().copied().skip_while(|letter| *letter == ' ').collect();
        let word = tail.iter().take_while(|letter| **letter != ' ').count();
        // A word that has no room below its column has it further to the left.
        let hang = if hang + word > limit { begin.min(hang).min(4) } else { hang };
        rest = std::iter::repeat_n(' ', hang).chain(tail).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_follows_a_break_stands_below_its_column() {
        let line = "h100-nvl-tdx  machine   H100 NVL with confidential computing on, in a TDX guest on Emerald Rapids at 2.1 GHz";
        let expected = "h100-nvl-tdx  machine   H100 NVL with confidential computing on, in a TDX guest\n                        on Emerald Rapids at 2.1 GHz\n";
        assert_eq!(fitted(&format!("{line}\n"), 80), expected);
        assert_eq!(fitted("short\n\nlines\n", 80), "short\n\nlines\n");
    }

    #[test]
    fn a_command_stays_one() {
        let text = fitted("  sealsim run h100-nvl-tdx --copy h2d:65536:pinned --inject link.h2d.flip:200", 50);
        assert_eq!(text, "  sealsim run h100-nvl-tdx --copy \\\n      h2d:65536:pinned --inject link.h2d.flip:200");
    }

    proptest! {
        #[test]
        fn no_word_is_broken_or_lost_and_no_line_is_longer_than_it_must_be(
            words in prop::collection::vec("[a-z.]{1,30}", 1..60), indent in 0..10_usize, width in 80..140_usize,
        ) {
            let line = format!("{}{}", " ".repeat(indent), words.join(" "));
            let text = fitted(&line, width);
            prop_assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
        }
    }
}
