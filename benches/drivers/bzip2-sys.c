/*
 * Runs bzip2 on one input: choices come first, then data. Data is compressed and decompressed, at once and in pieces, and
 * is also read as a compressed stream. A few inputs go through the functions for files.
 */
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

struct input {
    const uint8_t *data;
    size_t size;
};

static unsigned choice(struct input *in, unsigned below)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++ % below;
}

/* Data that repeats: short inputs would reach none of the sorting else. */
static size_t filled(struct input *in, char *to)
{
    size_t length = 1 + choice(in, 64) * (size_t)(1 + choice(in, 64));
    if (choice(in, 8) == 0)
        length = 10000 + length * 3; /* long blocks are sorted in another way */
    if (length > MOST)
        length = MOST;
    unsigned step = choice(in, 8);
    for (size_t at = 0; at < length; at++)
        to[at] = in->size ? (char)(in->data[at % in->size] + (at / in->size) * step) : 'a';
    return length;
}

static void at_once(struct input *in)
{
    static char text[MOST], packed[2 * MOST], back[MOST];
    unsigned level = 1 + choice(in, 2), verbosity = 0, work = choice(in, 4) * 10;
    size_t length = filled(in, text);
    unsigned room = choice(in, 4) ? sizeof packed : 1 + choice(in, 64);
    unsigned packed_length = room;
    int code = BZ2_bzBuffToBuffCompress(packed, &packed_length, text, (unsigned)length, (int)level, (int)verbosity, (int)work);
    if (code != BZ_OK)
        return;
    if (choice(in, 4) == 0 && packed_length > 12)
        packed[choice(in, 200) % packed_length] ^= (char)(1 << choice(in, 8));
    unsigned back_length = choice(in, 4) ? sizeof back : 1 + choice(in, 64);
    BZ2_bzBuffToBuffDecompress(back, &back_length, packed, packed_length, (int)choice(in, 2), 0);
}

static size_t in_pieces(struct input *in, const char *text, size_t length, char *packed, size_t room)
{
    bz_stream stream = {0};
    if (BZ2_bzCompressInit(&stream, 1, 0, (int)choice(in, 3) * 30) != BZ_OK)
        return 0;
    stream.next_out = packed;
    stream.avail_out = (unsigned)room;
    size_t given = 0;
    for (unsigned turn = 0; turn < 12; turn++) {
        size_t piece = choice(in, 200) * (size_t)64;
        if (piece > length - given)
            piece = length - given;
        stream.next_in = (char *)text + given;
        stream.avail_in = (unsigned)piece;
        int code = BZ2_bzCompress(&stream, BZ_RUN);
        given += piece - stream.avail_in;
        if (code != BZ_RUN_OK && code != BZ_PARAM_ERROR)
            break;
        if (choice(in, 6) == 0 && stream.avail_in == 0)
            while (BZ2_bzCompress(&stream, BZ_FLUSH) == BZ_FLUSH_OK && stream.avail_out > 0)
                ;
    }
    stream.avail_in = 0;
    while (BZ2_bzCompress(&stream, BZ_FINISH) == BZ_FINISH_OK && stream.avail_out > 0)
        ;
    size_t made = room - stream.avail_out;
    BZ2_bzCompressEnd(&stream);
    return made;
}

static void back_in_pieces(struct input *in, const char *packed, size_t length)
{
    static char out[256];
    bz_stream stream = {0};
    if (BZ2_bzDecompressInit(&stream, 0, (int)choice(in, 2)) != BZ_OK)
        return;
    size_t given = 0;
    for (unsigned turn = 0; turn < 200; turn++) {
        size_t piece = 1 + choice(in, 100);
        if (piece > length - given)
            piece = length - given;
        stream.next_in = (char *)packed + given;
        stream.avail_in = (unsigned)piece;
        stream.next_out = out;
        stream.avail_out = 1 + choice(in, sizeof out);
        int code = BZ2_bzDecompress(&stream);
        given += piece - stream.avail_in;
        if (code != BZ_OK || (piece == 0 && stream.avail_out > 0))
            break;
    }
    BZ2_bzDecompressEnd(&stream);
}

