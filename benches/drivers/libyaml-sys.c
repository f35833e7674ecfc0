/* Runs a program of libyaml calls that the input spells: text is scanned, parsed or loaded, what comes out is emitted
 * in some style, and documents and events are also made by hand. */
#include "yaml.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 4096, MOST = 400 };

struct run {
    const uint8_t *at;
    size_t left;
    unsigned char text[TEXT], out[TEXT];
    size_t size, read, wrote, piece, most_read, most_written;
    FILE *from, *to;
};

static unsigned byte(struct run *r) { return r->left == 0 ? 0 : (r->left--, *r->at++); }

static const char *const pieces[] = {
    "- ", "key: ", "? ", ": ", "&a ", "*a ", "!!str ", "!local ", "!e!x ", "!<tag:x%20y> ", "|\n  one\n\n  two\n",
    ">-\n  folded\n  text\n", "'single '' quoted'", "\"\\x41\\u263a\\n \\\n  more\"", "[", "]", "{", "}", ", ", "\n",
    "  ", "\n  ", "%YAML 1.1\n", "%TAG !e! tag:e,2000:\n", "%OTHER x\n", "--- ", "\n...\n", "# comment\n", "plain text",
    "a: b\n", "- c\n", "|2+\n    kept\n\n", ">1\n  more\n   still\n", "\xc3\xa9\xe2\x98\xba", "\xf0\x9f\x98\x80",
    "\xc2\x85", "\r\n", "\t", "! ", "~", "{a: b, c}", "[d, e: f]", "\"\\q", "\xff", "? [g]\n: h\n", "<<: *a\n",
    "- - i\n  - j\n", "12",
};

/* Text from bytes as they are, or from pieces of YAML; perhaps in another encoding. */
static void write_text(struct run *r, unsigned how) {
    size_t stop = r->left / 3, room = how & 2 ? TEXT / 2 - 4 : TEXT - 64;
    r->size = 0;
    while (r->left > stop && r->size + 64 < room) {
        unsigned next = byte(r), count = sizeof pieces / sizeof *pieces;
        if (how & 1) {
            const char *piece = pieces[next % count];
            memcpy(r->text + r->size, piece, strlen(piece)), r->size += strlen(piece);
        } else {
            r->text[r->size++] = (unsigned char)next;
        }
    }
    if ((how & 6) == 2) { /* UTF-16 with a mark, each byte a character */
        unsigned big = how >> 3 & 1;
        for (size_t at = r->size; at-- > 0;) {
            unsigned char value = r->text[at];
            int is_pair = how & 16 && value == '~';
            r->text[2 * at + 2 + big] = value;
            r->text[2 * at + 3 - big] = is_pair ? 0xd8 : how & 32 && value > 127 ? 0x26 : 0;
        }
        r->text[big] = 0xff, r->text[1 - big] = 0xfe;
        r->size = 2 * r->size + 2;
    } else if ((how & 6) == 6) {
        memmove(r->text + 3, r->text, r->size);
        memcpy(r->text, "\xef\xbb\xbf", 3), r->size += 3;
    }
}

static int take(void *data, unsigned char *buffer, size_t size, size_t *size_read) {
    struct run *r = data;
    size_t rest = r->size - r->read;
    size = size < r->piece ? size : r->piece;
    size = rest < size ? rest : size;
    memcpy(buffer, r->text + r->read, size);
    r->read += *size_read = size;
    return r->read <= r->most_read; /* beyond, reading fails */
}

static int give(void *data, unsigned char *buffer, size_t size) {
    struct run *r = data;
    if (size > 0 && buffer == NULL) abort();
    return (r->wrote += size) < r->most_written; /* too much is refused */
}

static void open_parser(struct run *r, yaml_parser_t *parser) {
    unsigned how = byte(r);
    if (!yaml_parser_initialize(parser)) abort();
    r->read = 0, r->piece = 1 + how / 4, r->most_read = how % 8 == 4 ? byte(r) : TEXT;
    if (how % 4 == 0) {
        yaml_parser_set_input(parser, take, r);
    } else if (how % 16 == 1 && (r->from = tmpfile()) != NULL) {
        fwrite(r->text, 1, r->size, r->from), rewind(r->from);
        yaml_parser_set_input_file(parser, r->from);
    } else {
        yaml_parser_set_input_string(parser, r->text, r->size);
    }
    if (how / 64 == 3) yaml_parser_set_encoding(parser, (yaml_encoding_t)(how / 16 % 4));
}

static void close_parser(struct run *r, yaml_parser_t *parser, int worked) {
    if (!worked && (parser->error == YAML_NO_ERROR || parser->problem == NULL)) abort();
    yaml_parser_delete(parser);
    if (r->from != NULL) fclose(r->from), r->from = NULL;
}

