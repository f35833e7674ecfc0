//! Each kind of failure: its name, its hint for the next prompt, and whether the candidate ever ran.

use super::Category;

impl Category {
    /// A short name for people, and the hint.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Syntax => (
                "syntax",
                "The text does not parse. Check brackets, semicolons and that the item is complete.",
            ),
            Self::Type => (
                "type",
                "C converts between integers silently, Rust does not: write each conversion with `as` or `from`, \
                 where C makes it.",
            ),
            Self::Borrow => (
                "borrow",
                "Borrow for a shorter time: copy numbers out first, use indices, or `split_at_mut` for two parts of \
                 a slice.",
            ),
            Self::UnresolvedName => (
                "unresolved name",
                "Only what the prompt lists exists: `callee::`, `ffi::`, `globals::`, `core`, `std` and `libc`. \
                 Helpers must be in the reply.",
            ),
            Self::Unsafe => (
                "unsafe",
                "A call of an unsafe function or a raw pointer needs an `unsafe` block with its reason.",
            ),
            Self::UndefinedReference => (
                "undefined reference",
                "The linker knows no such symbol: declare nothing `extern`, call the library only through `callee::`, and \
                 of `libc` only what the C text calls; where `core` or `std` does the same, use that.",
            ),
            Self::OtherCompile => ("other", "Change what the compiler names and leave the rest alone."),
            Self::CompilerStopped => (
                "compiler stopped",
                "Write what takes the compiler less: no large constants (compute them, or use a table of `globals::`), no \
                 types or patterns that grow with each line, shorter functions.",
            ),
            Self::Audit => ("audit", "These are rules, not style: the candidate was not run."),
            Self::Mismatch => (
                "mismatch",
                "The C original is right by definition. Follow its text with exactly these arguments and find the \
                 first step that differs: width and sign of integers, promotion, order of effects, bounds of loops.",
            ),
            Self::Panic => (
                "panic",
                "C does not panic. If arithmetic overflowed, C's unsigned arithmetic wraps: `wrapping_add` and so \
                 on. If an index was out of bounds, an empty or short input takes another way in C.",
            ),
            Self::Abort => ("abort", "The port ended the process, where C returns."),
            Self::OutOfBounds => (
                "out of bounds",
                "The port wrote outside of the memory it was given. Check the capacity before writing, as C does.",
            ),
            Self::Leak => (
                "leak",
                "The port leaks memory that C frees: no `leak`, `forget` or `into_raw` without its counterpart.",
            ),
            Self::SystemCall => (
                "system call",
                "The port asked the operating system for something that C does not ask for. Remove this system call; it may come from a function of std, such as one for files, output, time or threads.",
            ),
            Self::State => (
                "state",
                "The port keeps something between calls, in a static or a thread's variable, which C does not. Compute it \
                 anew in each call, or make it a constant.",
            ),
            Self::Timeout => (
                "timeout",
                "The port did not return in time, where C did: look for a loop that makes no progress.",
            ),
            Self::OutOfMemory => {
                ("out of memory", "The port used far more memory than C: allocate only what C does.")
            }
            Self::NotCalled => {
                ("not called", "The port must return to its caller on inputs that the C original accepts.")
            }
        }
    }

    /// A short name for people.
    pub fn word(self) -> &'static str {
        self.texts().0
    }

    pub(super) fn hint(self) -> &'static str {
        self.texts().1
    }

    /// Whether the compiler, the linker or the audit reported it, so that the candidate never ran.
    pub fn is_of_compiling(self) -> bool {
        self <= Self::Audit
    }
}
