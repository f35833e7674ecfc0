//! What the bodies of a library do with each pointer parameter: a fixpoint over the call graph.
//!
//! This module collects facts only; `contract::infer` derives roles from them.

use super::bounds::{bounds_of, mentioned};
use super::c_words::{elements_before, identifiers, is_wider, without_casts, without_sizeof};
use super::observed_calls::{Calls, Observed};
use super::text_reads::TextReads;
use super::types::Direction;
use crate::libc_facts::{self as libc, PointerUse};
use crate::symbol::{Access, Function, Library, LibraryIndex, Param, ParamUse, TypeKind, UseKind};
use std::collections::{BTreeMap, HashMap};

/// The highest index that passing on the addresses of elements adds up to. A callee may be known by its name alone, and then
/// the graph of calls does not show that it comes again.
const FURTHEST: i64 = 4096;

/// What a function does with one parameter, in its own body and through the callees that it passes it to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub reads: bool,
    pub writes: bool,
    /// `*p` without moving `p`.
    pub dereferenced: bool,
    /// `p[i]` with a variable index, or the pointer moves.
    pub walks: bool,
    /// C touches more than one element, of a number that does not depend on a parameter.
    pub several: bool,
    /// Highest constant index.
    pub constant_index: Option<i64>,
    /// `p[-1]`, or `p - n`, where `p` has not moved: memory before the argument.
    pub before: bool,
    pub fields: bool,
    /// Passed to a `str…` function that reads up to the NUL.
    pub string: bool,
    /// How far C reads it as a text.
    pub text: TextReads,
    pub null_checked: bool,
    pub returned: bool,
    /// A pointer to what it points to, or into it, is returned.
    pub leads_back: bool,
    pub stored: bool,
    pub freed: bool,
    pub called: bool,
    /// Name of an unknown function that it is passed to, the first in the alphabet: in a cycle of calls, the first in the text
    /// would not stay the same.
    pub escapes: Option<String>,
    /// Parameters that bound the pointer, each with the line that shows it.
    pub lengths: BTreeMap<String, u32>,
    /// The first line that uses it.
    pub line: Option<u32>,
}

/// Facts of all parameters of a library.
#[derive(Debug)]
pub struct FactTable<'a> {
    pub index: LibraryIndex<'a>,
    by_c_name: HashMap<&'a str, Vec<&'a Function>>,
    facts: HashMap<(&'a str, usize), Facts>,
    library: &'a Library,
    /// What real calls look like.
    calls: Option<&'a Calls>,
}

impl<'a> FactTable<'a> {
    /// Runs the fixpoint, which ends because facts only grow, and indices only up to a limit.
    pub fn build(library: &'a Library) -> Self {
        let mut by_c_name: HashMap<&str, Vec<&Function>> = HashMap::new();
        for function in &library.functions {
            by_c_name.entry(&function.c_name).or_default().push(function);
        }
        let mut table =
            Self { index: LibraryIndex::of(library), by_c_name, facts: HashMap::new(), library, calls: None };
        loop {
            let mut changed = false;
            for function in &library.functions {
                for (index, param) in function.params.iter().enumerate() {
                    let new = table.gather(function, param);
                    let slot = table.facts.entry((&function.key.0, index)).or_default();
                    if *slot != new {
                        *slot = new;
                        changed = true;
                    }
                }
            }
            if !changed {
                return table;
            }
        }
    }

    /// The same, with real calls.
    pub fn with_calls(library: &'a Library, calls: &'a Calls) -> Self {
        Self { calls: Some(calls), ..Self::build(library) }
    }

