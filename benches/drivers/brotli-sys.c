/* Runs brotli on one input: choices come first, then data. Data of all kinds is compressed at all levels and
 * decompressed, sometimes damaged. Streams are also put together or just the input. Memory may run out. */
#include "brotli/decode.h"
#include "brotli/encode.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old functions are run, too */

enum { SMALL = 4096, LARGE = 70000, MOST = 140000, PACKED = 2 * MOST };

/* What is left of the input, what is compressed and how, and the bits of a stream that is put together. */
struct input { const uint8_t *data, *dict; size_t size, length, dict_size, bits; unsigned mixed; int level; };

static uint8_t text[MOST], packed[PACKED], back[MOST];
static volatile unsigned seen; /* of all results */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void see(const void *data, size_t size) {
    unsigned sum = seen;
    for (const uint8_t *at = data; size > 0; size--) sum = sum * 31 + *at++;
    seen = sum;
}

/* A number from the next byte of the input, or one that follows from what was read when there are no more. */
static unsigned choice(struct input *in, unsigned below) {
    in->mixed = in->mixed * 1103515245 + (in->size > 0 ? *in->data : 12345);
    return (in->size > 0 ? (in->size--, *in->data++) : in->mixed >> 16 & 255) % below;
}

/* Words of the built-in dictionary, and what its transforms put before and behind them. */
static const char *const words[] = {
    "time", "down", "left", "data", "video", "world", "first", "common", "status", "profile", "position",
    "resources", "questions", "experience", "technology", "transparent", "information", "applications",
    "understanding", "disambiguation", "characteristics", "at the same time", "the United States",
    "onreadystatechange", "w3.org/1999/xhtml\">", "setTimeout(function()", "document.getElementById("};
static const char *const before[] = {" ", ".", " the ", "e ", "s ", ", ", ".com/", "\xc2\xa0"};
static const char *const behind[] = {
    "", " ", ", ", " of the ", " of ", ".", " and ", " in ", "\"", " to ", "\">", "\n", ". ", "]", " for ",
    " a ", " that ", "'", " with ", " from ", " by ", "(", ". The ", " on ", " as ", " is ", "ing ", "\n\t",
    ":", "ed ", "=\"", " at ", "ly ", ",", "='", ". This ", " not ", "er ", "al ", "ful ", "ive ", "less ",
    "est ", "ize ", "ous "};
#define ONE_OF(LIST, NUMBER) LIST[(NUMBER) % (sizeof LIST / sizeof *LIST)]

/* Puts a word in the way that `how` says, and gives the length. */
static size_t phrase(unsigned how, char to[64]) {
    char *word = to + strlen(strcpy(to, how & 1 ? "" : ONE_OF(before, how >> 1 & 7)));
    size_t length = strlen(strcpy(word, ONE_OF(words, how >> 4))), kind = how >> 10 & 7;
    for (size_t at = 0; at < (kind == 0 ? 1 : kind == 1 ? length : 0); at++)
        if (word[at] >= 'a' && word[at] <= 'z') word[at] ^= 32;
    if (kind == 2) length = length * (how >> 13 & 7) / 8; /* there are transforms that cut words short */
    strcpy(word + length - (kind == 3), ONE_OF(behind, how >> 12));
    return strlen(to);
}

