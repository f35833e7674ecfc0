/* Runs a program of lz4 calls that the input spells: blocks, linked blocks, frames, frames in files and hashes, each by
 * functions that the input chooses, and back again. Raw input bytes go to the decoders, too. */
#define _POSIX_C_SOURCE 200809L
#define LZ4_DISABLE_DEPRECATE_WARNINGS
#define LZ4_HC_STATIC_LINKING_ONLY
#define LZ4F_STATIC_LINKING_ONLY
#include "lz4file.h"
#include "lz4hc.h"
#include "xxhash.h"
#include <stdlib.h>
#include <string.h>

enum { PAST = 65536, BLOCK = 1024, AREA = 8 * BLOCK, PACKED = PAST + 2 * AREA };

/* The input, and two spaces for plain data, each with a history of PAST bytes in front of AREA bytes. */
struct run { const uint8_t *at; size_t left; unsigned mixed; char *plain, *again, *packed; void *state; };

/* The next byte of the input, or one that follows from what was read when there are no more. */
static int byte(struct run *r) {
    r->mixed = r->mixed * 1103515245 + (r->left > 0 ? *r->at : 12345);
    return r->left > 0 ? (r->left--, *r->at++) : (int)(r->mixed >> 16 & 255);
}

/* Changes a byte of the `size` ones at `data`. */
static void damage(struct run *r, char *data, size_t size) {
    size_t at = (size_t)byte(r) * size / 256;
    data[at] ^= (char)byte(r);
}

/* At most `room` bytes of plain data from half of the input: literal input, repetitions, and patterns. */
static int grow(struct run *r, char *to, int room) {
    int size = 0;
    size_t stop = r->left / 2;
    do {
        int kind = byte(r), length = byte(r) + 1, value = byte(r), how = kind % 4;
        for (int i = 0; i < (how ? length : length % 32) && size < room; i++, size++)
            to[size] = (char)(how == 0 ? byte(r) : how == 1 ? to[size - 1 - value - kind * 8]
                              : how == 2 ? i * value * kind >> 5 : value + (i % (kind + 1) == kind));
    } while (size < room && r->left > stop);
    return size;
}

/* Compresses `*n` bytes in one of all ways that make a block on its own. */
static int pack(struct run *r, int how, const char *src, char *dst, int *n, int room, int level) {
    void *state = LZ4_initStreamHC(r->state, sizeof(LZ4_streamHC_t));
    switch (how % 24) {
    case 0: return LZ4_compress(src, dst, *n);
    case 1: return LZ4_compress_default(src, dst, *n, room);
    case 2: return LZ4_compress_limitedOutput(src, dst, *n, room);
    case 3: return LZ4_compress_fast(src, dst, *n, room, level);
    case 4: return LZ4_compress_withState(state, src, dst, *n);
    case 5: return LZ4_compress_limitedOutput_withState(state, src, dst, *n, room);
    case 6: return LZ4_compress_fast_extState(state, src, dst, *n, room, level);
    case 7: LZ4_resetStreamState(state, dst);
        return LZ4_compress_fast_extState_fastReset(state, src, dst, *n, room, level);
    case 8: return LZ4_compress_destSize(src, dst, n, room);
    case 9: return LZ4_compress_destSize_extState(state, src, dst, n, room, level);
    case 10: return LZ4_compressHC(src, dst, *n);
    case 11: return LZ4_compressHC2(src, dst, *n, level);
    case 12: return LZ4_compressHC_limitedOutput(src, dst, *n, room);
    case 13: return LZ4_compressHC2_limitedOutput(src, dst, *n, room, level);
    case 14: return LZ4_compressHC_withStateHC(state, src, dst, *n);
    case 15: return LZ4_compressHC2_withStateHC(state, src, dst, *n, level);
    case 16: return LZ4_compressHC_limitedOutput_withStateHC(state, src, dst, *n, room);
    case 17: return LZ4_compressHC2_limitedOutput_withStateHC(state, src, dst, *n, room, level);
    case 18: LZ4_resetStreamStateHC(state, r->plain + PAST);
        return LZ4_compressHC2_continue(state, src, dst, *n, level);
    case 19: LZ4_resetStreamStateHC(state, r->plain + PAST);
        return LZ4_compressHC2_limitedOutput_continue(state, src, dst, *n, room, level);
    case 20: return LZ4_compress_HC(src, dst, *n, room, level);
    case 21: return LZ4_compress_HC_extStateHC(state, src, dst, *n, room, level);
    case 22: return LZ4_compress_HC_extStateHC_fastReset(state, src, dst, *n, room, level);
    default: return LZ4_compress_HC_destSize(state, src, dst, n, room, level);
    }
}

