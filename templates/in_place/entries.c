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
    size_t pages = ((size_t)(at - page) + bytes + PAGE - 1) / PAGE;
    mprotect(page, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(at, code, bytes);
    mprotect(page, pages * PAGE, PROT_READ | PROT_EXEC);
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

/* Where the driver's own functions begin: the linker makes the ends of this section known. */
extern unsigned char *const __start_implfuzz_driver_entries[] __attribute__((weak));
extern unsigned char *const __stop_implfuzz_driver_entries[] __attribute__((weak));

int implfuzz_is_of_library(const unsigned char *address)
{
    for (size_t at = 0; at < implfuzz_entry_count; at++)
        if (implfuzz_entries[at].address == address)
            return 1;
    return 0;
}

void implfuzz_patch_driver(int are_noticed)
{
    for (size_t at = 0; at < implfuzz_driver_functions(); at++) {
        unsigned char *address = __start_implfuzz_driver_entries[at];
        if (implfuzz_is_of_library(address))
            continue;
        if (are_noticed)
            jump(address, (uint32_t)(implfuzz_entry_count + at));
        else
            write_code(address, nothing, ROOM);
    }
}

size_t implfuzz_driver_functions(void)
{
    return (size_t)(__stop_implfuzz_driver_entries - __start_implfuzz_driver_entries);
}

unsigned char *implfuzz_driver_function(size_t at)
{
    return __start_implfuzz_driver_entries[at];
}

#if defined(__x86_64__)
static const unsigned char trap[] = {0xcc}; /* int3 */
#else
static const unsigned char trap[] = {0x00, 0x00, 0x20, 0xd4}; /* brk #0 */
#endif

/* Where the length of a function is not known, its first instruction at least is a trap. */
static size_t body_bytes(size_t entry)
{
    unsigned char *start = implfuzz_entries[entry].address + ROOM, *end = STATE->bodies[entry].end;
    return end > start + sizeof trap ? (size_t)(end - start) & ~(sizeof trap - 1) : sizeof trap;
}

void implfuzz_entries_make(void)
{
    size_t bytes = 0;
    for (size_t at = 0; at < implfuzz_entry_count; at++)
        bytes += body_bytes(at);
    /* The code of each function, and room for the traps of the longest one. */
    unsigned char *room = implfuzz_somewhere(2 * bytes + 1, PROT_READ | PROT_WRITE);
    for (size_t at = 0; at < bytes; at++)
        room[bytes + at] = trap[at % sizeof trap];
    STATE->traps = room + bytes;
    for (size_t at = 0; at < implfuzz_entry_count; room += body_bytes(at), at++)
        STATE->bodies[at].code = room;
}

void implfuzz_bar(uint32_t function, int is_barred)
{
    for (size_t at = 0; at < implfuzz_entry_count; at++) {
        const struct implfuzz_entry *entry = &implfuzz_entries[at];
        if (entry->function != function)
            continue;
        unsigned char *start = entry->address + ROOM, *code = STATE->bodies[at].code;
        size_t bytes = body_bytes(at);
        if (is_barred)
            memcpy(code, start, bytes);
        write_code(start, is_barred ? STATE->traps : code, bytes);
    }
}

void *implfuzz_original(uint32_t entry)
{
    if (entry >= implfuzz_entry_count)
        return implfuzz_driver_function(entry - implfuzz_entry_count) + ROOM;
    return implfuzz_entries[entry].address + ROOM;
}

enum port_of implfuzz_port_of(uint64_t c, uint64_t own)
{
    enum port_of found = NO_PORT;
    for (size_t at = 0; at < implfuzz_entry_count; at++) {
        const struct implfuzz_function *function = &implfuzz_functions[implfuzz_entries[at].function];
        if (function->count != 1 || (uintptr_t)function->candidates[0] != own)
            continue;
        if ((uintptr_t)implfuzz_entries[at].address == c)
            return PORT_OF_THIS;
        found = PORT_OF_OTHER;
    }
    return found;
}
