//! Which symbols outside its crate a port may reach: those that only compute, allocate or panic.
//! What functions of the C library do is in `libc_facts/functions.txt`.

use super::objects::path;
use crate::audit::links_to;
use crate::libc_facts as libc;
use std::collections::BTreeSet;

/// Crates of Rust's own libraries that only compute; of `std` some modules do.
const CRATES: [&str; 5] = ["core", "alloc", "hashbrown", "compiler_builtins", "__rustc"];
const STD: [&str; 9] = ["alloc", "panicking", "collections", "f32", "f64", "num", "ascii", "ffi", "hash"];
/// What of `std::panicking` does more than panic.
const CATCHING: [&str; 6] = ["catch_unwind", "try", "set_hook", "take_hook", "update_hook", "panicking"];

/// Where `HashMap` has the keys of its hash from: random numbers, once in each thread. Results that depend on them differ
/// from run to run.
const KEYS: [&str; 2] =
    ["std::sys::random::linux::hashmap_random_keys", "std::thread::local::panic_access_error"];

/// What rustc and LLVM themselves call beside functions of C's library: wide numbers, unwinding, what the instrumentation counts with.
#[rustfmt::skip]
const COMPILER: [&str; 26] = [
    "rust_eh_personality", "_Unwind_Resume",
    "__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rust_alloc_zeroed", "__rust_no_alloc_shim_is_unstable",
    "_GLOBAL_OFFSET_TABLE_", "__sancov_lowest_stack", "__tls_get_addr", "__udivti3", "__umodti3", "__divti3",
    "__modti3", "__multi3", "__muloti4", "__mulodi4", "__ashlti3", "__ashrti3", "__lshrti3", "__udivmodti4",
    "__popcountdi2", "__powidf2", "__powisf2", "__start___sancov_cntrs", "__stop___sancov_cntrs",
];
const COMPILER_STARTS: [&str; 8] = [
    "__sanitizer_cov_", "__start___sancov_", "__stop___sancov_", "__fix", "__float", "__extend", "__trunc",
    "DW.ref.",
];

/// Functions that print, and what LLVM puts in their place where the text is known.
const INSTEAD: [(&str, &[&str]); 5] = [
    ("fprintf", &["fwrite", "fputs", "fputc"]),
    ("fputs", &["fwrite", "fputc"]),
    ("fwrite", &["fputc"]),
    ("printf", &["puts", "putchar"]),
    ("puts", &["putchar"]),
];

/// Whether C's calls lead to this symbol, also where a compiler puts one function in another's place.
pub(super) fn is_called(symbol: &str, externs: &BTreeSet<&str>) -> bool {
    let instead = |(of, others): &(&str, &[&str])| externs.contains(of) && others.contains(&symbol);
    let is_same = |name: &&str| libc::same_as(name) == Some(symbol);
    let symbol = libc::without_standard(symbol);
    externs.contains(symbol) || externs.iter().any(is_same) || INSTEAD.iter().any(instead)
}

/// Why a port may not lead to this symbol, if it may not; `by_c` says that the C original calls it as well.
pub(super) fn why_not(symbol: &str, by_c: bool, krate: &str) -> Option<String> {
    if symbol.starts_with("_R") || symbol.starts_with("_ZN") {
        let path = path(symbol);
        let is_out = !KEYS.contains(&path.as_str()) && leads_out(&path, krate);
        return is_out.then(|| format!("`{path}`"));
    }
    let is_made = COMPILER.contains(&symbol) || COMPILER_STARTS.iter().any(|start| symbol.starts_with(start));
    (!is_made && !links_to(symbol, by_c)).then(|| format!("the symbol `{symbol}`"))
}

/// Whether a path, generics and traits in it included, mentions a crate or module that reaches further than a port may.
fn leads_out(path: &str, krate: &str) -> bool {
    let words = path.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
    let mut parts = words.map(|word| word.trim_end_matches(':').split("::"));
    parts.any(|mut names| match (names.next().unwrap_or_default(), names.next()) {
        ("std", Some("panicking")) => names.next().is_some_and(|name| CATCHING.contains(&name)),
        // Behind a closing bracket, or a single name such as a primitive type.
        ("", _) | (_, None) => false,
        ("std", Some(module)) => !STD.contains(&module),
        (first, _) => first != krate && !CRATES.contains(&first),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_is_allowed_and_the_system_is_not() {
        for symbol in [
            "_RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt",
            "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
            "_ZN3std9panicking11begin_panic17h0123456789abcdefE",
            "_ZN3kit8checksum9kit_crc3217h70bfed82533e1a7aE",
            "memcpy",
            "sinf",
            "fmod",
            "strtol",
            "__sanitizer_cov_trace_cmp4",
        ] {
            assert_eq!(why_not(symbol, false, "kit"), None, "{symbol}");
        }
        for symbol in [
            "_ZN3std3env7_var_os17h0123456789abcdefE",
            "_ZN48_$LT$std..fs..File$u20$as$u20$std..io..Write$GT$5write17h0123456789abcdefE",
            "_ZN5other4call17h0123456789abcdefE",
            "_ZN3std9panicking12catch_unwind17h0123456789abcdefE",
            "_ZN3std9panicking3try7cleanup17h0123456789abcdefE",
            "_ZN3std9panicking8set_hook17h0123456789abcdefE",
            "dlsym",
            "getenv",
            "open",
            "socket",
            "execve",
            "c_kit_crc32",
            "implfuzz_guard",
            "__sanitizer_get_ownership",
            "LLVMFuzzerTestOneInput",
        ] {
            assert!(why_not(symbol, false, "kit").is_some(), "{symbol}");
        }
    }

    #[test]
    fn what_c_calls_its_port_may_call_but_never_the_linker() {
        assert_eq!(why_not("getenv", true, "kit"), None);
        assert!(why_not("dlsym", true, "kit").is_some());
        assert!(why_not("_exit", true, "kit").is_some());
        assert!(why_not("exit", false, "kit").is_some() && why_not("exit", true, "kit").is_none());
        let externs = BTreeSet::from(["fprintf"]);
        assert!(is_called("fprintf", &externs) && is_called("fwrite", &externs));
        assert!(is_called("fputc", &BTreeSet::from(["fwrite"])));
        assert!(
            is_called("fgetc", &BTreeSet::from(["getc"])) && !is_called("getc", &BTreeSet::from(["fgetc"]))
        );
        assert!(is_called("__isoc99_fscanf", &BTreeSet::from(["fscanf"])));
        assert!(!is_called("puts", &externs) && !is_called("fwrite", &BTreeSet::from(["fread", "fputc"])));
    }
}
