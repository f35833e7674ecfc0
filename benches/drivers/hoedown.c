/* Runs a program of hoedown calls that the input spells: Markdown is rendered to HTML and to tables of
 * contents with any extensions and callbacks, and the helpers for buffers, stacks, links, escapes and
 * typography are called alone. */
#include "autolink.h"
#include "buffer.h"
#include "document.h"
#include "escape.h"
#include "html.h"
#include "stack.h"
#include "version.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1536, PAD = 16, ITEMS = 64, EXTENSIONS = 0x7bff, USUAL = 0x3ff };

struct run {
    const uint8_t *at;
    size_t left, size;
    uint8_t text[TEXT + 256 + PAD];
};

static volatile uint32_t checksum; /* of all that came out, so that no call is for nothing */

static unsigned byte(struct run *r) { return r->left == 0 ? 0 : (r->left--, *r->at++); }

static void note(uint32_t value) { checksum = checksum * 31 + value; }

static void note_bytes(const uint8_t *bytes, size_t size) {
    uint32_t sum = checksum;
    for (size_t at = 0; at < size; at++) sum = sum * 31 + bytes[at];
    checksum = sum;
}

/* "\1" stands for a tag, "\2" for a character as it is: the next byte says which. */
static const char *const pieces[] = {
    "\1", "\2", "\n", "\n\n", " ", "  ", "    ", "\t", "  \n", "\r\n", "\r", "word ", "a", "1", "\xc3\xa9",
    "\xff",
    /* spans */
    "*", "**", "***", "_", "__", "___", "~~", "==", "`", "``", "\"", "\"\"", "^", "^(", ")", "(", "$", "$$",
    "$$x$$", "\\\\(", "\\\\)", "\\\\[", "\\\\]", "\\", "\\*", "\\\n", "*e*", "**d**", "***t***", "_u_",
    "__s__", "~~s~~", "==h==", "`c`", "`` ` ``", "` `", "\"q\"", "\" \"", "\"\"qq\"\"", "x^2 ", "^(a b)",
    "^()", "\n$$ y $$\n", "\\\\[ z \\\\]", "\\\\( z \\\\)", "***a* b**", "***a** b*", "*a`*`*",
    "*a [*](*) b*", "*a[b][*]c*", "*a[*", "*a`*", "*a [b] c*", "a*b*c", "(*p*)", "**a **b", "* *",
    "*a\\*b*", "$m$", "_a *b ~~c ==d== e~~ f* g_",
    /* entities and raw HTML */
    "&", "&amp;", "&#65;", "&#x41;", "&#0;", "&quot;", "&#39;", "&apos;", "&#x27;s ", "&no", "<", ">",
    "</b>", "<b>", "<b c='d'>", "<br/>", "<1>", "<http://a.b/c\\_d?e=f&g='h>", "<http://a.b/\\>c>",
    "<ftp:x>", "<mailto:a@b.c>", "<a@b.c>", "<a.b-c_d@e@f>", "<a:b c>", "<a:>", "<a@b", "<!--", "-->",
    "<!-- c -->\n\n", "<!-- c\n-->\n", "<hr>\n\n", "<HR />\n", "<hr", "<div\n", "</div>\n\n", " </div>\n",
    "<p>\n</p >\n</P>\n\n", "<form>\n</form>\n\n",
    /* links and autolinks */
    "[", "]", "![", "](", "][", "[]", "[^", "]:", "[a]", "[a][]", "[b c]", "[b\nc]", "[x][a]", "[x] [A]",
    "![i][a]", "![i](u)", "![i](<u> \"t\")", "!\\[", "[l](u)", "[l]( <u v> 't' )", "[l](u \"t\" x)",
    "[l](u 't\\'t')", "[l](a(b)c\\)d)", "[l]()", "[*l* http://n.o](u)", "[www.a.b c@d.e](u)", "[](u)",
    "[l](u \"t", "[x][no]", "[l](u \"t\"  )", "![e]()", "www.a.b", "www.", "www.a.b/(c)", "(www.a.b)",
    " www.a.b/c&d; ", "www.a.b;", "www.a.b\"", "www.a.b]", "{www.a.b}", "http://a.b/c?d=e&f#g",
    "https://a.b:8", "ftp://a.b,", " mailto:a@b.c", "http://local/x", "://", "ahttp://a.b", "http://a.b<c",
    "'http://a.b'", "a.b+c-d@e.f", "@", "a@b", "a@b.c@d", "a@b.c1", "a@b_c-d.e.", "www.-", "http://-",
    /* references and footnotes */
    "[a]: /u \"t\"\n", "[b c]: <v>\n", " [A]: w\n  'two lines'\n", "  [c]:\n   x (y)\n", "   [d]: z junk\n",
    "    [e]: no\n", "[a]: <>\n", "[a]: u \"t\" \n", "[a]: u\n\r", "[a]:\n\rv 'w'\n\r", "[^1]", "[^2]",
    "[^no]", "[^]", "![^1]", "\n[^1]: note\n", "[^2]: n [^1]\n\n  more\n    code\n", " [^3]:\tx\n",
    "  [^3]: - i\n\n    j\n", "   [^4]: y\r\n z\r\n", "    [^5]: no\n", "[^6]\n", "[^1]: </pre>w\n", "[^3]",
    "[^7]:\n  p\n\n\n  q\n", "\n[^8]: <p>r</p>\n\n", "[^8]",
    /* blocks */
    "# ", "## h ##\n", "###### h6\n", "#h\n", "#\n", "h\n===\n", "h\n---\n", "p\nh\n==  \n", "=", "-",
    "==x\n", "---\n", " * * *\n", "   ___\n", "> ", ">q\n", "   > q\n", "> a\nb\n\n> c\n", "- ", "- a\n",
    "* b\n", "+ c\n", "  - d\n", "1. e\n", "  12. f\n", "- a\n\n  b\n- c\n", "- a\n  1. b\n     - c\n",
    "\n\n1. x\n", "1. a\n\n- b\n", "- ```\n  - x\n  ```\n", "- h\n===\n", "1. h\n---\n", "   3. g\n",
    "    code\n", "\n\n    c1\n\n    c2\nend\n", "```\n", "``` c x\n", "~~~~\n", "  ~~~ \n", "```in```\n",
    "```\nx\n```\n", "   ```lang\ny\n",
    /* tables */
    "|", "a|b\n-|-\n", "|a|b|\n|---|:--:|\n|c|d|\n", "a | b | c\n:-- | --: | ---\n`|` | e\n", "|---", ":-:",
    "x|y|z\n", "|a| \n|---|\n|\n", "a|b\n---|+\n", "\n|\n", "a|b\n--- +---\nc\\|d|*e*|f|g\n",
    "||\n|---|---|\n|| x\n", "|-x-|\n",
    /* typography */
    "'", "''", "'s ", "'T.", "'re ", "'ll,", "'ve", "'x", "(c)", "(R)", "(tm)", "(tx)", "--", "...",
    ". . .", "1/2", "1/4th", "3/4ths", "3/4 ", "1/4", "3/5", "\\\"", "\\-", "``q''", "<code>'</code>",
    "<pre>\"", "<style >-", "<kbd", "<!-- ' -->", "&quot;a&quot;", "&#39;&#39;b''", "a'", "a\"b",
};

