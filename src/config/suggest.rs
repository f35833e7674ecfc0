//! Suggestions for misspelt names.

/// "did you mean" with the known name that is nearest to `name`, else `otherwise`.
pub(super) fn nearest_help(name: &str, known: &[&str], otherwise: &str) -> String {
    let rated = known.iter().map(|k| (strsim::jaro_winkler(name, k), k));
    match rated.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((score, nearest)) if score > 0.75 => format!("did you mean `{nearest}`?"),
        _ => otherwise.to_owned(),
    }
}
