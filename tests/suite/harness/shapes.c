#include "shapes.h"
#include <errno.h>
#include <limits.h>

bool is_even(int8_t a) { return a % 2 == 0; }
uint16_t mix16(uint16_t a, int16_t b) { return (uint16_t)(a ^ (uint16_t)(b * 3)); }
int64_t mix64(int64_t a, uint64_t b) { return (int64_t)((uint64_t)a + (b << 7)); }
float half(float a) { return a / 2.0f; }
double blend(double a, double b, bool turn) { return turn ? a - b : a + b; }

uint32_t apply(enum mode mode, uint32_t a, uint32_t b)
{
    switch (mode) {
    case MODE_ADD: return a + b;
    case MODE_XOR: return a ^ b;
    default: return 0;
    }
}

const char *mode_name(enum mode mode)
{
    switch (mode) {
    case MODE_ADD: return "add";
    case MODE_XOR: return "xor";
    default: return NULL;
    }
}

uint32_t sum_u8(const uint8_t *data, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < len; i++) sum += data[i];
    return sum;
}

int64_t sum_i32(const int32_t *data, size_t len)
{
    int64_t sum = 0;
    for (size_t i = 0; i < len; i++) sum += data[i];
    return sum;
}

void negate_i32(int32_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) data[i] = (int32_t)(0u - (uint32_t)data[i]);
}

void ramp(uint8_t *out, size_t len, uint8_t start)
{
    for (size_t i = 0; i < len; i++) out[i] = (uint8_t)(start + i);
}

int64_t sum_points(const struct point *points, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += points[i].x - (int64_t)points[i].y;
    return sum;
}

uint32_t hash(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    uint32_t h = 7;
    for (size_t i = 0; i < len; i++) h = h * 31u + bytes[i];
    return h;
}

uint32_t dot(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < len; i++) sum += (uint32_t)a[i] * b[i];
    return sum;
}

int32_t maybe_sum(const uint8_t *data, size_t len)
{
    int32_t sum = 0;
    if (!data) return -1;
    for (size_t i = 0; i < len; i++) sum += data[i];
    return sum;
}

int32_t checked_max(const int32_t *data, int len)
{
    if (len <= 0) return len < 0 ? -2 : -1;
    int32_t max = data[0];
    for (int i = 1; i < len; i++) if (data[i] > max) max = data[i];
    return max;
}

int fill_checked(uint8_t *out, int len, uint8_t with)
{
    if (len < 0) return -1;
    for (int i = 0; i < len; i++) out[i] = with;
    return len;
}

int strict_null(const uint8_t *data, size_t len)
{
    int sum = 0;
    if (!data && len) return -1;
    for (size_t i = 0; i < len; i++) sum += data[i];
    return sum;
}

uint32_t unchecked_sum(const uint8_t *data, int len)
{
    uint32_t sum = 1;
    for (int i = 0; i < len; i++) sum = sum * 3u + data[i];
    return sum;
}

size_t vowels(const char *text)
{
    size_t n = 0;
    for (; *text; text++) if (*text == 'a' || *text == 'e' || *text == 'i') n++;
    return n;
}

int32_t first_or(const char *text, int32_t other)
{
    if (text == NULL) return other;
    return (unsigned char)text[0];
}

void split(uint32_t value, uint16_t *high, uint16_t *low)
{
    *high = (uint16_t)(value >> 16);
    if (low) *low = (uint16_t)value;
}

void bump(uint32_t *counter, uint32_t by) { *counter += by; }

int divide(int32_t a, int32_t b, int32_t *quotient, int32_t *rest)
{
    if (b == 0 || (a == INT_MIN && b == -1)) {
        *quotient = 0;
        errno = EDOM;
        return -1;
    }
    *quotient = a / b;
    *rest = a % b;
    return 0;
}

uint32_t crc4(const uint8_t key[4]) { return key[0] + 5u * key[1] + 25u * key[2] + 125u * key[3]; }

void rotate3(int16_t v[3])
{
    int16_t first = v[0];
    v[0] = v[1];
    v[1] = v[2];
    v[2] = first;
}

struct point mirror(struct point p)
{
    struct point q = {p.y, p.x};
    return q;
}

int64_t norm1(const struct point *p) { return (p->x < 0 ? -(int64_t)p->x : p->x) + (p->y < 0 ? -(int64_t)p->y : p->y); }

void move_by(struct point *p, int32_t dx, int32_t dy)
{
    p->x = (int32_t)((uint32_t)p->x + (uint32_t)dx);
    p->y = (int32_t)((uint32_t)p->y + (uint32_t)dy);
}

struct box grow(struct box b, uint16_t by)
{
    for (int i = 0; i < 3; i++) b.size[i] = (uint16_t)(b.size[i] + by);
    b.open = !b.open;
    if (b.mode == MODE_ADD) b.at.x = 0;
    return b;
}

int parse_digit(const char *text)
{
    if (text[0] < '0' || text[0] > '9' || text[1]) {
        errno = EINVAL;
        return -1;
    }
    return text[0] - '0';
}

int64_t product(int32_t a, int32_t b) { return (int64_t)a * b; }
int32_t strict_sum(int32_t a, int32_t b) { return a + b; }
uint32_t keywords(uint32_t type, uint32_t fn, uint32_t match) { return type - 2u * fn + 3u * match; }

uint32_t keyword_length(const uint8_t *data, size_t type)
{
    uint32_t h = 0;
    for (size_t i = 0; i < type; i++) h ^= data[i];
    return h;
}

static uint32_t helper(uint32_t a) { return a + 1u; }
uint32_t use_one(uint32_t a) { return helper(a) * 2u; }
uint32_t depth(uint32_t n) { return n & 0xffffu; }
uint32_t small(uint32_t n) { return n * 3u + 1u; }

/* `count` is an array, and no length of `table`, whatever it is called. */
uint32_t cost(const uint8_t *table, const uint32_t *count, uint32_t max)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < max; i++) sum += table[i] * count[i];
    return sum;
}

uint32_t xor_bytes(bytes data, size_t len)
{
    uint32_t x = 0;
    for (size_t i = 0; i < len; i++) x = (x << 1) ^ data[i];
    return x;
}

int unused(anything *a) { (void)a; return 5; }