static void open_emitter(struct run *r, yaml_emitter_t *emitter) {
    unsigned how = byte(r), style = byte(r);
    if (!yaml_emitter_initialize(emitter)) abort();
    r->wrote = 0, r->most_written = how % 8 == 4 ? byte(r) : 3 * TEXT;
    if (how % 8 == 4) emitter->buffer.end = emitter->buffer.start + 8 + style % 8; /* so that it writes often */
    if (how % 4 == 0) {
        yaml_emitter_set_output(emitter, give, r);
    } else if (how % 16 == 1 && (r->to = tmpfile()) != NULL) {
        yaml_emitter_set_output_file(emitter, r->to);
    } else {
        yaml_emitter_set_output_string(emitter, r->out, how & 16 ? TEXT : how, &r->wrote);
    }
    if (how & 32) yaml_emitter_set_encoding(emitter, (yaml_encoding_t)(how / 64));
    if (style & 1) yaml_emitter_set_canonical(emitter, 1);
    if (style & 2) yaml_emitter_set_unicode(emitter, 1);
    if (style & 4) yaml_emitter_set_indent(emitter, (int)(style / 16));
    if (style & 8) yaml_emitter_set_width(emitter, (int)(style / 16) * 5 - 1);
    yaml_emitter_set_break(emitter, (yaml_break_t)(style / 64));
}

static void close_emitter(struct run *r, yaml_emitter_t *emitter, int worked) {
    if (!worked && (emitter->error == YAML_NO_ERROR || emitter->problem == NULL)) abort();
    /* Without an encoding nothing was emitted. */
    if (worked && emitter->encoding && !yaml_emitter_flush(emitter) && emitter->error != YAML_WRITER_ERROR) abort();
    yaml_emitter_delete(emitter);
    if (r->to != NULL) fclose(r->to), r->to = NULL;
}

static void scan(struct run *r) {
    yaml_parser_t parser;
    yaml_token_t token;
    int worked = 1, is_over = 0;
    open_parser(r, &parser);
    for (int count = 0; count < MOST && worked && !is_over; count++) {
        worked = yaml_parser_scan(&parser, &token);
        is_over = worked && token.type == YAML_STREAM_END_TOKEN;
        if (worked) yaml_token_delete(&token);
    }
    close_parser(r, &parser, worked);
}

/* Each event goes to an emitter, if there is one. */
static void parse(struct run *r, int emits) {
    yaml_parser_t parser;
    yaml_emitter_t emitter;
    yaml_event_t event;
    int parsed = 1, emitted = 1, is_over = 0;
    open_parser(r, &parser);
    open_emitter(r, &emitter);
    for (int count = 0; count < MOST && parsed && emitted && !is_over; count++) {
        parsed = yaml_parser_parse(&parser, &event);
        is_over = parsed && event.type == YAML_STREAM_END_EVENT;
        if (parsed && emits) emitted = yaml_emitter_emit(&emitter, &event);
        else if (parsed) yaml_event_delete(&event);
    }
    close_emitter(r, &emitter, emitted);
    close_parser(r, &parser, parsed);
}

static void look(yaml_document_t *document) {
    yaml_node_t *root = yaml_document_get_root_node(document);
    if (root != yaml_document_get_node(document, 1) || yaml_document_get_node(document, MOST * 9) != NULL) abort();
}

static void load(struct run *r, int dumps) {
    yaml_parser_t parser;
    yaml_emitter_t emitter;
    yaml_document_t document;
    int loaded = 1, dumped = 1, is_over = 0;
    open_parser(r, &parser);
    open_emitter(r, &emitter);
    if (byte(r) & 1) dumped = yaml_emitter_open(&emitter);
    for (int count = 0; count < 20 && loaded && dumped && !is_over; count++) {
        loaded = yaml_parser_load(&parser, &document);
        if (!loaded) break;
        is_over = yaml_document_get_root_node(&document) == NULL;
        look(&document);
        if (dumps) dumped = yaml_emitter_dump(&emitter, &document);
        else yaml_document_delete(&document);
    }
    if (dumped && emitter.opened) dumped = yaml_emitter_close(&emitter);
    close_emitter(r, &emitter, dumped);
    close_parser(r, &parser, loaded);
}

static yaml_char_t *word(struct run *r) {
    static const char *const words[] = {
        "a", "key", "two words", "", "a\nb\n", " lead", "tail ", "\xc3\xa9", "\xf0\x9f\x98\x80", "- x", "a: b", "#no",
        "'", "\"\\\t", "long long long long long long line", "\n\n", "\xe2\x80\xa8", "---", "x\x01", "1.5", "\xff",
        "\xc3", "{", "\n lead\n", "a  \nb", "\xef\xbb\xbf",
    };
    return (yaml_char_t *)words[byte(r) % (sizeof words / sizeof *words)];
}

static yaml_char_t *tag(struct run *r) {
    static const char *const tags[] = {
        NULL, "!", YAML_STR_TAG, YAML_SEQ_TAG, "!local", "tag:e,2000:x", "!e!", "tag:\xc3\xa9 %", "\xff", "",
    };
    unsigned which = byte(r);
    return (yaml_char_t *)tags[which > 100 ? 0 : which % 10];
}

