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

enum { PAST = 66048, BLOCK = 1024, AREA = 8 * BLOCK, PACKED = PAST + 2 * AREA };

/* The input, and two spaces for plain data, each with a history of PAST bytes in front of AREA bytes. */
struct run { const uint8_t *at; size_t left; unsigned mixed; char *plain, *again, *packed, *kept; void *state; };

/* The next byte of the input, or one that follows from what was read when there are no more. */
static int byte(struct run *r) {
    r->mixed = r->mixed * 1103515245 + (r->left > 0 ? *r->at : 12345);
    return r->left > 0 ? (r->left--, *r->at++) : (int)(r->mixed >> 16 & 255);
}

/* The size of a dictionary: small, or about as far as matches reach. */
static int reach(struct run *r) {
    int kind = byte(r), size = byte(r);
    return kind % 4 ? size : kind & 4 ? PAST - 512 - 5 + size % 10 : PAST - size;
}

/* Memory, until there is no more; all must come back. */
struct store { int left, held; };
static int may_take(struct store *store) { return store->left-- > 0 && ++store->held; }
static void *take(void *store, size_t size) { return may_take(store) ? malloc(size) : NULL; }
static void *take_zeros(void *store, size_t size) { return may_take(store) ? calloc(1, size) : NULL; }
static void give(void *store, void *block) { ((struct store *)store)->held--, free(block); }

/* Half of the time, memory from a store. */
static LZ4F_CustomMem memory_of(struct run *r, struct store *store) {
    int kind = byte(r);
    LZ4F_CustomMem memory = {kind & 8 ? take : NULL, kind & 16 ? take_zeros : NULL, give, store};
    store->left = kind & 4 ? 100 : kind & 3;
    return kind & 8 ? memory : (LZ4F_CustomMem){0};
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
    int how = byte(r), known = reach(r), some = how & 128 ? room : room * byte(r) / 255, result = room;
    char *dst = r->again + PAST, *dict = (how & 32 ? r->again : r->plain) + PAST - known; /* adjacent or elsewhere */
    switch (trusted ? how % 11 : 4 + how % 7) {
    case 0: result += LZ4_decompress_fast(src, dst, room) - size; break;
    case 1: result += LZ4_uncompress(src, dst, room) - size; break;
    case 2: result += LZ4_decompress_fast_withPrefix64k(src, dst, room) - size; break;
    case 3: result += LZ4_decompress_fast_usingDict(src, dst, room, dict, known) - size; break;
    case 4: result = LZ4_decompress_safe(src, dst, size, room); break;
    case 5: result = LZ4_uncompress_unknownOutputSize(src, dst, size, room); break;
    case 6: result = LZ4_decompress_safe_withPrefix64k(src, dst, size, room); break;
    case 7: result = LZ4_decompress_safe_usingDict(src, dst, size, room, dict, known); break;
    case 8: case 9: LZ4_decompress_safe_partial_usingDict(src, dst, size, some, room, dict, known); break;
    default: LZ4_decompress_safe_partial(src, dst, size, some, room); break;
    }
    if (trusted && result != room) abort();
}

/* A block written sequence by sequence, with lengths and offsets that are right, or not quite. */
static int made_up(struct run *r, char *to, int room, int *plain) {
    static const int odd[] = {1, 0, 65535, 65534, 64512, 15};
    int size = 0, done = 0, sequences = byte(r) % 12;
    for (int number = 0; number <= sequences && size + 600 < room; number++) {
        int kind = byte(r), literals = kind & 1 ? byte(r) % 20 : kind & 2 ? byte(r) * 2 : 0;
        int match = kind & 4 ? byte(r) % 20 : kind & 8 ? byte(r) * 2 : byte(r) % 4, value = byte(r);
        int offset = kind & 16 ? 1 + value : kind & 32 ? done + literals + value % 5 - 2 : kind & 64 ? odd[value % 6] : 8;
        to[size++] = (char)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
        for (int rest = literals - 15; rest >= 0; rest -= 255) to[size++] = (char)(rest < 255 ? rest : 255);
        for (int i = 0; i < literals; i++) to[size++] = (char)(value + i);
        done += literals;
        if (number == sequences) break; /* the last one has no match */
        to[size++] = (char)offset, to[size++] = (char)(offset >> 8);
        for (int rest = match - 15; rest >= 0; rest -= 255) to[size++] = (char)(rest < 255 ? rest : 255);
        done += match + 4;
    }
    *plain = done;
    return size;
}

/* Such a block, whole, with another block behind it, or cut off. */
static void block(struct run *r) {
    int plain, size = made_up(r, r->packed, 2 * AREA, &plain), how = byte(r);
    if (how % 8 == 0) size = size * byte(r) / 255;
    if (how % 8 == 1) size += byte(r) % 20;
    if (how % 4 == 2) plain += byte(r) % 40 - 20;
    if (how % 16 == 5) plain = byte(r) % 16;
    unpack(r, r->packed, size, plain < 0 ? 0 : plain > AREA ? AREA : plain, 0);
}

