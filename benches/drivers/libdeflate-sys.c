/* Runs a program of libdeflate calls that the input spells: it grows plain data, compresses it at some level and
 * reads it back whole, damaged or into too little room. Raw input bytes go to the decompressors, too. */
#include "libdeflate.h"
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096, LARGE = 40000, PACKED = LARGE + 1024 };

struct run {
    const uint8_t *at;
    size_t left;
    uint8_t *plain, *packed, *again;
    struct libdeflate_decompressor *expander;
};

typedef struct libdeflate_decompressor expander;
typedef enum libdeflate_result expand_fn(expander *, const void *, size_t, void *, size_t, size_t *);
typedef enum libdeflate_result expand_ex_fn(expander *, const void *, size_t, void *, size_t, size_t *, size_t *);

static const struct {
    size_t (*compress)(struct libdeflate_compressor *, const void *, size_t, void *, size_t);
    size_t (*bound)(struct libdeflate_compressor *, size_t);
    expand_fn *expand;
    expand_ex_fn *expand_ex;
    const char *start; /* how a stream begins */
} formats[3] = {
    {libdeflate_deflate_compress, libdeflate_deflate_compress_bound, libdeflate_deflate_decompress,
     libdeflate_deflate_decompress_ex, ""},
    {libdeflate_zlib_compress, libdeflate_zlib_compress_bound, libdeflate_zlib_decompress,
     libdeflate_zlib_decompress_ex, "\x78\x9c"},
    {libdeflate_gzip_compress, libdeflate_gzip_compress_bound, libdeflate_gzip_decompress,
     libdeflate_gzip_decompress_ex, "\x1f\x8b\x08"},
};

static const struct libdeflate_options options = {sizeof options, malloc, free};

static unsigned byte(struct run *r) { return r->left == 0 ? 0 : (r->left--, *r->at++); }

/* Plain data from half of the input: literal input, repetitions of what stands before, noise and runs. */
static size_t grow(struct run *r, size_t room) {
    size_t size = 0, stop = r->left / 2;
    uint32_t noise = 1;
    while (size < room && r->left > stop) {
        unsigned kind = byte(r), length = 1 + byte(r), value = byte(r), how = kind % 4;
        length = how == 0 ? length % 64 : length * (1 + kind / 8);
        for (unsigned i = 0; i < length && size < room; i++, size++) {
            size_t back = 1 + value * (1 + size / 256);
            noise = noise * 1103515245 + value + 12345;
            r->plain[size] = (uint8_t)(how == 0                   ? byte(r)
                                       : how == 1 && back <= size ? r->plain[size - back]
                                       : how == 2                 ? noise >> 24 & (value | 1)
                                                                  : (noise >> 16 & 7 ? value : noise >> 24));
        }
    }
    return size;
}

/* Puts the optional fields for which `flags` stand into the gzip header, without a checksum that holds. */
static size_t dress(uint8_t *packed, size_t size, unsigned flags) {
    static const uint8_t extra[] = {3, 0, 1, 2, 3}, texts[] = "name\0comment", check[2];
    const uint8_t *fields[] = {extra, texts, texts + 5, check};
    const size_t lengths[] = {flags & 4 ? sizeof extra : 0, flags & 8 ? 5 : 0, flags & 16 ? 8 : 0, flags & 2 ? 2 : 0};
    size_t at = 10;
    packed[3] = (uint8_t)flags;
    for (int i = 0; i < 4; at += lengths[i++]) {
        memmove(packed + at + lengths[i], packed + at, size - 10);
        memcpy(packed + at, fields[i], lengths[i]);
    }
    return size + at - 10;
}

static void round_trip(struct run *r, unsigned choice) {
    unsigned format = choice / 4 % 3, how = byte(r), flags = how / 64 == 3 ? byte(r) : 0;
    int level = (int)(byte(r) % 14);
    struct libdeflate_compressor *packer =
        how & 1 ? libdeflate_alloc_compressor_ex(level, &options) : libdeflate_alloc_compressor(level);
    size_t got = 0, used = 0, size = grow(r, choice / 16 == 15 ? LARGE : SMALL);
    size_t bound = formats[format].bound(how & 2 ? NULL : packer, size), room = how & 4 ? size : bound;
    size_t packed = packer == NULL ? 0 : formats[format].compress(packer, r->plain, size, r->packed, room);
    unsigned damage = how / 8 % 4;
    if (packed > 0) {
        size_t into = damage == 1 ? size / 2 : damage == 2 ? size + 16 : size;
        enum libdeflate_result result;
        size_t *wanted = flags & 1 ? NULL : &got;
        packed = format == 2 && flags != 0 ? dress(r->packed, packed, flags) : packed;
        used = byte(r) * packed / 256;
        r->packed[used] ^= (uint8_t)(damage == 3 ? byte(r) : 0);
        result = how & 32 ? formats[format].expand(r->expander, r->packed, packed, r->again, into, wanted)
                          : formats[format].expand_ex(r->expander, r->packed, packed, r->again, into, &used, &got);
        if (damage == 0 && flags == 0 && (result != LIBDEFLATE_SUCCESS || memcmp(r->plain, r->again, size) != 0)) {
            abort();
        }
    }
    libdeflate_free_compressor(packer); /* may be null: there is no level 13 */
}

/* Checksums at once and in two parts. */
static void checksums(struct run *r, unsigned choice) {
    size_t size = grow(r, choice / 16 == 15 ? LARGE : SMALL), cut = size * byte(r) / 256;
    const uint8_t *rest = r->plain + cut;
    uint32_t crc = libdeflate_crc32(libdeflate_crc32(0, NULL, 0), r->plain, cut);
    uint32_t adler = libdeflate_adler32(libdeflate_adler32(0, NULL, 0), r->plain, cut);
    if (libdeflate_crc32(crc, rest, size - cut) != libdeflate_crc32(0, r->plain, size) ||
        libdeflate_adler32(adler, rest, size - cut) != libdeflate_adler32(1, r->plain, size)) {
        abort();
    }
}

/* Takes the rest of the input for a compressed stream, perhaps behind a valid start. */
static void raw(struct run *r, unsigned choice) {
    size_t used, got, rest = r->left < SMALL ? r->left : SMALL, start = strlen(formats[choice / 4 % 3].start);
    start = choice & 16 ? start : 0;
    memcpy(r->packed, formats[choice / 4 % 3].start, start);
    memcpy(r->packed + start, r->at, rest);
    formats[choice / 4 % 3].expand_ex(r->expander, r->packed, rest + start, r->again, choice & 32 ? SMALL : 300, &used,
                                      choice & 64 ? NULL : &got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run r = {data, size, calloc(1, LARGE), calloc(1, PACKED), calloc(1, LARGE + 16), NULL};
    libdeflate_set_memory_allocator(malloc, free);
    r.expander = size & 1 ? libdeflate_alloc_decompressor_ex(&options) : libdeflate_alloc_decompressor();
    for (int step = 0; step < 4 && r.left > 0 && r.expander != NULL; step++) {
        unsigned choice = byte(&r);
        choice % 4 == 0 ? raw(&r, choice) : choice % 4 == 1 ? checksums(&r, choice) : round_trip(&r, choice);
    }
    libdeflate_free_decompressor(r.expander);
    free(r.plain), free(r.packed), free(r.again);
    return 0;
}
