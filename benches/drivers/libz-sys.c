/* Runs a program of zlib calls that the input spells: streams, one-shot calls, inflateBack, checksums and gz files,
 * in states that the input chooses, back and forth. Raw input bytes go to the decompressors, too. */
#define _POSIX_C_SOURCE 200809L
#define _LARGEFILE64_SOURCE 1
#include "zlib.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAIN = 4096, PACKED = 3 * PLAIN, WINDOW = 32768, DICT = 300 };

struct run { const uint8_t *at; size_t left; uInt mixed, made; Bytef *plain, *packed, *again, *window, *dict; };

/* The next byte of the input, or one that follows from what was read when there are no more. */
static int byte(struct run *r) {
    r->mixed = r->mixed * 1103515245 + (r->left > 0 ? *r->at : 12345);
    return r->left > 0 ? (r->left--, *r->at++) : (int)(r->mixed >> 16 & 255);
}

/* Changes a byte of the `size` ones at `data`. */
static void damage(struct run *r, Bytef *data, size_t size) {
    size_t at = (size_t)byte(r) * size / 256;
    data[at] ^= (Bytef)byte(r);
}

/* Plain data from half of the input: literal input, repetitions of what stands before, runs and noise. */
static uInt grow(struct run *r) {
    uInt size = 0, noise = 1;
    size_t stop = r->left / 2;
    do {
        uInt kind = (uInt)byte(r), length = 1 + (uInt)byte(r), value = (uInt)byte(r), how = kind % 4;
        length = how == 0 ? length % 32 : length * (1 + kind / 32);
        for (uInt i = 0; i < length && size < PLAIN; i++, size++) {
            noise = noise * 1103515245 + value + 12345;
            r->plain[size] = (Bytef)(how == 0 ? (uInt)byte(r) : how == 1 && size > value ? r->plain[size - 1 - value]
                                     : how == 2 ? noise >> 24 & value : i % (kind + 1) ? value : noise >> 24);
        }
    } while (size < PLAIN && r->left > stop);
    return size;
}

/* Memory, until there is no more. */
static voidpf take(voidpf left, uInt items, uInt size) { return (*(int *)left)-- > 0 ? calloc(items, size) : NULL; }
static void give(voidpf opaque, voidpf block) { (void)opaque, free(block); }

static z_stream stream(int how, Bytef *in, uInt size) {
    z_stream made = {0};
    static int left;
    left = how % 16 == 15 ? how / 16 : 1000;
    if (how & 1) made.zalloc = take, made.zfree = give, made.opaque = &left;
    made.next_in = in, made.avail_in = size;
    return made;
}

