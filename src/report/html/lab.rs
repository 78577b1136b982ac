//! The page to explore with: files that a server gives, and that fetch answers from where they come from.

use super::island::{script_on_common, style};

/// What the page may do, as the header `Content-Security-Policy` says it.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; \
                          form-action 'none'; frame-ancestors 'none'";

/// In the order in which they build on each other. They come as one, with which all of the page is there or nothing.
const SCRIPTS: [&str; 11] = [
    include_str!("page/lab/quantity.js"),
    include_str!("page/lab/state.js"),
    include_str!("page/lab/parts.js"),
    include_str!("page/lab/parameters.js"),
    include_str!("page/lab/controls.js"),
    include_str!("page/lab/answers.js"),
    include_str!("page/lab/paths.js"),
    include_str!("page/lab/programs.js"),
    include_str!("page/lab/workloads.js"),
    include_str!("page/lab/inside.js"),
    include_str!("page/lab/lab.js"),
];

/// A file of the page, with its media type.
pub fn file(name: &str) -> Option<(&'static str, String)> {
    Some(match name {
        "" => ("text/html; charset=utf-8", include_str!("page/lab/index.html").to_owned()),
        "style.css" => ("text/css; charset=utf-8", style() + include_str!("page/lab/lab.css")),
        "lab.js" => ("text/javascript; charset=utf-8", script_on_common(&SCRIPTS)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_only_where_it_comes_from() {
        for name in ["", "style.css", "lab.js"] {
            let (_, text) = file(name).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for address in
                ["http://", "https://", "@import", "url(h", "innerHTML", "eval(", " style=", "import ", "export "]
            {
                assert!(!text.contains(address), "{name} {address}");
            }
        }
        assert!(file("no").is_none() && !POLICY.contains("unsafe"));
    }

    #[test]
    fn no_two_parts_of_the_script_have_a_function_of_one_name() {
        let (_, script) = file("lab.js").unwrap();
        let lines = script.lines().filter_map(|line| line.trim_start_matches("async ").strip_prefix("function "));
        let mut names: Vec<_> = lines.filter_map(|line| line.split('(').next()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
