//! The time, handed in, so that every deadline can be tested without waiting.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, UTC.
pub type Moment = u64;

/// Tells the time.
pub trait Clock {
    /// Now.
    fn now(&self) -> Moment;
}

/// The system's clock. Before 1970 it says 0: everything is then in the future and refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        millis(since.unwrap_or_default())
    }
}

/// A duration in the clock's unit.
pub(super) fn millis(duration: Duration) -> Moment {
    Moment::try_from(duration.as_millis()).unwrap_or(Moment::MAX)
}

/// `2026-03-01 14:05:09 UTC`.
pub fn utc(moment: Moment) -> String {
    let seconds = moment / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The civil date of a day since 1970, counted in eras of 400 years that begin in March.
fn date(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let of_era = z % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_399_000), "2000-02-28 23:59:59 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_709_251_199_000), "2024-02-29 23:59:59 UTC");
        assert_eq!(utc(4_102_444_800_000), "2100-01-01 00:00:00 UTC");
    }
}