/* Compresses the plain data, with other calls in between, and gives the size and the window bits. */
static uInt deflated(struct run *r, int how, uInt n, int *bits) {
    int level = byte(r) % 11 - 1, strategy = byte(r) % 5, calls = byte(r) % 16, value, state;
    unsigned pending;
    gz_header head = {0};
    z_stream pair[2] = {stream(how, r->plain, n)}, *s = pair;
    *bits = (8 + how / 4 % 4) * (how / 16 % 4 == 1 ? -1 : 1) + (how / 16 % 4 == 2 ? 16 : 0);
    if (how / 16 % 4 == 3) *bits = MAX_WBITS, state = deflateInit(s, level);
    else state = deflateInit2(s, level, Z_DEFLATED, *bits, 1 + byte(r) % 4, strategy);
    if (state != Z_OK) return 0;
    if (*bits > 15 && how & 64) {
        head.text = 1, head.time = 7, head.os = 3, head.hcrc = level & 1;
        head.extra = level & 2 ? r->plain : NULL, head.extra_len = n, head.name = level & 4 ? (Bytef *)"name" : NULL;
        head.comment = strategy & 1 ? (Bytef *)"comment" : NULL;
        deflateSetHeader(s, &head);
    }
    if (how & 2) deflateSetDictionary(s, r->dict, DICT);
    if (deflateBound(s, n) != deflateBound_z(s, n)) abort();
    s->next_out = r->packed;
    while (calls-- > 0) {
        int op = byte(r);
        uInt in = s->avail_in, room = (uInt)(r->packed + PACKED - s->next_out);
        s->avail_in = in < (uInt)op * 4 ? in : (uInt)op * 4, in -= s->avail_in;
        s->avail_out = op & 64 ? room : room < 100 ? room : (uInt)byte(r);
        switch (op % 32) {
        case 8: value = byte(r), deflateParams(s, value % 11 - 1, value / 11 % 5); break;
        case 9: value = byte(r), deflateTune(s, value % 16, value / 16, byte(r), value); break;
        case 10: value = byte(r); if (*bits < 0) deflatePrime(s, value % 17, byte(r)); break;
        case 11: if (s == pair && deflateCopy(s + 1, s) == Z_OK) deflateEnd(s++); break;
        case 12: deflateGetDictionary(s, r->window, &pending); break;
        case 13: deflatePending(s, &pending, &value), deflateUsed(s, &value); break;
        case 14: s->total_in + s->total_out ? deflateReset(s) : deflateResetKeep(s); break;
        case 15: deflateSetDictionary(s, r->dict, (uInt)byte(r)); break;
        default: deflate(s, op % 6);
        }
        s->avail_in += in;
    }
    s->avail_out = (uInt)(r->packed + PACKED - s->next_out);
    while (deflate(s, Z_FINISH) == Z_OK && s->avail_out > 0) {}
    deflateEnd(s);
    return (uInt)(s->next_out - r->packed);
}

/* Decompresses, with other calls in between. */
static void inflated(struct run *r, int how, Bytef *in, uInt size, int bits) {
    Bytef text[3][20] = {{0}};
    gz_header head = {.extra = text[0], .name = text[1], .comment = text[2], .extra_max = 20, .name_max = 20,
                      .comm_max = 20};
    z_stream pair[2] = {stream(how, in, size)}, *s = pair;
    int state = how / 4 % 4 == 1 ? inflateInit(s) : inflateInit2(s, how / 4 % 4 == 2 ? bits : how & 16 ? 0 : 47);
    uInt length;
    if (state != Z_OK) return;
    if (how & 32) inflateGetHeader(s, &head);
    if (how & 64) inflateValidate(s, how & 1);
    for (int calls = 32; calls > 0 && state != Z_STREAM_END && state != Z_MEM_ERROR; calls--) {
        int op = byte(r), all = calls < 16 || op & 64;
        uInt rest = s->avail_in;
        s->avail_in = all || rest < (uInt)op ? rest : (uInt)op, rest -= s->avail_in;
        s->next_out = r->again, s->avail_out = all ? PLAIN : (uInt)op;
        switch (op % 32) {
        case 7: length = (uInt)byte(r), inflatePrime(s, (int)length % 18 - 1, byte(r)); break;
        case 8: inflateMark(s), inflateCodesUsed(s), inflateSyncPoint(s); break;
        case 9: if (s == pair && inflateCopy(s + 1, s) == Z_OK) inflateEnd(s++); break;
        case 10: inflateGetDictionary(s, r->window, &length); break;
        case 11: inflateSetDictionary(s, r->dict, (uInt)byte(r)); break;
        case 12: op & 32 ? inflateReset(s) : inflateResetKeep(s); break;
        case 13: inflateReset2(s, byte(r) % 64 - 16); break;
        case 14: inflateUndermine(s, 1); break;
        case 15: inflateSync(s); break;
        default: state = inflate(s, op % 7);
        }
        s->avail_in += rest;
        if (state == Z_NEED_DICT) state = inflateSetDictionary(s, r->dict, DICT);
        if (state == Z_DATA_ERROR && inflateSync(s) != Z_OK) break;
        if (all && s->avail_in == 0) break;
    }
    inflateEnd(s);
}

