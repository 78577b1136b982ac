//! A stretch of simulated time, as `1us..2us`.

use crate::units::Femtos;
use std::{fmt, str::FromStr};
use thiserror::Error;

/// From a time to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: Femtos,
    pub to: Femtos,
}

/// Why a text is no window.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WindowError {
    /// Something other than two times.
    #[error("`{text}` is no window: write FROM..TO, as 1us..2us, or leave one of them out")]
    Form { text: String },
    #[error("{0}")]
    Time(String),
    #[error("the window `{text}` is empty: its end must lie behind its beginning")]
    Empty { text: String },
}

impl Window {
    pub const ALL: Self = Self { from: Femtos(0), to: Femtos::MAX };

    /// Whether an instant lies in it.
    pub const fn holds(&self, time: Femtos) -> bool {
        self.from.0 <= time.0 && time.0 < self.to.0
    }

    /// Whether some of a stretch lies in it.
    pub const fn meets(&self, from: Femtos, to: Femtos) -> bool {
        from.0 < self.to.0 && to.0 > self.from.0
    }
}

impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        let form = || WindowError::Form { text: text.to_owned() };
        let (from, to) = text.split_once("..").ok_or_else(form)?;
        let time = |text: &str, other| match text.trim() {
            "" => Ok(other),
            text => text.parse().map_err(|error| WindowError::Time(format!("{error}"))),
        };
        let window = Self { from: time(from, Femtos(0))?, to: time(to, Femtos::MAX)? };
        if window.from < window.to { Ok(window) } else { Err(WindowError::Empty { text: text.to_owned() }) }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Femtos::MAX => write!(f, "{}..", self.from),
            to => write!(f, "{}..{to}", self.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_and_hold_their_beginning_only() {
        let window: Window = "1us..2us".parse().unwrap();
        assert_eq!(window, Window { from: Femtos(1_000_000_000), to: Femtos(2_000_000_000) });
        assert!(window.holds(window.from) && !window.holds(window.to));
        assert!(window.meets(Femtos(0), Femtos(1_000_000_001)) && !window.meets(Femtos(0), window.from));
        assert_eq!("..".parse(), Ok(Window::ALL));
        assert_eq!("3 ns..".parse::<Window>().unwrap().from, Femtos(3_000_000));
    }

    #[test]
    fn what_is_no_window_says_why() {
        for (text, why) in [("1us", "no window"), ("2us..1us", "empty"), ("1us..1us", "empty"), ("a..b", "a")] {
            let error = text.parse::<Window>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
