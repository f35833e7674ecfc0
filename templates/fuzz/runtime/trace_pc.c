/*
 * Guidance for a C side built by gcc: gcc calls __sanitizer_cov_trace_pc on every edge, which libFuzzer does not
 * take. The linker sends the calls here (--wrap), and libFuzzer reads the counters from its extra section.
 */
#include <stdint.h>

#define COUNTERS 4096

extern char __executable_start;
__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[COUNTERS];

void __wrap___sanitizer_cov_trace_pc(void)
{
    uintptr_t offset = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start;
    counters[(uint32_t)(offset * 2654435761u) >> 20]++;
}

/* gcc also reports comparisons of floating point numbers, of which libFuzzer makes nothing. */
void __sanitizer_cov_trace_cmpf(float a, float b)
{
    (void)a;
    (void)b;
}

void __sanitizer_cov_trace_cmpd(double a, double b)
{
    (void)a;
    (void)b;
}
