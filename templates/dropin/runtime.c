/* What a C program gets besides the port: counters of calls, and a watch on C functions that the port replaces. Above
   this text stand FUNCTIONS, the number of watched functions, and COUNTS, the path of the file of counters; below it
   their addresses. Written by cargo-implfuzz. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Processes; then calls of each port; then how often the C function of each ran. */
#define COUNTERS (1 + 2 * FUNCTIONS)

extern char *const implfuzz_functions[FUNCTIONS];

/* Until the file is there; and where it cannot be had. */
static uint64_t early[COUNTERS];
static uint64_t *counters = early;

/* The functions in the order of their addresses. */
static int sorted[FUNCTIONS];
static int is_sorted;

static int by_address(const void *a, const void *b)
{
    uintptr_t one = (uintptr_t)implfuzz_functions[*(const int *)a];
    uintptr_t other = (uintptr_t)implfuzz_functions[*(const int *)b];

    return (one > other) - (one < other);
}

static void sort(void)
{
    int i;

    for (i = 0; i < FUNCTIONS; i++)
        sorted[i] = i;
    qsort(sorted, FUNCTIONS, sizeof(sorted[0]), by_address);
    is_sorted = 1;
}

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
    if (!is_sorted)
        sort();
    count(0);
}

void implfuzz_dropin_call(uint32_t number)
{
    count(1 + (int)number);
}

/* The library's sources are compiled with -finstrument-functions. A function that the port replaces has the port's
   address, so that hearing of it from C means that the C text ran, inlined or not. */
void __cyg_profile_func_enter(void *function, void *site)
{
    int low = 0, high = FUNCTIONS;

    (void)site;
    if (!is_sorted)
        sort();
    while (low < high) {
        int middle = (low + high) / 2;
        uintptr_t here = (uintptr_t)implfuzz_functions[sorted[middle]];

        if (here == (uintptr_t)function) {
            count(1 + FUNCTIONS + sorted[middle]);
            return;
        }
        if (here < (uintptr_t)function)
            low = middle + 1;
        else
            high = middle;
    }
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}

/* What the port would call, were it called itself, and no file of this program has. */
__attribute__((noreturn)) static void absent(const char *name)
{
    fprintf(stderr, "cargo-implfuzz: the port called %s, which no file of this program has\n", name);
    abort();
}
