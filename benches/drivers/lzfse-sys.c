/* Runs a program of lzfse calls that the input spells: it grows plain data, compresses it into one or two blocks and
 * reads these back whole, cut, damaged or into too little room. Raw input bytes go to the decoder, too. */
#include "lzfse.h"
#include <stdlib.h>
#include <string.h>

/* Less than SMALL bytes are compressed in another way (lzvn) than more, and MANY bytes take several blocks. */
enum { SMALL = 4096, LARGE = 12000, MANY = 60000, PACKED = 2 * MANY };

struct run {
    const uint8_t *at;
    size_t left;
    uint8_t *plain, *packed, *again;
    void *scratch; /* null: the functions allocate it */
};

static unsigned byte(struct run *r) { return r->left == 0 ? 0 : (r->left--, *r->at++); }

/* Plain data from half of the input: literal input, repetitions of what stands before, noise and runs. */
static size_t grow(struct run *r, size_t room) {
    size_t size = 0, stop = r->left / 2;
    uint32_t noise = 1;
    while (size < room && r->left > stop) {
        unsigned kind = byte(r), how = kind % 4, value = byte(r), length = how == 0 ? 1 + kind / 4
            : 1 + byte(r) * (1 + kind / 16);
        size_t back = 1 + value * (size_t)(1 + size / 256);
        for (unsigned i = 0; i < length && size < room; i++, size++) {
            noise = noise * 1103515245 + value + 12345;
            r->plain[size] = (uint8_t)(how == 0                   ? byte(r)
                                       : how == 1 && back <= size ? r->plain[size - back]
                                       : how == 2                 ? noise >> 24 & (value | 1)
                                                                  : (noise >> 16 & 7 ? value : noise >> 24));
        }
    }
    return size;
}

static size_t room_for(unsigned kind) { return kind % 16 == 15 ? MANY : kind & 1 ? LARGE : SMALL - 1; }

/* Compresses what is in `plain`, perhaps in two parts whose blocks follow each other in one stream. */
static size_t pack(struct run *r, unsigned how, size_t size) {
    size_t cut = how & 1 ? size * byte(r) / 256 : 0, first = 0, rest;
    if (cut > 0) {
        first = lzfse_encode_buffer(r->packed, PACKED, r->plain, cut, r->scratch);
        if (first < 4 || memcmp(r->packed + first - 4, "bvx$", 4) != 0) abort();
        first -= 4; /* what ends a stream */
    }
    rest = how & 2 ? (how & 4 ? size - cut : byte(r)) : PACKED - first;
    rest = lzfse_encode_buffer(r->packed + first, rest, r->plain + cut, size - cut, r->scratch);
    return rest == 0 ? 0 : first + rest;
}

static void round_trip(struct run *r, unsigned choice) {
    unsigned how = byte(r), damage = how / 8 % 4;
    size_t size = grow(r, room_for(choice / 4)), packed = pack(r, how, size);
    size_t into = damage == 1 ? size * byte(r) / 256 : damage == 2 ? size + byte(r) : size + 1, got;
    if (packed == 0) return; /* there was too little room */
    if (how & 128 && damage != 3) packed -= packed * byte(r) / 256;
    if (damage == 3) r->packed[byte(r) * packed / (how & 32 ? 256 : 4096)] ^= (uint8_t)byte(r);
    got = lzfse_decode_buffer(r->again, into, r->packed, packed, r->scratch);
    if (got > into) abort();
    if (how & 128 || damage == 3) return;
    if (got != (into < size ? into : size) || memcmp(r->plain, r->again, got) != 0) abort();
}

/* Takes the rest of the input for a stream, perhaps behind a start that some kind of block has. */
static void raw(struct run *r, unsigned choice) {
    static const char kinds[] = "12n-$";
    size_t size = choice & 8 ? 0 : 4, room = choice & 16 ? LARGE : 1 + byte(r), rest;
    unsigned kind = byte(r) % 5;
    memcpy(r->packed, "bvx", 3);
    r->packed[3] = (uint8_t)kinds[kind];
    if (size > 0 && kind > 1 && choice & 32) { /* lengths that can be right */
        r->packed[size] = (uint8_t)byte(r), r->packed[size + 1] = (uint8_t)(byte(r) % 4);
        r->packed[size + 2] = r->packed[size + 3] = 0, size += 4;
        if (kinds[kind] == 'n') {
            uint32_t payload = (uint32_t)(r->left < SMALL ? r->left : SMALL);
            for (int i = 0; i < 4; i++) r->packed[size++] = (uint8_t)(payload >> 8 * i);
        }
    }
    rest = r->left < SMALL ? r->left : SMALL;
    memcpy(r->packed + size, r->at, rest);
    if (lzfse_decode_buffer(r->again, room, r->packed, size + rest, r->scratch) > room) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run r = {data, size, malloc(MANY), malloc(PACKED), malloc(MANY + 256), NULL};
    size_t encoding = lzfse_encode_scratch_size(), decoding = lzfse_decode_scratch_size();
    if (size & 1) r.scratch = calloc(1, encoding > decoding ? encoding : decoding);
    for (int step = 0; step < 3 && r.left > 0; step++) {
        unsigned choice = byte(&r);
        choice % 4 == 0 ? raw(&r, choice) : round_trip(&r, choice);
    }
    free(r.plain), free(r.packed), free(r.again), free(r.scratch);
    return 0;
}
