/*
 * Counts the branches that C takes in calls that are judged. The units are compiled with the counters of source coverage;
 * those of all other calls are thrown away.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <string.h>
#include <sys/mman.h>

/* Of compiler-rt; only in programs that count. */
__attribute__((weak)) char *__llvm_profile_begin_counters(void);
__attribute__((weak)) char *__llvm_profile_end_counters(void);
__attribute__((weak)) void __llvm_profile_set_filename(const char *name);
__attribute__((weak)) int __llvm_profile_write_file(void);

static size_t bytes_of_counters(void)
{
    return (size_t)(__llvm_profile_end_counters() - __llvm_profile_begin_counters());
}

void implfuzz_branches_begin(uint64_t calls)
{
    size_t bytes = bytes_of_counters();
    if (!STATE->branch_counts)
        STATE->branch_counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(STATE->branch_counts, 0, bytes);
    STATE->counted_calls = calls;
}

/* Calls C, and says whether the call counts: one that leaves the process, or that C does not define, is not judged. */
int implfuzz_count_branches(uint32_t entry, struct registers *registers, const void *arguments, size_t bytes,
                            struct result_registers *result)
{
    uint64_t *counters = (uint64_t *)__llvm_profile_begin_counters();
    size_t size = bytes_of_counters();
    memset(counters, 0, size);
    STATE->outside = NULL;
    STATE->undefined = 0;
    implfuzz_call(implfuzz_original(entry), registers, arguments, bytes, result, registers);
    return implfuzz_add_branches();
}

int implfuzz_add_branches(void)
{
    uint64_t *counters = (uint64_t *)__llvm_profile_begin_counters();
    size_t size = bytes_of_counters();
    if (STATE->outside || STATE->undefined || STATE->counted_calls == 0)
        return 0;
    STATE->counted_calls--;
    for (size_t at = 0; at < size / sizeof *counters; at++)
        STATE->branch_counts[at] += counters[at];
    return 1;
}

void implfuzz_branches_write(const char *file)
{
    memcpy(__llvm_profile_begin_counters(), STATE->branch_counts, bytes_of_counters());
    __llvm_profile_set_filename(file);
    if (__llvm_profile_write_file() != 0)
        implfuzz_report("unwritten\n");
}
