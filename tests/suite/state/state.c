#include "state.h"

static enum level level = LEVEL_MID;
static uint32_t last_id = 41;
static struct stats stats = {1, 0, -3};
static uint8_t history[8];
static unsigned history_at;
int public_limit = 100;
static const int table[4] = {2, 3, 5, 7};
static const char *last_error = "none";
extern char **environ;

void set_level(enum level to) { level = to; }

int level_bonus(int x)
{
    switch (level) {
    case LEVEL_LOW: return x;
    case LEVEL_MID: return x ^ 1;
    case LEVEL_HIGH: return x ^ 7;
    }
    return 0;
}

uint32_t next_id(void) { return ++last_id; }

void note(int64_t amount)
{
    stats.calls++;
    stats.total = (int64_t)((uint64_t)stats.total + (uint64_t)amount);
}

void reset_stats(void)
{
    stats.calls = 0;
    stats.total = 0;
}

/* Returns what it pushes out. */
uint8_t history_push(uint8_t value)
{
    unsigned at = history_at % 8;
    uint8_t old = history[at];
    history[at] = value;
    history_at = at + 1;
    return old;
}

int clamp(int x, int state, int globals)
{
    if (state == globals)
        return 0;
    return x > public_limit ? public_limit : x;
}

int64_t note_all(const int16_t *amounts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        note(amounts[i]);
    return stats.total;
}

int64_t total_of(void) { return stats.total; }
int with_table(unsigned at) { return table[at % 4]; }
int pure(int x) { return x ^ 0x55; }
int named(int x) { last_error = x ? "some" : "none"; return x; }
int once(int x) { static int seen; seen += x & 1; return seen & 0xff; }
int first_variable(int x) { return environ ? x : 0; }