/* Blocks that refer to former ones and perhaps to a dictionary, by the fast or the high compressor. */
static void linked(struct run *r, int how) {
    int hc = how & 1, level = byte(r) % 14, known = reach(r), at = how & 4 ? 0 : 64, saved = 0;
    char *dict = r->plain + PAST - known, *kept = r->kept;
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
        if (kind % 64 == 32) { /* damaged, after which nothing more is right */
            damage(r, to, (size_t)size);
            LZ4_decompress_safe_continue(decoder, to, dst, size, n);
            break;
        }
        got = kind & 8 ? LZ4_decompress_safe_continue(decoder, to, dst, size, n) - n
                       : LZ4_decompress_fast_continue(decoder, to, dst, n) - size;
        if (got != 0 || memcmp(src, dst, (size_t)n) != 0) abort();
        if (n < all) break; /* the history of lz4hc then holds bytes that were not read */
        at = kind / 64 == 3 && !(kind & 16) && !saved && at > BLOCK ? 0 : kind / 64 == 2 ? at + n + 64 : at + n;
        if (kind & 16) {
            int keep = byte(r) % 8 ? byte(r) : PAST - byte(r) * 2;
            char *place = keep == 0 ? NULL : kept;
            saved = 1, hc ? LZ4_saveDictHC(high, place, keep) : LZ4_saveDict(fast, place, keep);
            if (place == NULL) break; /* a dictionary that is attached would count again */
        }
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
    struct store store = {0};
    if (how & 128) dctx = LZ4F_createDecompressionContext_advanced(memory_of(r, &store), LZ4F_VERSION);
    else LZ4F_createDecompressionContext(&dctx, LZ4F_VERSION);
    if (dctx == NULL) return;
    if (how & 16 && size >= LZ4F_HEADER_SIZE_MAX && !LZ4F_isError(LZ4F_headerSize(src, size))
        && !LZ4F_isError(LZ4F_getFrameInfo(dctx, &info, src, &used))) src += used, size -= used;
    while (hint != 0 && size > 0) {
        size_t made = end - to < window ? end - to : window;
        used = size < piece ? size : piece;
        hint = known ? LZ4F_decompress_usingDict(dctx, r->again + to, &made, src, &used, dict, known, &options)
                     : LZ4F_decompress(dctx, r->again + to, &made, src, &used, how & 32 ? NULL : &options);
        if (LZ4F_isError(hint) || used + made == 0) break;
        if (how & 64) {
            size_t rest = size - used;
            hint = LZ4F_getFrameInfo(dctx, &info, src + used, &rest);
            if (LZ4F_isError(hint)) break;
            used += rest;
        }
        src += used, size -= used, to += made;
    }
    LZ4F_getErrorName(hint), LZ4F_getErrorCode(hint);
    if (how & 4) LZ4F_resetDecompressionContext(dctx);
    LZ4F_freeDecompressionContext(dctx);
    if (store.held != 0) abort();
}

static void framed(struct run *r, int how) {
    size_t known = (size_t)reach(r), skip = how / 16 == 15 ? PAST : 0, size = 0, more = 0, part;
    const char *dict = r->plain + PAST - known, *src = r->plain + PAST - skip;
    int a = byte(r), b = byte(r), kind, way = how % 8;
    size_t n = (size_t)grow(r, r->plain + PAST, AREA) + skip;
    LZ4F_preferences_t prefs = {{a % 3 ? LZ4F_max64KB : LZ4F_max256KB, a & 4 ? LZ4F_blockIndependent : LZ4F_blockLinked,
        a >> 3 & 1, LZ4F_frame, a & 16 ? n : 0, a & 32 ? (unsigned)b : 0, a >> 6 & 1}, b % 18 - 4, a >> 7, b >> 7, {0}};
    LZ4F_compressOptions_t options = {b >> 6 & 1, {0}};
    LZ4F_CDict *cdict = LZ4F_createCDict(dict, known);
    LZ4F_cctx *cctx = NULL;
    struct store store = {0};
    LZ4F_CustomMem memory = memory_of(r, &store);
    if (how & 128) LZ4F_freeCDict(cdict), cdict = LZ4F_createCDict_advanced(memory, dict, known);
    if (how & 128) cctx = LZ4F_createCompressionContext_advanced(memory, LZ4F_VERSION);
    else LZ4F_createCompressionContext(&cctx, LZ4F_VERSION);
    if (cctx == NULL) way = 0;
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
    if (store.held != 0) abort();
}

