#include "shapes.h"

static uint32_t helper(uint32_t a) { return a ^ 0x55u; }
uint32_t use_two(uint32_t a) { return helper(a) + helper(a + 1u); }
