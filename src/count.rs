//! Numbers with their nouns, for texts that people read. Not here: tables, which have no nouns beside numbers.

use std::fmt::Display;

/// "1 function", "2 functions", "0 functions". The last word takes the plural.
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = match noun {
        _ if number == "1" => "",
        _ if ["ch", "s", "x"].iter().any(|end| noun.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn one_has_no_plural() {
        assert_eq!(count(0, "function"), "0 functions");
        assert_eq!(count(1, "function"), "1 function");
        assert_eq!(count(2_u64, "model call"), "2 model calls");
        assert_eq!(count(1, "branch") + ", " + &count(3, "branch"), "1 branch, 3 branches");
    }
}