/* Data in parts of several kinds, since blocks are split where these change. What takes long is small. */
static size_t filled(struct input *in) {
    unsigned low = in->level < 2, high = in->level > 9, large = choice(in, low ? 4 : 16) == 0, noise = 0;
    unsigned same = choice(in, large ? 2 : 8) == 0, parts = choice(in, 16), kind = choice(in, 12);
    size_t most = low ? MOST : high && !same ? LARGE / 4 : LARGE, size = 0;
    if (!large) most = high && choice(in, 2) ? SMALL / 4 : SMALL;
    unsigned scale = large ? (unsigned)most / 512 : 1 + choice(in, 8), used = 0, many = 0;
    char some[64];
    for (; parts > 0 && size < most; parts--, kind = same ? kind : choice(in, 12)) {
        if (large && high && same) kind = in->level == 10 && kind % 2 ? 4 : 1;
        unsigned value = choice(in, 256), far = 1 + (kind == 1 ? value % 8 : value * scale);
        size_t end = least(most, size + (kind ? (choice(in, 256) + 1) * (size_t)scale : choice(in, 32)));
        for (; size < end; size++) {
            noise = noise * 1103515245 + 12345;
            text[size] = (uint8_t)(noise >> 16);
            if (kind == 0) text[size] = (uint8_t)choice(in, 256);
            if ((kind == 1 || kind == 2) && size >= far) text[size] = text[size - far];
            if (kind == 3) text[size] &= value; /* few or many different bytes */
            if (kind == 5) text[size] = (uint8_t)(size % 2 ? 128 | (noise >> 16 & 63) : 195 + value % 16);
            if (kind == 6 && in->size > 0) text[size] = in->data[size % in->size];
            if (kind == 7 && size > 0 && noise >> 24 > 16) text[size] = text[size - 1];
            if (kind > 7 && used == many) many = (unsigned)phrase(noise >> 7, some), used = 0;
            if (kind > 7) text[size] = (uint8_t)(many > 0 ? some[used++] : ' ');
        }
    }
    return size;
}

/* Memory, until there is no more, be it only for ring buffers, whose sizes are known by the slack. */
struct memory { int left, any; };
static void *take(void *opaque, size_t size) {
    struct memory *memory = opaque;
    return memory->left-- > 0 || (!memory->any && size % 64 != 42) ? malloc(size) : NULL;
}
static void give(void *opaque, void *block) { (void)opaque, free(block); }

static void set(BrotliEncoderState *s, unsigned which, uint32_t value) {
    seen += (unsigned)BrotliEncoderSetParameter(s, (BrotliEncoderParameter)which, value);
}

static BrotliEncoderState *encoder(struct input *in, struct memory *memory) {
    unsigned how = choice(in, 256), bits = 10 + choice(in, choice(in, 4) ? 9 : 15);
    *memory = (struct memory){how % 128 ? 10000 : 0, 1}; /* the encoder would exit later on */
    BrotliEncoderState *s = BrotliEncoderCreateInstance(how & 7 ? 0 : take, how & 7 ? 0 : give, memory);
    if (s == NULL) return NULL;
    if (in->dict_size == 0 && choice(in, 32) == 0) bits = choice(in, 256); /* the encoder corrects these */
    set(s, BROTLI_PARAM_QUALITY, (uint32_t)in->level), set(s, BROTLI_PARAM_LGWIN, bits);
    set(s, BROTLI_PARAM_MODE, choice(in, 3));
    if (how & 16) set(s, BROTLI_PARAM_LGBLOCK, choice(in, 8) ? 16 : choice(in, 32));
    if (how & 32) set(s, BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING, choice(in, 3));
    if (how & 64) set(s, BROTLI_PARAM_SIZE_HINT, 1u << (choice(in, 2) ? 20 : choice(in, 32)));
    if (how > 250) set(s, 6 + choice(in, 8), 1);
    if (in->dict_size > 0) BrotliEncoderSetCustomDictionary(s, in->dict_size, in->dict);
    return s;
}

/* Keeps what came out, and gives whether there was room. */
static int kept(const uint8_t *out, const size_t *size, size_t *made) {
    if (*size > PACKED - *made) return 0;
    if (*size > 0) memcpy(packed + *made, out, *size), *made += *size;
    return 1;
}

