//! What plots and tables for people call a parameter.
//!
//! The words stand as `title` next to the documentation of each field, so that a parameter is described in one place. A field's words follow
//! those of the tables around it: `engine.ghash.width` is "GHASH products per cycle", since `engine` has none, `ghash` is "GHASH" and `width`
//! "products per cycle".

use super::shape::Shape;

/// The words of the field at `path`, without its unit. None if there is no such field.
pub fn words(path: &str) -> Option<String> {
    let along = Shape::machine().along(path)?;
    along.last()?.0.words.as_ref()?;
    let words = along.iter().flat_map(|(field, item)| field.words.as_deref().into_iter().chain(*item));
    Some(words.collect::<Vec<_>>().join(" "))
}

pub fn paths() -> Vec<String> {
    Shape::machine().paths()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Role, SHIPPED};
    use std::collections::BTreeMap;

    #[test]
    fn every_parameter_has_words_and_no_two_the_same() {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        for path in Shape::machine().paths() {
            let words = words(&path).unwrap_or_else(|| panic!("{path} has no words: give its field a title"));
            assert!(!words.contains(['_', '(']) || words.ends_with(')'), "{path}: {words}");
            // Of the two engines a machine has one.
            let own = |path: &str| path.split_once('.').map_or_else(String::new, |(_, own)| own.to_owned());
            let other = known.insert(words.to_lowercase(), path.clone());
            if let Some(other) = other.filter(|other| own(other) != own(&path)) {
                panic!("{path} and {other} are both `{words}`");
            }
        }
        assert!(known.len() > 300, "{}", known.len());
    }

    #[test]
    fn every_parameter_of_shipped_machines_has_words() {
        for shipped in SHIPPED.iter().filter(|shipped| shipped.role == Role::Machine) {
            for one in Layers::new(shipped.path).resolve().unwrap().parameters {
                assert!(words(&one.path).is_some(), "{}: {}", shipped.path, one.path);
            }
        }
    }

    #[test]
    fn words_follow_those_of_the_tables_around_a_field() {
        let of = |path: &str| words(path).unwrap_or_default();
        assert_eq!(of("engine.ghash.width"), "GHASH products per cycle");
        assert_eq!(of("driver.pinned.message"), "driver pinned memory, message length");
        assert_eq!(of("engine.ghash.design"), "GHASH organisation");
        assert_eq!(of("gpu[3].link.lanes"), "GPU 3 link lanes");
        assert_eq!((words("engine.ghash.weight"), words("link[0].lanes"), words("")), (None, None, None));
    }
}
