/*
 * Chance and clocks: while a side runs, `rand`, `time` and their kin answer from the input, the same for both sides. The
 * linker sends calls of C and of the port here (--wrap); at any other time they are the system's own. Written by
 * cargo-implfuzz.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct implfuzz_drawn { /* what a side did with them */
    uint64_t draws, seeds, last_seed, times, clocks;
};

static const unsigned char *bytes;
static size_t size, at;
static int active;
static struct implfuzz_drawn drawn;
static uint64_t seconds, ticks;

/* The next bytes of the input; what is missing reads as zero. */
static uint64_t next(size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        if (at < size)
            value |= (uint64_t)bytes[at++] << (8 * i);
    return value;
}

void implfuzz_chance_begin(const unsigned char *from, size_t length)
{
    static const struct implfuzz_drawn none;
    bytes = from;
    size = length;
    at = 0;
    drawn = none;
    seconds = next(4);
    ticks = next(2);
    active = 1;
}

struct implfuzz_drawn implfuzz_chance_end(void)
{
    active = 0;
    return drawn;
}

int __real_rand(void);
int __wrap_rand(void)
{
    if (!active)
        return __real_rand();
    drawn.draws++;
    return (int)(next(4) & 0x7fffffff);
}

long __real_random(void);
long __wrap_random(void)
{
    if (!active)
        return __real_random();
    drawn.draws++;
    return (long)(next(4) & 0x7fffffff);
}

static void seed(unsigned to)
{
    drawn.seeds++;
    drawn.last_seed = to;
}

void __real_srand(unsigned);
void __wrap_srand(unsigned to)
{
    if (!active)
        __real_srand(to);
    else
        seed(to);
}

void __real_srandom(unsigned);
void __wrap_srandom(unsigned to)
{
    if (!active)
        __real_srandom(to);
    else
        seed(to);
}

/* A clock never goes back. */
time_t __real_time(time_t *);
time_t __wrap_time(time_t *to)
{
    if (!active)
        return __real_time(to);
    drawn.times++;
    seconds += next(1);
    if (to)
        *to = (time_t)seconds;
    return (time_t)seconds;
}

clock_t __real_clock(void);
clock_t __wrap_clock(void)
{
    if (!active)
        return __real_clock();
    drawn.clocks++;
    ticks += next(1);
    return (clock_t)ticks;
}