/* Compresses in pieces, with flushes and metadata in between. Gives the size, or none if that failed. */
static size_t in_pieces(struct input *in) {
    struct memory memory;
    BrotliEncoderState *s = encoder(in, &memory);
    size_t given = 0, made = 0, total = 0, scale = 1 + in->length / 1000;
    unsigned turns = choice(in, 8), style = choice(in, 4), more = 0, ok = s != NULL;
    while (ok && !BrotliEncoderIsFinished(s)) {
        /* Fast levels would write past a buffer after some pieces of metadata. */
        unsigned last = turns-- == 0, fast = style == 1 && in->level < 2;
        BrotliEncoderOperation op = last ? BROTLI_OPERATION_FINISH : choice(in, fast ? 2 : 4);
        if (!last && op == BROTLI_OPERATION_FINISH) op = BROTLI_OPERATION_EMIT_METADATA;
        size_t piece = least(last ? MOST : choice(in, 256) * scale, in->length - given);
        const uint8_t *next = text + given;
        if (op != BROTLI_OPERATION_EMIT_METADATA) given += piece;
        do { /* an operation has to be completed before the next one */
            size_t room = least(style == 0 ? 0 : style == 1 ? choice(in, 64) * scale : PACKED, PACKED - made);
            size_t was = room, size = choice(in, 2) ? choice(in, 256) : 0, *count = room % 4 ? &total : NULL;
            uint8_t *out = room > 0 ? packed + made : NULL;
            ok = BrotliEncoderCompressStream(s, op, &piece, &next, &room, &out, count);
            made += was - room, seen += (unsigned)total;
            more = piece > 0 || (op != BROTLI_OPERATION_PROCESS && BrotliEncoderHasMoreOutput(s));
            if (ok && (style == 0 || choice(in, 8) == 0))
                ok = kept(BrotliEncoderTakeOutput(s, &size), &size, &made);
        } while (ok && more && made < PACKED);
        ok = ok && !more;
    }
    if (ok && choice(in, 8) == 0) /* nothing may come after the end */
        ok = !BrotliEncoderCompressStream(s, choice(in, 4), &(size_t){1}, &(const uint8_t *){text},
                                          &(size_t){0}, &(uint8_t *){NULL}, NULL);
    if (ok) set(s, BROTLI_PARAM_MODE, 1); /* nor may these change */
    BrotliEncoderDestroyInstance(s);
    return ok ? made : 0;
}

/* The same with the functions of old. */
static size_t in_blocks(struct input *in) {
    struct memory memory;
    BrotliEncoderState *s = encoder(in, &memory);
    size_t given = 0, made = 0, size = 0, most = s ? BrotliEncoderInputBlockSize(s) : 0;
    uint8_t *out = NULL;
    int ok = in->length > 0 && most > 0, step = 1 + choice(in, 256) * 99;
    while (ok && given < in->length) {
        size_t piece = given > 0 && choice(in, 8) == 0 ? 0 : least(least(most, step), in->length - given);
        BrotliEncoderCopyInputToRingBuffer(s, piece, text + given);
        given += piece;
        ok = BrotliEncoderWriteData(s, given == in->length, choice(in, 4) == 0, &size, &out);
        ok = ok && kept(out, &size, &made);
    }
    if (ok) seen += (unsigned)BrotliEncoderWriteData(s, 0, 0, &size, &out); /* after the end */
    BrotliEncoderDestroyInstance(s);
    return ok ? made : 0;
}

static size_t at_once(struct input *in) {
    size_t kind = choice(in, 8), size = kind == 0 ? choice(in, 8) * 20 : PACKED;
    if (kind > 3) size = BrotliEncoderMaxCompressedSize(in->length);
    int bits = choice(in, 4) ? 10 + (int)choice(in, 9) : (int)choice(in, 32);
    BrotliEncoderMode mode = (BrotliEncoderMode)choice(in, 3);
    if (in->level == 10 && in->length == 1) return 0; /* it would read the byte in front of a single one */
    return BrotliEncoderCompress(in->level, bits, mode, in->length, text, &size, packed) ? size : 0;
}

