#include "gauge.h"

/* What the port and the C that stays must see alike. */
static int level;
static int calls;

static int clamp(int value)
{
    return value > 100 ? 100 : value;
}

/* Raises the level and returns it. */
int gauge_add(int by)
{
    calls++;
    level = clamp(level + by % 1000);
    return level;
}

/* Returns the level. */
int gauge_level(void)
{
    return level;
}

/* Begins anew, unless nothing was added yet. */
void gauge_reset(void)
{
    if (calls > 0)
        level = -calls;
}

#ifdef GAUGE_SECOND_NAME
int gauge_raise(int by) __attribute__((alias("gauge_add")));
#endif