/* Decodes `size` bytes. Only a block known to hold `room` bytes is `trusted` to functions without bounds. */
static void unpack(struct run *r, const char *src, int size, int room, int trusted) {
    int how = byte(r), known = how & 64 ? PAST : byte(r), some = how & 128 ? room : room * byte(r) / 255, result = room;
    char *dst = r->again + PAST, *dict = (how & 32 ? r->again : r->plain) + PAST - known; /* adjacent or elsewhere */
    switch (trusted ? how % 10 : 4 + how % 6) {
    case 0: result += LZ4_decompress_fast(src, dst, room) - size; break;
    case 1: result += LZ4_uncompress(src, dst, room) - size; break;
    case 2: result += LZ4_decompress_fast_withPrefix64k(src, dst, room) - size; break;
    case 3: result += LZ4_decompress_fast_usingDict(src, dst, room, dict, known) - size; break;
    case 4: result = LZ4_decompress_safe(src, dst, size, room); break;
    case 5: result = LZ4_uncompress_unknownOutputSize(src, dst, size, room); break;
    case 6: result = LZ4_decompress_safe_withPrefix64k(src, dst, size, room); break;
    case 7: result = LZ4_decompress_safe_usingDict(src, dst, size, room, dict, known); break;
    case 8: LZ4_decompress_safe_partial_usingDict(src, dst, size, some, room, dict, known); break;
    default: LZ4_decompress_safe_partial(src, dst, size, some, room); break;
    }
    if (trusted && result != room) abort();
}

/* Blocks that refer to former ones and perhaps to a dictionary, by the fast or the high compressor. */
static void linked(struct run *r, int how) {
    int hc = how & 1, level = byte(r) % 14, known = how & 2 ? PAST : byte(r), at = how & 4 ? 0 : 64, saved = 0;
    char *dict = r->plain + PAST - known, kept[256];
    LZ4_stream_t *fast = how & 8 ? LZ4_create(dict) : LZ4_createStream(), *base = LZ4_createStream();
    LZ4_streamHC_t *high = how & 8 ? LZ4_createHC(dict) : LZ4_createStreamHC(), *high_base = LZ4_createStreamHC();
    LZ4_streamDecode_t *decoder = LZ4_createStreamDecode();
    (how & 16 ? LZ4_resetStreamHC : LZ4_resetStreamHC_fast)(high, level);
    (how & 16 ? LZ4_resetStream : LZ4_resetStream_fast)(fast);
    LZ4_favorDecompressionSpeed(high, how & 16);
    LZ4_resetStreamHC_fast(high_base, how & 16 ? level : byte(r) % 14);
    if (how < 64) known = 0;
    else if (how < 128) hc ? LZ4_loadDictHC(high, dict, known) : LZ4_loadDict(fast, dict, known);
    else if (how < 160) hc ? LZ4_loadDictHC(high, dict, known) : LZ4_loadDictSlow(fast, dict, known);
    else if (hc) LZ4_loadDictHC(high_base, dict, known), LZ4_attach_HC_dictionary(high, high_base);
    else LZ4_loadDict(base, dict, known), LZ4_attach_dictionary(fast, base);
    LZ4_setStreamDecode(decoder, r->again + PAST - known, known);
    for (int blocks = 0; blocks < 6 && at <= AREA - BLOCK; blocks++) {
        char *src = r->plain + PAST + at, *dst = r->again + PAST + at, *to = r->packed;
        int kind = byte(r), n = grow(r, src, BLOCK), room = kind & 1 ? LZ4_compressBound(n) : n, size, got, all = n;
        switch (kind / 2 % 4 + 4 * hc) {
        case 0: size = LZ4_compress_continue(fast, src, to, n); break;
        case 1: size = LZ4_compress_limitedOutput_continue(fast, src, to, n, room); break;
        case 4: size = LZ4_compressHC_continue(high, src, to, n); break;
        case 5: size = LZ4_compressHC_limitedOutput_continue(high, src, to, n, room); break;
        case 6: size = LZ4_compress_HC_continue_destSize(high, src, to, &n, room); break;
        case 7: size = LZ4_compress_HC_continue(high, src, to, n, room); break;
        default: size = LZ4_compress_fast_continue(fast, src, to, n, room, level);
        }
        if (size <= 0 || n == 0) break; /* a state is of no use after a failure */
        got = kind & 8 ? LZ4_decompress_safe_continue(decoder, to, dst, size, n) - n
                       : LZ4_decompress_fast_continue(decoder, to, dst, n) - size;
        if (got != 0 || memcmp(src, dst, (size_t)n) != 0) abort();
        if (n < all) break; /* the history of lz4hc then holds bytes that were not read */
        at = kind / 64 == 3 && !saved && at > BLOCK ? 0 : kind / 64 == 2 ? at + n + 64 : at + n;
        if (kind & 16) saved = 1, hc ? LZ4_saveDictHC(high, kept, byte(r)) : LZ4_saveDict(fast, kept, byte(r));
        if (kind & 32) LZ4_setCompressionLevel(high, byte(r) % 14);
    }
    LZ4_slideInputBuffer(fast), LZ4_slideInputBufferHC(high);
    LZ4_freeStream(fast), LZ4_freeStream(base), LZ4_freeHC(high), LZ4_freeStreamHC(high_base);
    LZ4_freeStreamDecode(decoder);
}

