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
    uint64_t order; /* a hash of draws and seeds in their order: what is drawn depends on it */
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

/* A byte from the end. Clocks have their own ones: they may be asked before or after a number is drawn. */
static uint64_t from_end(size_t index)
{
    return index < size ? bytes[size - 1 - index] : 0;
}

/* FNV-1a, of eight bytes at a time. */
static void note(uint64_t event)
{
    drawn.order = (drawn.order ^ event) * 0x100000001b3;
}

/* A number: when the input has no more bytes, one that its last bytes and its place decide, for C may ask for many. */
static uint32_t draw(void)
{
    uint64_t value = at < size ? next(4) : (drawn.draws * 0x9e3779b97f4a7c15 + (size ? bytes[size - 1] : 0)) >> 32;
    drawn.draws++;
    note(1);
    return (uint32_t)value & 0x7fffffff;
}

void implfuzz_chance_begin(const unsigned char *from, size_t length)
{
    static const struct implfuzz_drawn none;
    bytes = from;
    size = length;
    at = 0;
    drawn = none;
    seconds = from_end(0) | from_end(1) << 8 | from_end(2) << 16 | from_end(3) << 24;
    /* Programs run for longer than 32 bits of ticks say. */
    ticks = from_end(4) | from_end(5) << 8 | from_end(6) << 16 | from_end(7) << 24 | from_end(8) << 32;
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
    return (int)draw();
}

long __real_random(void);
long __wrap_random(void)
{
    if (!active)
        return __real_random();
    return (long)draw();
}

static void seed(unsigned to)
{
    drawn.seeds++;
    drawn.last_seed = to;
    note(2 + (uint64_t)to);
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
    seconds += from_end(9 + 2 * drawn.times++);
    if (to)
        *to = (time_t)seconds;
    return (time_t)seconds;
}

clock_t __real_clock(void);
clock_t __wrap_clock(void)
{
    if (!active)
        return __real_clock();
    ticks += from_end(10 + 2 * drawn.clocks++);
    return (clock_t)ticks;
}
