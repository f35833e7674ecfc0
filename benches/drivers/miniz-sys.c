/* Runs a program of miniz calls that the input spells: streams, one-shot calls, the low-level compressor and
 * decompressor, pictures, and archives, which are written, spoiled, read, copied from and appended to. */
#define _GNU_SOURCE
#include "miniz.h"
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>
#include <utime.h>

enum { PLAIN = 4096, BIG = 72 << 10, ROOM = 1 << 17, BLOCKS = 512, LONG = 66000 };
static const uint8_t *input;
static size_t left;
static uint8_t plain[BIG], packed[ROOM], again[ROOM];
static unsigned mixed, sum; /* of all results */

static void saw(long long value) { sum = sum * 31 + (unsigned)value; }
static void note(const uint8_t *data, size_t n) { saw(n > 0 ? n + data[0] + data[n - 1] : 0); }
static size_t least(mz_uint64 a, mz_uint64 b) { return a < b ? a : b; }

/* The next byte of the input, or one that follows from what was read when there are no more. */
static unsigned byte(void) {
    mixed = mixed * 1103515245 + (left > 0 ? *input : 12345);
    return left > 0 ? (left--, *input++) : mixed >> 16 & 255;
}
static void damage(uint8_t *at, size_t size) { if (size > 0) at += byte() * size / 256, *at ^= byte(); }

/* Plain data: literal input, repetitions of what stands before, runs and noise. Seldom more than some KB. */
static size_t grow(void) {
    unsigned want = byte(), noise = 1, times = want % 32 == 31 ? 32 : 1;
    size_t size = 0, most = times > 1 ? BIG : want % 4 == 0 ? want : PLAIN, stop = left / 2;
    do {
        unsigned kind = byte(), length = 1 + byte(), value = byte(), how = kind % 4;
        length = how == 0 ? length % 32 : length * (1 + kind / 32) * times;
        for (unsigned i = 0; i < length && size < most; i++, size++) {
            noise = noise * 1103515245 + value + 12345;
            plain[size] = how == 0 ? byte() : how == 1 && size > value ? plain[size - 1 - value]
                        : how == 2 ? noise >> 24 & value : i % (kind + 1) ? value : noise >> 24;
        }
    } while (size < most && (left > stop || (times > 1 && size < most * 3 / 4)));
    return size;
}

/* Memory, until there is no more. In the end all is given back: after failures the library forgets some. */
static void *held[BLOCKS];
static int more;
static void *take(void *user, size_t items, size_t size) {
    size_t i = 0;
    while (i < BLOCKS && held[i] != NULL) i++;
    if (more <= 0 || --more == 0 || i == BLOCKS || items > 1 << 20 || items * size > 1 << 20) return NULL;
    return (void)user, held[i] = calloc(1, items * size + 1);
}
static void give(void *user, void *block) { /* the library gives back what is no block, too */
    size_t i = 0;
    while (i < BLOCKS && held[i] != block) i++;
    if (i < BLOCKS) free(block), held[i] = NULL, (void)user;
}
static void *regrow(void *user, void *block, size_t items, size_t size) {
    /* At first a reader believes the sizes of a name and of what follows it, which are below 1 << 17. */
    void *fresh = take(user, 1, items * size + (user != NULL ? 1 << 17 : 0));
    if (fresh != NULL && block != NULL) memcpy(fresh, block, least(malloc_usable_size(block), items * size));
    return give(user, fresh != NULL ? block : NULL), fresh;
}

/* Compresses the plain data in pieces. */
static size_t deflated(unsigned how, size_t n, int level, int bits) {
    mz_stream s = {.next_in = plain, .avail_in = n, .next_out = packed};
    if (how & 1) s.zalloc = take, s.zfree = give;
    int state = how & 8 ? mz_deflateInit(&s, level) : mz_deflateInit2(&s, level, 8, bits, 9, byte() % 6);
    for (int calls = state == MZ_OK ? byte() % 8 : -1; calls >= 0; calls--) {
        unsigned op = calls > 0 ? byte() : 124, in = s.avail_in, room = packed + ROOM - s.next_out;
        s.avail_in = calls > 0 ? least(in, op * 8) : in, in -= s.avail_in;
        s.avail_out = op & 64 ? room : least(room, byte());
        if (op % 16 == 15) mz_deflateReset(&s), s.next_out = packed;
        else saw(mz_deflate(&s, op % 7 - 1)); /* in the end MZ_FINISH */
        s.avail_in += in;
    }
    saw(s.adler + s.total_out + mz_deflateBound(&s, n)), mz_deflateEnd(&s);
    return s.next_out - packed;
}