/* Decodes a frame piece by piece. */
static void unframe(struct run *r, const char *src, size_t size, const char *dict, size_t known) {
    int how = byte(r);
    size_t piece = 1 + (size_t)byte(r) * (how & 1 ? 256 : 4), window = 16 + (size_t)byte(r) * (how & 2 ? 256 : 8);
    size_t to = 0, hint = 1, end = PAST + AREA, used = size;
    LZ4F_decompressOptions_t options = {how >> 2 & 1, how >> 3 & 1, 0, 0};
    LZ4F_frameInfo_t info;
    LZ4F_dctx *dctx = NULL;
    LZ4F_createDecompressionContext(&dctx, LZ4F_VERSION);
    if (how & 16 && size >= LZ4F_HEADER_SIZE_MAX && !LZ4F_isError(LZ4F_headerSize(src, size))
        && !LZ4F_isError(LZ4F_getFrameInfo(dctx, &info, src, &used))) src += used, size -= used;
    while (hint != 0 && size > 0) {
        size_t made = end - to < window ? end - to : window;
        used = size < piece ? size : piece;
        hint = known ? LZ4F_decompress_usingDict(dctx, r->again + to, &made, src, &used, dict, known, &options)
                     : LZ4F_decompress(dctx, r->again + to, &made, src, &used, how & 32 ? NULL : &options);
        if (LZ4F_isError(hint) || used + made == 0) break;
        src += used, size -= used, to += made;
    }
    LZ4F_getErrorName(hint), LZ4F_getErrorCode(hint);
    LZ4F_resetDecompressionContext(dctx), LZ4F_freeDecompressionContext(dctx);
}

static void framed(struct run *r, int how) {
    size_t known = how & 8 ? 4096 : (size_t)byte(r), skip = how / 16 == 15 ? PAST : 0, size = 0, more = 0, part;
    const char *dict = r->plain + PAST - known, *src = r->plain + PAST - skip;
    int a = byte(r), b = byte(r), kind, way = how % 8;
    size_t n = (size_t)grow(r, r->plain + PAST, AREA) + skip;
    LZ4F_preferences_t prefs = {{a % 3 ? LZ4F_max64KB : LZ4F_max256KB, a & 4 ? LZ4F_blockIndependent : LZ4F_blockLinked,
        a >> 3 & 1, LZ4F_frame, a & 16 ? n : 0, a & 32 ? (unsigned)b : 0, a >> 6 & 1}, b % 18 - 4, a >> 7, b >> 7, {0}};
    LZ4F_compressOptions_t options = {b >> 6 & 1, {0}};
    LZ4F_CDict *cdict = LZ4F_createCDict(dict, known);
    LZ4F_cctx *cctx = NULL;
    LZ4F_createCompressionContext(&cctx, LZ4F_VERSION);
    switch (way) {
    case 0: size = LZ4F_compressFrame(r->packed, PACKED, src, n, &prefs); break;
    case 1: size = LZ4F_compressFrame_usingCDict(cctx, r->packed, PACKED, src, n, cdict, &prefs); break;
    case 2: case 3: size = LZ4F_compressBegin_usingCDict(cctx, r->packed, PACKED, cdict, &prefs); break;
    case 4: size = LZ4F_compressBegin_usingDict(cctx, r->packed, PACKED, dict, known, &prefs); break;
    default: size = LZ4F_compressBegin(cctx, r->packed, PACKED, &prefs), known = 0;
    }
    for (size_t done = 0; way > 1 && done <= n && !LZ4F_isError(size) && !LZ4F_isError(more); done += part) {
        char *to = r->packed + size;
        size_t room = PACKED - size;
        kind = byte(r), part = (size_t)kind * 4;
        if (kind & 16 || part > n - done || size > PAST) part = n - done;
        if (kind & 2 && room > LZ4F_compressBound(part, &prefs)) room = LZ4F_compressBound(part, &prefs);
        if (done == n) more = LZ4F_compressEnd(cctx, to, room, &options), part = 1;
        else if (kind % 8 == 1) more = LZ4F_flush(cctx, to, room, &options), part = 0;
        else if (kind & 4 && a & 4) more = LZ4F_uncompressedUpdate(cctx, to, room, src + done, part, &options);
        else more = LZ4F_compressUpdate(cctx, to, room, src + done, part, kind & 8 ? &options : NULL);
        size += LZ4F_isError(more) ? 0 : more;
    }
    if (way == 0) known = 0;
    if (!LZ4F_isError(size)) {
        if (b & 2) damage(r, r->packed, size);
        unframe(r, r->packed, size, dict, known);
    }
    LZ4F_freeCDict(cdict), LZ4F_freeCompressionContext(cctx);
}

