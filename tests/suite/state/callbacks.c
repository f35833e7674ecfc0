#include "callbacks.h"
#include <stdlib.h>

/* Visits values until one answers something else than 0, and returns that. */
int for_each(const int32_t *values, size_t n, int (*visit)(int32_t value, void *user), void *user)
{
    for (size_t i = 0; i < n; i++) {
        int answer = visit(values[i], user);
        if (answer)
            return answer;
    }
    return 0;
}

void sort_any(void *base, size_t count, size_t elem_size, compare_fn compare)
{
    unsigned char *bytes = base;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0; j--) {
            unsigned char *right = bytes + j * elem_size, *left = right - elem_size;
            if (compare(left, right) <= 0)
                break;
            for (size_t k = 0; k < elem_size; k++) {
                unsigned char byte = left[k];
                left[k] = right[k];
                right[k] = byte;
            }
        }
}

size_t least(const uint16_t *values, size_t n, int (*order)(const uint16_t *a, const uint16_t *b))
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (order(&values[i], &values[best]) < 0)
            best = i;
    return best;
}

uint32_t pump(uint8_t (*next)(void))
{
    uint32_t sum = 0;
    uint8_t byte;
    while ((byte = next()) != 0)
        sum = sum * 31 + byte;
    return sum;
}

int tell(void (*told)(double x, const char *text, const int32_t *where), const int32_t *where)
{
    if (!told)
        return -1;
    told(*where / 2.0, *where < 0 ? "below" : "above", where);
    return 0;
}

int walk_all(const int32_t *values, size_t n, int (*visit)(int32_t value, void *user), void *user)
{
    int first = for_each(values, n, visit, user);
    return first ? first : visit(-1, user);
}

/* Writes two letters for each byte, until one write fails. */
int spell(const uint8_t *bytes, size_t n, int (*write)(void *user, const uint8_t *data, size_t size), void *user)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t two[2] = {'a' + bytes[i] % 26, 'a' + bytes[i] / 26};
        int answer = write(user, two, sizeof two);
        if (answer)
            return answer;
    }
    return 0;
}

static void (*kept)(int x);
void keep(void (*later)(int x)) { kept = later; }

int fill_from(int (*read)(uint8_t *to, size_t n))
{
    uint8_t room[8] = {0};
    return read(room, sizeof room) + room[0];
}

void sort_by_libc(int32_t *values, size_t n, compare_fn compare) { qsort(values, n, sizeof *values, compare); }
