//! What functions on handles return: pointers into memory of earlier calls, new nodes and new texts are compared with all
//! that lies behind them, and a text that a handle keeps is the caller's on both sides or on neither.

use crate::support::Repo;

const LIBRARY: &str = "\
#include <stdlib.h>
#include <string.h>
struct reader { const unsigned char *at, *end; };
void reader_init(struct reader *r, const unsigned char *data, size_t len) {
    r->at = data;
    r->end = data + len;
}
const unsigned char *reader_take(struct reader *r, size_t n) {
    const unsigned char *p = r->at;
    if (n > (size_t)(r->end - r->at)) return NULL;
    r->at += n;
    return p;
}
unsigned char *reader_write(struct reader *r, unsigned char *out, size_t len) {
    size_t left = (size_t)(r->end - r->at);
    size_t n = len < left ? len : left;
    for (size_t i = 0; i < n; i++) out[i] = *r->at++;
    return out + n;
}
struct stack { void **items; size_t len, cap; };
struct stack *stack_new(void) { return calloc(1, sizeof(struct stack)); }
void stack_free(struct stack *s) { free(s->items); free(s); }
int stack_push(struct stack *s, void *item) {
    if (s->len == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 4;
        void **items = realloc(s->items, cap * sizeof *items);
        if (!items) return -1;
        s->items = items;
        s->cap = cap;
    }
    s->items[s->len++] = item;
    return 0;
}
void *stack_peek(const struct stack *s, size_t depth) {
    return depth < s->len ? s->items[s->len - 1 - depth] : NULL;
}
struct node { int value; struct node *next; };
struct node *node_new(int value) {
    struct node *n = malloc(sizeof *n);
    if (!n) return NULL;
    n->value = value;
    n->next = NULL;
    return n;
}
struct node *list_insert(struct node *head, int value) {
    struct node *n = malloc(sizeof *n);
    if (!n) return head;
    n->value = value;
    n->next = NULL;
    if (head == NULL || value < head->value) {
        n->next = head;
        return n;
    }
    struct node *at = head;
    while (at->next != NULL && at->next->value <= value) at = at->next;
    n->next = at->next;
    at->next = n;
    return head;
}
void list_free(struct node *head) {
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
}
struct lexer { char *text; size_t pos, len; int line; };
struct lexer *lexer_new(const char *text) {
    struct lexer *lx = calloc(1, sizeof *lx);
    if (!lx) return NULL;
    lx->text = strdup(text);
    lx->len = lx->text ? strlen(text) : 0;
    return lx;
}
void lexer_free(struct lexer *lx) { free(lx->text); free(lx); }
char *lexer_word(struct lexer *lx) {
    while (lx->pos < lx->len && lx->text[lx->pos] == ' ') lx->pos++;
    if (lx->pos == lx->len) return NULL;
    size_t from = lx->pos;
    while (lx->pos < lx->len && lx->text[lx->pos] != ' ') lx->pos++;
    char *word = malloc(lx->pos - from + 1);
    if (!word) return NULL;
    memcpy(word, lx->text + from, lx->pos - from);
    word[lx->pos - from] = 0;
    return word;
}
struct option { char *value; int flags; char store[32]; };
void option_init(struct option *o) { memset(o, 0, sizeof *o); }
int option_set(struct option *o, const char *text) {
    size_t n = strlen(text);
    if (n >= sizeof o->store) return -1;
    memcpy(o->store, text, n + 1);
    o->value = o->store;
    o->flags |= 1;
    return 0;
}
";

