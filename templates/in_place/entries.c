/*
 * Patches the entries of functions. `-fpatchable-function-entry` leaves room there; a patched one jumps to the
 * trampoline with its number, and the function itself begins behind the room.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>
#include <sys/mman.h>

/* Bytes of room, which the flags of the build ask for. */
#define ROOM 16

extern unsigned char implfuzz_trampoline[];

static void write_code(unsigned char *at, const void *code, size_t bytes)
{
    unsigned char *page = (unsigned char *)((uintptr_t)at & ~(PAGE - 1));
    mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(at, code, bytes);
    mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)at, (char *)at + bytes);
}

#if defined(__x86_64__)
static void jump(unsigned char *at, uint32_t number)
{
    unsigned char code[11] = {0x41, 0xbb, 0, 0, 0, 0, 0xe9}; /* mov $number, %r11d; jmp */
    int32_t distance = (int32_t)(implfuzz_trampoline - (at + sizeof code));
    memcpy(code + 2, &number, 4);
    memcpy(code + 7, &distance, 4);
    write_code(at, code, sizeof code);
}
static const unsigned char nothing[ROOM] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
                                            0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
#elif defined(__aarch64__)
static void jump(unsigned char *at, uint32_t number)
{
    uint32_t distance = (uint32_t)((implfuzz_trampoline - (at + 8)) / 4) & 0x3ffffff;
    uint32_t code[3] = {
        0x52800011 | (number & 0xffff) << 5,       /* movz w17, #low */
        0x72a00011 | (number >> 16 & 0xffff) << 5, /* movk w17, #high, lsl 16 */
        0x14000000 | distance,                     /* b */
    };
    write_code(at, code, sizeof code);
}
static const uint32_t nothing[ROOM / 4] = {0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f};
#else
#error "calls can be intercepted on x86-64 and aarch64"
#endif

void implfuzz_patch(uint32_t function)
{
    for (size_t at = 0; at < implfuzz_entry_count; at++)
        if (implfuzz_entries[at].function == function)
            jump(implfuzz_entries[at].address, (uint32_t)at);
}

void implfuzz_unpatch(uint32_t function)
{
    for (size_t at = 0; at < implfuzz_entry_count; at++)
        if (implfuzz_entries[at].function == function)
            write_code(implfuzz_entries[at].address, nothing, ROOM);
}

#if defined(__x86_64__)
static const unsigned char barrier[] = {0xcc}; /* int3 */
#else
static const unsigned char barrier[] = {0x00, 0x00, 0x20, 0xd4}; /* brk #0 */
#endif

void implfuzz_bar(uint32_t function, int is_barred)
{
    for (size_t at = 0; at < implfuzz_entry_count; at++) {
        const struct implfuzz_entry *entry = &implfuzz_entries[at];
        if (entry->function != function)
            continue;
        unsigned char *first = STATE->first_bytes[at];
        if (is_barred)
            memcpy(first, entry->address + ROOM, sizeof barrier);
        write_code(entry->address + ROOM, is_barred ? barrier : first, sizeof barrier);
    }
}

void *implfuzz_original(uint32_t entry)
{
    return implfuzz_entries[entry].address + ROOM;
}