/* Reads which tag, and which form of it. Most names are those of blocks; some only look like them. */
static void write_tag(struct run *r) {
    static const char *const names[] = {
        "p", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "ul", "del", "div", "ins", "pre", "form", "math",
        "style", "table", "figure", "iframe", "script", "fieldset", "noscript", "blockquote", "P", "DiV",
        "h7", "diu", "b", "hr", "blockquotes", "FieldSet",
    };
    static const char *const forms[] = {
        "<%s>x</%s>\n\n", "<%s a>\n y\n</%s>\n", "<%s>\n\n z\n </%s>  \n\n", "<%s>", "<%s ", "</%s>\n\n",
        "</%s>", "\n\n<%s><i>\n</%s>!\n</i></%s>\n\nw",
    };
    unsigned which = byte(r);
    const char *name = names[which % 32];
    int wrote = snprintf((char *)r->text + r->size, 200, forms[which / 32], name, name, name);
    r->size += (size_t)wrote;
}

/* Text from bytes as they are, or from pieces of Markdown. */
static void write_text(struct run *r, unsigned how) {
    size_t stop = r->left / 3, count = sizeof pieces / sizeof *pieces;
    r->size = 0;
    if ((how & 15) == 15) memcpy(r->text, "\xef\xbb\xbf", 3), r->size = 3;
    while (r->left > stop && r->size < TEXT) {
        size_t next = byte(r);
        if (how & 1 && next >= 240) next += byte(r) % (count - 240); /* there are more than 256 */
        const char *piece = pieces[next % count];
        if (!(how & 1)) r->text[r->size++] = (uint8_t)next;
        else if (piece[0] == '\1') write_tag(r);
        else if (piece[0] == '\2') r->text[r->size++] = (uint8_t)byte(r);
        else memcpy(r->text + r->size, piece, strlen(piece)), r->size += strlen(piece);
    }
    /* hoedown_html_smartypants looks, and copies, some bytes further than it was told. */
    memset(r->text + r->size, 0, PAD);
}

