//! Each kind of failure: its name, its hint for the next prompt, and whether the candidate ever ran.

use super::Category;

impl Category {
    /// A short name for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Type => "type",
            Self::Borrow => "borrow",
            Self::UnresolvedName => "unresolved name",
            Self::Unsafe => "unsafe",
            Self::UndefinedReference => "undefined reference",
            Self::OtherCompile => "other",
            Self::Audit => "audit",
            Self::Mismatch => "mismatch",
            Self::Panic => "panic",
            Self::Abort => "abort",
            Self::OutOfBounds => "out of bounds",
            Self::Leak => "leak",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out of memory",
            Self::NotCalled => "not called",
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Syntax => {
                "The text does not parse. Check brackets, semicolons and that the item is complete."
            }
            Self::Type => {
                "C converts between integers silently, Rust does not: write each conversion with `as` or `from`, \
                 where C makes it."
            }
            Self::Borrow => {
                "Borrow for a shorter time: copy numbers out first, use indices, or `split_at_mut` for two parts of \
                 a slice."
            }
            Self::UnresolvedName => {
                "Only what the prompt lists exists: `callee::`, `ffi::`, `globals::`, `core`, `std` and `libc`. \
                 Helpers must be in the reply."
            }
            Self::Unsafe => {
                "A call of an unsafe function or a raw pointer needs an `unsafe` block with its reason."
            }
            Self::UndefinedReference => {
                "The linker knows no such symbol: declare nothing `extern`, call the library only through `callee::`, and \
                 of `libc` only what the C text calls; where `core` or `std` does the same, use that."
            }
            Self::OtherCompile => "Change what the compiler names and leave the rest alone.",
            Self::Audit => "These are rules, not style: the candidate was not run.",
            Self::Mismatch => {
                "The C original is right by definition. Follow its text with exactly these arguments and find the \
                 first step that differs: width and sign of integers, promotion, order of effects, bounds of loops."
            }
            Self::Panic => {
                "C does not panic. If arithmetic overflowed, C's unsigned arithmetic wraps: `wrapping_add` and so \
                 on. If an index was out of bounds, an empty or short input takes another way in C."
            }
            Self::Abort => "The port ended the process, where C returns.",
            Self::OutOfBounds => {
                "The port wrote outside of the memory it was given. Check the capacity before writing, as C does."
            }
            Self::Leak => {
                "The port keeps memory that C gives back: no `leak`, `forget` or `into_raw` without its counterpart."
            }
            Self::Timeout => {
                "The port did not return in time, where C did: look for a loop that makes no progress."
            }
            Self::OutOfMemory => "The port used far more memory than C: allocate only what C does.",
            Self::NotCalled => "The port must return to its caller on inputs that the C original accepts.",
        }
    }

    /// Whether the compiler, the linker or the audit reported it, so that the candidate never ran.
    pub fn is_of_compiling(self) -> bool {
        match self {
            Self::Syntax
            | Self::Type
            | Self::Borrow
            | Self::UnresolvedName
            | Self::Unsafe
            | Self::UndefinedReference
            | Self::OtherCompile
            | Self::Audit => true,
            Self::Mismatch
            | Self::Panic
            | Self::Abort
            | Self::OutOfBounds
            | Self::Leak
            | Self::Timeout
            | Self::OutOfMemory
            | Self::NotCalled => false,
        }
    }
}
