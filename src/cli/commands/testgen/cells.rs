//! Numbers and dates in the tables of `testgen`. An unmeasured value is `-`, never 0.

use jiff::Timestamp;

/// The cell of an unknown number.
pub const UNMEASURED: &str = "-";

/// A value that may be unmeasured.
pub fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNMEASURED.to_owned(), show)
}

/// A share from 0 to 1, or comprehensiveness.
pub fn share(value: Option<f64>) -> String {
    known(value, |value| format!("{value:.2}"))
}

/// A mean of points, tokens or the like.
pub fn mean(value: Option<f64>) -> String {
    known(value, |value| format!("{value:.1}"))
}

/// A difference, with its sign.
pub fn gain(value: Option<f64>) -> String {
    known(value, |value| format!("{value:+.1}"))
}

/// A whole number.
pub fn count(value: Option<u32>) -> String {
    known(value, |value| value.to_string())
}

/// Milliseconds as seconds.
pub fn seconds(millis: Option<f64>) -> String {
    known(millis, |millis| format!("{:.1}", millis / 1e3))
}

/// A moment in UTC.
pub fn date(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_number() {
        assert_eq!([share(None), mean(None), gain(None), count(None), seconds(None)], [UNMEASURED; 5]);
        assert_eq!(share(Some(0.0)), "0.00");
        assert_eq!(gain(Some(-2.25)), "-2.2");
        assert_eq!(gain(Some(3.0)), "+3.0");
        assert_eq!(seconds(Some(1_250.0)), "1.2");
        assert_eq!(date(Timestamp::UNIX_EPOCH), "1970-01-01 00:00:00");
    }
}
