/* Runs bzip2 on one input: choices come first, then data. Data is compressed and decompressed, at once and in pieces, and
 * is also read as a compressed stream; others are put together field by field, as the format says. Some inputs go
 * through the functions for files. Memory may run out, arguments may be wrong, and calls may come in the wrong order. */
#define _GNU_SOURCE
#include "bzlib.h"
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 24000
#define PACKED (2 * MOST)

struct input { const uint8_t *data; size_t size; unsigned mixed; };

/* A number from the next byte of the input, or one that follows from what was read when there are no more. */
static unsigned choice(struct input *in, unsigned below) {
    in->mixed = in->mixed * 1103515245 + (in->size > 0 ? *in->data : 12345);
    return (in->size > 0 ? (in->size--, *in->data++) : in->mixed >> 16 & 255) % below;
}

/* Data that repeats: short inputs would reach none of the sorting else. */
static size_t filled(struct input *in, char *to) {
    size_t length = choice(in, 64) * (size_t)(1 + choice(in, 64));
    unsigned kind = choice(in, 16), step = choice(in, 8), noise = 1 + choice(in, 256), mask = choice(in, 256);
    if (kind == 0) length = 9990 + length * 3; /* long blocks are sorted in another way */
    if (length > MOST) length = MOST;
    for (size_t at = 0; at < length; at++) {
        to[at] = in->size ? (char)(in->data[at % in->size] + (at / in->size) * step) : 'a';
        noise = noise * 1103515245 + 12345;
        if (kind % 4 == 1) to[at] = (char)(noise >> 16 & mask); /* few or many different bytes */
        if (kind % 4 == 2 && (noise >> 16) % 64 > 0) to[at] = at ? to[at - 1] : 'r'; /* runs */
    }
    return length;
}

/* Memory, until there is no more. */
static void *take(void *left, int items, int size) {
    return (*(int *)left)-- > 0 ? malloc((size_t)items * (size_t)size) : NULL;
}

static void give(void *left, void *block) { (void)left, free(block); }

static bz_stream new_stream(struct input *in, int *left) {
    bz_stream stream = {0};
    unsigned kind = choice(in, 8);
    *left = kind == 0 ? (int)choice(in, 6) : 100;
    if (kind < 2) stream = (bz_stream){.bzalloc = take, .bzfree = give, .opaque = left};
    return stream;
}

static size_t in_pieces(struct input *in, const char *text, size_t length, char *packed, size_t room) {
    int left, level = choice(in, 32) ? 1 : 1 + (int)choice(in, 9), code;
    bz_stream stream = new_stream(in, &left);
    if (BZ2_bzCompressInit(&stream, level, (int)choice(in, 2), (int)choice(in, 8) * 15) != BZ_OK) return 0;
    stream.next_out = packed, stream.avail_out = (unsigned)room;
    size_t given = 0;
    for (unsigned turn = choice(in, 6); turn > 0; turn--) {
        size_t piece = choice(in, 250) * (size_t)(1 + choice(in, 100));
        int action = choice(in, 3) ? BZ_RUN : BZ_FLUSH;
        if (piece > length - given) piece = length - given;
        stream.next_in = (char *)text + given, stream.avail_in = (unsigned)piece;
        stream.avail_out = choice(in, 4) ? stream.avail_out : choice(in, 60);
        do code = BZ2_bzCompress(&stream, action);
        while (code == BZ_FLUSH_OK && stream.avail_out > 0);
        given += piece - stream.avail_in;
        stream.avail_out = (unsigned)(packed + room - stream.next_out);
        if (code == BZ_FLUSH_OK && choice(in, 4)) break;
    }
    stream.next_in = (char *)text + given;
    stream.avail_in = stream.avail_out > 0 ? (unsigned)(length - given) : 0;
    unsigned small = choice(in, 3) == 0 ? 1 + choice(in, 100) : (unsigned)room;
    for (unsigned turn = 0; turn < 1000; turn++) {
        size_t rest = (size_t)(packed + room - stream.next_out);
        stream.avail_out = rest < small ? (unsigned)rest : small;
        if (BZ2_bzCompress(&stream, BZ_FINISH) != BZ_FINISH_OK || rest == 0) break;
    }
    size_t made = (size_t)(stream.next_out - packed);
    if (choice(in, 4) == 0) BZ2_bzCompress(&stream, (int)choice(in, 4)); /* nothing may come after the end */
    BZ2_bzCompressEnd(&stream);
    return made;
}