static void inflated(unsigned how, size_t size, int bits) {
    mz_stream s = {.next_in = packed, .avail_in = size};
    if (how & 1) s.zalloc = take, s.zfree = give, damage(packed, size);
    int state = how & 2 ? mz_inflateInit(&s) : mz_inflateInit2(&s, bits);
    for (int calls = state == MZ_OK ? 24 : 0; calls > 0; calls--) {
        unsigned op = byte(), all = calls < 8 || op & 64, rest = s.avail_in;
        s.avail_in = all ? rest : least(rest, op), rest -= s.avail_in;
        s.next_out = again, s.avail_out = all ? ROOM : op % 8 ? byte() : 0;
        state = mz_inflate(&s, op % 32 < 4 || (all && !(op & 32)) ? MZ_FINISH : op % 32 < 30 ? op % 3 : 3);
        note(again, s.next_out - again), s.avail_in += rest;
        if ((state == MZ_STREAM_END || (state < MZ_OK && state != MZ_BUF_ERROR)) && op % 4) break;
    }
    saw(s.adler + s.total_in), mz_inflateEnd(&s);
}

/* Where callbacks put their data. */
struct sink { uint8_t *to; size_t size, most; };
static int put(const void *data, int n, void *user) {
    struct sink *s = user;
    return n <= s->most - s->size && (memcpy(s->to + s->size, data, n), s->size += n, 1);
}

/* Compresses with all kinds of flags in pieces, and decompresses. */
static void low(unsigned how, unsigned op, size_t n, int flags, unsigned zlib) {
    static uint8_t ring[TINFL_LZ_DICT_SIZE];
    struct sink sink = {packed, 0, how % 32 == 31 ? byte() : ROOM};
    tdefl_compressor *d = tdefl_compressor_alloc();
    tinfl_decompressor *t = tinfl_decompressor_alloc();
    size_t size, room, done = 0;
    if (how & 32) flags |= TDEFL_NONDETERMINISTIC_PARSING_FLAG; /* which uses old contents */
    tdefl_init(memset(d, 0, sizeof *d), put, &sink, flags), memset(ring, 0, sizeof ring);
    for (int calls = byte() % 8; calls >= 0; calls--, done += size) {
        size = calls > 0 ? least(n - done, byte() * 8) : n - done;
        saw(tdefl_compress_buffer(d, plain + done, size, "\0\2\3\4"[calls > 0 ? byte() % 4 : 3]));
    }
    saw(tdefl_get_prev_return_status(d) + tdefl_get_adler32(d)), size = room = how; /* and what is refused */
    saw(tdefl_compress(how & 8 ? d : NULL, plain, how & 2 ? &size : NULL, again, how & 4 ? &room : NULL, 0));
    damage(packed, op & 1 ? sink.size : 0);
    size = op & 64 ? sink.size : sink.size / 2, room = sizeof ring - (op % 64 == 59); /* no power of two */
    saw(tinfl_decompress(t, packed, &size, ring, ring, &room, zlib | (op & 14))), note(ring, room);
    saw(tinfl_get_adler32(t)), tdefl_compressor_free(d), tinfl_decompressor_free(t);
}

