/* Runs expat on documents that the input spells: a prolog, declarations and elements, mostly well-formed, in some
 * encoding, given to the parser in pieces. Handlers are set and change, stop and question the parser. */
#include "expat.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 3000, DEPTH = 12, CALLS = 3000, PIECES = 200 };

static struct run {
    const uint8_t *at, *late; /* handlers read what is kept for them */
    size_t left, left_late, size;
    char text[2 * TEXT];
    const char *open[DEPTH];
    XML_Parser parser; /* the innermost one: handlers may be called with something else */
    unsigned how, calls, inner, pieces;
    uint16_t starts[PIECES]; /* of the pieces of the text */
} *run;

static unsigned byte(void) { return run->left == 0 ? 0 : (run->left--, *run->at++); }

static void put(const char *text) {
    size_t length = strlen(text);
    if (run->size + length >= TEXT - 64) return;
    if (run->pieces < PIECES) run->starts[run->pieces++] = (uint16_t)run->size;
    memcpy(run->text + run->size, text, length), run->size += length;
}

static unsigned late(void) { return run->left_late == 0 ? 0 : (run->left_late--, *run->late++); }

#define ANY(ARRAY) (ARRAY)[byte() % (sizeof(ARRAY) / sizeof *(ARRAY))]

static const char *const encodings[] = {
    "UTF-8", "utf-16", "ISO-8859-1", "us-ascii", "UTF-16LE", "UTF-16BE", "x-own", "x-wide", "x-none", "a-1",
};

/* All entities are declared whole: expansion stays small. */
static const char *const declarations[] = {
    "<!ENTITY e 'text'>", "<!ENTITY f '<b>&e;</b>&#38;'>", "<!ENTITY g SYSTEM 'x'>",
    "<!ENTITY h PUBLIC 'p  -\n//q' \"y\">", "<!ENTITY % p '<!ELEMENT q ANY>'>", "<!ENTITY % r SYSTEM 'z'>",
    "<!ENTITY % t PUBLIC 'p' 'z'>", "%p;", "%r;", "%s;", "<!ENTITY i '&i;'>", "<!ENTITY j SYSTEM 'j' NDATA n>",
    "<!NOTATION n SYSTEM 'v'>", "<!NOTATION n2 PUBLIC 'w'>", "<!NOTATION n3 PUBLIC 'w' 'u'>", "<!ELEMENT a (b|c)*>",
    "<!ELEMENT b (#PCDATA|a)*>", "<!ELEMENT c (a,(b?,c+)|d)>", "<!ELEMENT d EMPTY>", "<!ELEMENT a (#PCDATA)>",
    "<!ELEMENT c ((a|b)+,(c?))*>", "<!ATTLIST a x CDATA 'v' y ID #IMPLIED>",
    "<!ATTLIST a z (u|v) \"u\" w NOTATION (n|m) #REQUIRED>",
    "<!ATTLIST b i IDREF #IMPLIED j IDREFS #FIXED 'k  l' t NMTOKENS ' m n '>",
    "<!ATTLIST c xmlns:n CDATA 'urn:d' n:x ENTITY 'e' en ENTITIES #IMPLIED nm NMTOKEN 'o'>",
    "<!ATTLIST d xml:lang CDATA 'e&e;&#x41;\t'>", "<!-- comment -->", "<?pi data?>", " ", "\n",
    "<!ENTITY % k \"<!ENTITY l 'm&#37;p;'>\">", "%k;", "]", "<!X>", "<!ENTITY", "&e;",
    "<!ATTLIST a xmlns CDATA 'urn:e'>", "<!ELEMENT e (f", "<!ENTITY o \xc3\xa9>", "<!ENTITY \xc3\xa9 '\xe2\x82\xac'>",
    "<!NOTATION n4 PUBLIC 'a{b'>",
    "<!NOTATION n5 PUBLIC \"Az09 -'()+,./:=?;!*#@$_%\n\" 'x'>", "<!ENTITY m PUBLIC '\xc3\xa9' 'x'>",
    "<!ENTITY u '&#xAf09;&#99999999;'>",
    "<![INCLUDE[<!ELEMENT i ANY>]]>", "<![IGNORE[ <![ x ]]> ]]>",
};

