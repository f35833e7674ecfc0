//! Which functions do more than compute, by the names that objects have for them.

use crate::libc_facts::{effect, is_stateless, only_computes};

/// What the judge has in place of functions of the system, beside those that leave the process.
pub(super) const REPLACED: [&str; 28] = [
    "malloc", "free", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "posix_memalign",
    "malloc_usable_size", "strdup", "strndup", "wcsdup", "exit", "_exit", "_Exit", "abort", "__assert_fail",
    "signal", "sysv_signal", "__sysv_signal", "sigaction", "sigaltstack", "setitimer", "setsid", "setpgid",
    "daemon", "sigprocmask", "pthread_sigmask",
];

/// Those of them that a library may define for itself: the judge does not need the system's.
pub(super) const MAY_BE_OWN: [&str; 10] = [
    "reallocarray", "strdup", "strndup", "wcsdup", "signal", "sysv_signal", "__sysv_signal", "setsid",
    "setpgid", "daemon",
];

/// Jumps that leave calls.
const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];

/// Further names with an underscore that only compute.
const COMPUTING: [&str; 19] = [
    "_setjmp", "__sigsetjmp", "__memcmpeq", "__rawmemchr", "__ctype_get_mb_cur_max", "__fdelt_chk",
    "__fdelt_warn", "__chk_fail", "__fortify_fail", "__tls_get_addr", "__dynamic_cast", "__clear_cache",
    "__xpg_basename", "__sched_cpucount", "__cmsg_nxthdr", "_obstack_begin", "_obstack_begin_1",
    "_obstack_newchunk", "_obstack_free",
];

/// Names of C++ that register or run what happens at the end of the process or of a thread.
const AT_END: [&str; 4] =
    ["__cxa_atexit", "__cxa_thread_atexit", "__cxa_thread_atexit_impl", "__cxa_finalize"];

/// The starts of the names that C++, Rust, compilers and linkers make: of their functions, and of their variables.
const MADE: [&str; 25] = [
    "__rust", "__rg_", "__rdl_", "_Unwind_", "__cxa_", "__gxx_", "__gcc_", "__gnu_", "__asan_", "__ubsan_",
    "__sanitizer_", "__sancov_", "__llvm_", "__start_", "__stop_", "__aarch64_", "__emutls_", "__cpu_",
    "__stack_chk_", "__dso_handle", "_GLOBAL_OFFSET_TABLE_", "_TLS_MODULE_BASE_", "_DYNAMIC", "__ehdr_start",
    "_ITM_",
];

/// What compilers call for arithmetic that the machine does not have: a word of these, and the kinds of the numbers.
const ARITHMETIC: [&str; 32] = [
    "absv", "add", "sub", "mul", "div", "udiv", "mod", "umod", "neg", "ashl", "ashr", "lshr", "cmp", "ucmp",
    "clz", "ctz", "ffs", "parity", "popcount", "bswap", "fix", "float", "extend", "trunc", "powi", "eq",
    "ne", "ge", "gt", "le", "lt", "unord",
];
const KINDS: [&str; 17] = [
    "qi", "hi", "si", "di", "ti", "hf", "bf", "sf", "df", "xf", "tf", "hc", "sc", "dc", "xc", "tc", "bitint",
];

/// Whether a call of the function ends the judging of a call.
pub(super) fn leaves(name: &str) -> bool {
    if REPLACED.contains(&name) || name.starts_with("implfuzz_") {
        return false;
    }
    if JUMPS.contains(&name) {
        return true;
    }
    if effect(name).is_some() {
        return !is_stateless(name);
    }
    !only_computes(name) && !is_made(name) && !is_other_name(name)
}

/// Whether it is none of the C library.
fn is_made(name: &str) -> bool {
    COMPUTING.contains(&name)
        || is_arithmetic(name)
        || is_mangled(name)
        || MADE.iter().any(|start| name.starts_with(start))
            && !AT_END.contains(&name)
            && !name.contains("at_quick_exit")
}

/// Whether it is a name of C++ or of Rust.
fn is_mangled(name: &str) -> bool {
    let is = |start: &str, next: fn(char) -> bool| {
        name.strip_prefix(start).and_then(|rest| rest.chars().next()).is_some_and(next)
    };
    is("_Z", |next| next.is_ascii_alphanumeric())
        || is("_R", |next| matches!(next, 'N' | 'I' | 'M' | 'X' | 'Y' | 'C' | 'B'))
}

fn is_arithmetic(name: &str) -> bool {
    let Some(name) = name.strip_prefix("__") else { return false };
    let kinds = name.trim_end_matches(|last: char| last.is_ascii_digit());
    ARITHMETIC.iter().any(|word| name.starts_with(word)) && KINDS.iter().any(|kind| kinds.ends_with(kind))
}

