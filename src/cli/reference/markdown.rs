//! Markdown: text that means what it says, tables, and blocks of code.

/// Characters that Markdown would read as markup.
const MARKUP: &str = "\\*_<>|[]";

/// One line of text. What is between backticks is code.
pub fn text(words: &str) -> String {
    let mut line = String::new();
    let mut is_code = false;
    for letter in words.chars() {
        is_code ^= letter == '`';
        // In a table a bar ends a cell even within code.
        if (!is_code && MARKUP.contains(letter)) || letter == '|' {
            line.push('\\');
        }
        line.push(letter);
    }
    line
}

/// Code within a line of a table.
pub fn code(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("`{}`", words.replace('|', "\\|")) }
}

pub fn table<const N: usize>(heads: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut table = line(&heads.map(str::to_owned)) + &line(&heads.map(|_| "---".to_owned()));
    table.extend(rows.into_iter().map(|cells| line(&cells)));
    table + "\n"
}

/// Paragraphs of a help text. Lines that are set in are code.
pub fn prose(words: &str) -> String {
    let mut prose = String::new();
    let mut in_code = false;
    for line in words.lines() {
        let set_in = line.strip_prefix("  ");
        if in_code != set_in.is_some() {
            prose.push_str(if in_code { "```\n\n" } else { "\n```text\n" });
            in_code = !in_code;
        }
        match set_in {
            Some(line) => prose.push_str(line),
            None => prose.push_str(&text(line)),
        }
        prose.push('\n');
    }
    prose + if in_code { "```\n\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_markup_is_shown_as_it_is() {
        assert_eq!(text("a <b> c_d `e_f` *g*"), "a \\<b\\> c\\_d `e_f` \\*g\\*");
        assert_eq!(text("FILE|NAME, `A|B`"), "FILE\\|NAME, `A\\|B`");
        assert_eq!(code("A|B"), "`A\\|B`");
    }

    #[test]
    fn lines_that_are_set_in_are_a_block_of_code() {
        let prose = prose("Examples:\n  sealsim run x_y\n    --copy h2d\n\nMore_text");
        assert_eq!(prose, "Examples:\n\n```text\nsealsim run x_y\n  --copy h2d\n```\n\n\nMore\\_text\n\n");
    }
}
