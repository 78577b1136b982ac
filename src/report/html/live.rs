//! The page of a run that goes on, which a server feeds.

use super::island::{filled, hash, script_on_common, style, text};

const SHELL: &str = include_str!("page/live.html");
const OWN_STYLE: &str = include_str!("page/live.css");
const OWN_SCRIPT: &str = include_str!("page/live.js");

/// A page that asks where it comes from for `state`, and posts `pause`, `go`, `step`, `record` and `close` there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePage {
    pub html: String,
    /// What it may do, as the header `Content-Security-Policy` says it.
    pub policy: String,
}

impl LivePage {
    pub fn new(machine: &str) -> Self {
        let (style, script) = (style() + OWN_STYLE, script_on_common(&[OWN_SCRIPT]));
        let html = filled(SHELL, &[("title", &text(machine)), ("style", &style), ("script", &script)]);
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'self'",
            hash(&style),
            hash(&script)
        );
        Self { html, policy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_fetches_nothing_but_its_state() {
        let LivePage { html, policy } = LivePage::new("a </title><script>alert(1)</script> machine");
        for address in ["http://", "https://", " src=", "@import", "url(h", "XMLHttpRequest", "innerHTML"] {
            assert!(!html.replace("http://www.w3.org/2000/svg", "").contains(address), "{address}");
        }
        assert_eq!((html.matches("<script").count(), html.matches("</title").count()), (1, 1));
        assert!(!html.contains("{{") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(policy.matches("sha256-").count(), 2);
    }
}