/* Decompresses in pieces. */
static void back_in_pieces(struct input *in, size_t size) {
    unsigned how = choice(in, 256), style = choice(in, 4), step = choice(in, 2) ? PACKED : 1 + choice(in, 64);
    /* The decoder adds to a null pointer if there is no memory for its trees, not before or after these. */
    struct memory memory = {how % 8 ? 10000 : (int)choice(in, 5), how % 16 != 8};
    BrotliDecoderState *s = BrotliDecoderCreateInstance(how & 3 ? 0 : take, how & 3 ? 0 : give, &memory);
    size_t made = 0, left = 0, given = 0, total = 0;
    const uint8_t *next = packed;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
    if (s == NULL) return;
    if (in->dict_size > 0) BrotliDecoderSetCustomDictionary(s, in->dict_size, in->dict);
    do {
        size_t more = result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT || choice(in, 2) ? step : 0;
        size_t room = style == 0 ? 0 : style == 1 ? choice(in, 64) * (1 + size / 64) : MOST;
        more = least(more, size - given), left += more, given += more, room = least(room, MOST - made);
        size_t was = room, taken = choice(in, 2) ? MOST : choice(in, 128), *count = taken % 2 ? NULL : &total;
        uint8_t *out = room > 0 ? back + made : NULL;
        result = BrotliDecoderDecompressStream(s, &left, &next, &room, &out, count);
        made += was - room, taken = least(taken, MOST - made);
        if (taken > 0 && (style == 0 || choice(in, 16) == 0)) {
            const uint8_t *ready = BrotliDecoderTakeOutput(s, &taken);
            if (taken > 0) memcpy(back + made, ready, taken), made += taken;
        }
        seen += total + BrotliDecoderIsUsed(s) + BrotliDecoderHasMoreOutput(s) + BrotliDecoderIsFinished(s);
    } while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT ? made < MOST
             : result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && given < size);
    see(back, made), seen += (unsigned)BrotliDecoderGetErrorCode(s);
    BrotliDecoderDestroyInstance(s);
}

static void put(struct input *in, unsigned many, unsigned value) {
    for (; many > 0; many--, value >>= 1, in->bits++) {
        if (in->bits % 8 == 0) packed[in->bits / 8] = 0;
        packed[in->bits / 8] |= (uint8_t)((value & 1) << in->bits % 8);
    }
}

static unsigned width(unsigned number) { return number > 0 ? 1 + width(number / 2) : 0; }