static const char *const names[] = {
    "a", "b", "c", "d", "n:e", "xml:f", "long-name.with_all", "\xc3\xa9", "\xe0\xa4\x85", "n:a", "m:x", "g\xe3\x80\x87",
    "1", "\xf0\x90\x80\x80",
};
static const char *const attributes[] = {
    " x='1'", " y=\"&lt;&e;\"", " xmlns='urn:a'", " xmlns:n='urn:n'", " n:x=''", " y='id'", " xmlns=''", " z = 'u'",
    " xml:lang='en'", " i='j\tk\nl'", " \xc3\xa9='\xc3\xa9'", " xmlns:m=\"urn:n\"", " x='<'", " x",
    " t='&#xe9;&amp;&quot;&apos;&gt;'", " xmlns:xml='y'", " j='  a   b '", " q='&f;'",
    " \xe0\xa4\x85='\xf0\x90\x80\x80'", " n:x='2' m:x='3'", " xmlns:xmlns='z'",
};
static const char *const contents[] = {
    "text", "\n", "\r\n", "\r", "&amp;", "&lt;", "&#65;", "&#x20AC;", "&e;", "&f;", "&g;", "&h;", "&j;", "&none;",
    "<!-- c - d -->", "<?pi some data?>", "<?t?>", "<![CDATA[ <&]] > ]]>", "]]>", "\xc3\xa9", "\xe2\x82\xac",
    "\xf0\x9f\x98\x80", "&#0;", "&#x110000;", "&#xabCdeF;", "&#1114112;",
    "<", "&", "<?xml version='1.0'?>", "<!-- a -- b -->", "\xff", "\xc3",
    "\xe2\x82", "\xed\xa0\x80", "\xef\xbf\xbf", "&i;", "]", "]]", "<![CDATA[",
    "\t many words of text that go on and on", "<![CDATA[\xc3\xa9\n]\r\n]]>", "&apos;&quot;&gt;", "&#x10FFFF;",
    "<?XML x?>", "\x01", "\xef\xbb\xbf",
};

static void write_prolog(void) {
    char line[128];
    unsigned how = byte();
    if (how & 1) {
        unsigned more = byte();
        snprintf(line, sizeof line, "<?xml version=%s%s%s%s%s?>", more & 64 ? "'1.1'" : "\"1.0\"", more & 1
            ? " encoding='" : "", more & 1 ? ANY(encodings) : "", more & 1 ? "'" : "",
                 more & 4 ? " standalone='no'" : more & 8 ? " standalone=\"yes\"" : more & 16 ? " other='x'" : "");
        put(line);
    }
    if (how & 2) put(ANY(contents));
    if (how & 4) {
        put(how & 8 ? "<!DOCTYPE a SYSTEM 'dtd'" : how & 16 ? "<!DOCTYPE a PUBLIC \"+//x y\" 'dtd'" : "<!DOCTYPE a");
        if (how & 32 || byte() & 3) {
            put(" [");
            if (byte() & 1) put("<!ENTITY e 'text'><!ENTITY f '<b>&e;</b>&#38;'><!ENTITY g SYSTEM 'x'>");
            for (unsigned count = byte() % 16; count > 0; count--) put(ANY(declarations));
            put("] ");
        }
        put(">\n");
    }
}

static void write_elements(void) {
    unsigned depth = 0, count = 1 + byte() % 40;
    run->open[depth++] = "a", put("<a");
    if (byte() & 1) put(ANY(attributes));
    put(byte() & 1 ? ">&g;" : ">");
    for (; count > 0 && depth > 0; count--) {
        unsigned op = byte();
        if (op % 4 == 0 && depth < DEPTH) {
            run->open[depth] = ANY(names);
            put("<"), put(run->open[depth++]);
            for (unsigned some = op / 4 % 4; some > 0; some--) put(ANY(attributes));
            put(op & 64 ? " />" : ">");
            if (op & 64) depth--;
        } else if (op % 4 == 1 && depth > 1) {
            put("</"), put(run->open[--depth]), put(op & 64 ? " >" : ">");
        } else {
            put(ANY(contents));
        }
    }
    while (depth > 0 && count % 8 != 7) put("</"), put(run->open[--depth]), put(">");
    if (byte() & 1) put(ANY(contents));
}

