#include "gauge.h"

static int in_range(int factor)
{
    return factor % 10;
}

/* Returns the level in other units. */
int gauge_scaled(int factor)
{
    return gauge_level() * in_range(factor);
}
