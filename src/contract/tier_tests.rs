//! Tiers of small pieces of C, and of all functions of the example library.

use super::infer::infer;
use super::parameter_roles::{self, Role};
use super::pointer_facts::FactTable;
use super::tier::{Tier, Tiers};
use super::types::Judgeable;

use crate::c::front_tests::load_into;
use crate::symbol::Library;
use camino::Utf8Path;

/// A C text, one of its functions, and a part of the reason for its tier.
type Case = (&'static str, &'static str, &'static str);

fn library(cases: &[Case]) -> Library {
    let dir = tempfile::tempdir().unwrap();
    for (index, (text, _, _)) in cases.iter().enumerate() {
        fs_err::write(dir.path().join(format!("t{index}.c")), text).unwrap();
    }
    let root = Utf8Path::from_path(dir.path()).unwrap();
    load_into(root, &root.join(".implfuzz"), "gcc").unwrap().library
}

/// Asserts that each function has this tier, even if the configuration skips it.
#[track_caller]
fn all_are(tier: Tier, cases: &[Case]) {
    let library = library(cases);
    let facts = FactTable::build(&library);
    let tiers = Tiers::of(&library, &facts);
    for (text, name, reason) in cases {
        let function =
            library.find(name).unwrap_or_else(|| panic!("{name} is not in {:?}", library.left_out));
        let judgeable = infer(&library, &facts, function);
        let (found, why) = tiers.tier(function, &judgeable);
        assert_eq!(found, tier, "{text}\n{why}");
        assert!(why.contains(reason), "{text}\n{why}");
        let skipped = Judgeable::NotYet("skipped in implfuzz.toml".into());
        assert_eq!(tiers.tier(function, &skipped), (found, why), "{text}");
    }
}

#[test]
fn a_is_decoded_directly() {
    all_are(
        Tier::A,
        &[
            ("int a_add(int x, int y) { return x + y; }", "a_add", "decoded directly: values"),
            ("int a_seven(void) { return 7; }", "a_seven", "nothing to decode"),
            (
                "#include <stddef.h>\n\
                 unsigned a_sum(const unsigned char *p, size_t n) { unsigned s = 0; while (n--) s += *p++; return s; }",
                "a_sum",
                "buffers with their length",
            ),
            ("#include <string.h>\nint a_len(const char *s) { return (int)strlen(s); }", "a_len", "strings"),
            (
                "static int a_before(const char *s) { return s[-1]; }\n\
                 int a_skip(const char *s) { return *s ? a_before(s + 1) : 0; }",
                "a_skip",
                "strings",
            ),
            ("int a_last(const char *s) { while (*s) s++; return s[-1]; }", "a_last", "strings"),
            (
                "void a_split(int x, int *high, int *low) { *high = x / 9; *low = x % 9; }",
                "a_split",
                "out-parameters",
            ),
            (
                "struct ap { int x, y; }; int a_flat(const struct ap *p) { return p->x + p->y; }",
                "a_flat",
                "single values",
            ),
            (
                "struct ab { unsigned x : 3; unsigned y : 5; }; int a_bits(const struct ab *p) { return p->x; }",
                "a_bits",
                "",
            ),
            ("static int count; int a_next(int by) { return count += by; }", "a_next", "values"),
            (
                "const char *a_find(const char *s, char c) { while (*s && *s != c) s++; return s; }",
                "a_find",
                "strings",
            ),
            ("#include <stdlib.h>\nint a_dice(int n) { return rand() % n; }", "a_dice", "values"),
            (
                "#include <stddef.h>\nstatic const void *last; static size_t size;\n\
                 void a_keep(const void *p, size_t len) { last = p; size = len; }",
                "a_keep",
                "",
            ),
        ],
    );
}

#[test]
fn a_length_behind_two_texts_is_that_of_the_written_one() {
    let text = "#include <string.h>\nsize_t cut(char *dst, const char *src, size_t size) { size_t n = strlen(src); \
                if (size) { size_t k = n < size - 1 ? n : size - 1; memcpy(dst, src, k); dst[k] = 0; } return n; }";
    let library = library(&[(text, "cut", "")]);
    let judgeable = infer(&library, &FactTable::build(&library), library.find("cut").unwrap());
    let Judgeable::Yes(contract) = judgeable else { panic!("{judgeable:?}") };
    let [dst, src, size] = &contract.params[..] else { panic!("{contract:?}") };
    assert!(
        matches!(&dst.role, Role::Buffer(parameter_roles::Buffer { length, .. }) if length == "size"),
        "{dst:?}"
    );
    assert!(matches!(src.role, Role::CString(_)), "{src:?}");
    assert_eq!(size.role, Role::Length(parameter_roles::Length));
}

#[test]
fn b_is_made_by_constructors() {
    const LIST: &str = "#include <stdlib.h>\nstruct node { struct node *next; int v; };\n\
         struct node *make_node(int v) { struct node *n = malloc(sizeof *n); if (!n) return 0; n->next = 0; n->v = v; return n; }\n\
         struct node *after(struct node *n) { return n->next; }\n\
         void drop_all(struct node *n) { while (n) { struct node *m = n->next; free(n); n = m; } }\n";
    all_are(
        Tier::B,
        &[
            (LIST, "make_node", "returns a new `struct node`"),
            (
                "struct node; int peek(struct node *n) { return n != 0; }",
                "peek",
                "`n` is made by `make_node`",
            ),
            (
                "struct node; struct node *same(struct node *n) { return n; }",
                "same",
                "`n` is made by `make_node`",
            ),
            (
                "struct vec { int *data; int len, cap; };\nvoid vec_init(struct vec *v) { v->data = 0; }\n\
                 int vec_len(const struct vec *v) { return v->len; }",
                "vec_len",
                "`v` is made by `vec_init`",
            ),
            (
                "struct span { const char *from, *to; };\nvoid set(struct span *s, const char *t) { s->from = t; s->to = t; }\n\
              int width(const struct span *s) { return (int)(s->to - s->from); }",
                "width",
                "made by `set`",
            ),
            (
                "#include <string.h>\nstruct box { void *p; int a, b, c; };\n\
                 void wipe(struct box *b) { memset(b, 0, sizeof *b); }\nint box_a(struct box b) { return b.a; }",
                "box_a",
                "`b` is made by `wipe`",
            ),
            (
                "struct state { char *at; int n; };\nvoid stateReset(struct state *s) { if (s->n) s->at = 0; }",
                "stateReset",
                "itself",
            ),
            (
                "#include <stdlib.h>\nstruct pt { int x; };\n\
                 struct pt *pt_new(void) { return calloc(1, sizeof(struct pt)); }\nvoid pt_free(struct pt *p) { free(p); }",
                "pt_free",
                "`p` is made by `pt_new`",
            ),
        ],
    );
}

#[test]
fn e_needs_heuristics() {
    all_are(
        Tier::E,
        &[
            (
                "int e_until(const int *p) { int n = 0; while (*p++) n++; return n; }",
                "e_until",
                "how much memory `p`",
            ),
            (
                "int e_twice(int x) { return 2 * x; }\nint e_apply(int (*f)(int), int x) { return f(x); }",
                "e_apply",
                "`f` is a callback; `e_twice` of the library would fit",
            ),
            (
                "void e_each(void (*f)(float), float x) { f(x); }",
                "e_each",
                "no function of the library would fit",
            ),
            (
                "static void *cookie; void e_user(void *p) { cookie = p; }",
                "e_user",
                "`p` is a `void *` of unknown size",
            ),
            (
                "struct ep { int x; }; int e_cmp(const void *a) { const struct ep *p = a; return p->x; }",
                "e_cmp",
                "used as `const struct ep *`",
            ),
            ("#include <stdlib.h>\nvoid e_free(char *s) { free(s); }", "e_free", "is freed"),
            (
                "#include <string.h>\nchar *e_dup(const char *s) { return strdup(s); }",
                "e_dup",
                "who frees it",
            ),
            ("#include <stdlib.h>\nint *e_ints(int n) { return malloc(n); }", "e_ints", "memory the result"),
        ],
    );
}

#[test]
fn c_needs_hints() {
    all_are(
        Tier::C,
        &[
            (
                "struct tree { struct tree *l, *r; }; int depth(const struct tree *t) { return t ? depth(t->l) + 1 : 0; }",
                "depth",
                "pointers or unions inside",
            ),
            (
                "struct hidden; int is_null(struct hidden *h) { return !h; }",
                "is_null",
                "fields are not known",
            ),
            (
                "union num { int i; float f; }; int as_int(const union num *u) { return u->i; }",
                "as_int",
                "a union",
            ),
            (
                "int count(char **argv) { int n = 0; while (argv[n]) n++; return n; }",
                "count",
                "`argv` is a pointer to pointers",
            ),
            (
                "void swap(const char *names[2]) { const char *t = names[0]; names[0] = names[1]; names[1] = t; }",
                "swap",
                "`names`",
            ),
            ("#include <stdio.h>\nint skip(FILE *in) { return in == 0; }", "skip", "`in` is an open file"),
            (
                "#include <stdio.h>\nstatic void say(int x) { printf(\"%d\", x); }\nint c_debug(int x) { say(x); return x; }",
                "c_debug",
                "calls `printf` (through `say`)",
            ),
            (
                "#include <stdlib.h>\nint verbose(void) { return getenv(\"V\") != 0; }",
                "verbose",
                "calls `getenv`",
            ),
        ],
    );
}

#[test]
fn d_is_not_feasible() {
    all_are(
        Tier::D,
        &[
            (
                "#include <stdarg.h>\nint d_sum(int n, ...) { va_list a; va_start(a, n); n = va_arg(a, int); va_end(a); return n; }",
                "d_sum",
                "variadic",
            ),
            ("#include <stdarg.h>\nint d_list(va_list a) { return va_arg(a, int); }", "d_list", "va_list"),
            ("long double d_long(long double x) { return x; }", "d_long", "long double"),
            (
                "#include <setjmp.h>\nstatic jmp_buf b; int d_jump(void) { return setjmp(b); }",
                "d_jump",
                "setjmp",
            ),
            ("void d_nop(void) { __asm__(\"nop\"); }", "d_nop", "inline assembly"),
            (
                "#include <sys/socket.h>\nstatic int dial(void) { return socket(AF_INET, SOCK_STREAM, 0); }\n\
                 int d_dial(int x) { return dial() + x; }",
                "d_dial",
                "calls `socket` (through `dial`)",
            ),
            (
                "#include <pthread.h>\n#include <stdio.h>\nint d_start(pthread_t *t, void *(*f)(void *)) { puts(\"go\"); return pthread_create(t, 0, f, 0); }",
                "d_start",
                "calls `pthread_create`",
            ),
        ],
    );
}

#[test]
fn reach_goes_around_cycles() {
    let text = "#include <stdio.h>\nint odd(int n);\nint even(int n) { return n ? odd(n - 1) : 1; }\n\
                int odd(int n) { if (n < 0) puts(\"?\"); return n ? even(n - 1) : 0; }";
    all_are(Tier::C, &[(text, "even", "calls `puts` (through `odd`)"), ("", "odd", "calls `puts`:")]);
}

#[test]
fn tiers_are_read_as_they_are_written() {
    for tier in Tier::ALL {
        assert_eq!(tier.to_string().to_lowercase().parse(), Ok(tier));
    }
    assert!("F".parse::<Tier>().is_err_and(|error| error.contains("A, B, E, C and D")));
    assert!(Tier::ALL.is_sorted());
}

#[test]
fn every_function_of_the_example_library_has_its_tier() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib");
    let private = tempfile::tempdir().unwrap();
    let private = Utf8Path::from_path(private.path()).unwrap();
    let library = load_into(&root, private, "gcc").unwrap().library;
    let facts = FactTable::build(&library);
    let tiers = Tiers::of(&library, &facts);
    let mut lines: Vec<String> = library
        .functions
        .iter()
        .map(|function| {
            let (tier, why) = tiers.tier(function, &infer(&library, &facts, function));
            format!("{tier} {}: {why}", function.name)
        })
        .collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @r"
    A add_sums: decoded directly: pointers to single values, buffers with their length, values
    A base64_value: decoded directly: values
    A fail: decoded directly: values
    A hex_value: decoded directly: values
    A kit_adler32: decoded directly: values, buffers with their length
    A kit_ascii_lower: decoded directly: values
    A kit_average: decoded directly: values
    A kit_base64_decode: decoded directly: buffers with their length, out-parameters
    A kit_base64_encode: decoded directly: buffers with their length, out-parameters
    A kit_casecmp: decoded directly: strings
    A kit_clz32: decoded directly: values
    A kit_copy: decoded directly: buffers with their length, strings
    A kit_count_char: decoded directly: strings, values
    A kit_crc32: decoded directly: values, buffers with their length
    A kit_crc8: decoded directly: values, buffers with their length
    A kit_fletcher16: decoded directly: buffers with their length
    A kit_fnv1a64: decoded directly: buffers with their length
    A kit_get_rounding: nothing to decode
    A kit_glob_match: decoded directly: strings
    A kit_gray_decode: decoded directly: values
    A kit_gray_encode: decoded directly: values
    A kit_hex_decode: decoded directly: buffers with their length, out-parameters
    A kit_hex_encode: decoded directly: buffers with their length, out-parameters
    A kit_inexact_count: nothing to decode
    A kit_lerp: decoded directly: values
    A kit_mat3_mul: decoded directly: arrays of a fixed length
    A kit_parity32: decoded directly: values
    A kit_parse_int: decoded directly: strings, out-parameters
    A kit_point_add: decoded directly: values
    A kit_point_turn: decoded directly: values
    A kit_popcount32: decoded directly: values
    A kit_rect_area: decoded directly: pointers to single values
    A kit_rect_clip: decoded directly: pointers to single values
    A kit_reverse32: decoded directly: values
    A kit_rolling16: decoded directly: buffers with their length
    A kit_rotl32: decoded directly: values
    A kit_round_div: decoded directly: values
    A kit_sat_add: decoded directly: values
    A kit_scale: decoded directly: values
    A kit_search_i32: decoded directly: buffers with their length, values
    A kit_set_rounding: decoded directly: values
    A kit_sort_i32: decoded directly: buffers with their length
    A kit_starts_with: decoded directly: strings
    A kit_status_name: decoded directly: values
    A kit_utf8_step: decoded directly: pointers to single values, values
    A kit_varint_decode: decoded directly: buffers with their length, out-parameters
    A kit_varint_encode: decoded directly: values, arrays of a fixed length
    A kit_zigzag_decode: decoded directly: values
    A kit_zigzag_encode: decoded directly: values
    A match_here: decoded directly: strings
    A match_star: decoded directly: strings
    A swap_bytes: decoded directly: buffers with their length
    B kit_map_create: returns a new `kit_map`
    B kit_map_destroy: `map` is made by `kit_map_create`
    B kit_map_get: `map` is made by `kit_map_create`
    B kit_map_put: `map` is made by `kit_map_create`
    B kit_map_remove: `map` is made by `kit_map_create`
    B kit_ring_create: returns a new `kit_ring`
    B kit_ring_destroy: `ring` is made by `kit_ring_create`
    B kit_ring_len: `ring` is made by `kit_ring_create`
    B kit_ring_pop: `ring` is made by `kit_ring_create`
    B kit_ring_push: `ring` is made by `kit_ring_create`
    C find_link: returns a pointer to pointers
    E kit_sort: `compare` is a callback, and no function of the library would fit
    ");
}

mod memory_before;
