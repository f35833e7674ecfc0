//! Properties of libc functions. `functions.txt` is the only list of them; this module answers every question about such
//! a function.

use std::collections::HashMap;
use std::sync::LazyLock;

const TEXT: &str = include_str!("functions.txt");

/// The rows of `functions.txt` by name. The text is compiled in, so reading it cannot fail at run time.
static TABLE: LazyLock<HashMap<&'static str, Row>> =
    LazyLock::new(|| read(TEXT).expect("a test reads functions.txt"));

/// Functions that are another one under another name.
const SAME: [(&str, &str); 10] = [
    ("getc", "fgetc"),
    ("putc", "fputc"),
    ("fseeko", "fseek"),
    ("ftello", "ftell"),
    ("fseeko64", "fseek"),
    ("ftello64", "ftell"),
    ("fopen64", "fopen"),
    ("tmpfile64", "tmpfile"),
    ("lseek64", "lseek"),
    ("open64", "open"),
];

/// What a function touches besides its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Effect {
    /// Nothing but memory that it allocates and `errno`.
    Computes,
    /// Any other state that outlives the call.
    State,
    Random,
    Clock,
    Environment,
    /// Files through descriptors.
    Descriptors,
    Files,
    /// Streams, including the standard ones.
    Stdio,
    Network,
    Threads,
    Processes,
    Signals,
    Loader,
}

/// How a port may use a libc function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
pub enum ForPorts {
    /// The port may call it through `libc`.
    #[strum(serialize = "yes")]
    Call,
    /// The port may reach it through Rust's own libraries.
    #[strum(serialize = "link")]
    Link,
    /// The port may call it where its C original does.
    #[strum(serialize = "-")]
    AsOriginal,
    /// The port may never call it. It leads to the C library, or it ends the process before anything is reported.
    #[strum(serialize = "never")]
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
enum Mark {
    Answered,
    Allocates,
    Frees,
    Back,
    Ends,
    Erases,
    Errno,
    Floats,
    Keeps,
    Locale,
    Math,
    Opens,
    Quiet,
    Varargs,
}

/// How a function uses a pointer argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerUse {
    pub reads: bool,
    pub writes: bool,
    /// It is read up to its NUL.
    pub string: bool,
    /// Index of the argument that gives the number of bytes.
    pub size: Option<usize>,
}

#[derive(Debug)]
struct Row {
    effect: Effect,
    ports: ForPorts,
    marks: Vec<Mark>,
    arguments: Vec<Option<PointerUse>>,
    /// Whether further (variadic) arguments are used like the last one.
    rest: bool,
    /// How a call is kept on a tape, where it can be.
    tape: Option<Taped>,
}

/// How a call is kept on a tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taped {
    /// As the bytes that it prints.
    Printed,
    /// By its arguments.
    By(Vec<TapedArgument>),
}

/// What an argument of a call that is kept on a tape means to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapedArgument {
    Ignored,
    /// A number or an address.
    Word,
    Int,
    /// The stream that the bytes of the first argument go to.
    Stream,
    Byte,
    String,
    /// As many bytes are read as this argument says, or these two multiplied.
    Read(usize, Option<usize>),
    /// At most so many bytes are written: as many items as the call returns.
    Written(usize, Option<usize>),
    /// A string of at most as many bytes as this argument says is written.
    Text(usize),
    /// So many bytes are written, where it is not null.
    Fixed(usize),
    /// The result is written there, too, so many bytes, where it is not null.
    Result(usize),
    /// The mode of a file, which counts if the flags in this argument make one.
    Mode(usize),
}

impl Row {
    fn has(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }
}

fn read(text: &'static str) -> Result<HashMap<&'static str, Row>, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| row(line).ok_or_else(|| format!("functions.txt: `{line}`"))).collect()
}

fn row(line: &'static str) -> Option<(&'static str, Row)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let (cells, tape) = match cells.split_at_checked(5)? {
        (cells, []) => (cells, None),
        (cells, ["none"]) => (cells, Some(Taped::By(Vec::new()))),
        (cells, ["printed"]) => (cells, Some(Taped::Printed)),
        (cells, [tape]) => {
            let arguments = tape.split_whitespace().map(taped_argument).collect::<Option<_>>()?;
            (cells, Some(Taped::By(arguments)))
        }
        _ => return None,
    };
    let [name, effect, ports, marks, arguments] = cells[..] else { return None };
    let rest = arguments.ends_with('+');
    let arguments =
        arguments.trim_end_matches('+').split_whitespace().map(argument).collect::<Option<_>>()?;
    let marks = marks.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (effect, ports) = (effect.parse().ok()?, ports.parse().ok()?);
    Some((name, Row { effect, ports, marks, arguments, rest, tape }))
}

