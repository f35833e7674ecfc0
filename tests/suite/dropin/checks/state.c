/* C and the port share the level: each sees what the other one wrote. */
#include <stdio.h>

#include "gauge.h"

int main(void)
{
    printf("%d %d\n", gauge_add(40), gauge_level());
    gauge_reset();
    printf("%d %d\n", gauge_level(), gauge_add(3));
    printf("%d %d\n", gauge_add(500), gauge_scaled(3));
    printf("%s\n", __FILE__);
    return gauge_level() == 100 ? 7 : 1;
}
