/* What a C program gets besides the port: counters. Above this text stand FUNCTIONS, the number of ported functions, and
   COUNTS, the path of the file of counters; below it stand-ins for what the program may not have. Written by
   cargo-implfuzz. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The file is shared by all processes, and holds what a killed one had counted. Other constructors may call the library. */
__attribute__((constructor(101))) static void start(void)
{
    int fd = open(COUNTS, O_RDWR | O_CLOEXEC);
    void *file = MAP_FAILED;
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
