/* Where the judge's memory lies: nowhere near to what a candidate knows. */
#define _GNU_SOURCE
#include "in_place.h"

#include <sys/mman.h>
#include <sys/random.h>

/* Above the arena, the state and Rust's heap, and below what the system maps by itself. */
#define LOWEST 0x400000000000
#define PLACES_OF_PAGES 0xfffffff

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void *implfuzz_somewhere(size_t bytes, int access)
{
    for (int time = 0; time < 64; time++) {
        uint64_t chance = 0;
        if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) != sizeof chance)
            break;
        void *wanted = (void *)(LOWEST + (chance & PLACES_OF_PAGES) * PAGE);
        void *got = mmap(wanted, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == wanted)
            return got;
        if (got != MAP_FAILED)
            munmap(got, bytes);
    }
    return mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