/* What does not belong where it is put. */
static const char *const errors[] = {
    "'l'", "\"", "<", ">", "(", ")", "|", ",", "*", "?", "+", "%", "%p;", "&", ";", "#", "[", "]", "]]>", "<!", "<?",
    "?>", "-->", "--", "name", "n:m:", ":", "9", " ", "#IMPLIED", "#PCDATA", "NDATA n", "SYSTEM", "PUBLIC 'x'", "CDATA",
    "=", "/", "/>", "\xff", "\xc3", "\xed\xa0\x80", "\xef\xbf\xbe", "\xf4\x90\x80\x80", "\xe2\x82", "\x01", "\r",
    "\xc0\xaf", "#x", "#xg", "&#", "&#x", "&#xd800;", "xml", "<![", "<!D", "<!-", "<!--", "</", "<![CDATA", "!", "ANY",
    "\xf0\x9f\x98\x80",
};

/* Puts a few of them into the text or over it, near the beginnings of pieces, or ends it there. */
static void damage(void) {
    for (unsigned count = byte() % 4; count > 0 && run->pieces > 0; count--) {
        unsigned how = byte();
        size_t at = run->starts[byte() % run->pieces] + byte() % 60u;
        const char *error = ANY(errors);
        size_t length = strlen(error);
        if (at >= run->size || run->size + length >= TEXT) continue;
        if (how % 8 == 0) {
            run->size = at;
        } else if (how % 8 < 5) {
            memmove(run->text + at + length, run->text + at, run->size - at), run->size += length;
            memcpy(run->text + at, error, length);
        } else if (at + length <= run->size) {
            memcpy(run->text + at, error, length);
        }
    }
}

/* UTF-16 from UTF-8, as far as that is right; a few units are put over. */
static void widen(int big) {
    unsigned char wide[2 * TEXT], *to = wide;
    size_t at = 0;
    while (at < run->size && to < wide + sizeof wide - 4) {
        unsigned char first = (unsigned char)run->text[at++];
        unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0, value = more
            ? first & (0x3f >> more) : first;
        for (; more > 0 && at < run->size; more--) value = value << 6 | ((unsigned char)run->text[at++] & 0x3f);
        unsigned units[2] = {value, 0}, count = 1;
        if (value > 0xffff) units[0] = 0xd800 + ((value - 0x10000) >> 10 & 0x3ff), units[1] = 0xdc00 + (value & 0x3ff),
            count = 2;
        for (unsigned unit = 0; unit < count; unit++, to += 2) to[!big] = (unsigned char)(units[unit] >> 8), to[big] =
            (unsigned char)units[unit];
    }
    run->size = (size_t)(to - wide);
    memcpy(run->text, wide, run->size);
    static const uint16_t units[] = {0xd800, 0xdc00, 0xffff, 0xfffe, 0, '<', '&', '>', '"', ' ', '\r', 0x3a3, 0x2028};
    for (unsigned count = byte() % 4; count > 0 && run->pieces > 0; count--) {
        size_t near = 2u * (run->starts[byte() % run->pieces] + byte() % 60u);
        unsigned unit = ANY(units);
        if (near + 2 > run->size) continue;
        run->text[near + !big] = (char)(unit >> 8), run->text[near + big] = (char)unit;
    }
    if (byte() % 8 == 7 && run->size > 0) run->size--; /* half a unit */
}

static void write_document(void) {
    unsigned how = byte();
    run->size = run->pieces = 0;
    if (how % 8 == 7) {
        size_t rest = run->left / 2 < 200 ? run->left / 2 : 200; /* entities of entities stay few */
        memcpy(run->text, run->at, rest), run->at += rest, run->left -= rest, run->size = rest;
        return;
    }
    if (how & 16) put(how & 8 ? "\xef\xbb\xbf" : "");
    if (how % 8 > 4) put("\xef\xbb\xbf"); /* becomes the mark of UTF-16 */
    write_prolog();
    write_elements();
    damage();
    if (how % 8 > 4) widen(how % 8 == 5);
}

static void set_handlers(XML_Parser parser, unsigned some);

