//! Dates and durations as files give them.

/// Longest time from the first to the last event, ns: a year. More is two clocks.
pub(super) const SPAN: u64 = 366 * 86_400 * 1_000_000_000;
/// More nanoseconds than any date has.
const MOST: i128 = 1 << 62;

#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    /// Start, such that later ones are larger. The builder makes them count from the first event.
    pub start: u64,
    /// Duration, ns.
    pub duration: u64,
}

impl Time {
    /// Start and duration in ns. The error is what is wrong with them.
    pub fn new(start: i128, duration: i128) -> Result<Self, String> {
        if start.abs() >= MOST {
            return Err(format!("a start of {start} ns is no date"));
        }
        if duration < 0 {
            return Err(format!("ends {} ns before it starts", -duration));
        }
        if duration >= i128::from(SPAN) {
            return Err(format!("a duration of {duration} ns is more than a year"));
        }
        // Both conversions fit by what is checked above.
        Ok(Self { start: (start + MOST) as u64, duration: duration as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_starts_are_larger_and_what_is_no_time_is_refused() {
        let start = |ns| Time::new(ns, 0).unwrap().start;
        assert!(start(-MOST + 1) < start(-1) && start(-1) + 1 == start(0) && start(0) < start(MOST - 1));
        assert!(Time::new(MOST, 0).is_err() && Time::new(-MOST, 0).is_err() && Time::new(i128::MIN + 1, 0).is_err());
        assert_eq!(Time::new(5, -3).unwrap_err(), "ends 3 ns before it starts");
        assert!(Time::new(0, i128::from(SPAN) - 1).is_ok() && Time::new(0, i128::from(SPAN)).is_err());
    }
}
