//! The page to explore with: files that a server gives, and that fetch answers from where they come from.

use super::island::{COMMON, SCRIPTS, STYLE};

/// What the page may do, as the header `Content-Security-Policy` says it.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; \
                          form-action 'none'; frame-ancestors 'none'";

/// What of the scripts that pages share the modules of this one import.
const EXPORTS: &str =
    "\nexport { drawn, el, sv, tile, choice, tick, number, time, bytes, percent, signed, category, hatching };\n";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the page, with its media type.
pub fn file(name: &str) -> Option<(&'static str, String)> {
    let own = |text: &str| text.to_owned();
    Some(match name {
        "" => ("text/html; charset=utf-8", own(include_str!("page/lab/index.html"))),
        "style.css" => ("text/css; charset=utf-8", STYLE.to_owned() + include_str!("page/lab/lab.css")),
        "base.js" => (SCRIPT, SCRIPTS[..COMMON].join("\n") + EXPORTS),
        "lab.js" => (SCRIPT, own(include_str!("page/lab/lab.js"))),
        "state.js" => (SCRIPT, own(include_str!("page/lab/state.js"))),
        "quantity.js" => (SCRIPT, own(include_str!("page/lab/quantity.js"))),
        "parameters.js" => (SCRIPT, own(include_str!("page/lab/parameters.js"))),
        "controls.js" => (SCRIPT, own(include_str!("page/lab/controls.js"))),
        "answers.js" => (SCRIPT, own(include_str!("page/lab/answers.js"))),
        "paths.js" => (SCRIPT, own(include_str!("page/lab/paths.js"))),
        "inside.js" => (SCRIPT, own(include_str!("page/lab/inside.js"))),
        "programs.js" => (SCRIPT, own(include_str!("page/lab/programs.js"))),
        "parts.js" => (SCRIPT, own(include_str!("page/lab/parts.js"))),
        "workloads.js" => (SCRIPT, own(include_str!("page/lab/workloads.js"))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 14] = [
        "",
        "style.css",
        "base.js",
        "lab.js",
        "state.js",
        "quantity.js",
        "parameters.js",
        "controls.js",
        "answers.js",
        "paths.js",
        "workloads.js",
        "programs.js",
        "parts.js",
        "inside.js",
    ];

    #[test]
    fn the_page_asks_only_where_it_comes_from() {
        for name in FILES {
            let (_, text) = file(name).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for address in ["http://", "https://", "@import", "url(h", "innerHTML", "eval(", " style="] {
                assert!(!text.contains(address), "{name} {address}");
            }
            let imported = text.split(" from \"./").skip(1).map(|rest| rest.split('"').next().unwrap());
            imported.for_each(|module| assert!(FILES.contains(&module), "{name} imports {module}"));
        }
        assert!(file("no").is_none() && !POLICY.contains("unsafe"));
    }

    #[test]
    fn what_modules_import_of_the_shared_scripts_is_there() {
        let (_, base) = file("base.js").unwrap();
        let names = EXPORTS.trim().trim_start_matches("export {").trim_end_matches("};").split(',').map(str::trim);
        for name in names {
            assert!(base.contains(&format!("function {name}(")), "{name}");
        }
    }
}