/* A prefix code for an alphabet: for one to four symbols of a range, or for many that are equally long. */
static void put_code(struct input *in, unsigned alphabet, unsigned from, unsigned range) {
    static const unsigned order[] = {1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    unsigned kind = choice(in, 32), more = choice(in, 4), at = choice(in, 256), bits = width(alphabet - 1);
    unsigned length = 1 + at % (bits - 1); /* the only one that is used, which needs no bits */
    put(in, 2, kind < 28), put(in, kind < 28 ? 2 : 0, more);
    for (unsigned i = 0; i < 18 && kind >= 28; i++)
        put(in, order[i] == length ? 4 : 2, order[i] == length ? 7 : 0);
    for (unsigned i = 0; i <= more && kind < 28; i++)
        put(in, bits, kind ? from + (at * 4 + i) % (unsigned)least(range, alphabet - from) : choice(in, 256));
    put(in, kind < 28 && more == 3, kind);
}

static void put_block(struct input *in) {
    unsigned odd = choice(in, 64), last = choice(in, 2), types[3], any = odd > 1 && odd < 16;
    unsigned postfix = odd > 31 ? odd % 4 : 0, direct = odd > 47 ? odd % 16 : 0;
    put(in, 1, last), put(in, last, 0), put(in, 2, odd == 1);
    put(in, odd == 1 ? 20 : 16, choice(in, 256) << odd % 8), put(in, !last, 0);
    for (unsigned i = 0, most; i < 3; i++) {
        types[i] = choice(in, 3) ? 1 : 2 + choice(in, choice(in, 16) ? 6 : 255), most = types[i] - 1;
        put(in, 1, most > 0);
        if (most == 0) continue;
        put(in, 3, width(most) - 1), put(in, width(most) - 1, most), put_code(in, most + 3, 0, most + 3);
        put(in, 4, 1), put(in, 5, choice(in, 4)), put(in, 2, choice(in, 4)); /* short blocks */
    }
    put(in, 2, postfix), put(in, 4, direct);
    for (unsigned i = 0; i < types[0]; i++) put(in, 2, choice(in, 4));
    put(in, 2, 0), put_code(in, 256, 0, 256); /* contexts do not matter */
    for (; types[1] > 0; types[1]--) put_code(in, 704, any ? 0 : 130, any ? 704 : 56); /* mostly words */
    put_code(in, 16 + ((48 + direct) << postfix), any ? 0 : 16, any ? 544 : 35);
    for (unsigned i = choice(in, 256); i > 0; i--) put(in, 8, odd % 8 < 2 ? odd % 8 * 255 : choice(in, 256));
}

/* A stream that no encoder would make, which is right as far as possible. */
static size_t made_up(struct input *in) {
    static const unsigned windows[][2] = {{1, 0}, {7, 1}, {7, 17}, {7, 113}, {4, 3}, {4, 15}, {7, 33}};
    size_t window = least(choice(in, 64), 6);
    put(in, windows[window][0], windows[window][1]);
    for (unsigned blocks = choice(in, 4); blocks > 0; blocks--) {
        unsigned size = choice(in, 256) * 4 + choice(in, 4), odd = choice(in, 64);
        unsigned bytes = size == 0 ? 0 : odd == 21 ? 2 + size % 2 : 1 + (size > 256);
        put(in, 1, odd > 60), put(in, odd > 60, 0);
        if (odd > 20) put(in, 2, 3), put(in, 1, odd == 22), put(in, 2, bytes), put(in, 8 * bytes, size - 1);
        else put(in, 2, 0), put(in, 16, size++), put(in, 1, 1);
        while (in->bits % 8) put(in, 1, odd == 3 || odd == 23);
        while (size-- > 0) put(in, 8, choice(in, 256));
    }
    choice(in, 8) ? put_block(in) : put(in, 2, 3);
    return (in->bits + 7) / 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {.data = data, .size = size, .dict = text};
    unsigned kind = choice(&in, 16), damage, place;
    size_t made, room;
    seen = 0;
    if (kind == 0) {
        seen = BrotliEncoderVersion() + BrotliDecoderVersion();
        seen += (unsigned)BrotliEncoderMaxCompressedSize(SIZE_MAX >> choice(&in, 64));
        for (int code = BROTLI_LAST_ERROR_CODE - 1; code < 5; code++) see(BrotliDecoderErrorString(code), 5);
        if ((made = least(in.size, PACKED)) > 0) memcpy(packed, in.data, made);
    } else if (kind < 4) made = made_up(&in);
    else {
        in.level = choice(&in, 64) ? (int)choice(&in, 12) : (int)choice(&in, 256) - 100;
        in.length = filled(&in);
        if (kind > 6 && choice(&in, 4) == 0) in.dict_size = choice(&in, 256) * in.length / 512;
        in.dict += in.length / 4;
        made = kind < 7 ? at_once(&in) : kind < 9 ? in_blocks(&in) : in_pieces(&in);
    }
    damage = choice(&in, 16), place = choice(&in, 256);
    if (damage < 4 && made > 0) packed[place * made / 256] ^= (uint8_t)(1 << (damage + place) % 8);
    if (damage == 4) made = made * place / 256;
    back_in_pieces(&in, made);
    if (in.dict_size > 0 || choice(&in, 4)) return 0;
    room = choice(&in, 8) ? MOST : choice(&in, 256);
    seen += (unsigned)BrotliDecoderDecompress(made, packed, &room, back);
    see(back, room);
    return 0;
}