/* The same at once. */
static void one_shot(unsigned how, size_t n, int level, int flags, unsigned zlib) {
    mz_ulong room = how & 1 ? mz_compressBound(n) : n, got = how & 2 ? ROOM : n;
    struct sink sink = {again, 0, how & 64 ? 100 : ROOM};
    size_t size, length, some = least(n, PLAIN);
    saw(how & 4 ? mz_compress(packed, &room, plain, some) : mz_compress2(packed, &room, plain, n, level));
    if (how & 128) damage(packed, room);
    if (mz_uncompress(again, &got, packed, how & 32 ? room * 3 / 4 : room) == MZ_OK) note(again, got);
    got = how & 8 ? 0x100000000 : 1; /* more than there may be, or too little */
    saw(mz_uncompress(again, &got, packed, room) + mz_compress(packed, &got, plain, some));
    void *heap = tdefl_compress_mem_to_heap(how == 63 ? NULL : plain, n, how == 31 ? NULL : &length, flags);
    if (heap != NULL) note(heap, length), mz_free(heap);
    size = tdefl_compress_mem_to_mem(packed, how & 1 ? ROOM : n, plain, n, flags);
    length = tinfl_decompress_mem_to_mem(again, how & 4 ? n : ROOM, packed, size, zlib | (how & 8));
    if (length == TINFL_DECOMPRESS_MEM_TO_MEM_FAILED) size = least(size, 2); /* else it may go on and on */
    heap = tinfl_decompress_mem_to_heap(packed, size, &length, zlib), note(heap, length), mz_free(heap);
    saw(tinfl_decompress_mem_to_callback(packed, &size, put, &sink, zlib));
}

/* What functions say of no stream, of wrong arguments, and of calls in the wrong order. */
static void refused(unsigned how) {
    int numbers[] = {-15, 15, 8, 0, -1, 1, 10, 31}, bits = numbers[how / 2 % 8];
    mz_stream s = {.next_out = again, .avail_out = how & 1}, none = {0}, *p = how & 8 ? &none : NULL;
    saw(mz_deflate(p, 0) + mz_deflateReset(p) + mz_inflate(p, 0) + mz_version()[0] + mz_deflateInit(NULL, 1));
    saw(mz_deflateEnd(p) + mz_inflateEnd(p) + mz_inflateInit2(p, bits)), saw(mz_inflateEnd(p));
    saw(mz_deflateInit2(&s, 1, how & 1 ? 8 : 7, bits, numbers[how / 16 % 8], 0)), saw(mz_deflate(&s, 5));
    saw(mz_deflate(&s, 0)), saw(mz_deflate(&s, 0) + mz_deflateEnd(&s) + (mz_error(how % 16 - 9) != NULL));
    saw(tdefl_compress_mem_to_mem(NULL, 0, plain, 1, 0) + mz_adler32(how, how & 2 ? plain : NULL, 2 * PLAIN));
}

#if !defined(MINIZ_NO_ARCHIVE_APIS) && !defined(MINIZ_NO_STDIO)
#define Z(F, ...) mz_zip_##F(zip, ##__VA_ARGS__)
typedef mz_zip_archive archive;

/* The bytes of archives, which may seem to stand behind much that is not there. One access may fail. */
static struct store { uint8_t data[ROOM]; size_t size; mz_uint64 base; int failing; FILE *file; } stores[2];
static size_t peek(void *user, mz_uint64 at, void *to, size_t n) {
    struct store *s = user;
    if ((s->failing > 0 && --s->failing == 0) || (at -= s->base) > s->size) return 0;
    return memcpy(to, s->data + at, n = least(n, s->size - at)), n;
}
static size_t poke(void *user, mz_uint64 at, const void *from, size_t n) {
    struct store *s = user;
    if ((s->failing > 0 && --s->failing == 0) || (at -= s->base) > s->size || n > ROOM - at) return 0;
    return memcpy(s->data + at, from, n), s->size = at + n > s->size ? at + n : s->size, n;
}
static int keep_alive(void *user) { return ((struct store *)user)->size % 2 == 0; }
static size_t swallow(void *user, mz_uint64 at, const void *data, size_t n) {
    return saw(at), n <= ROOM && put(data, n, user) ? n : 0;
}
static archive blank(struct store *s, int reads, int old) {
    return (archive){.m_pAlloc = take, .m_pFree = give, .m_pRealloc = regrow, .m_pAlloc_opaque = old ? s : 0,
                     .m_pRead = reads ? peek : NULL, .m_pWrite = poke, .m_pIO_opaque = s,
                     .m_pNeeds_keepalive = keep_alive};
}

static const char *name(void) {
    static const char *const names[] = {"a.txt", "Dir/", "dir/B.txt", "DIR/b.txt", "", "/r", "b\\s", "c:d"};
    static char longest[LONG];
    unsigned i = byte() % 16;
    memset(longest, 'n', LONG - 1);
    return i < 12 ? names[i % 8] : longest + (i == 12 ? 0 : LONG - 50 * i);
}