fn taped_argument(word: &str) -> Option<TapedArgument> {
    let (kind, rest) = word.split_at(1);
    let (a, b) = rest.split_once('*').map_or((rest, None), |(a, b)| (a, Some(b)));
    let (a, b) = (a.parse().ok(), b.map(str::parse).transpose().ok()?);
    Some(match (kind, a, b) {
        ("-", None, None) => TapedArgument::Ignored,
        ("v", None, None) => TapedArgument::Word,
        ("i", None, None) => TapedArgument::Int,
        ("o", None, None) => TapedArgument::Stream,
        ("b", None, None) => TapedArgument::Byte,
        ("s", None, None) => TapedArgument::String,
        ("r", Some(a), b) => TapedArgument::Read(a, b),
        ("w", Some(a), b) => TapedArgument::Written(a, b),
        ("z", Some(a), None) => TapedArgument::Text(a),
        ("f", Some(bytes), None) => TapedArgument::Fixed(bytes),
        ("t", Some(bytes), None) => TapedArgument::Result(bytes),
        ("m", Some(flags), None) => TapedArgument::Mode(flags),
        _ => return None,
    })
}

fn argument(word: &str) -> Option<Option<PointerUse>> {
    if word == "-" {
        return Some(None);
    }
    let (kind, size) = word.split_at(1);
    let size = (!size.is_empty()).then(|| size.parse().ok());
    let size = if let Some(size) = size { Some(size?) } else { None };
    let is = |letter| kind == letter;
    (is("r") || is("w") || is("s") || is("a")).then(|| {
        Some(PointerUse { reads: !is("w"), writes: is("w") || is("a"), string: is("s") || is("a"), size })
    })
}

/// The row of a function under the name in C text: fortified, with `__builtin_`, or under the prefix of a newer
/// standard.
fn find(name: &str) -> Option<&'static Row> {
    TABLE.get(name).or_else(|| TABLE.get(plain(name)))
}

fn plain(name: &str) -> &str {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let fortified = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk"));
    fortified.unwrap_or(without_standard(name))
}

/// The name without the prefix of a newer standard: headers, and the crate `libc`, bind `sscanf` to `__isoc99_sscanf`.
pub fn without_standard(name: &str) -> &str {
    name.strip_prefix("__isoc23_").or_else(|| name.strip_prefix("__isoc99_")).unwrap_or(name)
}

fn has(name: &str, mark: Mark) -> bool {
    find(name).is_some_and(|row| row.has(mark))
}

/// Whether it is a mathematical function, possibly with the suffix of another float type.
fn is_math(name: &str, suffixes: &[char], ports: Option<ForPorts>) -> bool {
    let named = |name: &str| {
        TABLE.get(name).is_some_and(|row| row.has(Mark::Math) && ports.is_none_or(|ports| row.ports == ports))
    };
    named(name) || name.strip_suffix(suffixes).is_some_and(named)
}

/// What the function touches besides its arguments; `None` where it is unknown.
pub fn effect(name: &str) -> Option<Effect> {
    find(name).map(|row| row.effect)
}

/// Whether a libc function only computes: on its arguments, on memory that it allocates, and on `errno`. A harness
/// calls C with arbitrary arguments, so it must not reach functions that are not known to be harmless.
pub fn only_computes(name: &str) -> bool {
    effect(name) == Some(Effect::Computes) || is_math(plain(name), &['f', 'l'], None) || is_of_compiler(name)
}

/// Whether compilers turn it into instructions.
fn is_of_compiler(name: &str) -> bool {
    let starts = |starts: &[&str], name: &str| starts.iter().any(|start| name.starts_with(start));
    name.strip_prefix("__builtin_").is_some_and(|name| starts(&BUILTINS, name)) || starts(&INTRINSICS, name)
}

/// Whether it may ask the operating system for more than memory.
pub fn asks_system(name: &str) -> bool {
    !only_computes(name) && !is_answered(name) && effect(name) != Some(Effect::State)
}

/// Whether equal arguments always give equal results and the call leaves no state behind.
pub fn is_stateless(name: &str) -> bool {
    only_computes(name) && !has(name, Mark::Keeps)
}

/// Whether it is a source of randomness or time, for which the harness gives both sides the same values from the
/// input.
pub fn is_answered(name: &str) -> bool {
    TABLE.get(name).is_some_and(|row| row.has(Mark::Answered))
}

/// Whether it works on file descriptors: its results repeat where the harness owns the file.
pub fn is_on_descriptors(name: &str) -> bool {
    effect(name) == Some(Effect::Descriptors)
}

/// Whether `errno` is part of the function's result.
pub fn sets_errno(name: &str) -> bool {
    has(name, Mark::Errno)
}

