/* What a C program gets besides the port: counters, and jumps from C functions to their ports. Above this text stand
   FUNCTIONS, the number of ported functions, and COUNTS, the path of the file of counters; below it the ports, and stand-ins
   for what the program may not have. Written by cargo-implfuzz. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Processes; then calls of each port; then how often the C function of each ran. */
#define COUNTERS (1 + 2 * FUNCTIONS)

/* Until the file is there; and where it cannot be had. */
static uint64_t early[COUNTERS];
static uint64_t *counters = early;

static void count(int counter)
{
    __atomic_fetch_add(&counters[counter], 1, __ATOMIC_RELAXED);
}

/* The ports that C reaches, by their numbers. */
extern void (*const implfuzz_ports[])(void) __attribute__((visibility("hidden")));

/* An entry of a C function, and the number of its port. */
struct entry {
    unsigned char *at;
    uintptr_t number;
};

/* Those of this program or shared library; the linker makes the names, if there are any. */
extern const struct entry __start_implfuzz_entries[] __attribute__((weak, visibility("hidden")));
extern const struct entry __stop_implfuzz_entries[] __attribute__((weak, visibility("hidden")));

/* Bytes of room at an entry. */
#define ROOM 16

#if defined(__x86_64__)
static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */

/* gcc fills it with short NOPs, clang with long ones: prefixes, 0f 1f, and an address. */
static int is_room(const unsigned char *at)
{
    const unsigned char *end = at + ROOM;

    while (at < end) {
        while (*at == 0x66 || *at == 0x2e)
            at++;
        if (at[0] == 0x90) {
            at++;
        } else if (at[0] == 0x0f && at[1] == 0x1f) {
            int mode = at[2] >> 6;
            at += 3 + ((at[2] & 7) == 4) + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
        } else {
            return 0;
        }
    }
    return at == end;
}
#elif defined(__aarch64__)
static const uint32_t jump[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */

static int is_room(const unsigned char *at)
{
    static const uint32_t nops[ROOM / 4] = {0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f};
    return memcmp(at, nops, ROOM) == 0;
}
#else
static const unsigned char jump[1];

static int is_room(const unsigned char *at)
{
    return at == NULL;
}
#endif

/* Leads an entry to its port. Where there is no room, C stays, and its runs are counted. */
static void lead(const struct entry *entry)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)entry->at & ~(page - 1);
    size_t bytes = (uintptr_t)entry->at + ROOM - start;
    void (*port)(void) = implfuzz_ports[entry->number];

    if (!is_room(entry->at))
        return;
    if (mprotect((void *)start, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return;
    memcpy(entry->at, jump, sizeof jump);
    memcpy(entry->at + sizeof jump, &port, sizeof port);
    mprotect((void *)start, bytes, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)entry->at, (char *)entry->at + ROOM);
}

/* The file is shared by all processes, and holds what a killed one had counted. Other constructors may call the library. */
__attribute__((constructor(101))) static void start(void)
{
    int fd = open(COUNTS, O_RDWR | O_CLOEXEC);
    void *file = MAP_FAILED;
    const struct entry *entry;
    int i;

    if (fd >= 0) {
        file = mmap(NULL, sizeof(early), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (file != MAP_FAILED) {
        counters = file;
        for (i = 0; i < COUNTERS; i++)
            __atomic_fetch_add(&counters[i], early[i], __ATOMIC_RELAXED);
    }
    count(0);
    for (entry = __start_implfuzz_entries; entry < __stop_implfuzz_entries; entry++)
        lead(entry);
}

void implfuzz_dropin_call(uint32_t number)
{
    count(1 + (int)number);
}

/* A mark in front of the body of each C function that is ported calls this. */
int implfuzz_dropin_ran(uint32_t number)
{
    count(1 + FUNCTIONS + (int)number);
    return 0;
}

/* What the port would call, were it called itself, and no file of this program has. */
__attribute__((noreturn, unused)) static void absent(const char *name)
{
    fprintf(stderr, "cargo-implfuzz: the port called %s, which no file of this program has\n", name);
    abort();
}