/* Writes a frame to a file in memory and reads it. */
static void filed(struct run *r, int how) {
    LZ4F_preferences_t prefs = {{(LZ4F_blockSizeID_t)(3 + how % 3), LZ4F_blockLinked, LZ4F_contentChecksumEnabled,
        LZ4F_frame, 0, 0, LZ4F_noBlockChecksum}, how / 16, 0, 0, {0}}; /* block size 3 is an error */
    LZ4_writeFile_t *writer = NULL;
    LZ4_readFile_t *reader = NULL;
    FILE *file = fmemopen(r->packed, PACKED, "w+");
    int n = grow(r, r->plain + PAST, AREA);
    if (!LZ4F_isError(LZ4F_writeOpen(&writer, file, how & 8 ? NULL : &prefs)))
        LZ4F_write(writer, r->plain + PAST, (size_t)n), LZ4F_writeClose(writer);
    rewind(file);
    if (!LZ4F_isError(LZ4F_readOpen(&reader, file)))
        LZ4F_read(reader, r->again + PAST, (size_t)n), LZ4F_readClose(reader);
    fclose(file);
}

static void hashed(struct run *r, int how) {
    char *data = r->plain + PAST + how % 8;
    size_t n = (size_t)grow(r, data, AREA - 8), cut = n * (size_t)byte(r) / 255;
    XXH32_state_t *a = XXH32_createState(), *b = XXH32_createState();
    XXH64_state_t *c = XXH64_createState(), *d = XXH64_createState();
    XXH32_canonical_t narrow;
    XXH64_canonical_t wide;
    XXH32_reset(a, (unsigned)how), XXH32_update(a, data, cut), XXH32_copyState(b, a);
    XXH64_reset(c, (unsigned)how), XXH64_update(c, data, cut), XXH64_copyState(d, c);
    XXH32_update(b, data + cut, n - cut), XXH64_update(d, data + cut, n - cut);
    XXH32_canonicalFromHash(&narrow, XXH32(data, n, (unsigned)how));
    XXH64_canonicalFromHash(&wide, XXH64(data, n, (unsigned)how));
    if (XXH32_digest(b) != XXH32_hashFromCanonical(&narrow)) abort();
    if (XXH64_digest(d) != XXH64_hashFromCanonical(&wide)) abort();
    XXH32_freeState(a), XXH32_freeState(b), XXH64_freeState(c), XXH64_freeState(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run r = {data, size, 0, calloc(1, PAST + AREA), calloc(1, PAST + AREA), calloc(1, PACKED), NULL};
    char *plain = r.plain + PAST;
    r.state = malloc((size_t)LZ4_sizeofStateHC());
    for (int i = 0, n = 1 + grow(&r, plain - 512, 512); i + n < 512; i++) plain[i + n - 512] = plain[i - 512];
    memcpy(r.again, r.plain, PAST);
    for (int step = 0; step < 4 && r.left > 0; step++) {
        int op = byte(&r), how = byte(&r), n, room, packed, raw = r.left < BLOCK ? (int)r.left : BLOCK;
        switch (op % 8) {
        case 0: case 1:
            n = grow(&r, plain, AREA), room = how & 64 ? LZ4_compressBound(n) : how & 128 ? n : n / 2;
            packed = pack(&r, op / 8, plain, r.packed, &n, room, how % 14);
            if (packed > 0) unpack(&r, r.packed, packed, n, n > 0);
            break;
        case 2: case 3: linked(&r, how); break;
        case 4: case 5: framed(&r, how); break;
        case 6: op / 8 % 8 == 7 ? filed(&r, how) : op & 8 ? hashed(&r, how)
                : unpack(&r, (const char *)r.at, raw, BLOCK, 0); break;
        default: /* raw bytes as a frame, or behind the start of one */
            memcpy(r.packed, "\x04\x22\x4d\x18", 4), memcpy(r.packed + 4, r.at, (size_t)raw);
            unframe(&r, how & 1 ? r.packed : r.packed + 4, (size_t)raw, r.plain, how & 2 ? BLOCK : 0);
        }
    }
    LZ4_versionNumber(), LZ4_versionString(), LZ4F_getVersion(), LZ4F_compressionLevel_max(), XXH_versionNumber();
    LZ4_sizeofState(), LZ4_sizeofStreamState(), LZ4_sizeofStreamStateHC();
    LZ4_decoderRingBufferSize((int)size), LZ4F_getBlockSize((LZ4F_blockSizeID_t)(size % 9));
    free(r.plain), free(r.again), free(r.packed), free(r.state);
    return 0;
}