/* Writes a frame to a file and reads it; the file may be damaged, or of the wrong kind. */
static void filed(struct run *r, int how) {
    static const LZ4F_blockSizeID_t sizes[] = {LZ4F_default, LZ4F_max64KB, LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB,
        LZ4F_max4MB, (LZ4F_blockSizeID_t)3, (LZ4F_blockSizeID_t)8}; /* the last ones are errors */
    LZ4F_preferences_t prefs = {{sizes[how % 8], LZ4F_blockLinked, LZ4F_contentChecksumEnabled,
        LZ4F_frame, 0, 0, LZ4F_noBlockChecksum}, how / 16, 0, 0, {0}};
    LZ4_writeFile_t *writer = NULL;
    LZ4_readFile_t *reader = NULL;
    int kind = byte(r), n = grow(r, r->plain + PAST, AREA), part = byte(r) * 8, twice = byte(r) % 8 == 0;
    FILE *file = kind % 16 == 1 ? fopen("/dev/null", "r") : kind % 16 == 2 ? fopen("/dev/full", "w") : tmpfile();
    if (file == NULL) return;
    if (kind % 16 == 3) n = PAST + AREA; /* several blocks */
    if (!LZ4F_isError(LZ4F_writeOpen(&writer, file, how & 8 ? NULL : &prefs))) {
        LZ4F_write(writer, r->plain + (n > AREA ? 0 : PAST), (size_t)n);
        if (twice) LZ4F_write(writer, NULL, 1), LZ4F_write(writer, r->plain, 0), LZ4F_write(writer, r->plain, 99);
        LZ4F_writeClose(writer);
    }
    if (kind % 16 == 4) fseek(file, byte(r), SEEK_SET), fputc(part, file);
    if (kind % 16 == 5) fwrite("\x04\x22\x4d\x18", 1, 4, file), fwrite(r->at, 1, r->left < 99 ? r->left : 99, file);
    fseek(file, kind % 128 > 95 ? byte(r) % 8 : 0, SEEK_SET);
    if (!LZ4F_isError(LZ4F_readOpen(&reader, file))) {
        if (twice) LZ4F_read(reader, NULL, 1), LZ4F_read(reader, r->again, 0);
        for (int calls = 0; calls < 12; calls++) {
            size_t got = LZ4F_read(reader, r->again + PAST, part ? (size_t)part : (size_t)AREA);
            if (got == 0 || LZ4F_isError(got)) break;
        }
        LZ4F_readClose(reader);
    }
    fclose(file);
}