/* What handlers may do to the parser that calls them. */
static void called(const XML_Char *text, int length) {
    XML_Parser parser = run->parser;
    XML_ParsingStatus status;
    int offset = 0, size = 0;
    if (text == NULL && length > 0) abort();
    if (++run->calls > CALLS) XML_StopParser(parser, XML_FALSE);
    if (run->left_late == 0) return;
    unsigned op = late();
    switch (op % 32) {
    case 0: case 13: XML_StopParser(parser, XML_TRUE); break;
    case 1: if (op > 200) XML_StopParser(parser, XML_FALSE); break;
    case 2: case 3: XML_DefaultCurrent(parser); break;
    case 4: {
        const char *context = XML_GetInputContext(parser, &offset, &size);
        if (context != NULL && (offset < 0 || offset > size)) abort();
        break;
    }
    case 5: if (XML_GetCurrentLineNumber(parser) == 0) abort(); break;
    case 6: XML_GetCurrentColumnNumber(parser); break;
    case 7: XML_GetCurrentByteIndex(parser), XML_GetCurrentByteCount(parser); break;
    case 8: set_handlers(parser, late()); break;
    case 9: XML_GetParsingStatus(parser, &status); if (status.parsing == XML_INITIALIZED) abort(); break;
    case 10: XML_SetBase(parser, op & 64 ? "base" : NULL); break;
    case 11: if (op & 64) XML_UseParserAsHandlerArg(parser); else XML_SetUserData(parser, run); break;
    case 12: if (XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_ALWAYS)) abort(); break;
    default: break; /* most calls change nothing */
    }
}

static void start(void *data, const XML_Char *name, const XML_Char **all) {
    int given = XML_GetSpecifiedAttributeCount(run->parser), id = XML_GetIdAttributeIndex(run->parser), count = 0;
    while (all[count] != NULL) count += 2;
    if (given > count || given % 2 || id >= count) abort();
    (void)data, called(name, 0);
}
static void end(void *data, const XML_Char *name) { (void)data, called(name, 0); }
static void text(void *data, const XML_Char *bytes, int length) { (void)data, called(bytes, length); }
static void instruction(void *data, const XML_Char *target, const XML_Char *rest) { (void)data, called(target, 0),
    called(rest, 0); }
static void plain(void *data) { (void)data, called(NULL, 0); }
static void doctype(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public, int has_subset) {
    (void)data, (void)system, (void)public, (void)has_subset, called(name, 0);
}
static void entity(void *data, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
    const XML_Char *base, const XML_Char *system, const XML_Char *public,
                   const XML_Char *notation) {
    (void)data, (void)name, (void)is_parameter, (void)base, (void)system, (void)public, (void)notation, called(value,
        length);
}
static void unparsed(void *data, const XML_Char *name, const XML_Char *base, const XML_Char *system,
    const XML_Char *public, const XML_Char *notation) {
    (void)data, (void)base, (void)system, (void)public, (void)notation, called(name, 0);
}
static void notation(void *data, const XML_Char *name, const XML_Char *base, const XML_Char *system,
    const XML_Char *public) {
    (void)data, (void)base, (void)system, (void)public, called(name, 0);
}
static void name_space(void *data, const XML_Char *prefix, const XML_Char *uri) { (void)data, called(prefix, 0),
    called(uri, 0); }
static void declared(void *data, const XML_Char *version, const XML_Char *encoding, int standalone) { (void)data,
    (void)standalone, called(version, 0), called(encoding, 0); }
static void element(void *data, const XML_Char *name, XML_Content *model) {
    if (model->numchildren > 0 && model->children == NULL) abort();
    (void)data, called(name, 0);
    XML_FreeContentModel(run->parser, model);
}
static void attribute(void *data, const XML_Char *of, const XML_Char *name, const XML_Char *type, const XML_Char *value,
    int is_required) {
    (void)data, (void)of, (void)type, (void)is_required, called(name, 0), called(value, 0);
}
static int standalone(void *data) { return (void)data, called(NULL, 0), !(run->how & 8); }
static void skipped(void *data, const XML_Char *name, int is_parameter) { (void)data, (void)is_parameter, called(name,
    0); }

