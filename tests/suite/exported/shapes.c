#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum color { RED = -1, BLUE = 2 };
struct spot { char tag; double x; int32_t grid[2]; enum color color; };
struct ring { size_t len; int32_t values[4]; };
struct sum { uint64_t total; };

static int mode = 3;
static const int32_t squares[4] = { 0, 1, 4, 9 };

uint32_t add(uint32_t a, int64_t b) { return a + (uint32_t)b; }
double half(double x) { return x / 2; }
void widen(uint16_t *to, const uint8_t *from, size_t n) { for (size_t i = 0; i < n; i++) to[i] = from[i]; }
void invert(char *data, int n) { for (int i = 0; i < n; i++) data[i] = (char)~data[i]; }
int put(char *to, size_t *room) {
    if (*room < 2) return -1;
    to[0] = 'o', to[1] = 'k', *room = 2;
    return 0;
}
int measure(const char *text) { return text == NULL ? -1 : (int)strlen(text); }
struct spot move(struct spot s, enum color c) { s.x += 0.5, s.grid[1]++, s.color = c; return s; }
void turn(struct spot *s, const struct spot *by) { s->tag = by == NULL ? 'n' : by->tag, s->x = -s->x; }
void scale(float m[3], const struct spot *all, size_t n) { for (size_t i = 0; i < n && i < 3; i++) m[i] *= (float)all[i].x; }
const char *title(int code) { return code == 0 ? "fi\303\251 \"0\"" : code == 1 ? "" : NULL; }
char *find(char *data, size_t n, char what) { return memchr(data, what, n); }
const int32_t *table(int which) { return which ? squares : NULL; }
int parse(const char *text) { return (int)strtoul(text, NULL, 99); }
int set_mode(int next) { int old = mode; mode = next; return old; }
const char *longer(const char *a, const char *b) { return strlen(a) > strlen(b) ? a : b; }
uint32_t bits(float x) { uint32_t all; memcpy(&all, &x, sizeof all); return all; }
void count(void *state, void *other) { ++*(uint64_t *)state, ++*(uint64_t *)other; }
void stretch(struct spot *all, size_t n) { for (size_t i = 0; i < n; i++) all[i].x *= 2; }

struct ring *ring_new(size_t n) { return n > 4 ? NULL : calloc(1, sizeof(struct ring)); }
int ring_push(struct ring *r, int32_t v) { if (r->len == 4) return -1; r->values[r->len++] = v; return 0; }
int ring_pop(struct ring *r, int32_t *out) { if (r->len == 0) return -1; *out = r->values[--r->len]; return 0; }
void ring_free(struct ring *r) { free(r); }
int ring_close(struct ring *r, char *note, size_t n) { if (note == NULL || n != 0) return -1; free(r); return 0; }
int sum_begin(struct sum *s) { s->total = 100; return 0; }
uint64_t sum_add(struct sum *s, const uint8_t *data, size_t n) { for (size_t i = 0; i < n; i++) s->total += data[i]; return s->total; }
int sum_end(struct sum *s) { s->total = 0; return 1; }
