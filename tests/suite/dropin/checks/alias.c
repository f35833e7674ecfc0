/* Reaches the C function by a second name, which no linker replaces. */
#include <stdio.h>

#include "gauge.h"

int main(void)
{
    printf("%d %d\n", gauge_add(1), gauge_raise(1));
    return 0;
}
