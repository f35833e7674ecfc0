#include "grades.h"

#define CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))

/* Grades of points: more than 300 do not fit in. */
int grade(uint8_t points)
{
    if (points > 200)
        return 3;
    if (points > 300)
        return 4;
    return points == 7 ? 1 : 0;
}

/* Divides; nothing divides by zero and lives. */
int split(int a, int b)
{
    if (b == 0)
        a = 1;
    return a / b;
}

static int is_vowel(char c)
{
    switch (c) {
    case 'a':
    case 'e':
        return 1;
    default:
        return 0;
    }
}

/* Counts vowels, at most nine. */
int vowels(const char *text)
{
    int n = 0;

    for (; *text; text++)
        if (is_vowel(*text) && n < 1000000)
            n++;
    return CLAMP(n, 0, 9);
}

/* Doubles. */
uint32_t twice(uint32_t x)
{
    return x * 2;
}
