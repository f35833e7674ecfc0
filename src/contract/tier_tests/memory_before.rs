//! Pointers behind a hidden header, which no harness can make.

use super::{Tier, all_are};

#[test]
fn memory_before_an_argument_needs_heuristics() {
    all_are(
        Tier::E,
        &[
            (
                "unsigned e_room(const char *text) { return ((const unsigned *)text)[-1]; }\n\
                 unsigned e_again(const char *text) { return 2 * e_room(text); }",
                "e_again",
                "`text` leads to memory before it",
            ),
            (
                "struct head { int room; }; int e_head(const char *text) { return ((struct head *)(text - 4))->room; }",
                "e_head",
                "`text` leads to memory before it",
            ),
            (
                "int e_limit(const unsigned char *p, const unsigned char *end) { return *p + *end + (p < end - 7); }",
                "e_limit",
                "the C text does not show how much memory `end` points to",
            ),
            (
                "unsigned e_bytes(const char *text) {\n\
                 unsigned n = ((const unsigned *)text)[-1], t = 0; while (n--) t += *text++; return t; }",
                "e_bytes",
                "`text` leads to memory before it",
            ),
        ],
    );
}