static unsigned crc_of(unsigned crc, const char *data, size_t size) {
    for (size_t at = 0; at < size; at++) {
        crc ^= (unsigned)(uint8_t)data[at] << 24;
        for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7u : 0);
    }
    return crc;
}

/* Decompresses, and gives the CRC of what came out. */
static unsigned back_in_pieces(struct input *in, const char *packed, size_t length) {
    static char out[1000];
    int left, most = choice(in, 2) ? (int)sizeof out : 1 + (int)choice(in, 250), step = 1 + (int)choice(in, 100);
    bz_stream stream = new_stream(in, &left);
    unsigned crc = 0xffffffffu;
    if (BZ2_bzDecompressInit(&stream, (int)choice(in, 2), (int)choice(in, 2)) != BZ_OK) return 0;
    size_t given = 0, piece = choice(in, 2) ? length : choice(in, 256) * (size_t)(1 + choice(in, 4));
    for (unsigned turn = 0; turn < 60; turn++) {
        if (piece > length - given || turn == 40) piece = length - given;
        stream.next_in = (char *)packed + given, stream.avail_in = (unsigned)piece;
        stream.next_out = out, stream.avail_out = (unsigned)most;
        int code = BZ2_bzDecompress(&stream);
        given += piece - stream.avail_in;
        crc = crc_of(crc, out, (size_t)(stream.next_out - out));
        if (code != BZ_OK || (piece == 0 && stream.avail_out > 0)) {
            if (code == BZ_STREAM_END) BZ2_bzDecompress(&stream);
            break;
        }
        piece = (size_t)step;
    }
    bz_stream copy = stream; /* which is no stream of its own */
    if (choice(in, 4) == 0) BZ2_bzDecompressEnd(NULL), BZ2_bzDecompressEnd(&copy);
    for (unsigned calls = 1 + choice(in, 2); calls > 0; calls--) BZ2_bzDecompressEnd(&stream);
    return ~crc;
}

struct bits { char *to; size_t count; };

static void put(struct bits *bits, unsigned width, unsigned value) {
    while (width-- > 0 && bits->count < 8 * (size_t)PACKED) {
        char bit = (char)(0x80 >> bits->count % 8), *place = bits->to + bits->count++ / 8;
        *place = (char)((*place & ~bit) | (value >> width & 1 ? bit : 0));
    }
}

/* Two tables with codes of nearly the same length each, or sometimes with any length. */
static void put_tables(struct input *in, struct bits *bits, unsigned tables, unsigned symbols, unsigned codes[][258],
                       unsigned lengths[][258]) {
    unsigned least = 1;
    while (1u << least < symbols) least++;
    for (unsigned table = 0; table < tables; table++) {
        unsigned kind = choice(in, 8), now = least + (kind == 1 ? choice(in, 20) : kind == 2), code = 0;
        put(bits, 5, now);
        for (unsigned symbol = 0; symbol < symbols; symbol++) {
            unsigned change = kind == 3 && symbol < 8 ? choice(in, 4) : kind == 4 ? choice(in, 3) : 0;
            if (change == 1 && now < 20 + (kind == 4)) put(bits, 2, 2), now++;
            if (change == 2 && now > (kind != 4)) put(bits, 2, 3), now--;
            put(bits, 1, 0);
            lengths[table][symbol] = now;
        }
        for (unsigned length = 1; length <= 20; length++, code <<= 1)
            for (unsigned symbol = 0; symbol < symbols; symbol++)
                if (lengths[table][symbol] == length) codes[table][symbol] = code++;
    }
}