/* Arguments that the functions refuse, and calls in the wrong order. */
static void refused(struct input *in)
{
    static char text[64] = "text", packed[512];
    bz_stream stream = {0};
    int numbers[] = {-1, 0, 1, 4, 5, 9, 10, 250, 251};
    int a = numbers[choice(in, 9)], b = numbers[choice(in, 9)], c = numbers[choice(in, 9)];
    unsigned length = sizeof packed, *lengths[] = {&length, NULL};
    char *places[] = {packed, NULL};
    if (BZ2_bzCompressInit(choice(in, 4) ? &stream : NULL, a, 0, c) == BZ_OK) {
        stream.next_in = text;
        stream.avail_in = choice(in, 3) * 8;
        stream.next_out = packed;
        stream.avail_out = sizeof packed;
        BZ2_bzCompress(&stream, (int)choice(in, 4));
        BZ2_bzCompress(&stream, (int)choice(in, 4));
        stream.avail_in += choice(in, 2);
        BZ2_bzCompress(&stream, (int)choice(in, 4));
        BZ2_bzDecompress(choice(in, 2) ? NULL : &(bz_stream){0});
        BZ2_bzCompressEnd(choice(in, 4) ? NULL : &(bz_stream){0});
        BZ2_bzCompressEnd(&stream);
    }
    BZ2_bzCompress(choice(in, 2) ? NULL : &(bz_stream){0}, BZ_RUN);
    stream = (bz_stream){0};
    if (BZ2_bzDecompressInit(choice(in, 4) ? &stream : NULL, choice(in, 3) ? 0 : -1 + (int)choice(in, 2) * 6, c % 3) == BZ_OK) {
        BZ2_bzDecompressEnd(choice(in, 2) ? NULL : &(bz_stream){0});
        BZ2_bzDecompressEnd(&stream);
    }
    BZ2_bzBuffToBuffCompress(places[choice(in, 3) / 2], lengths[choice(in, 3) / 2], choice(in, 4) ? text : NULL, 5, a, 0, c);
    length = choice(in, 2) ? sizeof packed : 3;
    BZ2_bzBuffToBuffDecompress(places[choice(in, 3) / 2], lengths[choice(in, 3) / 2], choice(in, 4) ? text : NULL, 5, b, 0);
}

/* The same for the functions for files. */
static void refused_files(struct input *in)
{
    static char text[256] = "text";
    int numbers[] = {-1, 0, 1, 2, 5, 9, 10, 251}, code, *codes[] = {&code, NULL};
    unsigned low, high, *lows[] = {&low, NULL};
    FILE *file = tmpfile(), *files[] = {file, NULL};
    if (!file)
        return;
#define CODE codes[choice(in, 4) / 3]
#define NUMBER numbers[choice(in, 8)]
#define FEW(WORD) (choice(in, 4) ? 0 : (WORD))
    BZFILE *writer = BZ2_bzWriteOpen(CODE, files[choice(in, 4) / 3], NUMBER, FEW(-1 + (int)choice(in, 2) * 6), NUMBER);
    BZ2_bzWrite(CODE, choice(in, 4) ? writer : NULL, choice(in, 4) ? text : NULL, NUMBER);
    BZ2_bzRead(CODE, writer, text, 4);
    BZ2_bzReadGetUnused(CODE, writer, (void **)&(void *){0}, &(int){0});
    if (writer) {
        BZ2_bzerror(writer, &code);
        BZ2_bzReadClose(CODE, writer);
    }
    BZ2_bzWriteClose64(CODE, writer, (int)choice(in, 2), lows[choice(in, 2)], lows[choice(in, 2)], lows[choice(in, 2)],
                       lows[choice(in, 2)]);
    rewind(file);
    BZFILE *reader = BZ2_bzReadOpen(CODE, files[choice(in, 4) / 3], FEW(NUMBER), FEW(NUMBER), choice(in, 2) ? text : NULL, NUMBER);
    BZ2_bzRead(CODE, choice(in, 4) ? reader : NULL, choice(in, 4) ? text : NULL, NUMBER);
    BZ2_bzWrite(CODE, reader, text, 4);
    if (reader) {
        BZ2_bzReadGetUnused(CODE, reader, choice(in, 4) ? (void **)&(void *){0} : NULL, choice(in, 4) ? &(int){0} : NULL);
        BZ2_bzerror(reader, &code);
        BZ2_bzWriteClose(CODE, reader, 0, &low, &high);
    }
    BZ2_bzReadClose(CODE, reader);
    BZ2_bzdopen(-1, "r");
#undef CODE
#undef NUMBER
#undef FEW
    fclose(file);
}

