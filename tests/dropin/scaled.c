#include "gauge.h"

/* Returns the level in other units. */
int gauge_scaled(int factor)
{
    return gauge_level() * (factor % 10);
}