/* The callbacks of inflateBack: more input in pieces, and output up to a limit. */
static unsigned more(void *opaque, z_const unsigned char **piece) {
    struct run *r = opaque;
    unsigned size = (unsigned)byte(r);
    size = r->left < size ? (unsigned)r->left : size; /* none, in the end */
    *piece = (z_const unsigned char *)r->at, r->at += size, r->left -= size;
    return size;
}

static int keep(void *opaque, unsigned char *data, unsigned size) {
    struct run *r = opaque;
    return (void)data, (r->made += size) > 16 * PLAIN;
}

static void backwards(struct run *r, int how, Bytef *in, uInt size) {
    z_stream s = stream(how, in, size);
    if (inflateBackInit(&s, how & 2 ? 15 : 8 + how / 4 % 8, r->window) != Z_OK) return;
    if (how & 64) s.next_in = NULL, s.avail_in = 0;
    for (int times = how >> 7; times >= 0; times--) inflateBack(&s, more, r, keep, r);
    inflateBackEnd(&s);
}

static void one_shot(struct run *r, int how, uInt n) {
    uLong size = how & 1 ? compressBound(n) : n, used, got = how & 2 ? PLAIN : n;
    z_size_t size_z = how & 1 ? compressBound_z(n) : n, used_z, got_z = got;
    int level = how / 4 % 11 - 1, state;
    state = how & 64 ? compress(r->packed, &size, r->plain, n) : compress2(r->packed, &size, r->plain, n, level);
    if (state == Z_OK) {
        if (how & 128) damage(r, r->packed, size);
        used = size;
        how & 4 ? uncompress(r->again, &got, r->packed, size) : uncompress2(r->again, &got, r->packed, &used);
    }
    state = how & 64 ? compress_z(r->packed, &size_z, r->plain, n)
                     : compress2_z(r->packed, &size_z, r->plain, n, level);
    if (state == Z_OK) {
        used_z = size_z;
        how & 4 ? uncompress_z(r->again, &got_z, r->packed, size_z)
                : uncompress2_z(r->again, &got_z, r->packed, &used_z);
    }
}

static void summed(struct run *r, int skip, uInt n) {
    const Bytef *a = r->plain + skip % 8, *b = a + n * (uInt)skip / 255;
    uInt size_a = (uInt)(b - a), size_b = n - size_a, all = n;
    uLong crc_a = crc32(crc32(0, NULL, 0), a, size_a), crc_b = crc32_z(0, b, size_b), crc = crc32(0, a, all);
    uLong adler_a = adler32(adler32(0, NULL, 0), a, size_a), adler_b = adler32_z(1, b, size_b);
    uLong adler = adler32(1, a, all);
    if (crc32_combine(crc_a, crc_b, size_b) != crc || crc32_combine64(crc_a, crc_b, size_b) != crc) abort();
    if (crc32_combine_op(crc_a, crc_b, crc32_combine_gen(size_b)) != crc) abort();
    if (crc32_combine_gen64(size_b) != crc32_combine_gen(size_b) || get_crc_table()[0] != 0) abort();
    if (adler32_combine(adler_a, adler_b, size_b) != adler) abort();
    if (adler32_combine64(adler_a, adler_b, size_b) != adler) abort();
}

/* What each function says of a stream that is none: ended, never begun, a copy, or no stream at all. */
static void no_deflate(z_streamp s, struct run *r) {
    z_stream to = {0};
    gz_header head = {0};
    unsigned pending = 7;
    int bits = 7;
    uInt length = DICT;
    deflate(s, Z_FINISH), deflateReset(s), deflateResetKeep(s), deflateParams(s, 1, 0), deflateTune(s, 1, 2, 3, 4);
    deflatePrime(s, 1, 1), deflatePending(s, &pending, &bits), deflateUsed(s, &bits), deflateCopy(&to, s);
    deflateSetHeader(s, &head), deflateSetDictionary(s, r->dict, length), deflateGetDictionary(s, r->window, &length);
    deflateBound(s, 1000), deflateBound_z(s, 1000), deflateEnd(s);
}

