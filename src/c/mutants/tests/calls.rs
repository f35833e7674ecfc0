//! Mutants of calls that compare, copy or fill memory: compiled and run.

use super::*;

const C: &str = "\
#include <string.h>
#include <strings.h>
#define NAME \"name\"
static int sides;
static int side(int n) { sides++; return n; }
int same(const char *a, const char *b) { return !strcmp(a, NAME) || strcasecmp(a, b) == 0; }
int prefix(const char *a, const char *b, int n) { return memcmp(a, b, side(n)); }
void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
void four(char *to, const char *from) { memcpy(to, from, 4); }
int count(void) { return sides; }
struct padded { long first; char last; };
void take(struct padded *to, const struct padded *from) { memcpy(to, from, sizeof(*to)); }
";

#[test]
fn calls_on_memory_look_at_the_first_byte_or_forget_the_last() {
    for cc in crate::c::data::tests::compilers() {
        let (made, root) = made_in(C, &cc, (100, Plant::Nothing), |_| tempfile::tempdir().unwrap());
        let at = Utf8Path::from_path(root.path()).unwrap();
        let number = |name: &str, what: &str| {
            let all = &made.of[&SymbolName::new(name)];
            let place = all.iter().position(|mutant| mutant.what == what);
            place.unwrap_or_else(|| panic!("{cc}: {what} in {all:?}")) + 1
        };
        let call = |name: &str, ty: &str, what: &str, args: &str| {
            format!("(({ty})implfuzz_mutants_{name}[{}])({args})", number(name, what))
        };
        let print = |value: String| format!("printf(\"%d\\n\", {value});");
        let texts = "int (*)(const char *, const char *)";
        let compare = "int (*)(const char *, const char *, int)";
        let copy = "void (*)(char *, const char *, size_t)";
        let first = "with the first byte alone";
        let last = "without the last byte";
        let prefix = |what: &str, args: &str| {
            print(format!("!!{}", call("prefix", compare, &format!("`memcmp(a, b, side(n))` {what}"), args)))
        };
        let main = [
            print(call("same", texts, &format!("`strcmp(a, NAME)` {first}"), "\"no\", \"x\"")),
            print(call("same", texts, &format!("`strcmp(a, NAME)` {first}"), "\"x\", \"y\"")),
            print(call("same", texts, &format!("`strcasecmp(a, b)` {first}"), "\"Ab\", \"aC\"")),
            prefix(first, "\"ab\", \"ac\", 2"),
            prefix(first, "\"ab\", \"cb\", 2"),
            prefix(first, "\"ab\", \"cb\", 0"),
            prefix(last, "\"ab\", \"ac\", 2"),
            prefix(last, "\"abc\", \"acc\", 3"),
            prefix(last, "\"ab\", \"cb\", 0"),
            print("count()".to_owned()),
            "char to[3] = { 1, 2, 3 };".to_owned(),
            format!("{};", call("copy", copy, &format!("`memcpy(to, from, n)` {last}"), "to, \"xyz\", 3")),
            print("to[1] == 'y' && to[2] == 3".to_owned()),
            "struct padded one = { 1, 2 }, other = { 3, 4 };".to_owned(),
            format!(
                "{};",
                call(
                    "take",
                    "void (*)(struct padded *, const struct padded *)",
                    &format!("`memcpy(to, from, sizeof(*to))` {last}"),
                    "&one, &other"
                )
            ),
            print("one.first == 3 && one.last == 2".to_owned()),
        ];
        let got = printed(&made, at, &cc, &main.join("\n"));
        assert_eq!(got, [1, 0, 1, 0, 1, 0, 0, 1, 0, 6, 1, 1], "{cc}: each argument is computed once");
        let four = &made.of[&SymbolName::new("four")];
        assert!(four.iter().all(|mutant| !mutant.what.contains("byte")), "a number changes by one: {four:?}");
    }
}