/// Whether it leaves `errno` alone whatever it is given, or does not return.
pub fn leaves_errno(name: &str) -> bool {
    let is_quiet = |row: &Row| row.has(Mark::Math) && row.has(Mark::Quiet);
    has(name, Mark::Quiet)
        || ends(name)
        || is_of_compiler(name)
        || plain(name).strip_suffix(['f', 'l']).and_then(|name| TABLE.get(name)).is_some_and(is_quiet)
}

/// Whether it is a system call, or leads to one, whose failure `errno` explains. Those that print are not among them.
pub fn reports_errno(name: &str) -> bool {
    use Effect::{Descriptors, Files, Network, Processes};
    matches!(effect(name), Some(Descriptors | Files | Network | Processes))
}

/// Whether it returns a new block that the harness's allocation ledger records.
pub fn allocates(name: &str) -> bool {
    has(name, Mark::Allocates)
}

/// Whether it reads a text as a float: words such as `inf` and `0x1p3` mean numbers to it.
pub fn reads_floats(name: &str) -> bool {
    has(name, Mark::Floats)
}

/// Whether it frees the block in its first argument.
pub fn frees(name: &str) -> bool {
    has(name, Mark::Frees)
}

/// Whether it erases memory, and compilers must keep the call even if nothing reads that memory again.
pub fn erases(name: &str) -> bool {
    has(name, Mark::Erases)
}

/// Whether it returns null or a pointer into its first argument.
pub fn leads_back(name: &str) -> bool {
    has(name, Mark::Back)
}

/// Whether it prints or scans by a format.
pub fn has_format(name: &str) -> bool {
    has(name, Mark::Varargs)
}

/// Whether it opens a file by a path, or a stream on a descriptor.
pub fn opens(name: &str) -> bool {
    has(name, Mark::Opens)
}

/// The function that it is under another name, if any.
pub fn same_as(name: &str) -> Option<&'static str> {
    SAME.iter().find(|(other, _)| *other == name).map(|(_, same)| *same)
}

/// Whether it ends the process.
pub fn ends(symbol: &str) -> bool {
    TABLE.get(symbol).is_some_and(|row| row.has(Mark::Ends))
}

/// How it uses the pointer at this position; `None` where that is unknown.
pub fn pointer_use(name: &str, position: usize) -> Option<PointerUse> {
    let row = find(name)?;
    let beyond = || row.arguments.last().filter(|_| row.rest);
    *row.arguments.get(position).or_else(beyond)?
}

/// How a call of the function of exactly this name is kept on a tape; `None` where it cannot be.
pub fn taped(name: &str) -> Option<&'static Taped> {
    TABLE.get(name)?.tape.as_ref()
}

/// How a port may use the function of exactly this name, or of this name under the prefix of a newer standard.
pub fn for_ports(name: &str) -> ForPorts {
    if name.starts_with("exec") || name.starts_with("posix_spawn") {
        return ForPorts::Never;
    }
    let link = || is_math(name, &['f'], Some(ForPorts::Link)).then_some(ForPorts::Link);
    TABLE.get(without_standard(name)).map(|row| row.ports).or_else(link).unwrap_or(ForPorts::AsOriginal)
}

/// Prefixes of compiler intrinsics, which stand for instructions, and of glibc's functions behind `htole32` and its like.
const INTRINSICS: [&str; 15] = [
    "_mm_", "_mm256_", "_mm512_", "__sync_", "__atomic_", "__c11_atomic_", "_bswap", "_rotl", "_rotr",
    "_lrotl", "_lrotr", "__bswap", "__uint16_identity", "__uint32_identity", "__uint64_identity",
];