static yaml_tag_directive_t directives[] = {
    {(yaml_char_t *)"!e!", (yaml_char_t *)"tag:e,2000:"}, {(yaml_char_t *)"!", (yaml_char_t *)"!own-"},
        {(yaml_char_t *)"!e!", (yaml_char_t *)"x"},
    {(yaml_char_t *)"", (yaml_char_t *)"x"}, {(yaml_char_t *)"!x", (yaml_char_t *)""}, {(yaml_char_t *)"!\xff!",
        (yaml_char_t *)"y"}};

/* A document of nodes that may stand in several places. */
static void build(struct run *r) {
    yaml_document_t document;
    yaml_emitter_t emitter;
    yaml_version_directive_t version = {1, 1 + (int)(r->left % 3 == 0)};
    unsigned how = byte(r), first = how / 8 % 6, kinds[64] = {0}, nodes = 0;
    if (!yaml_document_initialize(&document, how & 1 ? &version : NULL, directives + first,
        directives + first + how / 64 % (7 - first),
                                  how & 2, how & 4))
        return;
    for (unsigned steps = 1 + byte(r) % 40; steps > 0 && nodes < 60; steps--) {
        unsigned op = byte(r), node = 0, other = nodes ? 1 + byte(r) % nodes : 0;
        if (op % 4 == 0 || nodes == 0) {
            yaml_char_t *own = tag(r);
            if (op & 4) node = (unsigned)yaml_document_add_sequence(&document, own,
                (yaml_sequence_style_t)(op / 8 % 3));
            else if (op & 8) node = (unsigned)yaml_document_add_mapping(&document, own,
                (yaml_mapping_style_t)(op / 16 % 3));
            else node = (unsigned)yaml_document_add_scalar(&document, own, word(r), -1,
                (yaml_scalar_style_t)(op / 16 % 6));
            if (node > 0) nodes = node, kinds[node] = op & 4 ? 1 : op & 8 ? 2 : 0;
        } else if (kinds[1 + op / 4 % nodes] == 1) {
            if (!yaml_document_append_sequence_item(&document, (int)(1 + op / 4 % nodes), (int)other)) abort();
        } else if (kinds[1 + op / 4 % nodes] == 2) {
            if (!yaml_document_append_mapping_pair(&document, (int)(1 + op / 4 % nodes), (int)other,
                (int)(1 + byte(r) % nodes))) abort();
        }
    }
    look(&document);
    open_emitter(r, &emitter);
    close_emitter(r, &emitter, yaml_emitter_dump(&emitter, &document));
}

/* Events in an order that may make sense. */
static void emit(struct run *r) {
    yaml_emitter_t emitter;
    yaml_event_t event;
    yaml_version_directive_t version = {1, 1};
    int made, worked = 1;
    open_emitter(r, &emitter);
    for (int count = 0; count < 60 && worked && r->left > 0; count++) {
        unsigned op = byte(r), how = op / 16, first = how % 6;
        yaml_char_t *anchor = op >= 224 ? word(r) : NULL;
        if (count < 2) op = op >= 250 ? op : (unsigned)count; /* streams and documents begin */
        switch (op % 16) {
        case 0: made = yaml_stream_start_event_initialize(&event, (yaml_encoding_t)(how % 4)); break;
        case 1:
            made = yaml_document_start_event_initialize(&event, how & 1 ? &version : NULL, directives + first,
                                                        directives + first + how % (7 - first), how & 2);
            break;
        case 2: made = yaml_document_end_event_initialize(&event, how & 1); break;
        case 3: made = yaml_alias_event_initialize(&event, word(r)); break;
        case 4: case 5: made = yaml_sequence_start_event_initialize(&event, anchor, tag(r), how & 1,
            (yaml_sequence_style_t)(how % 3)); break;
        case 6: case 7: made = yaml_sequence_end_event_initialize(&event); break;
        case 8: case 9: made = yaml_mapping_start_event_initialize(&event, anchor, tag(r), how & 1,
            (yaml_mapping_style_t)(how % 3)); break;
        case 10: case 11: made = yaml_mapping_end_event_initialize(&event); break;
        case 12: made = yaml_stream_end_event_initialize(&event); break;
        default: {
            yaml_char_t *own = tag(r), *text = word(r);
            unsigned more = byte(r);
            made = yaml_scalar_event_initialize(&event, anchor, own, text, more & 4 ? -1 : (int)strlen((char *)text),
                more & 1, more & 2,
                                                (yaml_scalar_style_t)(more / 8 % 6));
        }
        }
        if (made) worked = yaml_emitter_emit(&emitter, &event);
    }
    close_emitter(r, &emitter, worked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run *r = calloc(1, sizeof *r);
    int major, minor, patch;
    yaml_get_version(&major, &minor, &patch);
    if (yaml_get_version_string()[0] != '0' + major) abort();
    r->at = data, r->left = size;
    for (int step = 0; step < 3 && r->left > 0; step++) {
        unsigned op = byte(r);
        if (op % 8 < 6) write_text(r, byte(r));
        switch (op % 8) {
        case 0: scan(r); break;
        case 1: case 2: case 3: parse(r, op & 8); break;
        case 4: case 5: load(r, op & 8); break;
        case 6: build(r); break;
        default: emit(r);
        }
    }
    free(r);
    return 0;
}