/* Extra data of an entry: other fields, one for large sizes, and wrong ones. */
static unsigned extra(char *to, mz_uint64 size, mz_uint64 size_packed) {
    unsigned kind = byte(), first = kind & 1 ? 8 : 0, most = kind / 2 % 4 * 8;
    memcpy(to, "ux\4\0....", 8), memcpy(to + first, (char[]){kind >> 3 & 1, 0, most, 0}, 4);
    memcpy(to + first + 4, (mz_uint64[]){size, size_packed, size}, 24);
    return kind & 16 ? first + 4 + most - (kind % 128 > 112) : 0;
}

/* Adds to an archive, in one of the ways. */
static void add(archive *zip, archive *from, size_t n) {
    unsigned op = byte(), how = byte(), level = byte() % 12, way = op % 8, ours, all;
    size_t some = how & 2 ? 0 : how & 4 ? n % 9 : op < 192 ? least(n, PLAIN) : n; /* seldom much */
    mz_uint64 told = op & 64 ? 0x100000005 : op % 32 == 29 ? 70000 : some;
    const char *file = name(), *text = how & 8 ? "comment" : NULL;
    char one[40], two[40];
    time_t now = 400000000 + (time_t)byte() * 7000000, *when = &now; /* any time that is not now */
    if (some > PLAIN || told > PLAIN || how & 16) level %= 4; /* none is slow */
    if (way == 4 ? !(op & 32) : how % 64 == 62) level |= MZ_ZIP_FLAG_COMPRESSED_DATA;
    level |= how & 1 ? MZ_ZIP_FLAG_ASCII_FILENAME : 0, n = how & 8 || how == 51 ? 7 : 0;
    ours = extra(one, some, level & 15 ? 0 : some), all = extra(two, told, some);
    if (way == 4 && some > 0) some = tdefl_compress_mem_to_mem(packed, ROOM, plain, some, 1);
    if (way == 0) saw(Z(writer_add_mem, file, plain, some, how % 32 == 31 ? -1u : level));
    if (way == 1) saw(Z(writer_add_mem_ex, file, plain, some, text, n, level, 0, 0));
    if (way > 1 && way < 5) /* the last is compressed by us, with the size that we say */
        saw(Z(writer_add_mem_ex_v2, file, way < 4 ? plain : packed, some, text, n, level, way < 4 ? 0 : told,
              how, (void *)when, one, ours, two, all));
    for (int i = 0; way == 5 && from && i < 6; i++) saw(Z(writer_add_from_zip_reader, from, how % 4 + i));
    if (way < 6) return;
    FILE *in = fmemopen(plain, BIG, "rb");
    if (how & 32) when = NULL;
    saw(Z(writer_add_cfile, file, in, told, (void *)when, text, n, level, one, ours, two, all)), fclose(in);
}

/* Asks an archive for what's in it, by name or by number. Gives whether no size is more than there may be. */
#define EXTRACT(HOW, ...) (op & 128 ? mz_zip_reader_extract_file_##HOW(zip, file, __VA_ARGS__) \
                                    : mz_zip_reader_extract_##HOW(zip, index, __VA_ARGS__))