/// Names after `__builtin_` that are intrinsics; a libc function with that prefix is judged without it.
const BUILTINS: [&str; 47] = [
    "clz", "ctz", "clrsb", "popcount", "parity", "bswap", "bitreverse", "rotate", "expect", "assume",
    "unreachable", "trap", "prefetch", "constant_p", "object_size", "dynamic_object_size", "add_overflow",
    "sub_overflow", "mul_overflow", "sadd", "uadd", "ssub", "usub", "smul", "umul", "shuffle", "elementwise",
    "convertvector", "huge_val", "inf", "isgreater", "isless", "isunordered", "isfinite", "isnormal", "addc",
    "subc", "reduce", "ia32_", "isinf", "isnan", "isfpclass", "issignaling", "signbit", "fpclassify", "nan",
    "flt_rounds",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_read_and_stands_in_its_order() {
        let table = read(TEXT).unwrap();
        let names: Vec<&str> = TEXT
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.split('|').next().unwrap().trim())
            .collect();
        assert!(
            names.is_sorted() && names.len() == table.len(),
            "a name stands twice, or in the wrong place"
        );
        for (name, row) in &table {
            let reaches_out = !matches!(row.effect, Effect::Computes);
            assert!(!(reaches_out && matches!(row.ports, ForPorts::Call | ForPorts::Link)), "{name}");
            assert!(reaches_out || !row.has(Mark::Answered), "{name}");
            assert!(!row.has(Mark::Quiet) || !reaches_out && !row.has(Mark::Errno), "{name}");
        }
        assert!(read("x | computes | yes | wrong |").is_err() && read("x | computes | yes |").is_err());
    }

    #[test]
    fn the_harness_answers_exactly_what_the_table_says() {
        let wrapped = include_str!("../../templates/fuzz/runtime/chance.c");
        let answers = |name: &str| wrapped.contains(&format!("__wrap_{name}("));
        for (name, row) in read(TEXT).unwrap() {
            assert_eq!(row.has(Mark::Answered), answers(name), "{name}");
        }
    }

    #[test]
    fn the_ledger_knows_every_block_that_the_table_says_is_new() {
        let ledger = include_str!("../../templates/fuzz/runtime/ledger.c");
        let wrapped: Vec<&str> = include_str!("../../templates/fuzz/wraps.txt").lines().collect();
        for (name, _) in read(TEXT).unwrap().into_iter().filter(|(_, row)| row.has(Mark::Allocates)) {
            assert!(ledger.contains(&format!("__wrap_{name}(")) && wrapped.contains(&name), "{name}");
        }
    }

    #[test]
    fn equal_arguments_get_equal_answers() {
        for name in ["strnlen", "isdigit", "memcmp", "strtoul", "__builtin_clz", "sqrtf", "abort"] {
            assert!(is_stateless(name), "{name}");
        }
        for name in ["strerror", "strtok", "rand", "time", "getenv", "unheard_of", "setlocale"] {
            assert!(!is_stateless(name), "{name}");
        }
    }

    #[test]
    fn fortified_names_are_the_same_functions() {
        for name in ["memcpy", "__builtin___memcpy_chk", "__memcpy_chk", "__builtin_memcpy"] {
            assert_eq!(pointer_use(name, 1).and_then(|used| used.size), Some(2), "{name}");
            assert!(leads_back(name) && !allocates(name));
        }
        assert!(sets_errno("__isoc23_strtol") && allocates("__builtin_strdup"));
        assert!(leaves_errno("__memcpy_chk") && !leaves_errno("malloc") && !leaves_errno("unheard_of"));
        assert!(pointer_use("unheard_of", 0).is_none() && pointer_use("strlen", 1).is_none());
        assert!(pointer_use("snprintf", 7).is_some_and(|used| used.string));
        assert_eq!(pointer_use("snprintf", 1), None);
    }

    /// What `-D_FILE_OFFSET_BITS=64` makes of some names.
    #[test]
    fn names_for_large_files_are_the_same_functions() {
        let table = read(TEXT).unwrap();
        let large =
            table.iter().filter_map(|(name, row)| Some((name, row, table.get(name.strip_suffix("64")?)?)));
        let mut count = 0;
        for (name, row, plain) in large {
            assert_eq!(
                (row.effect, &row.marks, &row.tape),
                (plain.effect, &plain.marks, &plain.tape),
                "{name}"
            );
            count += 1;
        }
        assert!(count >= 6 && table.contains_key("tmpfile64"));
    }

    #[test]
    fn ports_may_call_what_computes_and_never_what_leads_to_c() {
        assert_eq!(for_ports("strtol"), ForPorts::Call);
        assert_eq!(for_ports("__isoc99_sscanf"), ForPorts::Call);
        assert_eq!(for_ports("__isoc99_fscanf"), ForPorts::AsOriginal);
        assert_eq!(for_ports("sinf"), ForPorts::Link);
        assert_eq!(for_ports("getenv"), ForPorts::AsOriginal);
        assert_eq!(for_ports("__memcpy_chk"), ForPorts::AsOriginal);
        assert_eq!(for_ports("dlsym"), ForPorts::Never);
        assert_eq!(for_ports("execveat"), ForPorts::Never);
    }

    #[test]
    fn what_reaches_out_of_the_library_never_only_computes() {
        for name in [
            "memcpy", "__memcpy_chk", "__builtin_memcpy", "sqrtf", "fmodl", "qsort", "__builtin_clz",
            "__builtin_isinf_sign", "__builtin_flt_rounds", "_mm_add_epi8",
        ] {
            assert!(only_computes(name), "{name}");
        }
        for name in [
            "kill", "unlink", "remove", "rename", "mkdir", "popen", "execl", "system", "printf",
            "unheard_of", "mmap", "prctl", "setuid", "open", "time", "getenv", "setlocale", "dlopen",
            "__builtin_printf", "__builtin_fork", "_mmap_region", "_rotate_logs",
        ] {
            assert!(!only_computes(name), "{name}");
        }
    }
}