/* What the functions say of missing or unfit arguments. */
static void refused(struct run *r, int how) {
    LZ4_writeFile_t *writer = NULL;
    LZ4_readFile_t *reader = NULL;
    LZ4F_cctx *cctx = NULL;
    LZ4F_dctx *dctx = NULL;
    LZ4F_preferences_t prefs = {0};
    LZ4F_frameInfo_t info;
    FILE *file = tmpfile();
    size_t few = (size_t)byte(r), zero = 0;
    char *packed = r->packed, *to = r->again + PAST;
    LZ4_initStreamHC(NULL, sizeof(LZ4_streamHC_t)), LZ4_initStreamHC(r->state, few);
    LZ4_initStreamHC((char *)r->state + 1 + how % 7, sizeof(LZ4_streamHC_t)), LZ4_initStream(r->state, few);
    LZ4_initStream(NULL, sizeof(LZ4_stream_t)), LZ4_initStream((char *)r->state + 1 + how % 7, sizeof(LZ4_stream_t));
    LZ4_resetStreamStateHC(NULL, to), LZ4_resetStreamStateHC((char *)r->state + 1, to);
    LZ4_compress_HC_extStateHC(NULL, r->plain, packed, 9, 99, how % 14);
    LZ4_compress_HC_extStateHC_fastReset((char *)r->state + 1, r->plain, packed, 9, 99, how % 14);
    LZ4F_writeOpen(NULL, file, NULL), LZ4F_writeOpen(&writer, NULL, NULL), LZ4F_write(NULL, r->plain, 5);
    LZ4F_writeClose(NULL), LZ4F_readOpen(NULL, file), LZ4F_readOpen(&reader, NULL), LZ4F_read(NULL, to, 5);
    LZ4F_readClose(NULL), LZ4F_readOpen(&reader, file);
    LZ4_freeStream(NULL), LZ4_freeStreamHC(NULL), LZ4_freeStreamDecode(NULL), LZ4F_freeCDict(NULL);
    LZ4F_freeCompressionContext(NULL), LZ4F_freeDecompressionContext(NULL);
    LZ4_compress_default(r->plain, packed, how & 1 ? -1 : LZ4_MAX_INPUT_SIZE + 1, 99), LZ4_compressBound(-how);
    LZ4_compress_HC(r->plain, packed, how & 1 ? -1 : LZ4_MAX_INPUT_SIZE + 1, 99, 9), LZ4_compressBound(0x7e000001);
    LZ4_compress_fast(r->plain, packed, 0, how % 3, 1), LZ4_compress_HC(r->plain, packed, 0, how % 3, how % 14);
    LZ4_decompress_safe(packed, to, how & 2 ? 0 : 1, 0), LZ4_decompress_safe(packed, to, -1, 9);
    LZ4_decompress_safe_partial(packed, to, 0, 0, 0), LZ4_decoderRingBufferSize(-how);
    LZ4F_createCompressionContext(&cctx, LZ4F_VERSION), LZ4F_createDecompressionContext(&dctx, LZ4F_VERSION);
    LZ4F_compressUpdate(cctx, packed, PACKED, r->plain, 9, NULL), LZ4F_flush(cctx, packed, PACKED, NULL);
    LZ4F_compressEnd(cctx, packed, PACKED, NULL), LZ4F_compressBegin(cctx, packed, few % 24, NULL);
    LZ4F_uncompressedUpdate(cctx, packed, PACKED, r->plain, 9, NULL), LZ4F_flush(cctx, packed, few, NULL);
    LZ4F_compressUpdate(cctx, packed, few, r->plain, few, NULL), LZ4F_compressEnd(cctx, packed, few % 9, NULL);
    prefs.frameInfo.contentSize = 5, prefs.frameInfo.blockSizeID = (LZ4F_blockSizeID_t)(how % 10);
    LZ4F_compressFrame(packed, few, r->plain, few, how & 4 ? &prefs : NULL);
    if (!LZ4F_isError(LZ4F_compressBegin(cctx, packed, PACKED, &prefs)))
        LZ4F_compressUpdate(cctx, packed, PACKED, r->plain, 4 + few % 3, NULL), LZ4F_compressEnd(cctx, packed, PACKED, NULL);
    LZ4F_headerSize(NULL, 9), LZ4F_headerSize(packed, few % 20), memcpy(packed, "\x04\x22\x4d\x18\x40\x40", 6);
    LZ4F_headerSize(packed, few % 20), packed[4] = (char)how, LZ4F_headerSize(packed, few % 20);
    few %= 20, LZ4F_getFrameInfo(dctx, &info, packed, &few), few = 3;
    if (LZ4F_isError(LZ4F_decompress(dctx, to, &zero, packed, &few, NULL)) == 0)
        few = 9, LZ4F_getFrameInfo(dctx, &info, packed, &few);
    LZ4F_freeCompressionContext(cctx), LZ4F_freeDecompressionContext(dctx), fclose(file);
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
    struct run r = {data, size, 0, calloc(1, PAST + AREA), calloc(1, PAST + AREA), calloc(1, PACKED), calloc(1, PAST), NULL};
    char *plain = r.plain + PAST;
    r.state = malloc((size_t)LZ4_sizeofStateHC() + 8);
    for (int i = 0, n = 1 + grow(&r, plain - 512, 512); i + n < 512; i++) plain[i + n - 512] = plain[i - 512];
    for (int step = 0; step < 4 && r.left > 0; step++) {
        int op = byte(&r), how = byte(&r), n, room, packed, raw = r.left < BLOCK ? (int)r.left : BLOCK;
        memcpy(r.again, r.plain, PAST);
        switch (op % 8) {
        case 0: case 1:
            n = grow(&r, plain, AREA), room = how & 64 ? LZ4_compressBound(n) : how & 128 ? n : n / 2;
            packed = pack(&r, op / 8, plain, r.packed, &n, room, how % 14);
            if (packed > 0) unpack(&r, r.packed, packed, n, n > 0);
            break;
        case 2: case 3: linked(&r, how); break;
        case 4: case 5: framed(&r, how); break;
        case 6: op & 8 ? block(&r) : op & 16 ? filed(&r, how) : op & 32 ? refused(&r, how) : op & 64 ? hashed(&r, how)
                : unpack(&r, (const char *)r.at, raw, BLOCK, 0); break;
        default: /* raw bytes as a frame, or behind the start of one */
            memcpy(r.packed, "\x04\x22\x4d\x18", 4), memcpy(r.packed + 4, r.at, (size_t)raw);
            unframe(&r, how & 1 ? r.packed : r.packed + 4, (size_t)raw, r.plain, how & 2 ? BLOCK : 0);
        }
    }
    LZ4_versionNumber(), LZ4_versionString(), LZ4F_getVersion(), LZ4F_compressionLevel_max(), XXH_versionNumber();
    LZ4_sizeofState(), LZ4_sizeofStreamState(), LZ4_sizeofStreamStateHC();
    LZ4_decoderRingBufferSize((int)size), LZ4F_getBlockSize((LZ4F_blockSizeID_t)(size % 9));
    free(r.plain), free(r.again), free(r.packed), free(r.kept), free(r.state);
    return 0;
}