static int look(archive *zip, const char *other) {
    static const unsigned kinds[] = {0, 0, 0x100, 0x200, 0x400, 0x2000, 0x1000, 0x300}; /* MZ_ZIP_FLAG_... */
    unsigned files = Z(reader_get_num_files), index = 0, own = Z(get_type) == MZ_ZIP_TYPE_USER, tame = 1;
    mz_zip_archive_file_stat is = {0};
    for (; index < files; index++)
        if (Z(reader_file_stat, index, &is)) tame &= is.m_comp_size <= ROOM && is.m_uncomp_size <= ROOM;
    for (unsigned calls = byte() % 4; calls > 0; calls--) {
        unsigned op = byte(), flags = kinds[byte() % 8];
        size_t room = op & 16 ? byte() * 16 : ROOM, got = 0;
        struct sink sink = {again, 0, op & 32 ? 50 : ROOM};
        const char *file = op & 64 ? name() : is.m_filename, *text = op & 2 ? is.m_comment : "comment";
        index = byte() % (files + 2), saw(Z(reader_locate_file, file, op & 1 ? text : NULL, flags));
        if (op & 128) saw(Z(reader_locate_file_v2, file, NULL, flags, &index));
        saw(Z(reader_file_stat, index, &is) + Z(reader_is_file_a_directory, index) + Z(is_zip64));
        saw(Z(reader_is_file_encrypted, index) + Z(reader_is_file_supported, index) + (Z(get_cfile) != 0));
        saw(Z(reader_get_filename, index, (char *)again, room / 16) + Z(read_archive_data, op, again, room));
        saw(Z(get_archive_file_start_offset) + Z(peek_last_error) + Z(clear_last_error) + Z(get_last_error));
        if (!tame && !own) continue;
        saw(EXTRACT(to_mem, again, room, flags) + EXTRACT(to_mem_no_alloc, again, room, flags, packed, op));
        void *heap = EXTRACT(to_heap, op & 4 ? NULL : &got, flags);
        note(heap, got), give(NULL, heap);
        if ((EXTRACT(to_callback, swallow, &sink, flags) && !is.m_is_directory) || own) { /* else no end */
            mz_zip_reader_extract_iter_state *state = EXTRACT(iter_new, flags);
            for (unsigned times = op % 8 * 3; times > 0; times--)
                note(again, mz_zip_reader_extract_iter_read(state, again, times == 1 ? ROOM : room));
            saw(mz_zip_reader_extract_iter_free(state));
        }
        if (!tame) continue;
        FILE *out = fmemopen(again, ROOM, "wb");
        saw(EXTRACT(to_cfile, out, flags)), fclose(out), saw(other ? EXTRACT(to_file, other, flags) : 0);
        saw(Z(validate_file, index, flags) + Z(validate_archive, flags));
    }
    return tame;
}

static void finished(archive *zip, struct store *s) {
    void *heap = NULL;
    mz_zip_type type = Z(get_type);
    if (type != MZ_ZIP_TYPE_HEAP && type != MZ_ZIP_TYPE_MEMORY) saw(Z(writer_finalize_archive));
    else if (Z(writer_finalize_heap_archive, &heap, &s->size)) memcpy(s->data, heap, least(s->size, ROOM));
    if (type == MZ_ZIP_TYPE_CFILE) s->size = Z(get_archive_size);
    s->size = least(s->size, ROOM), give(NULL, heap), saw(Z(get_central_dir_size) + Z(end) + Z(get_mode));
}

/* A new archive. */
static void written(struct store *s, archive *from, size_t n) {
    static const mz_uint64 bases[] = {0, 0, 0, 0, 300, 0xffffee00, 0xffffffff, 0x123456789};
    unsigned how = byte(), odd = byte(), kind = how % 4, flags = how << 11 & 0xc000; /* WRITE_... */
    archive made = blank(s, kind < 2, 0), *zip = &made;
    s->base = kind < 2 ? bases[odd % 8] : 0, s->size = s->base > 0 ? PLAIN : 0, memset(s->data, 0, ROOM);
    s->failing = odd / 16 % 4 == 3 ? byte() % 32 : 0;
    if (how & 32) made.m_file_offset_alignment = odd & 16 ? odd % 8 : 1 << odd % 8;
    if (kind == 3 ? Z(writer_init_cfile, s->file = fmemopen(s->data, ROOM, "w+b"), flags)
        : kind == 2 && how & 128 ? Z(writer_init_heap, odd % 8 * 10, odd * 16)
        : kind == 2 ? Z(writer_init_heap_v2, 0, odd & 32 ? 2000 : 0, flags)
        : how & 128 ? Z(writer_init, s->base + s->size) : Z(writer_init_v2, s->base + s->size, flags)) {
        for (unsigned calls = byte() % 8; calls > 0; calls--) add(zip, from, n);
        if (made.m_pRead != NULL && how & 16) look(zip, NULL);
        finished(zip, s);
    }
    if (s->file != NULL) fclose(s->file), s->file = NULL;
}

