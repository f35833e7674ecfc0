/* Linked with one object of the library only: what ports of others need of C is not there. */
#include <stdio.h>

#include "gauge.h"

int main(void)
{
    printf("%d\n", gauge_add(5));
    return 0;
}