const TAKE: &str = "pub unsafe fn reader_take(r: *mut ffi::reader, n: usize) -> *const ::core::ffi::c_uchar {
    unsafe {
        let p = (*r).at;
        if n > ((*r).end as usize).wrapping_sub(p as usize) {
            return core::ptr::null();
        }
        (*r).at = p.wrapping_add(n);
        p
    }
}";
/// Empty memory has another address on each side.
const INIT: &str =
    "pub unsafe fn reader_init(r: *mut ffi::reader, data: *const ::core::ffi::c_uchar, len: usize) {
    unsafe {
        (*r).at = data;
        (*r).end = data.wrapping_add(len);
    }
}";
/// It returns a place in an argument of the same call.
const WRITE: &str = "pub unsafe fn reader_write(
    r: *mut ffi::reader,
    out: *mut ::core::ffi::c_uchar,
    len: usize,
) -> *mut ::core::ffi::c_uchar {
    unsafe {
        let left = ((*r).end as usize).wrapping_sub((*r).at as usize);
        let n = len.min(left);
        core::ptr::copy((*r).at, out, n);
        (*r).at = (*r).at.wrapping_add(n);
        out.wrapping_add(n)
    }
}";
const PEEK: &str =
    "pub unsafe fn stack_peek(s: *const ffi::stack, depth: usize) -> *mut ::core::ffi::c_void {
    unsafe {
        if depth >= (*s).len {
            return core::ptr::null_mut();
        }
        *(*s).items.add((*s).len - 1 - depth)
    }
}";
const INSERT: &str =
    "pub unsafe fn list_insert(head: *mut ffi::node, value: ::core::ffi::c_int) -> *mut ffi::node {
    unsafe {
        let n = libc::malloc(size_of::<ffi::node>()).cast::<ffi::node>();
        if n.is_null() {
            return head;
        }
        (*n).value = value;
        (*n).next = core::ptr::null_mut();
        if head.is_null() || value < (*head).value {
            (*n).next = head;
            return n;
        }
        let mut at = head;
        while !(*at).next.is_null() && (*(*at).next).value <= value {
            at = (*at).next;
        }
        (*n).next = (*at).next;
        (*at).next = n;
        head
    }
}";
const WORD: &str = "pub unsafe fn lexer_word(lx: *mut ffi::lexer) -> *mut ::core::ffi::c_char {
    unsafe {
        let lx = &mut *lx;
        let at = |i: usize| *lx.text.add(i) as u8;
        while lx.pos < lx.len && at(lx.pos) == b' ' {
            lx.pos += 1;
        }
        if lx.pos == lx.len {
            return core::ptr::null_mut();
        }
        let from = lx.pos;
        while lx.pos < lx.len && at(lx.pos) != b' ' {
            lx.pos += 1;
        }
        let n = lx.pos - from;
        let word = libc::malloc(n + 1).cast::<::core::ffi::c_char>();
        if word.is_null() {
            return core::ptr::null_mut();
        }
        core::ptr::copy_nonoverlapping(lx.text.add(from), word, n);
        *word.add(n) = 0;
        word
    }
}";
const SET: &str =
    "pub unsafe fn option_set(o: *mut ffi::option, text: *const ::core::ffi::c_char) -> ::core::ffi::c_int {
    unsafe {
        let n = libc::strlen(text);
        if n >= (*o).store.len() {
            return -1;
        }
        core::ptr::copy_nonoverlapping(text, (&raw mut (*o).store).cast(), n + 1);
        (*o).value = (&raw mut (*o).store).cast();
        (*o).flags |= 1;
        0
    }
}";

/// A right port, and what makes it wrong.
const PORTS: &[(&str, &str, &str, &str)] = &[
    // The place behind the bytes.
    ("reader_take", TAKE, "        p\n    }", "        (*r).at\n    }"),
    ("reader_init", INIT, "data.wrapping_add(len)", "data"),
    ("reader_write", WRITE, "        out.wrapping_add(n)", "        out"),
    // From the bottom.
    ("stack_peek", PEEK, "(*s).len - 1 - depth", "depth"),
    // In front of the head it loses the list.
    ("list_insert", INSERT, "            (*n).next = head;\n", ""),
    ("lexer_word", WORD, "*word.add(n) = 0", "*word.add(n) = b'.' as _"),
    ("lexer_word", WORD, "lx.text.add(from)", "lx.text.add(from.saturating_sub(1))"),
    // It dangles when the caller uses its memory again.
    ("option_set", SET, "(*o).value = (&raw mut (*o).store).cast()", "(*o).value = text.cast_mut()"),
];

#[test]
fn what_lies_behind_a_result_is_compared() {
    let repo = Repo::of(&[("results.c", LIBRARY)]);
    let stubs = repo.read("rust/src/results.rs");
    for (symbol, right, from, to) in PORTS {
        let row = repo.judged(("results", &stubs), symbol, right);
        assert_eq!(row["grade"], "weak", "{row:#}");
        assert_eq!(right.matches(from).count(), 1, "{symbol}: {from}");
        let row = repo.judged(("results", &stubs), symbol, &right.replace(from, to));
        assert_eq!(row["grade"], "refuted", "{symbol} with {to:?}: {row:#}");
    }
}
