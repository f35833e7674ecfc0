//! Which functions reach out of the library, to sockets, threads, files or the terminal, themselves or through what they
//! call. What follows from it is decided in `contract::tier`.

use crate::symbol::{Function, Library, SymbolKey};
use std::collections::HashMap;

/// Where a function reaches to; the worse one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Realm {
    /// Files, standard streams, the environment: can be set up, but somebody must say how.
    Files,
    /// Sockets, threads, processes, signals.
    System,
}

/// What takes a function out of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach<'a> {
    pub realm: Realm,
    /// The name of the function that is called there.
    pub calls: &'a str,
    /// The library function that calls it.
    pub from: &'a Function,
}

/// What each function reaches, found callees first: the work grows with the number of calls.
pub(super) fn outside(library: &Library) -> HashMap<&SymbolKey, Reach<'_>> {
    let mut reached: HashMap<&SymbolKey, Reach> = HashMap::new();
    loop {
        let mut changed = false;
        for function in &library.functions {
            let own = function
                .externs
                .iter()
                .filter_map(|name| Some(Reach { realm: realm(name)?, calls: name, from: function }));
            let callees = function.calls.iter().chain(&function.address_taken);
            let through = callees.filter_map(|key| reached.get(key).copied());
            // The first of the worst; a function's own call before those of its callees.
            let worst =
                own.chain(through).reduce(|best, next| if next.realm > best.realm { next } else { best });
            let before = reached.get(&function.key).map(|reach| reach.realm);
            if let Some(worst) = worst.filter(|worst| Some(worst.realm) > before) {
                reached.insert(&function.key, worst);
                changed = true;
            }
        }
        // Only cycles need a second pass.
        if !changed {
            return reached;
        }
    }
}

fn realm(name: &str) -> Option<Realm> {
    match name {
        "socket" | "socketpair" | "connect" | "bind" | "listen" | "accept" | "accept4" | "send"
        | "sendto" | "sendmsg" | "recv" | "recvfrom" | "recvmsg" | "select" | "poll" | "epoll_create"
        | "epoll_wait" | "getaddrinfo" | "gethostbyname" | "pthread_create" | "pthread_join"
        | "thrd_create" | "thrd_join" | "fork" | "vfork" | "execv" | "execve" | "execvp" | "execl"
        | "execlp" | "posix_spawn" | "system" | "popen" | "waitpid" | "kill" | "signal" | "sigaction"
        | "raise" | "dlopen" | "dlsym" => Some(Realm::System),
        "printf" | "vprintf" | "fprintf" | "vfprintf" | "puts" | "putchar" | "putc" | "fputs" | "fputc"
        | "perror" | "scanf" | "vscanf" | "fscanf" | "vfscanf" | "gets" | "fgets" | "getc" | "fgetc"
        | "getchar" | "getline" | "getdelim" | "ungetc" | "fopen" | "fdopen" | "freopen" | "fclose"
        | "fread" | "fwrite" | "fflush" | "fseek" | "fseeko" | "ftell" | "ftello" | "rewind" | "feof"
        | "ferror" | "fileno" | "setvbuf" | "tmpfile" | "open" | "openat" | "creat" | "close" | "read"
        | "write" | "pread" | "pwrite" | "lseek" | "ftruncate" | "stat" | "fstat" | "lstat" | "access"
        | "unlink" | "remove" | "rename" | "mkdir" | "rmdir" | "opendir" | "readdir" | "closedir"
        | "mmap" | "munmap" | "getenv" | "setenv" | "putenv" | "isatty" | "ioctl" | "fcntl"
        | "__fprintf_chk" | "__printf_chk" => Some(Realm::Files),
        _ => None,
    }
}

/// Chance and clocks for which a harness answers from the input, to both sides alike.
pub(super) fn is_shimmed(name: &str) -> bool {
    matches!(name, "rand" | "srand" | "random" | "srandom" | "time" | "clock")
}

/// Functions on file descriptors: they repeat where the file is the harness's own.
pub(super) fn is_on_descriptors(name: &str) -> bool {
    matches!(name, "open" | "open64" | "read" | "write" | "close" | "lseek" | "lseek64" | "fcntl")
}