static void no_inflate(z_streamp s, struct run *r) {
    z_stream to = {0};
    gz_header head = {0};
    uInt length = DICT;
    inflate(s, Z_NO_FLUSH), inflateReset(s), inflateResetKeep(s), inflateReset2(s, 15), inflatePrime(s, 1, 1);
    inflateMark(s), inflateCodesUsed(s), inflateSyncPoint(s), inflateSync(s), inflateUndermine(s, 1), inflateCopy(&to, s);
    inflateGetHeader(s, &head), inflateSetDictionary(s, r->dict, length), inflateValidate(s, 1);
    inflateGetDictionary(s, r->window, &length), inflateEnd(s);
    if (s == NULL || s->state == NULL) inflateBack(s, more, r, keep, r), inflateBackEnd(s);
}

/* Wrong arguments, and calls in the wrong order. */
static void refused(struct run *r, int how) {
    static const int numbers[] = {-16, -9, -8, -1, 0, 1, 7, 8, 9, 10, 15, 16, 24, 31, 32, 48};
    int a = numbers[byte(r) % 16], b = numbers[byte(r) % 16], c = numbers[byte(r) % 16];
    z_stream s = stream(how & 7, r->plain, 10), copy;
    switch (how / 8 % 8) {
    case 0: no_deflate(how & 1 ? &s : Z_NULL, r), no_inflate(how & 2 ? &s : Z_NULL, r); break;
    case 1:
        deflateInit_(&s, 1, how & 1 ? NULL : "0", sizeof s), deflateInit_(&s, 1, ZLIB_VERSION, how & 7);
        inflateInit_(&s, how & 1 ? NULL : "0", sizeof s), inflateInit_(&s, ZLIB_VERSION, how & 7);
        inflateBackInit_(&s, 15, r->window, how & 1 ? NULL : "0", sizeof s);
        inflateBackInit_(&s, 15, r->window, ZLIB_VERSION, how & 7);
        deflateInit(Z_NULL, 1), inflateInit(Z_NULL), inflateBackInit(Z_NULL, 15, r->window);
        break;
    case 2: case 3:
        if (deflateInit2(&s, how & 1 ? a : 1, how & 2 ? Z_DEFLATED : c, how & 4 ? b : 15, how & 64 ? c : 1, how & 128 ? a : 0)
            != Z_OK) break;
        copy = s, no_deflate(&copy, r), s.zalloc = NULL, no_deflate(&s, r), s = copy;
        s.next_out = how & 1 ? r->packed : NULL, s.avail_out = how & 2 ? PACKED : 0, s.next_in = how & 4 ? r->plain : NULL;
        deflate(&s, a), deflateParams(&s, b, c), deflate(&s, c), deflateSetDictionary(&s, how & 1 ? NULL : r->dict, DICT);
        deflatePrime(&s, b, a), deflatePending(&s, NULL, NULL), deflateUsed(&s, NULL), deflateSetHeader(&s, NULL);
        deflateGetDictionary(&s, NULL, NULL), deflateCopy(NULL, &s), deflateBound(&s, (uLong)a), deflateEnd(&s);
        deflateEnd(&s);
        break;
    case 4: case 5:
        if (inflateInit2(&s, how & 1 ? a : 15) != Z_OK) break;
        copy = s, no_inflate(&copy, r), s.zfree = NULL, no_inflate(&s, r), s = copy;
        s.next_out = how & 1 ? r->again : NULL, s.avail_out = how & 2 ? PLAIN : 0, s.next_in = how & 4 ? r->plain : NULL;
        inflate(&s, a), inflateSetDictionary(&s, r->dict, (uInt)byte(r)), inflatePrime(&s, b, a), inflateReset2(&s, c);
        inflate(&s, b), s.next_in = r->plain, inflateSync(&s), inflateMark(&s), inflateGetDictionary(&s, NULL, NULL), inflateCopy(NULL, &s);
        inflateGetHeader(&s, &(gz_header){0}), inflateEnd(&s), inflateEnd(&s);
        break;
    case 6:
        if (inflateBackInit(&s, how & 1 ? a : 15, how & 2 ? NULL : r->window) != Z_OK) break;
        inflateBack(&s, more, r, keep, r), inflateBackEnd(&s), inflateBackEnd(&s), inflateBack(&s, more, r, keep, r);
        break;
    default:
        crc32(0, NULL, (uInt)a & 31), crc32_z(0, NULL, 5), adler32(0, NULL, 0), adler32_z(1, NULL, 5);
        adler32_combine((uLong)byte(r) << 9, (uLong)byte(r) << 9, b), crc32_combine(1, 2, c), crc32_combine64(1, 2, b);
        adler32_combine64(65521, (uLong)byte(r) << 24 | 65530, a);
    }
}

