/* A test that has the source in it. */
#include <stdio.h>

#include "../gauge.c"

int main(void)
{
    printf("%d %d\n", gauge_add(clamp(250)), level);
    return 0;
}