/* Sets a field of one of the records. */
static void spoil(struct store *s) {
    static const char signs[] = "PK\1\2PK\3\4PK\5\6PK\6\6PK\6\7PK\1\2PK\3\4PK\7\10";
    static const unsigned values[] = {0, 1, 9, 0x21, 0x2000, 0xffff, 0x7fff, 0};
    unsigned kind = byte(), value = byte(), times = kind / 32 % 4;
    uint8_t *at = s->data, *end = s->data + s->size;
    while (at + 4 < end && (memcmp(at, signs + kind % 8 * 4, 4) || times-- > 0)) at++;
    at += byte() % 32 * 2;
    if (at < end && value >= 64) memset(at, -(value & 1), least(end - at, value & 2 ? 4 : value & 4 ? 8 : 2));
    else if (at + 1 < end) at[0] = values[value % 8] + value / 32, at[1] = values[value % 8] >> 8;
}

/* Opens an archive, in one of the ways, of which one lets the writer grow it. */
static int opened(archive *zip, struct store *s) {
    unsigned how = byte(), flags = how & 16 ? MZ_ZIP_FLAG_DO_NOT_SORT_CENTRAL_DIRECTORY : 0;
    *zip = blank(s, 1, 1), s->failing = how % 32 == 31 ? byte() % 32 : 0;
    if (s->base > 0 || how % 2) return Z(reader_init, s->base + s->size, flags);
    void *copy = how & 2 ? take(NULL, 1, s->size) : NULL;
    if (how & 2) return Z(reader_init_mem, copy ? memcpy(copy, s->data, s->size) : NULL, s->size, flags);
    s->file = fmemopen(s->data, how & 4 && s->size ? s->size : ROOM, "r+b");
    return Z(reader_init_cfile, s->file, how & 4 ? 0 : s->size, flags);
}

/* The functions for files with names, of which the first is the archive and the second is in it. */
static void filed(struct store *s, size_t n, int good) {
    char path[] = "/tmp/implfuzz-miniz-XXXXXX", other[40], nowhere[] = "/nowhere/at/all";
    unsigned op = byte(), how = byte(), flags = how & 1 ? MZ_ZIP_FLAG_WRITE_ALLOW_READING : 0;
    const char *at = how % 16 ? path : nowhere, *file = name(), *to = how & 32 ? other : nowhere;
    archive made = blank(s, 1, 1), *zip = &made;
    size_t size = 0;
    FILE *first = fdopen(mkstemp(path), "wb"), *second = fopen(strcat(strcpy(other, path), "-"), "wb");
    if (first == NULL || second == NULL) return;
    fwrite(s->data, 1, s->size, first), fclose(first), fwrite(plain, 1, n, second), fclose(second);
    if (op % 4 == 0) good = unlink(path) == 0;
    if (good) {
        saw(mz_zip_add_mem_to_archive_file_in_place(at, file, plain, least(n, 99), "comment", 7, op % 12));
        void *heap = mz_zip_extract_archive_file_to_heap(at, file, &size, op & 16 ? 0x400 : 0);
        mz_free(heap), saw(size), saw(mz_zip_validate_file_archive(op & 128 ? path : at, 0, NULL));
    }
    if (op & 2 ? Z(reader_init_file, at, 0) : Z(reader_init_file_v2, at, 0, how & 64, s->size)) {
        look(zip, to), good = made.m_central_directory_file_ofs <= made.m_archive_size;
        if (good && Z(writer_init_from_reader, op & 8 ? path : NULL)) add(zip, NULL, n), finished(zip, s);
    }
    Z(end), made = blank(s, 0, 0), utime(other, &(struct utimbuf){1000000000, 1000000000});
    if (op & 2 ? Z(writer_init_file, op % 32 == 6 ? "/dev/full" : at, op & 4 ? 10 : 0)
               : Z(writer_init_file_v2, at, op & 64 ? 5000 : 0, flags))
        saw(Z(writer_add_file, file, to, NULL, 0, op % 4)), add(zip, NULL, n), finished(zip, s);
    unlink(path), unlink(other);
}