/* What the functions for files say of no file, and of one that is used for the other purpose. */
static void refused_file(struct run *r, gzFile gz, int how) {
    int error;
    char line[8];
    switch (how % 16) {
    case 0: gzread(gz, r->again, 10), gzfread(r->again, 2, 3, gz), (gzgetc)(gz), gzgets(gz, line, 8); break;
    case 1: gzwrite(gz, r->plain, 10), gzfwrite(r->plain, 2, 3, gz), gzputc(gz, 'x'), gzputs(gz, "x"); break;
    case 2: gzungetc('x', gz), gzungetc(-1, gz), gzgetc_(gz), gzprintf(gz, "x"); break;
    case 3: gzflush(gz, how & 16 ? -1 : 6), gzflush(gz, Z_SYNC_FLUSH), gzsetparams(gz, 1, 0); break;
    case 4: gzseek(gz, 1, SEEK_END), gzseek(gz, -1000, how & 16 ? SEEK_CUR : SEEK_SET), gzseek64(gz, 1, 3); break;
    case 5: gztell(gz), gztell64(gz), gzoffset(gz), gzoffset64(gz), gzeof(gz), gzdirect(gz); break;
    case 6: gzrewind(gz), gzerror(gz, NULL), gzerror(gz, &error), gzclearerr(gz); break;
    case 7: gzread(gz, r->again, 0x80000000u), gzwrite(gz, r->plain, 0x80000000u); break;
    case 8: gzfread(r->again, (z_size_t)-1, 2, gz), gzfwrite(r->plain, (z_size_t)-1, 2, gz); break;
    case 9: gzfread(r->again, 0, 2, gz), gzfwrite(r->plain, 2, 0, gz), gzgets(gz, NULL, 8), gzgets(gz, line, 0); break;
    case 10: gzbuffer(gz, 0), gzbuffer(gz, 0x80000000u), gzbuffer(gz, 1 + (unsigned)how); break;
    case 11: if (gz == NULL) gzclose(gz), gzclose_r(gz), gzclose_w(gz); break;
    default: gzsetparams(gz, how % 12 - 1, how / 32), gzputs(gz, ""), gzread(gz, r->again, 0), gzwrite(gz, r->plain, 0);
    }
}

