/*
 * Runs bzip2 on one input: choices come first, then data. Data is compressed and decompressed, at once and in pieces, and
 * is also read as a compressed stream. A few inputs go through the functions for files.
 */
#include "bzlib.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

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
        size_t piece = choice(in, 200) * (size_t)8;
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