/* An external entity is parsed by a parser of its own, with one of a few texts. */
static int external(XML_Parser outer, const XML_Char *context, const XML_Char *base, const XML_Char *system,
    const XML_Char *public) {
    static const char *const texts[] = {
        "<b>&e;</b>", "<!ELEMENT z (a)>", "<!ENTITY s 'm'>%p;<![INCLUDE[<!ENTITY u 'v'>]]>",
        "<?xml version='1.0' encoding='UTF-8'?>t", "<![IGNORE[<![x]]>]]>%k;",
        "<!ATTLIST a x CDATA #IMPLIED><!ENTITY % s 'INCLUDE'><![%s;[<!NOTATION o SYSTEM 'p'>]]>", "", "<c", "x]]>",
        "<?xml encoding='x-own'?>\xe9", "\xef\xbb\xbf<?xml encoding='ISO-8859-1'?><!-- \xe9 --><!ELEMENT y ANY>",
        "<!ENTITY % v '<![IGNORE['>%v;]]>", "<![CDATA[x]]>", "&e;&g;", "<!ENTITY % r SYSTEM 'z'><!ENTITY w '%r;'>",
    };
    const char *own = texts[late() % (sizeof texts / sizeof *texts)];
    (void)outer, (void)base, (void)system, (void)public; /* `outer` is what the settings say */
    if (run->inner >= 3 || run->calls > CALLS) return XML_STATUS_OK;
    /* In the value of an entity, C does not return from the first of them, and breaks on the second. */
    if (context == NULL && ((own[0] == '<' && own[1] >= 'a') || own[0] == '\0')) own = " ";
    XML_Parser parser = XML_ExternalEntityParserCreate(run->parser, context, run->how & 32 ? "utf-8" : NULL), before =
        run->parser;
    if (parser == NULL) return XML_STATUS_ERROR;
    run->parser = parser, run->inner++;
    size_t length = strlen(own), half = run->how & 1 ? length / 2 : 0;
    int status = XML_Parse(parser, own, (int)half, 0);
    if (status == XML_STATUS_OK) status = XML_Parse(parser, own + half, (int)(length - half), 1);
    while (status == XML_STATUS_SUSPENDED) status = XML_ResumeParser(parser);
    run->parser = before, run->inner--;
    XML_ParserFree(parser);
    return run->how & 2 ? XML_STATUS_OK : status;
}

static int convert(void *data, const char *bytes) { return (void)data, (unsigned char)bytes[0] % 2
    ? 0x100 + (unsigned char)bytes[1] : 'z'; }
static void release(void *data) {
    if (data != NULL) *(unsigned *)data += 1; /* parsers of external entities have none */
}

static int unknown(void *data, const XML_Char *name, XML_Encoding *info) {
    if (strcmp(name, "x-none") == 0) return XML_STATUS_ERROR;
    for (int at = 0; at < 256; at++) info->map[at] = at < 128 ? at : strcmp(name, "x-own") == 0 ? at + 0x300 : at < 192
        ? -1 : -2;
    info->convert = convert, info->release = release, info->data = data;
    return XML_STATUS_OK;
}

/* Sets all handlers or some, and takes some away. */
static void set_handlers(XML_Parser parser, unsigned some) {
    XML_SetElementHandler(parser, some & 1 ? NULL : start, end);
    if (some & 1) XML_SetStartElementHandler(parser, start), XML_SetEndElementHandler(parser, NULL);
    XML_SetCharacterDataHandler(parser, some & 2 ? NULL : text);
    XML_SetProcessingInstructionHandler(parser, some & 4 ? NULL : instruction);
    XML_SetCommentHandler(parser, some & 4 ? NULL : end);
    XML_SetCdataSectionHandler(parser, plain, some & 8 ? NULL : plain);
    if (some & 8) XML_SetStartCdataSectionHandler(parser, NULL), XML_SetEndCdataSectionHandler(parser, plain);
    if (some & 16) XML_SetDefaultHandler(parser, text);
    else if (some & 32) XML_SetDefaultHandlerExpand(parser, text);
    XML_SetDoctypeDeclHandler(parser, doctype, plain);
    if (some & 64) XML_SetStartDoctypeDeclHandler(parser, NULL), XML_SetEndDoctypeDeclHandler(parser, NULL);
    if (some & 128) {
        XML_SetEntityDeclHandler(parser, entity), XML_SetNotationDeclHandler(parser, notation),
            XML_SetNotStandaloneHandler(parser, standalone);
        XML_SetUnparsedEntityDeclHandler(parser, unparsed), XML_SetSkippedEntityHandler(parser, skipped);
        XML_SetElementDeclHandler(parser, element), XML_SetAttlistDeclHandler(parser, attribute),
            XML_SetXmlDeclHandler(parser, declared);
    }
    XML_SetNamespaceDeclHandler(parser, name_space, end);
    if (some & 1) {
        XML_SetStartNamespaceDeclHandler(parser, some & 2 ? NULL : name_space);
        XML_SetEndNamespaceDeclHandler(parser, NULL);
    }
}