/* Writes a gz file without a name and reads it. */
static void filed(struct run *r, uInt n) {
    static const char *const modes[] = {"wb", "wb1h", "wbT", "w9f", "w6R", "w0F", "ab", "rw", "r+", "wbe", "b", "wx9",
                                        "w1G", "a3"};
    char path[32], line[64], *mode = (char *)modes[byte(r) % 14];
    FILE *file = tmpfile();
    int how = byte(r), calls = byte(r), error;
    if (file == NULL) return;
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    gzFile gz = how & 1 ? gzopen64(path, mode) : gzopen(path, mode);
    if (how == 255) gzopen(NULL, mode), gzopen("/nowhere/at/all", mode), gzdopen(-1, mode), gzopen(path, "");
    if (how & 2) gzbuffer(gz, 8u << how / 4 % 4);
    for (int i = calls % 16; i > 0 && gz != NULL; i--) {
        int op = byte(r);
        uInt part = (uInt)byte(r);
        switch (op % 13) {
        case 0: gzputc(gz, op); break;
        case 1: gzputs(gz, "some text\n"); break;
        case 2: gzprintf(gz, "%d %s\n", (int)part, "text"); break;
        case 3: gzfwrite(r->plain, 3, part, gz); break;
        case 4: gzflush(gz, op / 12 % 6); break;
        case 5: gzsetparams(gz, op % 10, op / 12 % 5); break;
        case 6: gzseek(gz, (z_off_t)part, op & 1 ? SEEK_CUR : SEEK_SET); break;
        case 7: gztell(gz), gzoffset(gz), gzdirect(gz), gzeof(gz); break;
        case 8: gzerror(gz, &error), gzclearerr(gz); break;
        case 9: refused_file(r, op & 64 ? gz : NULL, op); break;
        default: gzwrite(gz, r->plain, op & 64 ? n : part < n ? part : n);
        }
    }
    if (gz != NULL) how & 4 ? gzclose_w(gz) : gzclose(gz);
    if (how & 8) fseek(file, 0, SEEK_END), fwrite(r->at, 1, r->left % 256, file), fflush(file);
    if (how % 16 == 4) fseek(file, how, SEEK_SET), fputc(calls, file), fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    gz = how & 16 ? gzdopen(dup(fileno(file)), "rb") : gzopen(path, how & 32 ? "rbT" : "r");
    if (how & 16) gzrewind(gz);
    if (how & 64) gzbuffer(gz, 16u << how / 4 % 4);
    for (int i = calls / 16 * 2; i > 0 && gz != NULL; i--) {
        int op = byte(r);
        uInt part = (uInt)byte(r);
        switch (op % 12) {
        case 0: gzgetc(gz), gzgetc_(gz); break;
        case 1: gzungetc((int)part, gz); break;
        case 2: gzgets(gz, line, (int)(part % sizeof line)); break;
        case 3: gzfread(r->again, 3, part, gz); break;
        case 4: gzrewind(gz); break;
        case 5: gzseek(gz, (z_off_t)part - op % 3 * 20, op & 1 ? SEEK_CUR : SEEK_SET); break;
        case 6: gztell(gz), gzoffset(gz), gzdirect(gz), gzeof(gz); break;
        case 7: gzerror(gz, &error), gzclearerr(gz); break;
        case 8: refused_file(r, op & 64 ? gz : NULL, op); break;
        default: gzread(gz, r->again, part * 4);
        }
    }
    if (gz != NULL) how & 4 ? gzclose_r(gz) : gzclose(gz);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run r = {data, size, 0, 0, calloc(1, PLAIN + 8), calloc(1, PACKED), calloc(1, PLAIN), calloc(1, WINDOW),
                    calloc(1, DICT)};
    grow(&r);
    memcpy(r.dict, r.plain, DICT);
    if (size > 0 && data[0] % 8 == 6) filed(&r, grow(&r));
    for (int step = 0; step < 4 && r.left > 0; step++) {
        int op = byte(&r), how = byte(&r), bits = 15;
        uInt n = op % 8 < 6 ? grow(&r) : r.left < PLAIN ? (uInt)r.left : PLAIN, packed;
        switch (op % 8) {
        case 0: case 1: case 2: case 3:
            packed = deflated(&r, how, n, &bits);
            if (op & 8 && packed > 0) damage(&r, r.packed, packed);
            if (bits < 0 && op & 16) backwards(&r, op, r.packed, packed);
            else inflated(&r, op & 32 ? byte(&r) : bits == 15 ? 0 : 8, r.packed, packed, bits);
            break;
        case 4: one_shot(&r, how, n); break;
        case 5: op & 8 ? refused(&r, how) : summed(&r, how, n); break;
        case 6: memcpy(r.packed, r.at, n), backwards(&r, how, r.packed, n); break;
        default: memcpy(r.packed, r.at, n), inflated(&r, how, r.packed, n, how & 128 ? -15 : 31);
        }
    }
    zlibVersion(), zlibCompileFlags(), zError((int)(size % 10) - 7);
    free(r.plain), free(r.packed), free(r.again), free(r.window), free(r.dict);
    return 0;
}