    /// The calls of a function, if there are any of its text.
    pub fn observed(&self, function: &Function) -> Option<&'a Observed> {
        self.calls?.of(self.library, &self.index, function)
    }

    /// Facts of parameter `index` of `function`.
    pub fn of(&self, function: &Function, index: usize) -> Facts {
        self.facts.get(&(function.key.0.as_str(), index)).cloned().unwrap_or_default()
    }

    /// Resolves a call by name to a library function: the one of this name that `from` calls. Other files may have static ones.
    pub(super) fn resolve(&self, from: &Function, callee: &str) -> Option<&'a Function> {
        let named = self.by_c_name.get(callee)?;
        let is_called = |f: &&&Function| from.calls.contains(&f.key);
        let own = || named.iter().find(|f| f.module == from.module);
        named.iter().find(is_called).or_else(own).or(named.first()).copied()
    }

    fn gather(&self, function: &Function, param: &Param) -> Facts {
        let mut facts = Facts::default();
        // What was passed over may lie before a moved pointer.
        let moves = |used: &&ParamUse| matches!(used.kind, UseKind::Advance | UseKind::Reassigned);
        let first_move = param.uses.iter().position(|used| moves(&used));
        for (at, used) in param.uses.iter().enumerate() {
            facts.line.get_or_insert(used.line);
            if self.comes_from(function, &used.kind) {
                facts.text.note(function, param, used);
            }
            let before = facts.before;
            self.used(function, param, (&used.kind, used.line), &mut facts);
            facts.before &= before || first_move.is_none_or(|first| at < first);
        }
        facts
    }

    fn used(&self, function: &Function, param: &Param, (kind, line): (&UseKind, u32), facts: &mut Facts) {
        match kind {
            UseKind::Deref(access) => {
                facts.dereferenced = true;
                facts.access(*access);
            }
            UseKind::Index { index, constant, access } => {
                facts.access(*access);
                match constant {
                    Some(n) => facts.constant_index = facts.constant_index.max(Some(*n)),
                    None => {
                        facts.walks = true;
                        facts.bound(bounds_of(function, param, (index, line)));
                    }
                }
            }
            UseKind::Field { access, .. } => {
                facts.fields = true;
                facts.access(*access);
            }
            UseKind::Advance | UseKind::Arithmetic => facts.walks = true,
            UseKind::Back => facts.before = true,
            UseKind::NullCheck => facts.null_checked = true,
            UseKind::Compare { with, .. } => {
                facts.null_checked |=
                    matches!(with.trim(), "0" | "NULL" | "nullptr" | "Z_NULL" | "((void *)0)" | "((void*)0)");
            }
            UseKind::Argument { callee, position, args } => {
                self.passed(function, param, (callee, *position, args, line), facts);
            }
            UseKind::Called => facts.called = true,
            UseKind::Returned => (facts.returned, facts.leads_back) = (true, true),
            UseKind::ReturnedInside => facts.leads_back = true,
            UseKind::FromCall { callee, position, used } => {
                if self.leads_back(function, callee, *position) {
                    self.used_inside(function, param, (used, line), facts);
                }
            }
            // A struct on the stack is gone after the call; accesses through it are not followed.
            UseKind::Stored { to } if self.is_local_field(function, to) => facts.unknown(param),
            UseKind::Stored { .. } | UseKind::AddressOf => facts.stored = true,
            // It goes where the analysis does not follow.
            UseKind::Other => facts.unknown(param),
            // `*(const uint32_t *)bytes`
            UseKind::Cast { to } => facts.several |= leads_to_bytes(param) && is_wider(to),
            UseKind::Reassigned => {}
        }
    }

    /// The use of a pointer into what the parameter points to: where it points to is not known.
    fn used_inside(
        &self,
        function: &Function,
        param: &Param,
        (kind, line): (&UseKind, u32),
        facts: &mut Facts,
    ) {
        let mut there = Facts::default();
        self.used(function, param, (kind, line), &mut there);
        facts.reads |= there.reads;
        facts.writes |= there.writes;
        facts.stored |= there.stored;
        facts.leads_back |= there.leads_back;
        facts.text.merge(there.text);
        facts.escape(there.escapes);
    }

    /// Whether a use is one of what the parameter points to: what a function returned for it may lead elsewhere.
    fn comes_from(&self, function: &Function, kind: &UseKind) -> bool {
        match kind {
            UseKind::FromCall { callee, position, used } => {
                self.leads_back(function, callee, *position) && self.comes_from(function, used)
            }
            _ => true,
        }
    }

    /// Whether a function may return a pointer into what this argument points to.
    fn leads_back(&self, from: &Function, callee: &str, position: usize) -> bool {
        match self.resolve(from, callee) {
            Some(inner) => self.of(inner, position).leads_back,
            None => position == 0 && libc::leads_back(callee),
        }
    }

    /// Whether `to` is `local.field`: a field of a struct on the stack, not of a parameter, a global or a local
    /// static.
    fn is_local_field(&self, function: &Function, to: &str) -> bool {
        let Some((name, field)) = to.split_once('.') else { return false };
        let (name, is_word) = (name.trim(), |text: &str| identifiers(text) == [text]);
        let mut globals = function.globals_read.iter().chain(&function.globals_written);
        let stays = function.params.iter().any(|param| param.name == name)
            || globals.any(|key| self.index.global(key).is_some_and(|global| global.c_name == name));
        is_word(name) && is_word(field.trim()) && !stays
    }

    fn passed(
        &self,
        function: &Function,
        param: &Param,
        (callee, position, args, line): (&str, usize, &[String], u32),
        facts: &mut Facts,
    ) {
        if let Some(inner) = self.resolve(function, callee) {
            if inner.params.len() <= position {
                return;
            }
            let mut there = self.of(inner, position);
            // An argument like `p + i` moves; a plain `p` does not.
            let are_bytes = || [param, &inner.params[position]].into_iter().all(leads_to_bytes);
            let shown = |text: &String| match are_bytes() {
                true => elements_before(without_casts(text)),
                false => elements_before(text),
            };
            // What gets the rest of its memory again goes on as long as it likes.
            let offset = args.get(position).map_or(Some(0), shown);
            let offset = offset.filter(|from| *from == 0 || !self.comes_again(inner, function));
            let mut is_moved = offset.is_none();
            there.before &= offset == Some(0);
            if let Some(from @ 1..) = offset {
                let last = there.constant_index.or(there.dereferenced.then_some(0));
                let further = last.map(|last| last.saturating_add(from));
                is_moved |= further > Some(FURTHEST);
                there.constant_index = further.map(|further| further.min(FURTHEST)).max(last);
            }
            facts.merge(&there);
            for length in there.lengths.keys() {
                let at = inner.params.iter().position(|p| p.name == *length);
                if let Some(text) = at.and_then(|at| args.get(at)) {
                    facts.bound(mentioned(function, param, text).map(|name| (name.to_owned(), line)));
                }
            }
            facts.walks |= there.walks || is_moved;
            facts.several |= there.several;
            return;
        }
        match libc::pointer_use(callee, position) {
            // What is appended to a string that was written here is written.
            Some(PointerUse { writes: true, string: true, .. }) if facts.writes => {}
            Some(PointerUse { reads, writes, string, size }) => {
                facts.reads |= reads;
                facts.writes |= writes;
                facts.string |= string;
                let size_text = size.and_then(|at| args.get(at)).map(String::as_str);
                facts.text.note_libc((function, param), string, (callee, args, size_text));
                self.sized(function, param, (size_text, line), facts);
            }
            None if libc::frees(callee) && position == 0 => facts.freed = true,
            None => facts.escape(Some(callee.to_owned())),
        }
    }

    /// Whether a call of `inner` may lead back to the function that calls it.
    fn comes_again(&self, inner: &Function, from: &Function) -> bool {
        self.index.reached(inner).any(|reached| reached.key == from.key)
    }

    /// A use with a size: `sizeof(*p)` means one element, the size of anything else several where elements are bytes; a
    /// parameter or a sum means many.
    fn sized(
        &self,
        function: &Function,
        param: &Param,
        (size, line): (Option<&str>, u32),
        facts: &mut Facts,
    ) {
        let Some(text) = size else { return };
        let beside = without_sizeof(text);
        // `16 * sizeof *p` is many, too.
        let is_alone = !beside.contains(|c: char| c.is_ascii_alphanumeric());
        if !is_alone || !text.contains("sizeof") {
            facts.walks = true;
            facts.bound(mentioned(function, param, &beside).map(|name| (name.to_owned(), line)));
        } else if !leads_to_bytes(param) || identifiers(text).contains(&param.name.as_str()) {
            facts.dereferenced = true;
        } else {
            facts.several = true;
        }
    }
}