static void by_name(struct input *in)
{
    static const char *const modes[] = {"r", "w1", "rs", "w", "w9x"};
    char text[300], name[] = "/tmp/implfuzz-bzip2-XXXXXX";
    int descriptor = mkstemp(name), code;
    if (descriptor < 0)
        return;
    close(descriptor);
    memset(text, (int)choice(in, 250), sizeof text);
    BZFILE *file = BZ2_bzopen(name, modes[1 + 2 * choice(in, 2)]);
    if (file) {
        BZ2_bzwrite(file, text, (int)choice(in, 250));
        BZ2_bzflush(file);
        BZ2_bzerror(file, &code);
        BZ2_bzclose(file);
    }
    descriptor = open(name, O_RDONLY);
    file = choice(in, 2) ? BZ2_bzdopen(descriptor, modes[2 * choice(in, 2)]) : NULL;
    if (!file) {
        close(descriptor);
        file = BZ2_bzopen(name, modes[choice(in, 5) / 4 * 4]);
    }
    if (file) {
        while (BZ2_bzread(file, text, 1 + (int)choice(in, 250)) > 0)
            ;
        BZ2_bzclose(file);
    }
    BZ2_bzclose(BZ2_bzopen(name, NULL));
    unlink(name);
}

static void through_a_file(struct input *in)
{
    static char text[MOST], back[512];
    size_t length = filled(in, text);
    FILE *file = tmpfile();
    int code;
    unsigned in_low, in_high, out_low, out_high;
    if (!file)
        return;
    BZFILE *writer = BZ2_bzWriteOpen(&code, file, 1, 0, 0);
    if (writer) {
        BZ2_bzWrite(&code, writer, text, (int)length);
        BZ2_bzerror(writer, &code);
        if (choice(in, 2))
            BZ2_bzWriteClose(&code, writer, 0, &in_low, &out_low);
        else
            BZ2_bzWriteClose64(&code, writer, (int)choice(in, 4) == 0, &in_low, &in_high, &out_low, &out_high);
    }
    fwrite(text, 1, choice(in, 16), file);
    rewind(file);
    BZFILE *reader = BZ2_bzReadOpen(&code, file, 0, (int)choice(in, 2), NULL, 0);
    if (reader) {
        void *unused;
        int count;
        do
            BZ2_bzRead(&code, reader, back, 1 + (int)choice(in, 255));
        while (code == BZ_OK);
        if (code == BZ_STREAM_END)
            BZ2_bzReadGetUnused(&code, reader, &unused, &count);
        BZ2_bzerror(reader, &code);
        BZ2_bzReadClose(&code, reader);
    }
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MOST], packed[2 * MOST];
    struct input in = {data, size};
    switch (choice(&in, 16)) {
    case 0:
        through_a_file(&in);
        BZ2_bzlibVersion();
        break;
    case 9:
        refused(&in);
        break;
    case 11:
        refused_files(&in);
        break;
    case 10:
        by_name(&in);
        break;
    case 1: case 2: case 3: {
        size_t length = in.size < sizeof packed ? in.size : sizeof packed;
        memcpy(packed, in.data, length);
        back_in_pieces(&in, packed, length);
        break;
    }
    case 4: case 5: case 6: case 7: case 8: {
        size_t length = filled(&in, text);
        size_t made = in_pieces(&in, text, length, packed, choice(&in, 8) ? sizeof packed : 40);
        back_in_pieces(&in, packed, made);
        break;
    }
    default:
        at_once(&in);
    }
    return 0;
}
