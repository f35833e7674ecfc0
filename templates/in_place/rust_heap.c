/*
 * The heap of Rust's own libraries, which C has not: it is left out of the comparison, and must be empty again when a
 * candidate returns. A block has a header, and guards around it, which are looked at when it is freed. What Rust's
 * libraries print, the message of a panic, is kept.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define HEAP ((unsigned char *)implfuzz_memory.heap)
#define HEAP_BYTES ((size_t)1 << 30)

void implfuzz_rust_heap_make(void)
{
    mmap(HEAP, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Before each candidate: what the one before left is gone. */
void implfuzz_rust_heap_clear(void)
{
    if (STATE->rust_touched)
        madvise(HEAP, HEAP_BYTES, MADV_DONTNEED);
    STATE->rust_used = STATE->rust_live = STATE->rust_touched = STATE->rust_last = 0;
    STATE->said[0] = 0;
}

size_t implfuzz_rust_heap_behind(const unsigned char *address)
{
    return address >= HEAP && address < HEAP + STATE->rust_used ? (size_t)(HEAP + STATE->rust_used - address) : 0;
}

/* Before a block; behind it there are at least as many bytes of `GUARD`. */
struct block {
    uint64_t magic;
    size_t bytes;
    size_t previous; /* the block before it; 0 where there is none */
    uint64_t guard;
};
#define LIVE 0x1f5c0de5a11ce5eeu
#define FREED 0x0ddba11c0ffee5a5u
#define GUARD 0xd9
#define GUARD_BYTES sizeof(struct block)
#define GUARDS 0xd9d9d9d9d9d9d9d9u
/* What is not given yet is zero: so many bytes of it are looked at. */
#define BEYOND ((size_t)16384)
/* Freed memory is used again by calls that need more than this. */
#define MOST_KEPT ((size_t)64 << 20)

static struct block *block_of(void *address)
{
    return (struct block *)((unsigned char *)address - sizeof(struct block));
}

static void *take(size_t align, size_t bytes)
{
    size_t start = (STATE->rust_used + sizeof(struct block) + align - 1) & ~(align - 1);
    if (bytes > HEAP_BYTES - GUARD_BYTES || start > HEAP_BYTES - GUARD_BYTES - bytes) {
        errno = ENOMEM;
        /* Elsewhere it would get the memory: what a port does without it says little. */
        STATE->overflow |= STATE->in_candidate;
        return NULL;
    }
    unsigned char *end = HEAP + STATE->rust_used, *header = (unsigned char *)block_of(HEAP + start);
    /* Where alignment leaves a gap. */
    memset(end, GUARD, (size_t)(header - end));
    STATE->rust_used = start + bytes + GUARD_BYTES;
    STATE->rust_live++;
    STATE->rust_touched = 1;
    *block_of(HEAP + start) = (struct block){LIVE ^ bytes, bytes, STATE->rust_last, GUARDS};
    STATE->rust_last = start;
    memset(HEAP + start + bytes, GUARD, GUARD_BYTES);
    return memset(HEAP + start, STATE->fresh, bytes);
}

static void wrong_use(const char *what)
{
    if (!STATE->in_candidate)
        return;
    strcpy(STATE->said, what);
    implfuzz_leave(CRASHED);
}

/* Takes a block back. */
static void give(void *address)
{
    struct block *block = block_of(address);
    int is_block = (unsigned char *)address > HEAP && (unsigned char *)address <= HEAP + STATE->rust_used;
    if (!is_block || block->magic != (LIVE ^ block->bytes)) {
        wrong_use("it frees memory that is not in use by Rust's allocator, or writes before a block");
        return;
    }
    for (size_t at = 0; at < GUARD_BYTES; at++)
        if (((unsigned char *)address)[block->bytes + at] != GUARD)
            wrong_use("it writes behind a block of Rust's allocator");
    block->magic = FREED ^ block->bytes;
    memset(address, implfuzz_dead(1), block->bytes);
    if (--STATE->rust_live == 0 && STATE->rust_used > MOST_KEPT) {
        if (implfuzz_rust_heap_is_damaged())
            wrong_use("it writes to memory of Rust's allocator that is not its own");
        madvise(HEAP, HEAP_BYTES, MADV_DONTNEED);
        STATE->rust_used = STATE->rust_last = 0;
    }
}

static int is_filled(const unsigned char *at, const unsigned char *end, unsigned char byte)
{
    while (at < end && *at == byte)
        at++;
    return at == end;
}

int implfuzz_rust_heap_is_damaged(void)
{
    if (!STATE->rust_touched)
        return 0;
    const unsigned char *end = HEAP + STATE->rust_used;
    if (!is_filled(end, end + BEYOND < HEAP + HEAP_BYTES ? end + BEYOND : HEAP + HEAP_BYTES, 0))
        return 1;
    for (size_t start = STATE->rust_last; start;) {
        const struct block *block = block_of(HEAP + start);
        int is_freed = block->magic == (FREED ^ block->bytes);
        if ((!is_freed && block->magic != (LIVE ^ block->bytes)) || block->guard != GUARDS || block->previous >= start)
            return 1;
        const unsigned char *data = HEAP + start, *behind = data + block->bytes;
        if (block->bytes > STATE->rust_used || behind > end || !is_filled(behind, end, GUARD) || (is_freed && !is_filled(data, behind, implfuzz_dead(1))))
            return 1;
        end = (const unsigned char *)block;
        start = block->previous;
    }
    return 0;
}

void *implfuzz_rust_malloc(size_t bytes)
{
    return take(16, bytes);
}

void implfuzz_rust_free(void *address)
{
    if (address)
        give(address);
}

void *implfuzz_rust_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *data = take(16, bytes);
    return data ? memset(data, 0, bytes) : NULL;
}

void *implfuzz_rust_realloc(void *old, size_t bytes)
{
    void *data = take(16, bytes);
    if (!old || !data)
        return data;
    size_t before = block_of(old)->bytes;
    memcpy(data, old, before < bytes ? before : bytes);
    give(old);
    return data;
}

void *implfuzz_rust_aligned_alloc(size_t align, size_t bytes)
{
    return take(align < 16 ? 16 : align, bytes);
}

int implfuzz_rust_posix_memalign(void **data, size_t align, size_t bytes)
{
    *data = implfuzz_rust_aligned_alloc(align, bytes);
    return *data ? 0 : ENOMEM;
}

long implfuzz_rust_write(int file, const void *data, size_t bytes)
{
    (void)file;
    size_t used = strlen(STATE->said), room = sizeof STATE->said - 1 - used, taken = bytes < room ? bytes : room;
    memcpy(STATE->said + used, data, taken);
    STATE->said[used + taken] = 0;
    return (long)bytes;
}

long implfuzz_rust_writev(int file, const struct iovec *parts, int count)
{
    long bytes = 0;
    for (int at = 0; at < count; at++)
        bytes += implfuzz_rust_write(file, parts[at].iov_base, parts[at].iov_len);
    return bytes;
}
