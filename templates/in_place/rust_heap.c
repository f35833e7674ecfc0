/*
 * The heap of Rust's own libraries, which C has not: it is left out of the comparison, and must be empty again when a
 * candidate returns. What they print, the message of a panic, is kept.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define HEAP ((unsigned char *)IMPLFUZZ_BASE + 0x100000000000)
#define HEAP_BYTES ((size_t)1 << 30)

void implfuzz_rust_heap_make(void)
{
    mmap(HEAP, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Before each candidate. */
void implfuzz_rust_heap_clear(void)
{
    STATE->rust_used = STATE->rust_live = 0;
    STATE->said[0] = 0;
}

static void *take(size_t align, size_t bytes)
{
    size_t start = (STATE->rust_used + 16 + align - 1) & ~(align - 1);
    if (bytes > HEAP_BYTES || start > HEAP_BYTES - bytes) {
        errno = ENOMEM;
        return NULL;
    }
    STATE->rust_used = start + bytes;
    STATE->rust_live++;
    memcpy(HEAP + start - sizeof bytes, &bytes, sizeof bytes);
    return memset(HEAP + start, STATE->fresh, bytes);
}

void *implfuzz_rust_malloc(size_t bytes)
{
    return take(16, bytes);
}

void implfuzz_rust_free(void *address)
{
    if (address && --STATE->rust_live == 0)
        STATE->rust_used = 0;
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
    size_t before;
    memcpy(&before, (unsigned char *)old - sizeof before, sizeof before);
    memcpy(data, old, before < bytes ? before : bytes);
    STATE->rust_live--;
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
