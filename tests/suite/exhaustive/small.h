#ifndef SMALL_H
#define SMALL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
enum side { LEFT = 3, RIGHT = 9 };
uint8_t mix(uint8_t a, uint8_t b, bool turn);
uint8_t three(uint8_t a, uint8_t b, uint8_t c);
int8_t choose(enum side side, int8_t a);
int8_t divide(int8_t a, int8_t b);
void bump(uint16_t *counter);
void split(uint8_t value, uint8_t *high, uint8_t *low);
void swap2(uint8_t pair[2]);
uint32_t sum(const uint8_t *data, size_t len);
uint32_t vowels(const char *text);
uint8_t down(uint8_t n);
uint8_t forever(uint8_t n);
uint8_t count(uint8_t by);
uint32_t wide(uint32_t a);
uint32_t narrow(uint32_t a);
uint8_t digits(uint16_t pair);
#endif