/* A stream of one or two blocks. Gives its size, and the place of the last CRC. */
static size_t made_up(struct input *in, char *to, size_t *last) {
    static unsigned codes[8][258], lengths[8][258];
    memset(codes, 0, sizeof codes), memset(lengths, 0, sizeof lengths);
    struct bits bits = {to, 0};
    unsigned odd = choice(in, 32);
    put(&bits, 24, odd == 1 ? 0x425a00 + choice(in, 256) : 0x425a68);
    put(&bits, 8, odd == 2 ? choice(in, 256) : odd == 3 ? '0' + choice(in, 12) : '1');
    for (unsigned blocks = odd == 4 ? 0 : odd % 4 == 1 ? 2 : 1; blocks > 0; blocks--) {
        unsigned used = 0, tables = odd == 5 ? choice(in, 8) : 2 + choice(in, 5), count = choice(in, 250), groups;
        put(&bits, 24, 0x314159), put(&bits, 24, odd == 6 ? 0x265300 + choice(in, 256) : 0x265359);
        put(&bits, 32, choice(in, 256)), put(&bits, 1, choice(in, 2));
        put(&bits, 24, odd == 7 ? 99990 + choice(in, 40) : odd == 8 ? choice(in, 256) << 16 : choice(in, 256));
        unsigned sixteens = choice(in, 2) ? 1u << choice(in, 16) : choice(in, 256) << 8 | choice(in, 256);
        put(&bits, 16, odd == 9 ? 0 : sixteens);
        for (unsigned bit = odd == 9 ? 0 : sixteens; bit > 0; bit &= bit - 1) {
            unsigned some = choice(in, 256) << 8 | choice(in, 256);
            put(&bits, 16, some);
            for (; some > 0; some &= some - 1) used++;
        }
        groups = odd == 10 ? choice(in, 6) : odd == 11 ? 18000 + choice(in, 8) : 1 + count / 50 + choice(in, 3);
        put(&bits, 3, tables), put(&bits, 15, groups);
        unsigned chosen[8] = {0}, places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        for (unsigned group = 0; group < groups; group++) {
            unsigned place = group < 8 && tables ? choice(in, odd == 12 ? 8 : tables) : 0, table = places[place];
            for (unsigned step = place; step > 0; step--) put(&bits, 1, 1), places[step] = places[step - 1];
            put(&bits, 1, 0), places[0] = table, chosen[group % 8] = table;
        }
        put_tables(in, &bits, tables, used + 2, codes, lengths);
        unsigned most = choice(in, 3) ? used + 2 : 2 + choice(in, 3), end = used + 1;
        for (unsigned at = 0; at <= count; at++) {
            unsigned table = chosen[at / 50 % 8], symbol = choice(in, 256) % most;
            if (at == count || symbol >= end) symbol = at == count ? end : 0;
            put(&bits, lengths[table][symbol], codes[table][symbol]);
        }
    }
    put(&bits, 24, 0x177245), put(&bits, 24, odd == 13 ? 0x385000 + choice(in, 256) : 0x385090);
    *last = bits.count;
    put(&bits, 32, 0);
    return (bits.count + 7) / 8;
}

/* Such streams are seldom right before their CRCs are. */
static void made_up_and_back(struct input *in, char *packed) {
    struct bits bits = {packed, 80};
    size_t last, size = made_up(in, packed, &last);
    struct input again = *in;
    unsigned crc = back_in_pieces(in, packed, size);
    put(&bits, 32, crc);
    bits.count = last;
    put(&bits, 32, crc ^ (choice(in, 8) == 0));
    back_in_pieces(choice(in, 2) ? &again : in, packed, size);
}

static void at_once(struct input *in) {
    static char text[MOST], packed[PACKED], back[MOST];
    int level = choice(in, 32) ? 1 : 1 + (int)choice(in, 9), work = (int)choice(in, 11) * 25;
    size_t length = filled(in, text);
    unsigned packed_length = choice(in, 4) ? sizeof packed : choice(in, 100);
    int code = BZ2_bzBuffToBuffCompress(packed, &packed_length, text, (unsigned)length, level, (int)choice(in, 2), work);
    if (code != BZ_OK) return;
    if (choice(in, 4) == 0) packed[choice(in, 250) % packed_length] ^= (char)(1 << choice(in, 8));
    if (choice(in, 4) == 0) packed_length = choice(in, 250) % packed_length;
    unsigned kind = choice(in, 4), back_length = kind == 0 ? choice(in, 64) : kind == 1 ? (unsigned)length : sizeof back;
    BZ2_bzBuffToBuffDecompress(back, &back_length, packed, packed_length, (int)choice(in, 2), (int)choice(in, 2));
}