static void own_attributes(hoedown_buffer *ob, const hoedown_buffer *url, const hoedown_renderer_data *data) {
    note(data->opaque != NULL);
    hoedown_buffer_printf(ob, " rel=\"%zu\"", url ? url->size : 0);
}

static void own_entity(hoedown_buffer *ob, const hoedown_buffer *text, const hoedown_renderer_data *data) {
    note(data->opaque != NULL);
    hoedown_escape_html(ob, text->data, text->size, 1);
}

static void own_edge(hoedown_buffer *ob, int is_inline, const hoedown_renderer_data *data) {
    note(data->opaque != NULL);
    hoedown_buffer_puts(ob, is_inline ? "<span>" : "<body>");
}

/* Those that refuse: the span is then printed as it was. */
static int no_span(hoedown_buffer *ob, const hoedown_buffer *content, const hoedown_renderer_data *data) {
    note(ob->size > 0), note(content != NULL), note(data->opaque != NULL);
    return 0;
}

static int no_break(hoedown_buffer *ob, const hoedown_renderer_data *data) {
    note(ob->size > 0), note(data->opaque != NULL);
    return 0;
}

static int no_math(hoedown_buffer *ob, const hoedown_buffer *of, int big, const hoedown_renderer_data *data) {
    note((uint32_t)big);
    return no_span(ob, of, data);
}

/* Replaces or removes callbacks. Those for emphasis, quotes and marks cannot go alone although the header
 * says so, for they are called without a look. */
static void change(hoedown_renderer *md, hoedown_html_renderer_state *state, unsigned which) {
    switch (which % 48) {
    case 1: case 2: state->link_attributes = own_attributes; break;
    case 3: case 4: md->entity = own_entity; break;
    case 5: md->doc_header = own_edge; break;
    case 6: md->doc_footer = own_edge; break;
    case 7: md->normal_text = NULL; break;
    case 8: md->quote = md->superscript = no_span; break;
    case 9: md->triple_emphasis = NULL; break;
    case 10: md->codespan = NULL; break;
    case 11: md->linebreak = NULL; break;
    case 12: md->image = NULL; break;
    case 13: md->link = NULL; break;
    case 14: md->footnote_ref = NULL; break;
    case 15: md->footnote_def = NULL; break;
    case 16: md->footnotes = NULL; break;
    case 17: md->math = NULL; break;
    case 18: md->superscript = NULL; break;
    case 19: md->autolink = NULL; break;
    case 20: md->raw_html = NULL; break;
    case 21: md->blockhtml = NULL; break;
    case 22: md->blockcode = NULL; break;
    case 23: md->blockquote = NULL; break;
    case 24: md->header = NULL; break;
    case 25: md->hrule = NULL; break;
    case 26: md->list = NULL; break;
    case 27: md->listitem = NULL; break;
    case 28: md->paragraph = NULL; break;
    case 29: md->table = NULL; break;
    case 30: md->table_header = md->table_body = NULL; break;
    case 31: md->table_row = NULL; break;
    case 32: md->table_cell = NULL; break;
    case 33: md->emphasis = md->underline = no_span; break;
    case 34: md->double_emphasis = md->strikethrough = md->highlight = no_span; break;
    case 35: md->triple_emphasis = no_span; break;
    case 36: md->codespan = no_span; break;
    case 37: md->quote = no_span; break;
    case 38: md->raw_html = no_span; break;
    case 39: md->linebreak = no_break; break;
    case 40: md->math = no_math; break;
    case 41: md->image = NULL, md->link = NULL, md->footnotes = NULL, md->footnote_ref = NULL; break;
    default: break;
    }
}

/* What was rendered goes on to the typography, as hoedown's own program does it. */
static void finish(hoedown_buffer *ob, int is_smart) {
    if (is_smart) {
        hoedown_buffer *smart = hoedown_buffer_new(64);
        size_t size = ob->size;
        hoedown_buffer_grow(ob, size + PAD); /* it looks further, see above */
        memset(ob->data + size, 0, PAD);
        hoedown_html_smartypants(smart, ob->data, size);
        note_bytes(smart->data, smart->size);
        hoedown_buffer_free(smart);
    }
    note_bytes(ob->data, ob->size);
    hoedown_buffer_reset(ob);
}

