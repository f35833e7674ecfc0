#ifndef FAULTS_H
#define FAULTS_H
#include <stddef.h>
#include <stdint.h>

uint32_t head_sum(const uint8_t *data, size_t len);
int32_t add_up(int32_t a, int32_t b);
uint32_t wait_for(uint32_t x);
uint32_t place_of(uint32_t x);
size_t greet(const char *name);

#endif