/* Arguments that the functions refuse, and calls in the wrong order. */
static void refused(struct input *in) {
    static char text[64] = "text", packed[512];
    bz_stream stream = {0}, other = {0};
    int numbers[] = {-1, 0, 1, 4, 5, 9, 10, 250, 251}, codes[] = {0, 0, 0, -1, 1, 2, 4, 5};
    int a = numbers[choice(in, 9)], b = codes[choice(in, 8)], c = numbers[choice(in, 9)];
    unsigned length = sizeof packed, *lengths[] = {&length, NULL};
    char *places[] = {packed, NULL};
    if (BZ2_bzCompressInit(choice(in, 8) ? &stream : NULL, a, 0, c) == BZ_OK) {
        stream.next_in = text, stream.avail_in = choice(in, 3) * 8;
        stream.next_out = packed, stream.avail_out = choice(in, 4) ? sizeof packed : choice(in, 60);
        for (unsigned calls = choice(in, 5); calls > 0; calls--) {
            BZ2_bzCompress(&stream, (int)choice(in, 5) - 1);
            stream.avail_in += choice(in, 4) == 0 && stream.next_in < text + 32;
        }
        other.state = stream.state; /* a copy of a stream is none */
        BZ2_bzCompress(&other, BZ_RUN), BZ2_bzCompressEnd(&other), other.state = NULL;
        BZ2_bzCompressEnd(choice(in, 4) ? NULL : &other), BZ2_bzCompressEnd(&stream), BZ2_bzCompressEnd(&stream);
    }
    BZ2_bzCompress(choice(in, 2) ? NULL : &other, (int)choice(in, 3));
    BZ2_bzDecompress(choice(in, 2) ? NULL : &other);
    stream = (bz_stream){0};
    if (BZ2_bzDecompressInit(choice(in, 8) ? &stream : NULL, b, codes[choice(in, 8)]) == BZ_OK) {
        other.state = stream.state;
        BZ2_bzDecompress(&other), BZ2_bzDecompressEnd(&other), other.state = NULL;
        BZ2_bzDecompressEnd(choice(in, 2) ? NULL : &other), BZ2_bzDecompressEnd(&stream), BZ2_bzDecompressEnd(&stream);
    }
    BZ2_bzBuffToBuffCompress(places[choice(in, 8) / 7], lengths[choice(in, 8) / 7], choice(in, 8) ? text : NULL,
                             choice(in, 64), choice(in, 2) ? a : 1, b == 2 || b == 4 ? 0 : b, choice(in, 2) ? c : 0);
    length = choice(in, 2) ? sizeof packed : 3;
    b = codes[choice(in, 8)];
    BZ2_bzBuffToBuffDecompress(places[choice(in, 8) / 7], lengths[choice(in, 8) / 7], choice(in, 8) ? text : NULL, 5,
                               codes[choice(in, 8)], b == 2 || b == 4 ? 0 : b);
}

/* A stream that failed. */
static FILE *failed(const char *mode) {
    FILE *file = fopen("/dev/null", mode);
    if (file && *mode == 'r') fputc('x', file);
    else if (file) fgetc(file);
    return file;
}