static void configure(XML_Parser parser, unsigned *released) {
    unsigned some = byte(), how = run->how = byte();
    XML_SetUserData(parser, run);
    set_handlers(parser, some);
    if (how & 3) XML_SetExternalEntityRefHandler(parser, external);
    if (how & 64) XML_SetExternalEntityRefHandlerArg(parser, parser);
    if (how & 4) XML_SetUnknownEncodingHandler(parser, unknown, released);
    XML_SetParamEntityParsing(parser, (enum XML_ParamEntityParsing)(how / 32 % 3));
    if (how & 128) XML_SetHashSalt(parser, how), XML_SetReturnNSTriplet(parser, 1);
    if (some & 32) XML_UseForeignDTD(parser, XML_TRUE);
    if (some & 64) XML_SetBase(parser, "http://a/");
    if (some & 16 && how & 16) XML_SetEncoding(parser, ANY(encodings));
    if (some & 4 && XML_GetBase(parser) != NULL && XML_GetBase(parser)[0] != 'h') abort();
}

static void parse(XML_Parser parser) {
    size_t at = 0, piece = 1 + byte() * (size_t)(1 + byte() % 16);
    int status = XML_STATUS_OK;
    run->parser = parser;
    while (status == XML_STATUS_OK && at <= run->size && run->calls <= CALLS) {
        size_t size = run->size - at < piece ? run->size - at : piece;
        int is_last = at + size == run->size;
        if (run->how & 1) {
            status = XML_Parse(parser, run->text + at, (int)size, is_last);
        } else {
            void *room = XML_GetBuffer(parser, (int)size);
            if (room == NULL && size > 0) break;
            if (size > 0) memcpy(room, run->text + at, size);
            status = XML_ParseBuffer(parser, (int)size, is_last);
        }
        while (status == XML_STATUS_SUSPENDED) {
            if (XML_Parse(parser, "x", 1, 0) != XML_STATUS_ERROR) abort();
            status = XML_ResumeParser(parser);
        }
        at += size;
        if (is_last) break;
    }
    if (status == XML_STATUS_ERROR && XML_ErrorString(XML_GetErrorCode(parser)) == NULL) abort();
    if (status == XML_STATUS_ERROR && run->how & 1 && XML_Parse(parser, "x", 1, 1) != XML_STATUS_ERROR) abort();
    XML_GetCurrentLineNumber(parser), XML_GetCurrentColumnNumber(parser), XML_GetCurrentByteIndex(parser);
}

static void memory(XML_Parser parser) {
    char *block = XML_MemMalloc(parser, 10);
    if (block == NULL) return;
    memcpy(block, "123456789", 10);
    block = XML_MemRealloc(parser, block, 5000);
    if (block != NULL && strcmp(block, "123456789") != 0) abort();
    XML_MemFree(parser, block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const XML_Memory_Handling_Suite suite = {malloc, realloc, free};
    unsigned released = 0;
    run = calloc(1, sizeof *run);
    run->late = data, run->left_late = size / 4;
    run->at = data + size / 4, run->left = size - size / 4;
    unsigned how = byte();
    const char *encoding = how & 1 ? ANY(encodings) : NULL;
    XML_Parser parser = how & 2 ? XML_ParserCreateNS(encoding, how & 4 ? '|' : '\0') : how & 4
        ? XML_ParserCreate_MM(encoding, &suite, how & 8 ? "!" : NULL) : XML_ParserCreate(encoding);
    for (int times = 0; parser != NULL && times < 2 && run->left > 0; times++) {
        configure(parser, &released);
        write_document();
        parse(parser);
        memory(parser);
        run->calls = 0;
        if (!(how & 16) || !XML_ParserReset(parser, how & 32 ? "ISO-8859-1" : NULL)) break;
    }
    if (parser != NULL) XML_ParserFree(parser);
    XML_ErrorString((enum XML_Error)((int)(size % 60) - 5));
    if (XML_ExpatVersionInfo().major != 2 || strncmp(XML_ExpatVersion(), "expat_2", 7) != 0 ||
        XML_GetFeatureList()->name == NULL) abort();
    free(run), run = NULL;
    return 0;
}
