/* Runs a program of cmark calls that the input spells: text is parsed at once, in parts or from a file, the tree is
 * walked and changed, and rendered in each format. */
#include "cmark.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 2048, NODES = 24 };

struct run {
    const uint8_t *at;
    size_t left, size;
    char text[TEXT];
    cmark_node *nodes[NODES]; /* those to choose from: made by hand, or met in a tree */
    unsigned count;
};

static unsigned byte(struct run *r) { return r->left == 0 ? 0 : (r->left--, *r->at++); }

static const char *const pieces[] = {
    "* ", "- ", "1. ", "2) ", "> ", "# ", "## head ##\n", "===\n", "---\n", "    code\n", "```info x\n", "~~~\n", "\n",
    "\n\n", "  ", "\t", "*", "**", "_", "__", "`", "``", "[", "]", "![", "](", ")", "(/url \"title\")", "[a]",
    "[a]: /url 'title'\n", "[b c]: <u r> (t)\n", "<div>\n", "</div>\n", "<!-- x -->", "<b a='1'>", "<?php ?>", "<!X y>",
    "<![CDATA[z]]>", "<http://e.f/?g=h&i>", "<a@b.c>", "&amp;", "&#65;", "&#x20ac;", "&Auml;", "&no;", "\\", "\\*",
    "\\\n", "  \n", "word ", "two words", "\"q\"", "'s", "...", "--", "* * *\n", "a\xc3\xa9m", "1\xe2\x82\xac.",
    "-\xf0\x9f\x98\x80-", "a\xff\xc3.", "s\xc3\x9fs", "1", ".", "-", "&", "<", ">", "#", "+ x\n", "  - y\n", "10. z\n",
    "\r\n", "[A][b C]", "[a](<x> 'y')", "\"", "'", "a\xc4\x80[", "*\xe2\x80\x9cq*", "a_b_c", "***",
    "```  info y \n", "#   head   #  \n", "[a](  /u\t)", "[a]:   <v>  \n", "[c]: /w \"t\\\"t\"\n", "[\\]d]",
    "[\\]d]: /x (y)\n", "<", "[a\\", "!", "&#0;", "&#x110000;", "&#xD800;", "&#1114112;", "&#x7f;", "a\xc2\x80z",
    "a\xe0\xa0\x80", "a\xef\xbf\xbfz", "[\xc3\x89K]: /y\n", "[\xc3\xa9k]", "a\xf4\x8f\xbf\xbfz", "a\xed\xa0\x80z",
    "a\xc0\xafz", "\f", "\v", "<ftp://a>", "<mailto:b@c>", "<XMPP:d>", "<p>\n", "<pre>\n", "</a >", "<br/>", "<h1\n",
    "<!-- - -->", "(/url 'title')", "(<>)", "(a(b)c)", "(a\nb)",
};

/* Text from bytes as they are, or from pieces of Markdown. Bytes above 127 stand inside of words: elsewhere, this
 * release
 * looks them up in front of its table of characters. */
static void write_text(struct run *r, unsigned how) {
    size_t stop = r->left / 2;
    r->size = 0;
    while (r->left > stop && r->size + 64 < TEXT) {
        unsigned next = byte(r), count = sizeof pieces / sizeof *pieces;
        const char *piece = pieces[next % count];
        if (how & 1) memcpy(r->text + r->size, piece, strlen(piece)), r->size += strlen(piece);
        else r->text[r->size++] = (char)(next & 127 ? next & 127 : '\n'); /* the byte 0 becomes one above 127 */
    }
}

static cmark_node *parsed(struct run *r, unsigned how) {
    int options = (int)(how >> 1 & 15);
    if (how / 32 < 4) {
        cmark_parser *parser = cmark_parser_new(options);
        size_t part = 1 + byte(r), at = 0;
        for (; at < r->size; at += part)
            cmark_parser_feed(parser, r->text + at, r->size - at < part ? r->size - at : part);
        cmark_node *root = cmark_parser_finish(parser);
        cmark_parser_free(parser);
        return root;
    }
    FILE *file = how / 32 == 4 ? tmpfile() : NULL;
    if (file == NULL) return cmark_parse_document(r->text, r->size, options);
    fwrite(r->text, 1, r->size, file), rewind(file);
    cmark_node *root = cmark_parse_file(file, options);
    fclose(file);
    return root;
}

/* Names the nodes of the tree by which it can be changed, and asks them everything. */
static void walk(struct run *r, cmark_node *root) {
    cmark_iter *iter = cmark_iter_new(root);
    cmark_event_type event;
    while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
        cmark_node *node = cmark_iter_get_node(iter), *child = cmark_node_first_child(node);
        if (cmark_iter_get_event_type(iter) != event || cmark_iter_get_root(iter) != root) abort();
        if (child != NULL && (cmark_node_parent(child) != node || cmark_node_previous(child) != NULL)) abort();
        if (child != NULL && cmark_node_next(cmark_node_last_child(node)) != NULL) abort();
        if (event == CMARK_EVENT_EXIT && byte(r) % 64 == 63) cmark_iter_reset(iter, root, CMARK_EVENT_EXIT);
        if (event == CMARK_EVENT_EXIT && r->left > 0) continue;
        cmark_node_next(node), cmark_node_previous(node);
        const char *type = cmark_node_get_type_string(node), *literal = cmark_node_get_literal(node);
        if (type[0] == '<' || cmark_node_get_type(node) == CMARK_NODE_NONE) abort();
        if (cmark_node_get_type(node) == CMARK_NODE_TEXT && literal == NULL) abort();
        cmark_node_get_start_line(node), cmark_node_get_end_line(node);
        cmark_node_get_start_column(node), cmark_node_get_end_column(node), cmark_node_get_fence_info(node);
        cmark_node_get_header_level(node), cmark_node_get_list_delim(node), cmark_node_get_list_start(node),
            cmark_node_get_list_tight(node);
        cmark_node_get_list_type(node), cmark_node_get_title(node), cmark_node_get_url(node),
            cmark_node_get_user_data(node);
        if (r->count < NODES / 2 && node != root) r->nodes[r->count++] = node;
    }
    cmark_iter_free(iter);
}

