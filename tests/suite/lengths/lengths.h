#ifndef LENGTHS_H
#define LENGTHS_H
#include <stddef.h>
#include <stdint.h>
uint32_t fletcher(const uint8_t *data, size_t len);
uint64_t mark(const uint8_t *data, size_t len);
uint32_t both(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);
size_t text_length(const char *text);
int copy(const uint8_t *src, size_t src_len, uint8_t *dst, size_t dst_len);
uint32_t narrow(const uint8_t *data, uint16_t len);
uint32_t diagonal(const uint8_t *data, size_t len);
uint32_t deep(const uint8_t *data, size_t len);
struct acc;
struct acc *acc_new(void);
void acc_add(struct acc *a, const uint8_t *data, size_t len);
uint64_t acc_total(const struct acc *a);
void acc_free(struct acc *a);
#endif
