/*
 * The arena, from which the library and the program allocate. It holds its own book-keeping, so that an allocation is
 * put back like any other write. A block has a header, and a red zone behind it; pages hold blocks of one size, so that
 * the block of an address is found at once. objcopy gives the objects of the library and of the driver the names
 * `implfuzz_of_*`.
 */
#define _GNU_SOURCE
#include "in_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#define ARENA_PAGES (ARENA_BYTES / PAGE)
#define HEADER ((size_t)16)
#define RED_ZONE ((size_t)16)
/* The largest blocks that may have room to grow. */
#define ROOMY ((size_t)1024)
/* Pages that may be touched behind those in use. */
#define MARGIN 4096
/* The last class holds blocks with pages of their own. */
#define OWN_PAGES CLASSES

struct header {
    /* As it was asked for, and 1: a free block has 0. */
    uint64_t size;
    /* The next free block. A block in use has the number of the newest call here, when it was allocated. */
    struct header *next;
};

struct arena {
    size_t top;  /* pages in use */
    size_t live; /* blocks in use */
    struct header *freed[CLASSES + 1];
    /* For each page: the first one that holds blocks of the same kind, and their class. */
    uint32_t first[ARENA_PAGES];
    unsigned char class_of[ARENA_PAGES];
};

#define HEAD ((struct arena *)ARENA)
#define FIRST_PAGE ((sizeof(struct arena) + PAGE - 1) / PAGE)

static size_t size_of_class(unsigned class)
{
    return STATE->class_sizes[class];
}

static unsigned class_for(size_t bytes)
{
    unsigned class = 0;
    while (class < CLASSES && size_of_class(class) < bytes)
        class++;
    return class;
}

/* Opens these pages and MARGIN more, which a judged call may allocate. Nothing can touch the rest of the arena. */
static void make_usable(size_t pages)
{
    if (pages <= STATE->usable_pages)
        return;
    pages = pages + MARGIN < ARENA_PAGES ? pages + MARGIN : ARENA_PAGES;
    mprotect(ARENA + STATE->usable_pages * PAGE, (pages - STATE->usable_pages) * PAGE, PROT_READ | PROT_WRITE);
    STATE->usable_pages = pages;
}