static const char *word(struct run *r) {
    static const char *const words[] = {
        "", "a", "two words", "<&\">", "*x* `y`", "http://a.b/?c=d&e='f'", "1. z", "\xc3\xa9\xe2\x82\xac", "a\nb\n",
        "- -", "mailto:a@b.c", "```", "(p)", "  lead", "a.b", "\\n", "'\"-", "# h", NULL, " both ", "%41%zz\x7f",
    };
    return words[byte(r) % (sizeof words / sizeof *words)];
}

/* Changes nodes, and how they stand to each other. What does not fit is refused. */
static void change(struct run *r) {
    for (unsigned steps = byte(r) % 48; steps > 0 && r->left > 0; steps--) {
        unsigned op = byte(r), value = byte(r);
        cmark_node *node = r->count ? r->nodes[byte(r) % r->count] : NULL;
        cmark_node *other = r->count ? r->nodes[value % r->count] : NULL;
        if (node == NULL || (op % 24 == 0 && r->count < NODES)) {
            node = cmark_node_new((cmark_node_type)(1 + value % (CMARK_NODE_LAST_INLINE)));
            if (node == NULL || r->count == NODES) abort();
            r->nodes[r->count++] = node;
            continue;
        }
        switch (op % 24) {
        case 1: case 2: cmark_node_append_child(node, other); break;
        case 3: cmark_node_prepend_child(node, other); break;
        case 4: cmark_node_insert_before(node, other); break;
        case 5: case 6: cmark_node_insert_after(node, other); break;
        case 7: cmark_node_unlink(node); break;
        case 8: case 9: cmark_node_set_literal(node, word(r)); break;
        case 10: case 11: cmark_node_set_url(node, word(r)); break;
        case 12: case 13: cmark_node_set_title(node, word(r)); break;
        case 14: cmark_node_set_fence_info(node, word(r)); break;
        case 15: cmark_node_set_header_level(node, (int)(value % 9) - 1); break;
        case 16: cmark_node_set_list_type(node, (cmark_list_type)(value % 4)); break;
        case 17: cmark_node_set_list_delim(node, (cmark_delim_type)(value % 4)); break;
        case 18: cmark_node_set_list_start(node, (int)value - 5); break;
        case 19: cmark_node_set_list_tight(node, (int)(value & 1)); break;
        case 20:
            if (!cmark_node_set_user_data(node, r) || cmark_node_get_user_data(node) != r) abort();
            break;
        case 21: cmark_consolidate_text_nodes(node); break;
        default: cmark_node_append_child(other, node);
        }
    }
}

static void rendered(cmark_node *root, unsigned how, unsigned width) {
    int options = (int)(how / 4 % 16);
    char *text = how % 4 == 0   ? cmark_render_html(root, options)
                 : how % 4 == 1 ? cmark_render_xml(root, options)
                 : how % 4 == 2 ? cmark_render_man(root, options)
                                : cmark_render_commonmark(root, options, (int)(width % 81));
    if (text == NULL) abort();
    free(text);
}

/* Frees what is in no tree; nodes in a tree go with it. */
static void freed(struct run *r, cmark_node *root) {
    cmark_node *tops[NODES];
    unsigned count = 0;
    for (unsigned at = 0; at < r->count; at++)
        if (r->nodes[at] != root && cmark_node_parent(r->nodes[at]) == NULL) tops[count++] = r->nodes[at];
    for (unsigned at = 0; at < count; at++) cmark_node_free(tops[at]);
    cmark_node_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char same[] = "<p><em>a</em></p>\n";
    struct run *r = calloc(1, sizeof *r);
    r->at = data, r->left = size;
    unsigned op = byte(r), how = byte(r), formats = byte(r), width = byte(r);
    write_text(r, op);
    if (op % 16 == 15) {
        char *html = cmark_markdown_to_html(size & 1 ? "*a*" : r->text, size & 1 ? 3 : (int)r->size, (int)(how % 16));
        if (size & 1 && !(how & 1) && strcmp(html, same) != 0) abort();
        free(html);
    } else {
        cmark_node *root = parsed(r, how);
        if (root == NULL || cmark_node_get_type(root) != CMARK_NODE_DOCUMENT) abort();
        if (op & 2) walk(r, root);
        if (op & 4) r->nodes[r->count++] = root, change(r);
        while (cmark_node_parent(root) != NULL) root = cmark_node_parent(root); /* documents stand in nothing */
        rendered(root, formats, width);
        if (op & 8) rendered(root, formats / 64 + how, width);
        freed(r, root);
    }
    if (cmark_node_next(NULL) != NULL || cmark_node_previous(NULL) != NULL || cmark_node_parent(NULL) != NULL ||
        cmark_node_first_child(NULL) != NULL || cmark_node_last_child(NULL) != NULL) abort();
    if (cmark_version_string[0] != '0' + (cmark_version >> 16)) abort();
    free(r);
    return 0;
}
