/*
 * The constants of the program, from its own file: what a pointer to one leads to ends where the constant does, and not at
 * the first NUL. And how long the functions of the library are, and what those of the driver are called.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern unsigned char __executable_start[], __data_start[];

static int by_start(const void *a, const void *b)
{
    uint64_t one = ((const struct constant *)a)->start, other = ((const struct constant *)b)->start;
    return one < other ? -1 : one > other;
}

/* How long the functions are that have an entry, and what is known of those of the driver. */
static void keep_functions(const Elf64_Sym *symbols, size_t count, const char *names)
{
    for (size_t at = 0; at < count; at++) {
        if (ELF64_ST_TYPE(symbols[at].st_info) != STT_FUNC)
            continue;
        implfuzz_keep_signature(names + symbols[at].st_name, symbols[at].st_value, symbols[at].st_size);
        for (size_t entry = 0; entry < implfuzz_entry_count; entry++)
            if ((uintptr_t)implfuzz_entries[entry].address == symbols[at].st_value)
                STATE->bodies[entry].end = implfuzz_entries[entry].address + symbols[at].st_size;
    }
}

static void keep_constants(const Elf64_Sym *symbols, size_t count)
{
    STATE->constants = implfuzz_somewhere(count * sizeof *STATE->constants + 1, PROT_READ | PROT_WRITE);
    for (size_t at = 0; at < count; at++) {
        uint64_t start = symbols[at].st_value, size = symbols[at].st_size;
        if (ELF64_ST_TYPE(symbols[at].st_info) == STT_OBJECT && size && start >= (uintptr_t)__executable_start &&
            start < (uintptr_t)__data_start)
            STATE->constants[STATE->constant_count++] = (struct constant){start, start + size};
    }
    qsort(STATE->constants, STATE->constant_count, sizeof *STATE->constants, by_start);
}

void implfuzz_constants_make(void)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        return;
    unsigned char *own = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (own == MAP_FAILED)
        return;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)own;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(own + head->e_shoff);
    for (unsigned at = 0; at < head->e_shnum; at++) {
        if (sections[at].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(own + sections[at].sh_offset);
        keep_constants(symbols, sections[at].sh_size / sizeof *symbols);
        keep_functions(symbols, sections[at].sh_size / sizeof *symbols, (const char *)own + sections[sections[at].sh_link].sh_offset);
    }
    munmap(own, (size_t)about.st_size);
}

uint64_t implfuzz_end_of_constant(uint64_t address)
{
    size_t from = 0, to = STATE->constant_count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (STATE->constants[middle].start <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from && address < STATE->constants[from - 1].end ? STATE->constants[from - 1].end : 0;
}