/* Wrong arguments, and calls in the wrong order. */
static void refused_zip(struct store *s, unsigned how) {
    archive none = blank(s, how & 2, 1), *zip = how & 1 ? &none : NULL;
    void *heap;
    none.m_pWrite = how & 4 ? poke : NULL, s->base = s->failing = 0, saw(Z(set_last_error, how % 40));
    saw(Z(reader_init_mem, how & 8 ? NULL : plain, 9, 0) + Z(reader_end) + Z(end) + Z(writer_end));
    saw(Z(get_archive_size) + mz_zip_get_error_string(how % 40)[0] + Z(validate_file, 0, 0));
    saw(Z(reader_locate_file, "a", 0, 0) + Z(reader_extract_to_mem, 0, again, 9, 0) + Z(validate_archive, 0));
    saw(Z(writer_init_from_reader, NULL) + Z(writer_finalize_heap_archive, how & 8 ? &heap : NULL, &s->size));
    if (Z(writer_init_v2, 0, how << 11)) saw(Z(writer_init, 0) + Z(reader_init, 30, 0)), Z(writer_end);
    saw(mz_zip_validate_mem_archive(plain, s->size = how & 8 ? 99 : 0, 0, NULL)), mz_zip_zero_struct(zip);
}

static void zipped(unsigned op, size_t n) {
    archive made = {0}, *zip = &made;
    struct store *s = stores, *last;
    if (op % 16 == 15) refused_zip(s, byte());
    for (unsigned turn = 0, how = 0, open = 0, spoiled = 0; turn < 3 && how < 128; turn++) {
        how = byte(), last = s;
        if (!open || how & 1) s = stores + (s == stores), written(s, open ? zip : NULL, n);
        else if (made.m_central_directory_file_ofs <= made.m_archive_size /* which the reader doesn't check */
                 && Z(writer_init_from_reader_v2, NULL, how % 64 > 47 ? MZ_ZIP_FLAG_WRITE_ZIP64 : 0))
            add(zip, NULL, n), add(zip, NULL, n), look(zip, NULL), finished(zip, s);
        Z(end);
        if (last->file != NULL) fclose(last->file), last->file = NULL;
        for (unsigned times = how & 2 ? byte() % 8 : 0; times > 0; times--) spoil(s), spoiled = 1;
        memset(s->data + s->size, 0, ROOM - s->size);
        if (how % 32 == 25) s->size = byte() & 1 ? least(s->size + byte() * 64, ROOM) : s->size / 2;
        /* Not all are harmless to functions that believe sizes, and forget memory when they don't. */
        int good = (open = opened(zip, s)) && look(zip, NULL) && !spoiled && s->base == 0 && !Z(is_zip64);
        if (good) saw(mz_zip_validate_mem_archive(s->data, s->size, how & 8 ? 4096 : 0, &made.m_last_error));
        if (how % 32 == 28) filed(s, n, good);
    }
    Z(end);
    if (s->file != NULL) fclose(s->file), s->file = NULL;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input = data, left = size, mixed = 0;
    unsigned kind = byte() % 16, how = byte(), op = byte();
    setenv("TZ", "UTC0", 1); /* times in archives are local ones */
    memset(plain, 0, sizeof plain), more = how % 8 == 7 ? byte() % 64 : 1 << 20;
    size_t n = kind < 14 ? grow() : 0;
    int bits = how & 4 ? -15 : 15, level = n > PLAIN ? byte() % 5 : byte() % 12 - 1u; /* none is slow */
    int flags = 1 << byte() % (n > PLAIN ? 5 : 10) >> 1 | (byte() << 12 & 0xf7000); /* nor by chance */
    unsigned zlib = !(flags & TDEFL_WRITE_ZLIB_HEADER) == (how % 64 > 60);
    if (kind < 2) n = deflated(how, n, level, bits);
    if (kind > 13) memcpy(packed, input, n = least(left, ROOM));
    if (kind < 2 || kind > 13) inflated(op, n, op & 4 ? 15 : bits);
    else if (kind == 2) one_shot(how, n, level, flags, zlib);
    else if (kind < 5) low(how, op, n, flags, zlib);
    else if (kind == 5) {
        int chans = 1 + how % 4, w = 1 + how / 8, h = least(n / (w * chans), 999);
        mz_free(tdefl_write_image_to_png_file_in_memory_ex(plain, w, h, chans, &size, level & 15, op & 8));
        saw(size), mz_free(tdefl_write_image_to_png_file_in_memory(plain, w, h % 64 + 1, chans, &size));
    } else if (kind == 6) refused(how);
#if !defined(MINIZ_NO_ARCHIVE_APIS) && !defined(MINIZ_NO_STDIO)
    else zipped(op, n);
#endif
    for (size_t i = 0; i < BLOCKS; i++) free(held[i]), held[i] = NULL;
    return 0;
}