impl Facts {
    /// Whether C reads no more than a text and its NUL.
    pub fn is_text(&self) -> bool {
        self.text.end_at_nul() && !(self.writes || self.before || self.several || self.fields)
    }

    fn access(&mut self, access: Access) {
        self.reads |= access != Access::Write;
        self.writes |= access != Access::Read;
    }

    /// Notes what bounds the pointer, with the line that shows it.
    fn bound(&mut self, lengths: impl IntoIterator<Item = (String, u32)>) {
        for (name, line) in lengths {
            self.lengths.entry(name).or_insert(line);
        }
    }

    fn escape(&mut self, to: Option<String>) {
        // A call through a pointer, `?`, is known where the pointer is a callback.
        let order = |name: &String| (name == "?", name.clone());
        self.escapes = self.escapes.take().into_iter().chain(to).min_by_key(order);
    }

    /// What happens behind a pointer that is not followed: anything that its type allows.
    fn unknown(&mut self, param: &Param) {
        if let Some(target) = param.ty.target() {
            self.reads = true;
            self.writes |= !target.is_const;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.dereferenced |= other.dereferenced;
        self.constant_index = self.constant_index.max(other.constant_index);
        self.before |= other.before;
        self.fields |= other.fields;
        self.string |= other.string;
        self.text.merge(other.text);
        self.null_checked |= other.null_checked;
        self.stored |= other.stored;
        self.freed |= other.freed;
        self.called |= other.called;
        self.escape(other.escapes.clone());
    }
}

/// Whether it points to bytes: a constant `char *` is a string.
fn leads_to_bytes(param: &Param) -> bool {
    let target = param.ty.target();
    target.is_some_and(
        |to| matches!(to.kind, TypeKind::Int { bits: 8, plain_char, .. } if !plain_char || !to.is_const),
    )
}

/// The direction of the data behind a pointer, from its uses in the C text. Its type does not matter: C may cast `const` away.
pub(super) fn direction(facts: &Facts) -> Direction {
    match (facts.writes, facts.reads) {
        (false, _) => Direction::In,
        (true, true) => Direction::InOut,
        (true, false) => Direction::Out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::loaded;

    /// The directions of the first parameters of these functions.
    fn directions(text: &str, names: &[&str]) -> Vec<Direction> {
        let library = loaded(&[("a.c", text)]);
        let facts = FactTable::build(&library);
        let of = |name: &&str| direction(&facts.of(library.find(name).unwrap(), 0));
        names.iter().map(of).collect()
    }

    #[test]
    fn what_is_written_through_a_moved_pointer_is_written() {
        let text = "static void put(unsigned char out[2], unsigned x) { out[0] = x; out[1] = x >> 8; }\n\
            static unsigned get(const unsigned char in[2]) { return in[0] + 256u * in[1]; }\n\
            void passed(unsigned char *p, unsigned n) { for (unsigned i = 0; i < n; i++) put(p + 2 * i, i); }\n\
            void nested(unsigned char *p, unsigned n) { put((unsigned char *)(p + n) - 2, n); }\n\
            void starred(unsigned char *p, unsigned n) { *(p + n + 1) = 3; }\n\
            void indexed(unsigned char *p, unsigned n) { (p + n)[1] = 3; }\n\
            void stepped(unsigned char *p, unsigned n) { while (n--) put(p++, 0); }\n\
            void jumped(unsigned char *p, unsigned n) { put(p += n, 0); *(p += 2) = 1; }\n\
            void local(unsigned char *p, unsigned n) { unsigned char *q = p + n; *q = 3; }\n\
            void ended(unsigned char *p) { unsigned char *end = p + 9; while (p < end) *p++ = 1; }\n\
            unsigned summed(unsigned char *p, unsigned n) { return get(p + n) + get(p); }\n\
            unsigned walked(unsigned char *p, unsigned n) { unsigned s = 0; while (n--) { s += *p; p = p + 1; } return s; }\n\
            unsigned apart(unsigned char *p, unsigned char *q) { return q - p > 4 ? p[0] : q[0]; }\n\
            unsigned ignored(unsigned char *p, unsigned n) { (void)p; return n + sizeof p; }\n\
            unsigned both(unsigned char *p, unsigned n) { for (; n > 0; n--, p++) if (*p) return 1; return 0; }\n\
            char *skipped(char *p) { char *end = p + 1; return *end ? end : p + 2; }\n\
            unsigned even(unsigned char *p) { return ((unsigned long)p & 3) == 0 ? p[0] : 1; }\n\
            struct pair { int a, b; };\n\
            int member(struct pair *p, unsigned n) { return (p + n)->b; }\n\
            unsigned constant(const unsigned char *p, unsigned n) { const unsigned char *q = p + n; return *q; }\n\
            unsigned char *kept;\n\
            void keep(unsigned char *p) { kept = p + 1; }\n";
        let written = ["passed", "nested", "starred", "indexed", "stepped", "jumped", "local", "ended"];
        assert_eq!(directions(text, &written), [Direction::Out; 8]);
        let read = ["summed", "walked", "apart", "ignored", "both", "skipped", "even", "member", "constant"];
        assert_eq!(directions(text, &read), [Direction::In; 9]);
    }

    #[test]
    fn what_is_written_through_a_result_or_a_cast_is_written() {
        let text = "#include <string.h>\n\
            static unsigned *cell(unsigned *p) { return p; }\n\
            struct item { unsigned x, y; };\n\
            static struct item *nth(struct item *p, unsigned i) { return p + i; }\n\
            static struct item *second(struct item *p) { return nth(p, 1); }\n\
            void put(unsigned *p, unsigned v) { *cell(p) = v; }\n\
            void fill(struct item *p, unsigned n) { nth(p, n)->x = 1; }\n\
            void deep(struct item *p) { second(p)->x = 1; }\n\
            void cut(char *s) { char *end = strchr(s, 'x'); if (!end) return; *end = 0; }\n\
            void last(char *s) { char *end = NULL; while ((end = strchr(s, 'x'))) *end = 0; }\n\
            void chain(char *s) { *strchr(strrchr(s, 'x'), 'y') = 0; }\n\
            void word(char *s, const char *w) { char *p = strstr(s, w); if (p) memmove(p, p + strlen(w), 1); }\n\
            unsigned memo(const unsigned *p) { *(unsigned *)p += 1; return *p; }\n\
            void constant(const char *s) { char *end = strchr(s, 'x'); *end = 0; }\n\
            long found(char *s) { char *p = strchr(s, 'x'); return p ? p - s : -1; }\n\
            int has(char *s) { return strchr(s, 'x') != NULL; }\n\
            int lacks(char *s) { if (!strchr(s, 'x')) return 1; switch (*s) { case 1: strrchr(s, 2); } return 0; }\n\
            unsigned count(char *s) { unsigned n = 0; for (char *p = s; (p = strchr(p, 'x')); p++) n++; return n; }\n\
            unsigned get(unsigned *p) { return *cell(p); }\n\
            unsigned total(struct item *p, unsigned n) { unsigned s = 0; while (n--) s += nth(p, n)->x; return s; }\n";
        let written = ["put", "fill", "deep"];
        assert_eq!(directions(text, &written), [Direction::Out; 3]);
        let changed = ["cut", "last", "chain", "word", "memo", "constant"];
        assert_eq!(directions(text, &changed), [Direction::InOut; 6]);
        let read = ["found", "has", "lacks", "get", "total"];
        assert_eq!(directions(text, &read), [Direction::In; 5]);
        // A local with values of two origins is not followed.
        assert_eq!(directions(text, &["count"]), [Direction::InOut]);
    }

    #[test]
    fn a_cycle_in_which_each_function_passes_a_pointer_on_comes_to_an_end() {
        let text = "int a1(void *o, int c); int a2(void *o, int c);\n\
            void mul(void *o, int n); void neg(void *o, int n);\n\
            void add(void *o, int n) { if (n > 0) mul(o, n - 1); a1(o, n); }\n\
            void mul(void *o, int n) { if (n > 0) neg(o, n - 1); a2(o, n); }\n\
            void neg(void *o, int n) { if (n > 0) add(o, n - 1); a1(o, n); }\n";
        assert_eq!(directions(text, &["add", "mul", "neg"]), [Direction::In; 3]);
    }

    #[test]
    fn what_another_file_keeps_to_itself_is_not_called_here() {
        let library = loaded(&[
            ("a.c", "void bump(int *p);\nvoid touch(int *p) { bump(p); }\n"),
            ("alpha.c", "static void bump(int *p) { *p = 0; }\nvoid reset(int *p) { bump(p); }\n"),
            ("b.c", "void bump(int *p) { *p += 1; }\n"),
        ]);
        let table = FactTable::build(&library);
        let direction_of = |name: &str| {
            let function = library.functions.iter().find(|f| f.c_name == name).unwrap();
            direction(&table.of(function, 0))
        };
        assert_eq!((direction_of("touch"), direction_of("reset")), (Direction::InOut, Direction::Out));
    }

    #[test]
    fn of_equal_names_of_indices_the_nearest_bound_counts() {
        let text = "int two(const int *a, const int *b, int n, int m) {\n  int t = 0;\n\
            for (int i = 0; i < n; i++)\n    t += a[i];\n\
            for (int i = 0; i < m; i++)\n    t += b[i];\n  return t;\n}\n";
        let library = loaded(&[("a.c", text)]);
        let table = FactTable::build(&library);
        let bounds = |index| table.of(&library.functions[0], index).lengths.into_keys().collect::<Vec<_>>();
        assert_eq!((bounds(0), bounds(1)), (vec!["n".to_owned()], vec!["m".to_owned()]));
    }

    #[test]
    fn the_address_of_an_element_leads_to_those_behind_it() {
        let text = "void put(unsigned char *p, unsigned v) { p[0] = v; p[1] = v >> 8; p[3] = v; }\n\
            void both(unsigned char *out, unsigned v) { put(&out[0], v); put(&out[4], v); }\n\
            void one(int *p, int v); void one(int *p, int v) { *p = v; }\n\
            void second(int *out, int v) { one(&out[2], v); }\n\
            void each(unsigned char *out, unsigned n) { for (unsigned i = 0; i < n; i++) put(&out[i], i); }\n\
            unsigned local(const unsigned char *p) { const unsigned char *q = &p[4]; return q[3]; }\n\
            unsigned char *kept;\n\
            void keep(unsigned char *p) { kept = &p[4]; }\n\
            void cast(signed char *out, unsigned v) { put((unsigned char *)&out[0], v); put((unsigned char *)&out[4], v); }\n\
            void wide(int *out, unsigned v) { put((unsigned char *)&out[0], v); put((unsigned char *)&out[4], v); }\n";
        let library = loaded(&[("a.c", text)]);
        let table = FactTable::build(&library);
        let of = |name: &str| {
            let facts = table.of(library.find(name).unwrap(), 0);
            (facts.constant_index, facts.walks, facts.stored)
        };
        assert_eq!((of("both"), of("second")), ((Some(7), false, false), (Some(2), false, false)));
        assert_eq!((of("each").1, of("local").1, of("keep").2), (true, true, true));
        assert_eq!((of("cast"), of("wide").1), ((Some(7), false, false), true));
    }

    #[test]
    fn a_function_that_gets_the_rest_of_its_memory_again_walks() {
        let text = "int last(const unsigned char *p, unsigned n) { return n ? last(&p[1], n - 1) : p[0]; }\n\
            static int star(const char *p, const char *s);\n\
            int fits(const char *p, const char *s) { return p[1] == '*' ? star(&p[2], s) : p[0] == *s; }\n\
            static int star(const char *p, const char *s) { return fits(p, s) || (*s && star(p, s + 1)); }\n\
            int plain(const unsigned char *p) { return last(&p[5], 0); }\n";
        let library = loaded(&[("a.c", text)]);
        let table = FactTable::build(&library);
        let walks = |name: &str| table.of(library.find(name).unwrap(), 0).walks;
        assert_eq!(["last", "fits", "star", "plain"].map(walks), [true; 4]);
    }

    #[test]
    fn a_cycle_of_calls_that_names_alone_close_comes_to_an_end() {
        let library = loaded(&[
            (
                "a.c",
                "int next(const int *p);\nstatic int again(const int *p) { return p[0] + next(&p[1]); }\n\
                int one(const int *p) { return again(p); }\n",
            ),
            (
                "b.c",
                "int again(const int *p);\nstatic int next(const int *p) { return again(&p[1]); }\n\
                int two(const int *p) { return next(p); }\n",
            ),
        ]);
        let table = FactTable::build(&library);
        assert_eq!(["one", "two"].map(|name| table.of(library.find(name).unwrap(), 0).walks), [true; 2]);
    }

    #[test]
    fn what_is_computed_from_a_number_may_do_anything() {
        let text = "void aligned(unsigned char *p) { *(unsigned *)(((unsigned long)p + 3) & ~3ul) = 0; }\n";
        assert_eq!(directions(text, &["aligned"]), [Direction::InOut]);
    }
}