/* The same for the functions for files. */
static void refused_files(struct input *in) {
    static char text[256] = "text", unused[5001];
    int numbers[] = {-1, 0, 1, 2, 5, 9, 10, 251, 5000, 5001}, code, count, *codes[] = {&code, NULL};
    unsigned low, *lows[] = {&low, NULL};
    void *place;
    FILE *file = choice(in, 4) ? tmpfile() : choice(in, 2) ? fopen("/dev/full", "w") : fopen("/dev/null", "r");
    FILE *bad = choice(in, 4) == 0 ? failed(choice(in, 2) ? "r" : "w") : NULL;
    if (!file) return;
#define CODE codes[choice(in, 4) / 3]
#define NUMBER numbers[choice(in, 10)]
#define FEW(WORD) (choice(in, 6) ? 0 : (WORD))
    BZFILE *writer = BZ2_bzWriteOpen(CODE, choice(in, 8) ? file : bad, choice(in, 2) ? 1 : NUMBER,
                                     FEW(-1 + (int)choice(in, 2) * 6), choice(in, 2) ? 0 : NUMBER);
    if (choice(in, 4) == 0) BZ2_bzRead(CODE, writer, text, 4); /* it remembers the error */
    if (choice(in, 4) == 0) fgetc(file); /* an error if it cannot be read */
    BZ2_bzWrite(CODE, choice(in, 4) ? writer : NULL, choice(in, 4) ? text : NULL, numbers[choice(in, 8)]);
    if (choice(in, 4) == 0) BZ2_bzReadGetUnused(CODE, writer, &place, &count);
    if (writer) BZ2_bzerror(writer, &code), BZ2_bzReadClose(CODE, choice(in, 2) ? NULL : writer);
    if (writer && choice(in, 2)) BZ2_bzWriteClose(CODE, NULL, 0, &low, &low);
    code = 1;
    BZ2_bzWriteClose64(&code, writer, (int)choice(in, 2), lows[choice(in, 2)], lows[choice(in, 2)], lows[choice(in, 2)],
                       lows[choice(in, 2)]);
    if (writer && code != BZ_OK) clearerr(file), BZ2_bzWriteClose64(NULL, writer, 1, &low, &low, &low, &low);
    rewind(file);
    if (choice(in, 4) == 0) fputc('B', file), rewind(file);
    BZFILE *reader = BZ2_bzReadOpen(CODE, choice(in, 8) ? file : bad, FEW(NUMBER), choice(in, 4) ? (int)choice(in, 2) : NUMBER,
                                    choice(in, 2) ? unused : NULL, choice(in, 2) ? 0 : NUMBER);
    if (choice(in, 4) == 0) fputc('B', file); /* an error if it cannot be written */
    BZ2_bzRead(CODE, choice(in, 4) ? reader : NULL, choice(in, 4) ? text : NULL, numbers[choice(in, 8)]);
    if (choice(in, 4) == 0) BZ2_bzWrite(CODE, reader, text, 4);
    if (reader) {
        BZ2_bzReadGetUnused(CODE, reader, choice(in, 4) ? &place : NULL, choice(in, 4) ? &count : NULL);
        BZ2_bzerror(reader, &code), BZ2_bzWriteClose(CODE, reader, (int)choice(in, 2), &low, &low);
    }
    BZ2_bzReadClose(CODE, reader);
#undef CODE
#undef NUMBER
#undef FEW
    fclose(file);
    if (bad) fclose(bad);
}

static void by_name(struct input *in) {
    static const char *const to_write[] = {"w1", "w", "w0", "w9x", "wb2"}, *const to_read[] = {"r", "rs", "rb", "x", ""};
    static char text[1000];
    char name[] = "/tmp/implfuzz-bzip2-XXXXXX";
    int number = mkstemp(name), code;
    if (number < 0) return;
    const char *mode = to_write[choice(in, 8) % 5];
    BZFILE *file = choice(in, 2) ? BZ2_bzopen(name, mode) : BZ2_bzdopen(dup(number), mode);
    for (unsigned calls = file ? choice(in, 4) : 0; calls > 0; calls--) {
        memset(text, (int)choice(in, 250), sizeof text / 2);
        BZ2_bzwrite(file, text, (int)choice(in, 250) - 1), BZ2_bzflush(file), BZ2_bzerror(file, &code);
        if (choice(in, 8) == 0) BZ2_bzread(file, text, 1); /* this file is written */
    }
    BZ2_bzclose(file);
    for (unsigned count = choice(in, 16) / 2; count > 0; count--) /* more, which is no stream */
        if (pwrite(number, "BZh9", 4, (off_t)count * 20) != 4) break;
    mode = to_read[choice(in, 5)];
    lseek(number, 0, SEEK_SET);
    file = choice(in, 2) ? BZ2_bzopen(name, mode) : BZ2_bzdopen(dup(number), mode);
    for (unsigned calls = file ? choice(in, 16) : 0; calls > 0; calls--) {
        BZ2_bzread(file, text, (int)choice(in, 250) * 4 - 1), BZ2_bzerror(file, &code);
        if (choice(in, 8) == 0) BZ2_bzwrite(file, text, 1); /* this file is read */
    }
    BZ2_bzclose(file);
    BZ2_bzclose(BZ2_bzopen(choice(in, 2) ? "" : NULL, "r")); /* the standard input, of which nothing is read */
    BZ2_bzclose(BZ2_bzopen(name, NULL)), BZ2_bzclose(BZ2_bzopen("/nowhere/at/all", "r")), BZ2_bzdopen(-1, "r");
    unlink(name), close(number);
}

