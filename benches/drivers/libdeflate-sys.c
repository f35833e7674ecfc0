/* Runs a program of libdeflate calls that the input spells: it grows plain data, compresses it at some level and
 * reads it back whole, damaged or into too little room, and hands raw input bytes to the decompressors, too. */

#include "libdeflate.h"
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096, LARGE = 40000, PACKED = LARGE + 1024, STEPS = 6 };

struct input {
    const uint8_t *at;
    size_t left;
};

typedef size_t compress_fn(struct libdeflate_compressor *, const void *, size_t, void *, size_t);
typedef size_t bound_fn(struct libdeflate_compressor *, size_t);
typedef enum libdeflate_result expand_fn(struct libdeflate_decompressor *, const void *, size_t, void *, size_t, size_t *);
typedef enum libdeflate_result expand_ex_fn(struct libdeflate_decompressor *, const void *, size_t, void *, size_t,
                                            size_t *, size_t *);

static const struct {
    compress_fn *compress;
    bound_fn *bound;
    expand_fn *expand;
    expand_ex_fn *expand_ex;
} formats[3] = {
    {libdeflate_deflate_compress, libdeflate_deflate_compress_bound, libdeflate_deflate_decompress,
     libdeflate_deflate_decompress_ex},
    {libdeflate_zlib_compress, libdeflate_zlib_compress_bound, libdeflate_zlib_decompress, libdeflate_zlib_decompress_ex},
    {libdeflate_gzip_compress, libdeflate_gzip_compress_bound, libdeflate_gzip_decompress, libdeflate_gzip_decompress_ex},
};

static unsigned byte(struct input *in) {
    return in->left == 0 ? 0 : (in->left--, *in->at++);
}

/* Plain data of at most `room` bytes: literal input, repetitions of what stands before, runs and noise. */
static size_t grow(struct input *in, uint8_t *plain, size_t room) {
    size_t size = 0;
    uint32_t noise = 1;
    while (size < room && in->left > 0) {
        unsigned kind = byte(in), length = 1 + byte(in) % 64, value = byte(in);
        if (kind % 4 != 0) {
            length *= 1 + kind / 4;
        }
        for (unsigned i = 0; i < length && size < room; i++) {
            noise = noise * 1103515245 + value + 12345;
            switch (kind % 4) {
            case 0: plain[size] = (uint8_t)byte(in); break;
            case 1: plain[size] = size > value ? plain[size - 1 - value * (size / 256)] : (uint8_t)value; break;
            case 2: plain[size] = (uint8_t)(noise >> 24 & (value | 1)); break;
            default: plain[size] = (uint8_t)(noise >> 16 & 7 ? value : noise >> 24); break;
            }
            size++;
        }
    }
    return size;
}

/* A gzip header with the optional fields that `flags` asks for, in front of what follows the plain header. */
static size_t dress(struct input *in, uint8_t *packed, size_t size, unsigned flags) {
    uint8_t fields[64];
    size_t length = 0;
    if (flags & 4) { /* extra field, with its length in front */
        fields[length++] = 3;
        fields[length++] = 0;
        length += 3;
        memset(fields + 2, (int)byte(in), 3);
    }
    for (unsigned text = 8; text <= 16; text *= 2) { /* name and comment */
        if (flags & text) {
            memcpy(fields + length, "text", 5);
            length += 5;
        }
    }
    length += flags & 2 ? (fields[length] = fields[length + 1] = 0, 2) : 0; /* checksum of the header */
    memmove(packed + 10 + length, packed + 10, size - 10);
    memcpy(packed + 10, fields, length);
    packed[3] = (uint8_t)flags;
    return size + length;
}

static void round_trip(struct input *in, struct libdeflate_decompressor *expander, unsigned choice, uint8_t *plain,
                       uint8_t *packed, uint8_t *again) {
    struct libdeflate_options options = {sizeof options, malloc, free};
    int level = (int)(byte(in) % 14);
    struct libdeflate_compressor *packer =
        choice & 4 ? libdeflate_alloc_compressor_ex(level, &options) : libdeflate_alloc_compressor(level);
    unsigned format = choice % 3, damage = byte(in);
    size_t room = choice / 16 == 15 ? LARGE : SMALL, size = grow(in, plain, room), got = 0, used = 0;
    if (packer != NULL) { /* there is no level 13 */
        size_t bound = formats[format].bound(choice & 8 ? NULL : packer, size);
        size_t packed_size = formats[format].compress(packer, plain, size, packed, damage % 8 == 7 ? size / 2 : bound);
        if (packed_size > 0 && format == 2) {
            packed_size = dress(in, packed, packed_size, damage / 8);
        }
        if (packed_size > 0 && damage % 4 == 1) {
            packed[damage * 7 % packed_size] ^= (uint8_t)(1 + byte(in));
        }
        size_t into = damage % 4 == 2 ? size / 2 : size + damage % 2 * 16;
        size_t *wanted = damage & 32 ? NULL : &got;
        enum libdeflate_result result =
            damage & 16 ? formats[format].expand(expander, packed, packed_size, again, into, wanted)
                        : formats[format].expand_ex(expander, packed, packed_size, again, into, &used, wanted);
        if (result == LIBDEFLATE_SUCCESS && damage % 4 == 0 && memcmp(plain, again, size) != 0) {
            abort();
        }
    }
    libdeflate_free_compressor(packer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct libdeflate_options options = {sizeof options, malloc, free};
    uint8_t *plain = calloc(1, LARGE), *packed = calloc(1, PACKED), *again = calloc(1, LARGE + 16);
    unsigned setup = byte(&in);
    libdeflate_set_memory_allocator(malloc, free);
    struct libdeflate_decompressor *expander =
        setup & 1 ? libdeflate_alloc_decompressor_ex(&options) : libdeflate_alloc_decompressor();
    for (int step = 0; step < STEPS && in.left > 0 && expander != NULL; step++) {
        unsigned choice = byte(&in), format = choice / 4 % 3, start = choice / 16;
        size_t used = 0, got = 0;
        switch (choice % 4) {
        case 0: /* the raw bytes are a compressed stream, perhaps behind a valid start */
            if (in.left < SMALL) {
                static const uint8_t starts[3][10] = {{0}, {0x78, 0x9c}, {0x1f, 0x8b, 8}};
                size_t length = start & 1 ? (format == 2 ? 3 : format == 1 ? 2 : 0) : 0;
                memcpy(packed, starts[format], length);
                memcpy(packed + length, in.at, in.left);
                formats[format].expand_ex(expander, packed, in.left + length, again, start & 2 ? SMALL : 300, &used,
                                          start & 4 ? NULL : &got);
            }
            break;
        case 1: { /* checksums, at once and in two parts */
            size_t length = grow(&in, plain, start == 15 ? LARGE : SMALL), cut = length / (1 + start);
            uint32_t crc = libdeflate_crc32(libdeflate_crc32(0, NULL, 0), plain, length);
            uint32_t adler = libdeflate_adler32(libdeflate_adler32(0, NULL, 0), plain, length);
            if (libdeflate_crc32(libdeflate_crc32(0, plain, cut), plain + cut, length - cut) != crc ||
                libdeflate_adler32(libdeflate_adler32(1, plain, cut), plain + cut, length - cut) != adler) {
                abort();
            }
            break;
        }
        default: round_trip(&in, expander, choice, plain, packed, again); break;
        }
    }
    libdeflate_free_decompressor(expander);
    free(plain);
    free(packed);
    free(again);
    return 0;
}