void implfuzz_arena_make(void)
{
    mmap(ARENA, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    make_usable(FIRST_PAGE);
    HEAD->top = FIRST_PAGE;
    size_t size = 32;
    for (unsigned class = 0; class < CLASSES; class++) {
        STATE->class_sizes[class] = size;
        size = (size + size / 4 + 15) & ~(size_t)15;
    }
}

/*
 * Between inputs; the system gives pages of zeros when they are touched again. Clearing them by hand takes no faults, but
 * protecting pages that stay mapped takes longer than that.
 */
void implfuzz_arena_clear(void)
{
    madvise(ARENA, STATE->usable_pages * PAGE, MADV_DONTNEED);
    HEAD->top = FIRST_PAGE;
}

size_t implfuzz_live_blocks(void)
{
    return HEAD->live;
}

size_t implfuzz_arena_used(void)
{
    return HEAD->top * PAGE;
}

size_t implfuzz_arena_used_in(const unsigned char *head)
{
    return ((const struct arena *)head)->top * PAGE;
}

int implfuzz_is_arena(const void *address)
{
    return (const unsigned char *)address >= ARENA && (const unsigned char *)address < ARENA + ARENA_BYTES;
}

unsigned char *implfuzz_block(const unsigned char *address)
{
    size_t page = (size_t)(address - ARENA) / PAGE;
    if (page < FIRST_PAGE || page >= HEAD->top || !HEAD->first[page])
        return NULL;
    unsigned char *start = ARENA + HEAD->first[page] * PAGE;
    if (HEAD->class_of[page] == OWN_PAGES)
        return start;
    size_t size = size_of_class(HEAD->class_of[page]);
    return start + (size_t)(address - start) / size * size;
}

uint64_t implfuzz_size(const unsigned char *header)
{
    uint64_t size;
    memcpy(&size, header, sizeof size);
    return size;
}

int implfuzz_is_live(const unsigned char *header)
{
    return implfuzz_size(header) != 0;
}

static struct header *new_pages(size_t pages, unsigned class)
{
    if (pages > ARENA_PAGES - HEAD->top)
        return NULL;
    size_t first = HEAD->top;
    make_usable(first + pages);
    for (size_t page = first; page < first + pages; page++) {
        HEAD->first[page] = (uint32_t)first;
        HEAD->class_of[page] = (unsigned char)class;
    }
    HEAD->top += pages;
    return (struct header *)(ARENA + first * PAGE);
}

static size_t own_pages(const struct header *block)
{
    size_t first = (size_t)((const unsigned char *)block - ARENA) / PAGE, pages = 1;
    while (first + pages < HEAD->top && HEAD->first[first + pages] == first)
        pages++;
    return pages;
}

/* A block with so many pages of its own. */
static struct header *large_block(size_t pages)
{
    struct header **next = &HEAD->freed[OWN_PAGES];
    while (*next && own_pages(*next) != pages)
        next = &(*next)->next;
    struct header *block = *next;
    if (!block)
        return new_pages(pages, OWN_PAGES);
    *next = block->next;
    return block;
}

static size_t capacity(const struct header *block)
{
    size_t page = (size_t)((const unsigned char *)block - ARENA) / PAGE;
    if (HEAD->class_of[page] != OWN_PAGES)
        return size_of_class(HEAD->class_of[page]) - HEADER;
    return ((block->size - 1 + HEADER + RED_ZONE + PAGE - 1) & ~(PAGE - 1)) - HEADER;
}

/* What new memory begins with. */
static unsigned char fresh(void)
{
    return STATE->fresh ^ STATE->flip;
}

/* Whether this is the allocation that fails. */
static int is_failing(void)
{
    if (++STATE->asked != STATE->failing)
        return 0;
    STATE->failed = 1;
    errno = ENOMEM;
    return 1;
}

/* What the system's allocator does by chance: it is the same whenever this input comes to this state. */
static int happens(uint64_t of, unsigned once_in)
{
    return ((STATE->salt ^ of) * 0x9e3779b97f4a7c15u >> 33) % once_in == 0;
}

/* Whether a block has room to grow to twice its size: `realloc` may leave it where it is. */
static int is_roomy(size_t bytes)
{
    return bytes <= ROOMY && happens(HEAD->live << 16 ^ bytes, 4);
}

/* Whether `realloc` leaves a block where it is. */
static int stays(const struct header *block, size_t bytes)
{
    unsigned class = HEAD->class_of[(size_t)((const unsigned char *)block - ARENA) / PAGE];
    size_t needed = HEADER + bytes + RED_ZONE, had = HEADER + block->size - 1 + RED_ZONE;
    int has_room = class == OWN_PAGES ? (needed + PAGE - 1) / PAGE == (had + PAGE - 1) / PAGE : needed <= size_of_class(class);
    /* A watched call shows which blocks are new. */
    return has_room && STATE->purpose != WATCHES && happens((uintptr_t)block ^ bytes, 2);
}

void *implfuzz_of_malloc(size_t bytes)
{
    if (bytes > ARENA_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    if (is_failing())
        return NULL;
    size_t needed = HEADER + bytes + RED_ZONE;
    unsigned class = class_for(needed + (is_roomy(bytes) ? bytes : 0));
    struct header *block;
    if (class == OWN_PAGES) {
        block = large_block((needed + PAGE - 1) / PAGE);
    } else {
        size_t size = size_of_class(class);
        if (!HEAD->freed[class]) {
            size_t pages = size < PAGE / 8 ? 1 : (size * 8 + PAGE - 1) / PAGE;
            unsigned char *some = (unsigned char *)new_pages(pages, class);
            for (size_t at = some ? pages * PAGE / size : 0; at; at--) {
                struct header *free = (struct header *)(some + (at - 1) * size);
                free->next = HEAD->freed[class];
                HEAD->freed[class] = free;
            }
        }
        block = HEAD->freed[class];
        if (block)
            HEAD->freed[class] = block->next;
    }
    if (!block) {
        errno = ENOMEM;
        return NULL;
    }
    block->size = bytes + 1;
    block->next = (struct header *)(uintptr_t)STATE->newest_call;
    HEAD->live++;
    STATE->allocations = STATE->allocations * 31 + bytes + 1;
    STATE->allocated++;
    unsigned char *data = (unsigned char *)block + HEADER;
    memset(data, fresh(), bytes);
    memset(data + bytes, STATE->red, capacity(block) - bytes);
    return data;
}

/* The block that a pointer is the start of; NULL where it is none. */
static struct header *start_of(void *address)
{
    struct header *block = (struct header *)implfuzz_block(address);
    return block && (unsigned char *)block + HEADER == (unsigned char *)address && block->size ? block : NULL;
}

int implfuzz_is_new(const unsigned char *header)
{
    return ((const struct header *)header)->next == (struct header *)(uintptr_t)STATE->newest_call;
}

int implfuzz_is_made(void *address)
{
    struct header *block = implfuzz_is_arena(address) ? start_of(address) : NULL;
    return block && implfuzz_is_new((unsigned char *)block);
}

/* What stands behind a block in use, to the next one. */
struct red_zone implfuzz_red_zone(const unsigned char *header)
{
    const struct header *block = (const struct header *)header;
    const unsigned char *data = header + HEADER;
    return (struct red_zone){data + block->size - 1, data + capacity(block)};
}

struct extent implfuzz_extent(const unsigned char *address)
{
    const unsigned char *header = implfuzz_is_arena(address) ? implfuzz_block(address) : NULL;
    if (!header || !implfuzz_is_live(header) || !implfuzz_is_data(header, address))
        return (struct extent){NULL, NULL};
    const unsigned char *end = implfuzz_red_zone(header).start;
    return address <= end ? (struct extent){header + HEADER, end} : (struct extent){NULL, NULL};
}

const unsigned char *implfuzz_end_as_in(const unsigned char *header, const unsigned char *copy)
{
    return header + HEADER + implfuzz_size(copy) - 1;
}

/* The block behind one; NULL behind one with pages of its own. */
const unsigned char *implfuzz_next_block(const unsigned char *header)
{
    unsigned class = HEAD->class_of[(size_t)(header - ARENA) / PAGE];
    return class == OWN_PAGES ? NULL : header + size_of_class(class);
}

int implfuzz_is_free_header(const unsigned char *header)
{
    const unsigned char *next = (const unsigned char *)((const struct header *)header)->next;
    unsigned class = HEAD->class_of[(size_t)(header - ARENA) / PAGE];
    return !next || (implfuzz_is_arena(next) && implfuzz_block(next) == next && !implfuzz_is_live(next) &&
                     HEAD->class_of[(size_t)(next - ARENA) / PAGE] == class);
}

unsigned char implfuzz_dead(int by_candidate)
{
    return (unsigned char)(fresh() ^ (by_candidate ? 0x3c : 0x5a));
}

int implfuzz_is_data(const unsigned char *header, const unsigned char *address)
{
    return address >= header + HEADER;
}

/* Before nobody sees any more what is behind a block. */
static void note_overflow(const struct header *block)
{
    if (STATE->in_candidate && !STATE->overflown && implfuzz_is_overflown((const unsigned char *)block))
        STATE->overflown = block->size;
}

void implfuzz_of_free(void *address)
{
    if (!address)
        return;
    if (!implfuzz_is_arena(address)) {
        /* A block of the system's own, as from asprintf: it cannot be put back. */
        implfuzz_outside("free");
        free(address);
        return;
    }
    struct header *block = start_of(address);
    if (!block)
        __builtin_trap(); /* freed twice, or no block at all */
    note_overflow(block);
    size_t page = (size_t)((unsigned char *)block - ARENA) / PAGE;
    memset(address, implfuzz_dead(STATE->in_candidate), capacity(block));
    block->size = 0;
    HEAD->live--;
    STATE->allocations = STATE->allocations * 31 + (uintptr_t)address;
    block->next = HEAD->freed[HEAD->class_of[page]];
    HEAD->freed[HEAD->class_of[page]] = block;
}

void *implfuzz_of_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *data = implfuzz_of_malloc(bytes);
    return data ? memset(data, 0, bytes) : NULL;
}

/* A block that stays where it is. Its new bytes are as those of a new block. */
static void *resized(struct header *block, size_t bytes)
{
    if (is_failing())
        return NULL;
    note_overflow(block);
    size_t before = block->size - 1;
    unsigned char *data = (unsigned char *)block + HEADER;
    block->size = bytes + 1;
    STATE->allocations = (STATE->allocations * 31 + bytes + 1) * 31 + (uintptr_t)data;
    STATE->allocated++;
    if (bytes > before)
        memset(data + before, fresh(), bytes - before);
    memset(data + bytes, STATE->red, capacity(block) - bytes);
    return data;
}

void *implfuzz_of_realloc(void *old, size_t bytes)
{
    if (bytes > ARENA_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    if (!old)
        return implfuzz_of_malloc(bytes);
    if (!implfuzz_is_arena(old)) {
        implfuzz_outside("realloc");
        return realloc(old, bytes);
    }
    struct header *block = start_of(old);
    if (!block)
        __builtin_trap();
#ifdef __GLIBC__
    if (!bytes) {
        implfuzz_of_free(old);
        return NULL;
    }
#endif
    size_t before = block->size - 1;
    if (stays(block, bytes))
        return resized(block, bytes);
    void *data = implfuzz_of_malloc(bytes);
    if (!data)
        return NULL;
    memcpy(data, old, before < bytes ? before : bytes);
    implfuzz_of_free(old);
    return data;
}

void *implfuzz_of_reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return implfuzz_of_realloc(old, bytes);
}

/* A block of more than a page begins 16 bytes into one: greater alignments are not given. */
void *implfuzz_of_aligned_alloc(size_t align, size_t bytes)
{
    if (align <= 16)
        return implfuzz_of_malloc(bytes);
    errno = ENOMEM;
    return NULL;
}

void *implfuzz_of_memalign(size_t align, size_t bytes)
{
    return implfuzz_of_aligned_alloc(align, bytes);
}

int implfuzz_of_posix_memalign(void **data, size_t align, size_t bytes)
{
    void *made = implfuzz_of_aligned_alloc(align, bytes);
    if (!made)
        return ENOMEM;
    *data = made;
    return 0;
}

size_t implfuzz_of_malloc_usable_size(void *address)
{
    struct header *block = address ? start_of(address) : NULL;
    return block ? block->size - 1 : 0;
}

char *implfuzz_of_strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = implfuzz_of_malloc(length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *implfuzz_of_strdup(const char *text)
{
    return implfuzz_of_strndup(text, strlen(text));
}

wchar_t *implfuzz_of_wcsdup(const wchar_t *text)
{
    size_t bytes = (wcslen(text) + 1) * sizeof *text;
    wchar_t *copy = implfuzz_of_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
