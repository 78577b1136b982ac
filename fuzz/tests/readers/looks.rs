//! What is shown of runs: lists of events, and results for a page.

use sealsim::{
    observe::{events::Events, parting::parting},
    report::html::Page,
};

/// A list that is read is the same run as itself.
pub fn events(input: &[u8]) {
    let Some(text) = super::text(input) else { return };
    match Events::read(text) {
        Ok(events) => assert_eq!(parting(&events, &events), None),
        Err(error) => assert!(error.to_string().len() < 1_000),
    }
}

/// No result ends the script that holds it.
pub fn page(input: &[u8]) {
    let Some(text) = super::text(input) else { return };
    let Ok(page) = Page::of_json(text, text.chars().take(40).collect()) else { return };
    let html = page.html().unwrap();
    let (_, data) = html.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(data).is_ok());
}
