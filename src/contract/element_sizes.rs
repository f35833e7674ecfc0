//! Arrays of elements whose number and size two parameters give, as in `qsort`.

use super::callback::{orders_any, points_to_void};
use super::length_names::names_length_of;
use super::parameter_roles::prototype;
use super::pointer_facts::FactTable;
use crate::symbol::{Function, Param, TypeKind, UseKind};

/// Largest number of elements with a callback: some algorithms are quadratic.
pub(super) const ELEMENTS: usize = 300;

/// Depth to which callees are followed to find how they use the size.
const DEPTH: usize = 4;

/// Names of a number of elements beside which a `size` is that of one.
const COUNTS: [&str; 6] = ["nmemb", "nitems", "nelem", "nelems", "nel", "nobj"];

/// Functions of C's library that get a number of elements and the size of one.
const LIBC: [&str; 4] = ["fread", "fwrite", "qsort", "bsearch"];

/// The two parameters after the `void *` at `index` that give the number of elements and the size of one.
pub(super) fn elements(facts: &FactTable, function: &Function, index: usize) -> Option<(String, String)> {
    found(facts, function, index, DEPTH)
}

fn found(facts: &FactTable, function: &Function, index: usize, depth: usize) -> Option<(String, String)> {
    let [pointer, count, size] = function.params.get(index..index + 3)? else { return None };
    let unsigned = |p: &Param| matches!(p.ty.kind, TypeKind::Int { signed: false, bits: 32.., .. });
    let own = facts.of(function, index);
    let is_used = own.reads || own.writes || own.walks || own.called;
    if !points_to_void(&pointer.ty) || !is_used || !unsigned(count) || !unsigned(size) {
        return None;
    }
    // Of an image, these count elements.
    let has_callback = function.params.iter().any(|p| prototype(&p.ty).is_some());
    let words: &[&str] = if has_callback { &["size", "width", "stride"] } else { &["size"] };
    // `item_size` is that of one item where a callback compares two.
    let is_of_another =
        |p: &Param| names_length_of(&size.name, &p.name) && !(has_callback && p.name == pointer.name);
    let named = words.iter().any(|word| size.name.to_ascii_lowercase().contains(word))
        && !function.params.iter().any(is_of_another);
    let is_shown = || {
        let orders = |p: &Param| prototype(&p.ty).is_some_and(|(params, ret)| orders_any(params, ret));
        function.params.iter().any(orders)
            || is_named(&count.name, &size.name)
            || is_factor(&function.text, &size.name)
            || steps(function, pointer, &size.name)
            || is_passed_on(facts, function, [pointer, count, size], depth)
    };
    (named && is_shown()).then(|| (count.name.clone(), size.name.clone()))
}

/// Whether the names alone say that it is the size of one element. A `table_size` may be that of all.
fn is_named(count: &str, size: &str) -> bool {
    let (count, size) = (count.to_ascii_lowercase(), size.to_ascii_lowercase());
    let of_one = ["elem", "item", "member", "entry", "record"].iter().any(|word| size.contains(word))
        || matches!(&*size, "esize" | "elsize");
    of_one || size == "size" && COUNTS.contains(&&*count.replace('_', ""))
}

/// Whether the text multiplies it by another variable, as in `base + i * size`. With `sizeof`, it would be a number of
/// elements itself.
fn is_factor(text: &str, size: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_variable =
        |word: &str| word != "sizeof" && word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    text.match_indices('*').any(|(at, _)| {
        let (left, right) = (text[..at].trim_end(), text[at + 1..].trim_start());
        let before = left.trim_end_matches(is_word);
        let (first, second) =
            (&left[before.len()..], &right[..right.len() - right.trim_start_matches(is_word).len()]);
        let is_member = before.ends_with(['.', '>']);
        first == size && !is_member && (is_variable(second) || right.starts_with('('))
            || second == size && (is_variable(first) || left.ends_with([')', ']']))
    })
}

/// Whether the pointer moves on by it.
fn steps(function: &Function, pointer: &Param, size: &str) -> bool {
    let moves = pointer.uses.iter().filter(|used| matches!(used.kind, UseKind::Advance));
    let mut lines = moves
        .filter_map(|used| function.text.lines().nth(used.line.saturating_sub(function.place.line) as usize));
    lines.any(|line| {
        let line = line.replace(char::is_whitespace, "");
        line.split("+=")
            .skip(1)
            .any(|right| right.strip_prefix(size).is_some_and(|rest| rest.starts_with([';', ')', ','])))
    })
}

/// Whether all three go on to a function that takes them for elements.
fn is_passed_on(facts: &FactTable, function: &Function, all: [&Param; 3], depth: usize) -> bool {
    let [pointer, count, size] = all;
    pointer.uses.iter().any(|used| {
        let UseKind::Argument { callee, position, args } = &used.kind else { return false };
        let has = |name: &str| args.iter().position(|text| text.trim() == name);
        let (Some(counts), Some(sizes)) = (has(&count.name), has(&size.name)) else { return false };
        match facts.resolve(function, callee) {
            Some(inner) if depth > 0 => {
                let there = found(facts, inner, *position, depth - 1);
                let name = |at: usize| inner.params.get(at).map(|p| p.name.as_str());
                there.is_some_and(|(count, size)| name(counts) == Some(&count) && name(sizes) == Some(&size))
            }
            Some(_) => false,
            None => LIBC.contains(&callee.as_str()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_element_is_shown_by_its_use() {
        let text = "#include <stddef.h>\n\
            static int inner(const void *p, size_t n, size_t size) { const char *c = p; return c[(n - 1) * size]; }\n\
            int product(const void *p, size_t n, size_t size) { const char *c = p; int t = 0;\n\
                for (size_t i = 0; i < n; i++) t += c[i * size]; return t; }\n\
            int step(const void *p, size_t n, size_t size) { const char *c = p; int t = 0;\n\
                while (n--) { t += *c; c += size; } return t; }\n\
            int passed(const void *p, size_t n, size_t size) { return inner(p, n, size); }\n\
            int order(const void *p, size_t n, size_t width, int (*cmp)(const void *, const void *)) {\n\
                return cmp(p, (const char *)p + width); }\n\
            int named(const void *p, size_t n, size_t elem_size) { const char *c = p; return c[n]; }\n\
            int of_table(const void *rows, unsigned key, unsigned table_size) { const int *t = rows;\n\
                for (unsigned i = 0; i < table_size; i++) if (t[i] == (int)key) return i; return -1; }\n\
            int of_bytes(const void *p, unsigned seed, unsigned size) { const char *c = p;\n\
                while (size--) seed = seed * 31 + *c++; return seed; }\n\
            int of_numbers(void *p, unsigned from, unsigned size) { char *c = p; return c[size * sizeof(int) - from]; }\n";
        let library = crate::c::front_tests::loaded(&[("a.c", text)]);
        let facts = FactTable::build(&library);
        let is_it = |name: &&str| elements(&facts, library.find(name).unwrap(), 0).is_some();
        let yes = ["product", "step", "passed", "order", "named"];
        assert_eq!(yes.iter().filter(|name| !is_it(name)).collect::<Vec<_>>(), Vec::<&&str>::new());
        let no = ["of_table", "of_bytes", "of_numbers"];
        assert_eq!(no.iter().filter(|name| is_it(name)).collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}
