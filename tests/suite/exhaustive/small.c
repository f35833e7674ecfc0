#include "small.h"
#include <ctype.h>
#include <string.h>

static uint8_t total;

uint8_t mix(uint8_t a, uint8_t b, bool turn) { return turn ? (uint8_t)(a - b) : (uint8_t)(a + b); }

uint8_t three(uint8_t a, uint8_t b, uint8_t c) { return (uint8_t)(a ^ b ^ c); }

int8_t choose(enum side side, int8_t a)
{
    switch (side) {
    case LEFT: return a;
    case RIGHT: return (int8_t)(a / 2);
    default: return 0;
    }
}

int8_t divide(int8_t a, int8_t b) { return (int8_t)(a / b); }

void bump(uint16_t *counter) { *counter = (uint16_t)(*counter + 1); }

void split(uint8_t value, uint8_t *high, uint8_t *low)
{
    *high = value >> 4;
    if (value & 1) *low = value & 15;
}

void swap2(uint8_t pair[2])
{
    uint8_t first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

uint32_t sum(const uint8_t *data, size_t len)
{
    uint32_t all = 0;
    for (size_t i = 0; i < len; i++) all += data[i];
    return all;
}

uint32_t vowels(const char *text)
{
    uint32_t n = 0;
    for (; *text; text++) n += *text == 'a' || *text == 'e';
    return n;
}

uint8_t down(uint8_t n) { return n ? (uint8_t)(n - 1) : 0; }

uint8_t forever(uint8_t n) { return n; }

uint8_t count(uint8_t by) { return total = (uint8_t)(total + by); }

uint32_t wide(uint32_t a) { return a * 3u; }

uint32_t narrow(uint32_t a) { return a * 3u; }

/* Two bytes as a text: functions of the C library that keep nothing. */
uint8_t digits(uint16_t pair)
{
    char text[2] = {(char)(pair & 255), (char)(pair >> 8)};
    uint8_t all = (uint8_t)(10 * strnlen(text, sizeof text));
    for (size_t i = 0; i < sizeof text; i++) all = (uint8_t)(all + (isdigit((unsigned char)text[i]) ? 1 : 0));
    return all;
}
