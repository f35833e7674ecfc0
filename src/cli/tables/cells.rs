//! Numbers, dates and roles in tables. An unmeasured value is `-`, never 0.

use crate::contract::types::Parameter;
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
pub fn number<T: ToString>(value: Option<T>) -> String {
    known(value, |value| value.to_string())
}

/// A share, as in `97.5 %`.
pub fn percent(share: Option<f64>) -> String {
    known(share, |share| format!("{:.1} %", share * 100.0))
}

/// A number of tokens; `~` marks an estimate.
pub fn tokens(count: u64, estimated: bool) -> String {
    if estimated { format!("~{count}") } else { count.to_string() }
}

/// A time, as in `17.2 s`.
pub fn seconds(millis: u64) -> String {
    format!("{:.1} s", millis as f64 / 1e3)
}

/// Milliseconds in a column of seconds.
pub fn in_seconds(millis: Option<f64>) -> String {
    known(millis, |millis| format!("{:.1}", millis / 1e3))
}

/// A moment in UTC.
pub fn date(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A parameter's role, for people.
pub fn role(param: &Parameter) -> String {
    let null = if param.role.is_nullable() { " or null" } else { "" };
    let makers: Vec<String> = param.made_by.iter().map(|maker| format!("`{maker}`")).collect();
    let made =
        if makers.is_empty() { String::new() } else { format!(", every other one by {}", makers.join(", ")) };
    format!("{}{null}{made}", param.role.summary())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_number() {
        assert_eq!(
            [share(None), mean(None), gain(None), number::<u32>(None), in_seconds(None)],
            [UNMEASURED; 5]
        );
        assert_eq!(share(Some(0.0)), "0.00");
        assert_eq!(gain(Some(-2.25)), "-2.2");
        assert_eq!(gain(Some(3.0)), "+3.0");
        assert_eq!(in_seconds(Some(1_250.0)), "1.2");
        assert_eq!(date(Timestamp::UNIX_EPOCH), "1970-01-01 00:00:00");
    }
}
