/*
 * The ledger: which blocks of memory one side has allocated and not freed, while it is watched. The linker sends the
 * allocator's functions here (--wrap), whoever calls them: C and Rust use the same ones. Fresh memory is filled with
 * one byte, so that a comparison can leave out what nobody has written yet.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* AddressSanitizer's, where the build has it. */
__attribute__((weak)) const char *__asan_locate_address(void *address, char *name, size_t size, void **start, size_t *bytes);

/* Bytes from an address to the end of the constant or variable there; 0 where none is known. */
size_t implfuzz_object_rest(const unsigned char *at)
{
    void *start = NULL;
    size_t bytes = 0;
    if (!__asan_locate_address)
        return 0;
    const char *kind = __asan_locate_address((void *)at, NULL, 0, &start, &bytes);
    const unsigned char *end = (const unsigned char *)start + bytes;
    return kind && strcmp(kind, "global") == 0 && at < end ? (size_t)(end - at) : 0;
}

struct implfuzz_block {
    uintptr_t at;
    size_t size;
    int live;
};

#define FRESH 0xbe
#define MOST (1u << 16)
#define BUCKETS (1u << 12)
/* A watched side that asks for more gets none, whichever side it is. */
#define LARGEST ((size_t)64 << 20)

static struct implfuzz_block blocks[MOST];
static size_t count;
/* Blocks by address: the newest block of each bucket, and the next older one of each block. Numbers begin with 1. */
static uint32_t newest[BUCKETS], older[MOST];
static int watching;
static unsigned bad, fails_in;
static size_t largest = LARGEST;

/* Whether a block that is handed back was never given out, or was handed back before (guard.c). */
int implfuzz_is_bad_block(void *block);

static uint32_t *bucket(uintptr_t at)
{
    return &newest[((uint64_t)at * 0x9e3779b97f4a7c15) >> 52];
}

static void forget_all(void)
{
    for (size_t i = 0; i < count; i++)
        *bucket(blocks[i].at) = 0;
    count = 0;
}

static void enter(struct implfuzz_block block)
{
    uint32_t *first = bucket(block.at);
    blocks[count] = block;
    older[count] = *first;
    *first = ++count;
}

void implfuzz_ledger_start(void)
{
    forget_all();
    bad = 0;
    watching = 0;
    fails_in = 0;
    largest = LARGEST;
}

void implfuzz_ledger_limit(size_t most)
{
    largest = most;
}

void implfuzz_ledger_watch(int on)
{
    watching = on;
}

int implfuzz_ledger_watching(void)
{
    return watching;
}

/* A block was handed back that is not the side's to give. */
void implfuzz_ledger_bad(void)
{
    bad++;
}

unsigned implfuzz_ledger_bad_count(void)
{
    return bad;
}

const struct implfuzz_block *implfuzz_ledger_blocks(size_t *out)
{
    *out = count;
    return blocks;
}

/* The allocation with this number fails; 0 for none. */
void implfuzz_ledger_fail(unsigned nth)
{
    fails_in = nth;
}

static int is_refused(size_t size)
{
    int fails = watching && fails_in && --fails_in == 0;
    if (fails)
        errno = ENOMEM;
    return fails || (watching && size > largest);
}

/* Dead blocks are kept, so that a pointer that dangles is known for one; until there is no room. */
static void forget_dead(void)
{
    size_t all = count;
    forget_all();
    for (size_t i = 0; i < all; i++)
        if (blocks[i].live)
            enter(blocks[i]);
}

static void note(void *at, size_t size, size_t written)
{
    if (!at || !watching)
        return;
    if (size > written)
        memset((char *)at + written, FRESH, size - written);
    if (count == MOST)
        forget_dead();
    if (count < MOST)
        enter((struct implfuzz_block){(uintptr_t)at, size, 1});
}

static struct implfuzz_block *find(void *at)
{
    for (uint32_t i = *bucket((uintptr_t)at); i; i = older[i - 1])
        if (blocks[i - 1].live && blocks[i - 1].at == (uintptr_t)at)
            return &blocks[i - 1];
    return NULL;
}

/* Called for every block that is really freed. */
void implfuzz_ledger_freed(void *at)
{
    struct implfuzz_block *block = at ? find(at) : NULL;
    if (block)
        block->live = 0;
}

void __real_free(void *);

/* Frees what is left when a side's life is over: nobody else holds its blocks. */
void implfuzz_ledger_release(void)
{
    for (size_t i = 0; i < count; i++)
        if (blocks[i].live)
            __real_free((void *)blocks[i].at);
    implfuzz_ledger_start();
}

void *__real_malloc(size_t);
void *__wrap_malloc(size_t size)
{
    void *at = is_refused(size) ? NULL : __real_malloc(size);
    note(at, size, 0);
    return at;
}

void *__real_calloc(size_t, size_t);
void *__wrap_calloc(size_t n, size_t size)
{
    int large = is_refused(size && n > largest / size ? SIZE_MAX : n * size);
    void *at = large ? NULL : __real_calloc(n, size);
    note(at, n * size, n * size);
    return at;
}

int __real_posix_memalign(void **, size_t, size_t);
int __wrap_posix_memalign(void **out, size_t align, size_t size)
{
    int answer = is_refused(size) ? ENOMEM : __real_posix_memalign(out, align, size);
    if (answer == 0)
        note(*out, size, 0);
    return answer;
}

void *__real_realloc(void *, size_t);
void *__wrap_realloc(void *old, size_t size)
{
    struct implfuzz_block *block = old ? find(old) : NULL;
    size_t before = block ? block->size : 0;
    if (old && implfuzz_is_bad_block(old))
        return NULL;
    void *at = is_refused(size) ? NULL : __real_realloc(old, size);
    if (block && (at || !size)) /* else the old block stays */
        block->live = 0;
    if (block || !old)
        note(at, size, before);
    return at;
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return __wrap_realloc(old, bytes);
}

char *__real_strdup(const char *);
char *__wrap_strdup(const char *text)
{
    char *at = is_refused(0) ? NULL : __real_strdup(text);
    if (at && watching)
        note(at, strlen(at) + 1, SIZE_MAX);
    return at;
}

/* --- Pictures: what is long to look through is looked through here, where nothing is instrumented --------------- */

/* The first byte from `from` on in which two pieces of memory differ; `size` where there is none. */
size_t implfuzz_differ(const unsigned char *a, const unsigned char *b, size_t from, size_t size)
{
    for (; from < size && from % 8; from++)
        if (a[from] != b[from])
            return from;
    for (; from + 8 <= size; from += 8) {
        uint64_t x, y;
        memcpy(&x, a + from, 8);
        memcpy(&y, b + from, 8);
        if (x != y)
            break;
    }
    for (; from < size; from++)
        if (a[from] != b[from])
            return from;
    return size;
}

/* The first word from `from` on that lies between the limits; `size` where there is none. Offsets are of bytes. */
size_t implfuzz_next_address(const unsigned char *at, size_t from, size_t size, uintptr_t low, uintptr_t high)
{
    for (; from + sizeof(uintptr_t) <= size; from += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, at + from, sizeof word);
        if (word >= low && word <= high)
            return from;
    }
    return size;
}
