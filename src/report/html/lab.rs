//! The page to explore with: files that a server gives, and that fetch answers from where they come from.

use super::island::{COMMON, SCRIPTS, STYLE};

/// What the page may do, as the header `Content-Security-Policy` says it.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; \
                          form-action 'none'; frame-ancestors 'none'";

/// What of the scripts that pages share the modules of this one import.
const EXPORTS: &str =
    "\nexport { drawn, el, sv, tile, choice, tick, number, time, bytes, percent, signed, category, hatching };\n";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Its files; style and base are what all pages have in common, and this.
const FILES: [(&str, &str); 14] = [
    ("", include_str!("page/lab/index.html")),
    ("style.css", include_str!("page/lab/lab.css")),
    ("base.js", EXPORTS),
    ("lab.js", include_str!("page/lab/lab.js")),
    ("state.js", include_str!("page/lab/state.js")),
    ("quantity.js", include_str!("page/lab/quantity.js")),
    ("parameters.js", include_str!("page/lab/parameters.js")),
    ("controls.js", include_str!("page/lab/controls.js")),
    ("answers.js", include_str!("page/lab/answers.js")),
    ("paths.js", include_str!("page/lab/paths.js")),
    ("inside.js", include_str!("page/lab/inside.js")),
    ("programs.js", include_str!("page/lab/programs.js")),
    ("parts.js", include_str!("page/lab/parts.js")),
    ("workloads.js", include_str!("page/lab/workloads.js")),
];

/// A file of the page, with its media type.
pub fn file(name: &str) -> Option<(&'static str, String)> {
    let (_, own) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(match name {
        "" => ("text/html; charset=utf-8", (*own).to_owned()),
        "style.css" => ("text/css; charset=utf-8", STYLE.to_owned() + own),
        "base.js" => (SCRIPT, SCRIPTS[..COMMON].join("\n") + own),
        _ => (SCRIPT, (*own).to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_only_where_it_comes_from() {
        for (name, _) in FILES {
            let (_, text) = file(name).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for address in ["http://", "https://", "@import", "url(h", "innerHTML", "eval(", " style="] {
                assert!(!text.contains(address), "{name} {address}");
            }
            let imported = text.split(" from \"./").skip(1).map(|rest| rest.split('"').next().unwrap());
            imported.for_each(|module| assert!(file(module).is_some(), "{name} imports {module}"));
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
