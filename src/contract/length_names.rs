//! Names of parameters that say how much memory there is.

const WORDS: [&str; 16] = [
    "len", "length", "size", "sz", "count", "cnt", "num", "cap", "capacity", "bytes", "limit", "max",
    "total", "elems", "nmemb", "avail",
];

/// Whether the name of a length names its pointer, as `srcSize` does `src` and `in_len` does `in`. Such a length
/// may stand anywhere among the parameters.
pub(super) fn names_length_of(length: &str, pointer: &str) -> bool {
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let (length, pointer) = (plain(length), plain(pointer));
    !pointer.is_empty() && length.strip_prefix(&pointer).is_some_and(|rest| WORDS.contains(&rest))
}

/// Whether a name says that it is a length.
pub(super) fn length_like(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    matches!(lower.as_str(), "n" | "m" | "l" | "k")
        || lower.starts_with("n_")
        || lower.ends_with("_n")
        || lower.split('_').any(|part| WORDS.contains(&part))
        || WORDS.iter().any(|w| lower.ends_with(w) && w.len() > 2)
}

/// Whether a name can hardly be anything else: `k` and `num_rounds` may be.
pub(super) fn size_like(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["len", "length", "size", "sz", "bytes"].iter().any(|word| lower.ends_with(word))
}
