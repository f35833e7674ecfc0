#ifndef SHAPES_H
#define SHAPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mode { MODE_NONE = 0, MODE_ADD = 3, MODE_XOR = 9 };
struct point { int32_t x; int32_t y; };
struct box { struct point at; uint16_t size[3]; enum mode mode; bool open; double weight; };

bool is_even(int8_t a);
uint16_t mix16(uint16_t a, int16_t b);
int64_t mix64(int64_t a, uint64_t b);
float half(float a);
double blend(double a, double b, bool turn);
uint32_t apply(enum mode mode, uint32_t a, uint32_t b);
const char *mode_name(enum mode mode);
uint32_t sum_u8(const uint8_t *data, size_t len);
int64_t sum_i32(const int32_t *data, size_t len);
void negate_i32(int32_t *data, size_t len);
void ramp(uint8_t *out, size_t len, uint8_t start);
int64_t sum_points(const struct point *points, size_t count);
uint32_t hash(const void *data, size_t len);
uint32_t dot(const uint8_t *a, const uint8_t *b, size_t len);
int32_t maybe_sum(const uint8_t *data, size_t len);
int32_t checked_max(const int32_t *data, int len);
int fill_checked(uint8_t *out, int len, uint8_t with);
int strict_null(const uint8_t *data, size_t len);
uint32_t unchecked_sum(const uint8_t *data, int len);
size_t vowels(const char *text);
int32_t first_or(const char *text, int32_t other);
void split(uint32_t value, uint16_t *high, uint16_t *low);
void bump(uint32_t *counter, uint32_t by);
int divide(int32_t a, int32_t b, int32_t *quotient, int32_t *rest);
uint32_t crc4(const uint8_t key[4]);
void rotate3(int16_t v[3]);
struct point mirror(struct point p);
int64_t norm1(const struct point *p);
void move_by(struct point *p, int32_t dx, int32_t dy);
struct box grow(struct box b, uint16_t by);
int parse_digit(const char *text);
int64_t product(int32_t a, int32_t b);
int32_t strict_sum(int32_t a, int32_t b);
uint32_t keywords(uint32_t type, uint32_t fn, uint32_t match);
uint32_t keyword_length(const uint8_t *data, size_t type);
uint32_t use_one(uint32_t a);
uint32_t use_two(uint32_t a);
uint32_t depth(uint32_t n);
uint32_t small(uint32_t n);
uint32_t cost(const uint8_t *table, const uint32_t *count, uint32_t max);
typedef const uint8_t *bytes;
uint32_t xor_bytes(bytes data, size_t len);
typedef void anything;
int unused(anything *a);
#endif
