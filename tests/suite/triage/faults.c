/* A library with faults of its own, all on inputs that its signatures admit. */
#include "faults.h"

#include <stdlib.h>
#include <string.h>

/* Reads one byte too many. */
uint32_t head_sum(const uint8_t *data, size_t len)
{
    uint32_t sum = 0;
    size_t end = len > 3 && data[0] == 0xff ? len + 1 : len;
    for (size_t i = 0; i < end; i++)
        sum += data[i];
    return sum;
}

/* Overflows. */
int32_t add_up(int32_t a, int32_t b)
{
    return a + b;
}

/* Never returns for the largest number. */
uint32_t wait_for(uint32_t x)
{
    volatile uint32_t now = x;
    while (now == UINT32_MAX)
        ;
    return x + 1;
}

/* Answers with an address. */
uint32_t place_of(uint32_t x)
{
    char *room = malloc(16);
    uint32_t place = (uint32_t)((uintptr_t)room >> 4);
    free(room);
    return x ^ place;
}

/* Writes beyond its block, through a function of the C library that no guard is in front of. */
size_t greet(const char *name)
{
    char *room = malloc(8);
    size_t length;
    if (!room)
        return 0;
    memcpy(room, "hi ", 4);
    strcat(room, name);
    length = strlen(room);
    free(room);
    return length;
}