static void render(struct run *r, int is_contents) {
    unsigned how = byte(r), looks = byte(r), nesting = byte(r), changes = byte(r) % 4;
    unsigned extensions = byte(r) ^ USUAL; /* no bytes: all that add syntax */
    extensions ^= byte(r) << 8;
    hoedown_renderer *md = is_contents ? hoedown_html_toc_renderer_new((int)(looks / 16 % 8))
                                       : hoedown_html_renderer_new((hoedown_html_flags)(looks % 16),
                                                                   (int)(looks / 16 % 8));
    hoedown_buffer *ob = hoedown_buffer_new(1 + looks % 128);
    for (; changes > 0; changes--) change(md, md->opaque, byte(r));
    if (nesting >= 240) md->emphasis = md->double_emphasis = md->triple_emphasis = md->underline = NULL;
    write_text(r, how);
    /* Spans rendered alone look for footnotes in a list never set, or freed with the document before. */
    if (how & 16) extensions &= ~(unsigned)HOEDOWN_EXT_FOOTNOTES;
    /* Without a line's end, the last block, if in a footnote, or the last span is read past its end. */
    if (how & 16 || extensions & HOEDOWN_EXT_FOOTNOTES) r->text[r->size++] = '\n';
    hoedown_document *document = hoedown_document_new(md, (hoedown_extensions)(extensions & EXTENSIONS),
                                                      1 + nesting % 20);
    for (unsigned times = 1 + how / 32 % 2; times > 0; times--) { /* the second finds buffers to use again */
        if (how & 16 && how & 64) hoedown_document_render_inline(document, ob, r->text, r->size);
        else hoedown_document_render(document, ob, r->text, r->size);
        finish(ob, how & 128);
        if (how & 16 && !(how & 64)) hoedown_document_render_inline(document, ob, r->text, r->size);
        finish(ob, 0);
    }
    hoedown_document_free(document);
    hoedown_html_renderer_free(md);
    hoedown_buffer_free(ob);
}

/* The helpers for text, each at some place in it. */
static void look(struct run *r) {
    static const char *const names[] = {"b", "code", "div", "p", "", "kbd", "h1", "hr"};
    hoedown_buffer *ob = hoedown_buffer_new(16);
    hoedown_buffer_grow(ob, 1); /* nothing may be written, but not to nowhere */
    write_text(r, byte(r));
    for (unsigned steps = 1 + byte(r) % 24; steps > 0; steps--) {
        unsigned op = byte(r);
        size_t from = byte(r) % (r->size + 1), size = r->size - from, rewind = 0, length = 0;
        hoedown_autolink_flags flags = op & 128 ? HOEDOWN_AUTOLINK_SHORT_DOMAINS : (hoedown_autolink_flags)0;
        uint8_t *text = r->text + from;
        if (op & 64 && op % 8 > 3 && size > 0) { /* where a link may be */
            uint8_t *found = memchr(text, op % 8 < 5 ? 'w' : op % 8 < 6 ? '@' : op % 8 < 7 ? ':' : 'h', size);
            if (found != NULL) from = (size_t)(found - r->text), text = found, size = r->size - from;
        }
        switch (op % 8) {
        case 0: hoedown_html_smartypants(ob, text, size); break;
        case 1: hoedown_escape_href(ob, text, size); break;
        case 2: hoedown_escape_html(ob, text, size, op & 8); break;
        case 3:
            text = size ? memchr(text, '<', size) : NULL;
            if (text == NULL) text = r->text;
            note(hoedown_html_is_tag(text, (size_t)(r->text + r->size - text), names[op / 8 % 8]));
            break;
        case 4: length = hoedown_autolink__www(&rewind, ob, text, from, size, flags); break;
        case 5: length = hoedown_autolink__email(&rewind, ob, text, from, size, flags); break;
        case 6: length = hoedown_autolink__url(&rewind, ob, text, from, size, flags); break;
        default: note((uint32_t)hoedown_autolink_is_safe(text, size));
        }
        if (length > size || rewind > from) abort();
    }
    if (byte(r) & 1) hoedown_html_smartypants(ob, NULL, 0);
    finish(ob, byte(r) & 1);
    hoedown_buffer_free(ob);
}

static void *own_realloc(void *data, size_t size) {
    note((uint32_t)size);
    return hoedown_realloc(data, size);
}

static void own_free(void *data) {
    note(data != NULL);
    free(data);
}