/// Whether a function of the system only computes: on its arguments, on memory that it allocates, on `errno`. A harness calls C
/// with any arguments; whatever is not known to be harmless then is not called.
pub(super) fn only_computes(name: &str) -> bool {
    let builtin = name.strip_prefix("__builtin_");
    let plain = builtin.unwrap_or(name);
    let plain = plain.strip_prefix("__").and_then(|name| name.strip_suffix("_chk")).unwrap_or(plain);
    let is_math = |name: &str| MATHS.contains(&name);
    let starts = |starts: &[&str], name: &str| starts.iter().any(|start| name.starts_with(start));
    COMPUTES.contains(&plain)
        || is_math(plain)
        || plain.strip_suffix(['f', 'l']).is_some_and(is_math)
        || builtin.is_some_and(|name| starts(&BUILTINS, name))
        || starts(&INTRINSICS, name)
}

/// How names begin that compilers have in the place of instructions.
const INTRINSICS: [&str; 12] = [
    "_mm_",
    "_mm256_",
    "_mm512_",
    "__sync_",
    "__atomic_",
    "__c11_atomic_",
    "_bswap",
    "_rotl",
    "_rotr",
    "_lrotl",
    "_lrotr",
    "__bswap",
];

/// The same behind `__builtin_`; a function of the system with that prefix is what it is without.
const BUILTINS: [&str; 39] = [
    "clz",
    "ctz",
    "clrsb",
    "popcount",
    "parity",
    "bswap",
    "bitreverse",
    "rotate",
    "expect",
    "assume",
    "unreachable",
    "trap",
    "prefetch",
    "constant_p",
    "object_size",
    "dynamic_object_size",
    "add_overflow",
    "sub_overflow",
    "mul_overflow",
    "sadd",
    "uadd",
    "ssub",
    "usub",
    "smul",
    "umul",
    "shuffle",
    "elementwise",
    "convertvector",
    "huge_val",
    "inf",
    "isgreater",
    "isless",
    "isunordered",
    "isfinite",
    "isnormal",
    "addc",
    "subc",
    "reduce",
    "ia32_",
];

#[rustfmt::skip]
const COMPUTES: &[&str] = &[
    "memcpy", "memmove", "memset", "memcmp", "memchr", "memrchr", "memmem", "memccpy", "mempcpy", "bcmp", "bcopy", "bzero",
    "strlen", "strnlen", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcpy", "strncpy", "stpcpy", "stpncpy", "strcat",
    "strncat", "strchr", "strrchr", "strchrnul", "strstr", "strcasestr", "strspn", "strcspn", "strpbrk", "strsep", "strdup",
    "strndup", "strlcpy", "strlcat", "strerror", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold",
    "__isoc23_strtol", "__isoc23_strtoul", "__isoc23_strtoll", "__isoc23_strtoull", "atoi", "atol", "atoll", "atof",
    "malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc", "malloc_usable_size", "alloca",
    "qsort", "bsearch", "abs", "labs", "llabs", "div", "ldiv", "lldiv", "sprintf", "snprintf", "vsprintf", "vsnprintf",
    "isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct", "isspace",
    "isupper", "isxdigit", "toupper", "tolower", "toascii", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc",
    "htonl", "htons", "ntohl", "ntohs", "ffs", "ffsl", "ffsll", "__errno_location", "abort", "exit", "_exit", "assert",
    "__assert_fail", "__assert", "__stack_chk_fail", "isnan", "isinf", "finite", "signbit", "__isnan", "__isinf", "__signbit",
    "__fpclassify", "__finite", "va_start", "va_end", "va_copy", "wcslen", "wmemcpy", "wmemset",
];

#[rustfmt::skip]
const MATHS: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb", "ldexp", "log", "log10",
    "log1p", "log2", "logb", "lrint", "lround", "llrint", "llround", "modf", "nan", "nearbyint", "nextafter", "pow", "remainder",
    "remquo", "rint", "round", "scalbn", "scalbln", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_out_of_the_library_never_only_computes() {
        for name in [
            "memcpy",
            "__memcpy_chk",
            "__builtin_memcpy",
            "sqrtf",
            "fmodl",
            "qsort",
            "__builtin_clz",
            "_mm_add_epi8",
        ] {
            assert!(only_computes(name), "{name}");
        }
        for name in [
            "kill",
            "unlink",
            "remove",
            "rename",
            "mkdir",
            "popen",
            "execl",
            "system",
            "printf",
            "unheard_of",
            "mmap",
            "prctl",
            "setuid",
            "open",
            "time",
            "getenv",
            "setlocale",
            "dlopen",
            "__builtin_printf",
            "__builtin_fork",
            "_mmap_region",
            "_rotate_logs",
        ] {
            assert!(!only_computes(name), "{name}");
        }
    }
}