/// Whether it is a name with an underscore of a function that only computes: headers and compilers use such names. The
/// judge has nothing in place of one.
fn is_other_name(name: &str) -> bool {
    let bare = name.trim_start_matches('_');
    let bare = ["libc_", "IO_"].iter().find_map(|start| bare.strip_prefix(start)).unwrap_or(bare);
    let bare = ["_internal", "_finite"].iter().find_map(|end| bare.strip_suffix(end)).unwrap_or(bare);
    let computes = |name: &str| is_stateless(name) && !REPLACED.contains(&name);
    // Some have a suffix for the kind of the float.
    let of_floats = [name, bare].into_iter().filter_map(|name| name.strip_suffix(['f', 'l']));
    name.starts_with('_') && of_floats.chain([bare]).any(computes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_an_underscore_are_what_they_mean() {
        for name in [
            "__sysv_signal_of_tomorrow", "__bsd_signal", "__sigaction", "__xstat", "__xstat64", "__fxstat",
            "__lxstat", "__fxstatat", "__open_2", "__open64_2", "__openat_2", "__read_chk", "__pread_chk",
            "__recv_chk", "__poll_chk", "__printf_chk", "__fprintf_chk", "__vfprintf_chk", "__vprintf_chk",
            "__dprintf_chk", "__syslog_chk", "__fgets_chk", "__fread_chk", "__gets_chk", "__getcwd_chk",
            "__isoc99_fscanf", "__isoc99_scanf", "__isoc23_scanf", "_IO_getc", "_IO_putc", "__overflow",
            "__uflow", "__getdelim", "__fork", "__libc_fork", "__libc_system", "__close", "__write",
            "__pipe", "__clone", "__register_atfork", "__cxa_atexit", "__cxa_thread_atexit_impl",
            "_flushlbf", "__fpurge", "__gettimeofday", "__secure_getenv", "__longjmp_chk", "_longjmp",
            // Blocks of the system's own allocator.
            "__strdup", "__strndup", "__libc_malloc", "__libc_free", "__libc_memalign", "__asprintf_chk",
            // Of nobody.
            "_app_hook", "__unheard_of", "_unheard_of_chk", "_RegisterHook", "_Z", "__cxa_at_quick_exit",
            "__cxa_finalize",
        ] {
            assert!(leaves(name), "{name}");
        }
        for name in [
            "__isoc99_sscanf", "__isoc23_sscanf", "__isoc23_strtol", "__isoc23_strtoull", "__memcpy_chk",
            "__strcpy_chk", "__sprintf_chk", "__snprintf_chk", "__vsnprintf_chk", "__explicit_bzero_chk",
            "__fdelt_chk", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__errno_location",
            "__assert_fail", "__stack_chk_fail", "__stack_chk_guard", "__strtol_internal", "__strtok_r",
            "__mempcpy", "__stpcpy", "__strcasecmp", "__bzero", "__exp_finite", "__expf_finite", "__isnan",
            "__isnanf", "__isinfl", "__finitef", "__signbitl", "__fpclassifyf", "_tolower", "_setjmp",
            "__sigsetjmp", "__sysv_signal", "_exit", "__isoc99_vsscanf", "__isoc23_strtoimax",
            "__isoc23_strtoumax", "__xpg_basename", "_obstack_newchunk", "__mulhc3",
        ] {
            assert!(!leaves(name), "{name}");
        }
    }

    #[test]
    fn what_compilers_add_computes() {
        for name in [
            "__udivti3",
            "__umodti3",
            "__divti3",
            "__multi3",
            "__muloti4",
            "__muldc3",
            "__divxc3",
            "__powidf2",
            "__popcountdi2",
            "__floatuntidf",
            "__fixunsdfti",
            "__extendhfsf2",
            "__trunctfdf2",
            "__unordtf2",
            "__eqtf2",
            "__gnu_f2h_ieee",
            "__aarch64_ldadd4_acq_rel",
            "__atomic_load_16",
            "__sync_fetch_and_add_4",
            "__tls_get_addr",
            "_Unwind_Resume",
            "_GLOBAL_OFFSET_TABLE_",
            "__llvm_profile_runtime",
            "__ubsan_handle_builtin_invalid",
            "__sanitizer_cov_trace_pc",
            "__start_commands",
            "__stop_commands",
            "_ZNSo5writeEPKcl",
            "_RNvCs1_7___rustc12___rust_alloc",
            "__rust_alloc",
            "__gxx_personality_v0",
            "__cxa_begin_catch",
            "__cxa_guard_acquire",
        ] {
            assert!(!leaves(name), "{name}");
        }
    }
}