/* Two buffers that change: one of hoedown's, and one that is not on the heap and has its own allocator. */
static void buffers(struct run *r) {
    static const unsigned marks[] = {0,      0x7f,   0x80,   0x7ff,   0x800,    0xd7ff,   0xd800,
                                     0xdfff, 0xe000, 0xffff, 0x10000, 0x10ffff, 0x110000, 0xffffffff};
    static const char *const words[] = {"", "a", "mailto:", "mail", "two words", "\xc3\xa9", "a longer one"};
    hoedown_buffer own, *pair[2] = {&own, hoedown_buffer_new(1 + byte(r) % 64)};
    hoedown_buffer_init(&own, 1 + byte(r) % 64, own_realloc, own_free, NULL);
    write_text(r, byte(r));
    for (unsigned steps = 1 + byte(r) % 48; steps > 0; steps--) {
        unsigned op = byte(r), value = byte(r);
        hoedown_buffer *buffer = pair[op >> 7], *other = pair[1 - (op >> 7)];
        const char *word = words[value % 7];
        if (buffer->data == NULL) hoedown_buffer_grow(buffer, 1); /* none without memory is read or written */
        switch (op % 16) {
        case 0: hoedown_buffer_put(buffer, r->text, r->size < value ? r->size : value); break;
        case 1: hoedown_buffer_puts(buffer, word); break;
        case 2: hoedown_buffer_putc(buffer, (uint8_t)value); break;
        case 3: hoedown_buffer_set(buffer, r->text, r->size < value ? r->size : value); break;
        case 4: hoedown_buffer_sets(buffer, word); break;
        case 5: hoedown_buffer_slurp(buffer, value % 32); break;
        case 6: hoedown_buffer_grow(buffer, value); break;
        case 7: hoedown_buffer_reset(buffer); break;
        case 8: hoedown_buffer_put_utf8(buffer, marks[value % 14]); break;
        case 9: hoedown_buffer_printf(buffer, "%u-%s", value, word); break;
        case 10: note((uint32_t)hoedown_buffer_eqs(buffer, word)); break;
        case 11: note((uint32_t)hoedown_buffer_prefix(buffer, word) > 0); break;
        case 12: {
            const char *text = hoedown_buffer_cstr(buffer);
            if (strlen(text) > buffer->size || text != hoedown_buffer_cstr(buffer)) abort();
            break;
        }
        case 13:
            if (other->data == NULL) break;
            note((uint32_t)hoedown_buffer_eq(buffer, other->data, other->size));
            if (value & 1) hoedown_buffer_set(buffer, other->data, other->size);
            if (value & 1 && !hoedown_buffer_eq(buffer, other->data, other->size)) abort();
            break;
        case 14: {
            char room[PAD] = "from a file"; /* one that cannot be read gives an error */
            FILE *file = fmemopen(room, 1 + value % PAD, value & 128 ? "w" : "r");
            if (file == NULL) break;
            if (hoedown_buffer_putf(buffer, file) == 0 && value & 128) abort();
            fclose(file);
            break;
        }
        default:
            if (hoedown_buffer_prefix(buffer, "") != 0) abort();
        }
        if (buffer->size > buffer->asize) abort();
    }
    for (int at = 0; at < 2; at++) note_bytes(pair[at]->data, pair[at]->size);
    if (byte(r) & 1) hoedown_buffer_uninit(&own);
    else hoedown_buffer_free(&own);
    hoedown_buffer_free(pair[1]);
    hoedown_buffer_free(NULL);
}

/* A stack, checked against what should be on it. */
static void stacks(struct run *r) {
    hoedown_stack stack;
    uint8_t *items[ITEMS];
    size_t count = 0;
    hoedown_stack_init(&stack, byte(r) % 12);
    for (unsigned steps = 1 + byte(r) % 200; steps > 0; steps--) {
        unsigned op = byte(r);
        if (hoedown_stack_top(&stack) != (count ? items[count - 1] : NULL)) abort();
        if (op % 4 < 2 && count < ITEMS) {
            items[count++] = r->text + op;
            hoedown_stack_push(&stack, r->text + op);
        } else if (op % 4 < 3) {
            if (hoedown_stack_pop(&stack) != (count ? items[--count] : NULL)) abort();
        } else {
            hoedown_stack_grow(&stack, op / 4);
        }
        if (stack.size != count || stack.size > stack.asize) abort();
    }
    note((uint32_t)stack.asize);
    hoedown_stack_uninit(&stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run *r = hoedown_calloc(1, sizeof *r);
    int major, minor, revision;
    char version[32];
    hoedown_version(&major, &minor, &revision);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, revision);
    if (strcmp(version, HOEDOWN_VERSION) != 0) abort();
    r->at = data, r->left = size;
    for (int step = 0; step < 3 && r->left > 0; step++) {
        unsigned op = byte(r);
        switch (op % 16) {
        case 0: buffers(r); break;
        case 1: stacks(r); break;
        case 2: case 3: case 4: look(r); break;
        case 5: case 6: render(r, 1); break;
        default: render(r, 0);
        }
    }
    free(r);
    return 0;
}