/* Streams one behind the other, as the program bzip2 reads them. */
static void through_a_file(struct input *in) {
    static char text[MOST], back[4000], unused[BZ_MAX_UNUSED];
    FILE *file = tmpfile();
    int code = BZ_OK, count = 0;
    unsigned numbers[4];
    if (!file) return;
    for (unsigned streams = choice(in, 3); streams > 0; streams--) {
        struct input same = *in;
        size_t length = filled(&same, text), done = choice(in, 2) ? length / 2 : 0;
        BZFILE *writer = BZ2_bzWriteOpen(&code, file, 1, (int)choice(in, 2), (int)choice(in, 4) * 25);
        if (!writer) break;
        BZ2_bzWrite(&code, writer, text, (int)done), BZ2_bzWrite(&code, writer, text + done, (int)(length - done));
        BZ2_bzerror(writer, &code);
        if (choice(in, 2)) BZ2_bzWriteClose(&code, writer, (int)choice(in, 4) == 0, numbers, numbers + 1);
        else
            BZ2_bzWriteClose64(&code, writer, (int)choice(in, 4) == 0, numbers, numbers + 1, numbers + 2, numbers + 3);
    }
    size_t rest = choice(in, 2) ? choice(in, 200) : 0;
    fwrite(in->data, 1, rest < in->size ? rest : in->size, file);
    if (choice(in, 4) == 0) fseek(file, choice(in, 200), SEEK_SET), fputc((int)choice(in, 256), file);
    rewind(file);
    for (unsigned streams = 0; streams < 4; streams++) {
        BZFILE *reader = BZ2_bzReadOpen(&code, file, (int)choice(in, 2), (int)choice(in, 2), unused, count);
        if (!reader) break;
        int most = choice(in, 2) ? 4000 : (int)choice(in, 255);
        for (unsigned calls = 0; calls < 40; calls++) {
            BZ2_bzRead(&code, reader, back, most);
            if (code != BZ_OK) break;
        }
        void *place;
        int end = code;
        BZ2_bzReadGetUnused(&code, reader, &place, &count);
        if (code == BZ_OK) memmove(unused, place, (size_t)count);
        BZ2_bzerror(reader, &code), BZ2_bzReadClose(&code, reader);
        if (end != BZ_STREAM_END || (count == 0 && feof(file))) break;
    }
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[MOST], packed[PACKED];
    struct input in = {data, size, 0};
    switch (choice(&in, 16)) {
    case 0: through_a_file(&in), BZ2_bzlibVersion(); break;
    case 9: refused(&in); break;
    case 11: refused_files(&in); break;
    case 10: by_name(&in); break;
    case 1: {
        size_t length = in.size < sizeof packed ? in.size : sizeof packed;
        memcpy(packed, in.data, length);
        back_in_pieces(&in, packed, length);
        break;
    }
    case 2: case 3: case 12: case 13: made_up_and_back(&in, packed); break;
    case 4: case 5: case 6: case 7: case 8: {
        size_t length = filled(&in, text);
        size_t made = in_pieces(&in, text, length, packed, choice(&in, 8) ? sizeof packed : choice(&in, 100));
        if (made > 0 && choice(&in, 4) == 0) packed[choice(&in, 250) % made] ^= (char)(1 << choice(&in, 8));
        back_in_pieces(&in, packed, made);
        break;
    }
    default: at_once(&in);
    }
    return 0;
}
