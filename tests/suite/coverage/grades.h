#include <stdint.h>

int grade(uint8_t points);
int split(int a, int b);
int vowels(const char *text);
uint32_t twice(uint32_t x);
