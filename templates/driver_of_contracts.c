/*
 * A driver: calls functions of the library, in the order that the input says, with arguments as their contracts say. It
 * is made from the contracts in rust/contracts/, and yours to edit: delete calls that a program would not make, add what
 * the contracts do not know, and check what functions return. Where nothing says what an argument is, it is made up. If C
 * breaks for that reason, write the argument that a program would pass.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{%- for header in headers %}
#include "{{ header }}"
{%- endfor %}

enum { DRIVER_CALLS = 64, DRIVER_BLOCKS = 1024, DRIVER_KINDS = {{ kinds }}, DRIVER_OBJECTS = 3, DRIVER_TEXTS = 8, DRIVER_BYTES = 1 << 22 };

/* What is left of the input. */
static const uint8_t *driver_at;
static size_t driver_left;
{%- if adds %}
/* Whether bytes come from a generator, and its state. */
static int driver_is_repeating;
static uint32_t driver_seed;
{%- endif %}

/* Memory that functions may keep until the run ends, and the objects that there are, by kind. */
static void *driver_blocks[DRIVER_BLOCKS];
static size_t driver_block_count, driver_bytes;
static int driver_is_full;
static void *driver_objects[DRIVER_KINDS][DRIVER_OBJECTS];
{%- if lent %}
/* The owners of lent objects, of which the driver ends none; NULL for its own. */
static const void *driver_owners[DRIVER_KINDS][DRIVER_OBJECTS];
{%- endif %}
{%- if streams %}
static FILE *driver_streams[DRIVER_CALLS];
static size_t driver_stream_count;
{%- endif %}

static void driver_fill(void *to, size_t bytes)
{
    size_t some = bytes < driver_left ? bytes : driver_left;
{%- if adds %}
    for (size_t at = 0; driver_is_repeating && at < bytes; at++)
        ((uint8_t *)to)[at] = (uint8_t)((driver_seed = driver_seed * 1664525 + 1013904223) >> 24);
    if (driver_is_repeating)
        return;
{%- endif %}
    memset(to, 0, bytes);
    memcpy(to, driver_at, some);
    driver_at += some, driver_left -= some;
}

/* An integer of so many bytes. */
static unsigned long long driver_number(size_t bytes)
{
    unsigned char digits[8] = {0};
    unsigned long long number = 0;
    driver_fill(digits, bytes < 8 ? bytes : 8);
    for (size_t at = 8; at > 0; at--)
        number = number << 8 | digits[at - 1];
    return number;
}

/* One of so many. */
static inline size_t driver_choice(size_t count)
{
    return driver_number(count > 256 ? 2 : 1) % count;
}

/* One of the integers from `least` to `most`. */
static inline long long driver_between(size_t bytes, long long least, long long most)
{
    unsigned long long range = (unsigned long long)most - (unsigned long long)least + 1, number = driver_number(bytes);
    return (long long)((unsigned long long)least + (range ? number % range : number));
}

static inline long long driver_one_of(const long long *values, size_t count)
{
    return values[driver_choice(count)];
}

/* Any integer, and mostly a small one, as programs have. */
static inline unsigned long long driver_any(size_t bytes)
{
    size_t number = bytes > 1 ? driver_number(1) : 0xf0;
    return number < 0xf0 ? number % 64 : driver_number(bytes);
}

/* Any integer, and often one with which the C text compares. */
static inline long long driver_likely(size_t bytes, const long long *values, size_t count)
{
    return driver_number(1) % 4 ? driver_one_of(values, count) : (long long)driver_any(bytes);
}

/* A number of elements, rarely a large one. */
static inline size_t driver_count(size_t most)
{
    size_t count = driver_number(1);
    if (count >= 0xf0)
        count = driver_number(2);
    return most < SIZE_MAX ? count % (most + 1) : count;
}

/* In conditions of contracts, division by zero gives zero. */
static inline __int128 driver_quotient(__int128 a, __int128 b)
{
    return b == 0 ? 0 : a / b;
}

static inline __int128 driver_remainder(__int128 a, __int128 b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static inline int driver_is_null(void)
{
    return driver_number(1) % 16 == 15;
}

/* For functions that may break on null. */
static inline int driver_is_rarely_null(void)
{
    return driver_number(1) == 0xff;
}

/* Memory that lives until the run ends. */
static void *driver_zeros(size_t bytes)
{
    void *block = driver_block_count < DRIVER_BLOCKS && bytes <= DRIVER_BYTES - driver_bytes ? calloc(1, bytes ? bytes : 1) : NULL;
    if (!block) {
        driver_is_full = 1;
        return NULL;
    }
    driver_bytes += bytes;
    return driver_blocks[driver_block_count++] = block;
}

/* The same for what the library writes; it must be exactly as large. */
static inline void *driver_room(size_t bytes)
{
    void *block = driver_zeros(bytes);
    if (block)
        memset(block, 0xa5, bytes);
    return block;
}

/* The same with bytes of the input. */
static inline void *driver_block(size_t bytes)
{
    void *block = driver_zeros(bytes);
    if (block)
        driver_fill(block, bytes);
    return block;
}

{%- if outputs %}

/* Bytes that functions have made. A call may get those of one, as a program passes on what it got. */
enum { DRIVER_OUTPUTS = 4, DRIVER_OUTPUT_BYTES = 1 << 14 };
static struct driver_output {
    const void *bytes;
    size_t count;
} driver_outputs[DRIVER_OUTPUTS], driver_passed;
static size_t driver_output_count;

static inline void driver_keep_output(const void *bytes, size_t count)
{
    void *copy = bytes && count && count <= DRIVER_OUTPUT_BYTES ? driver_zeros(count) : NULL;
    if (!copy)
        return;
    memcpy(copy, bytes, count);
    driver_outputs[driver_output_count++ % DRIVER_OUTPUTS] = (struct driver_output){copy, count};
}

/* Of memory with room for some bytes, those that a function says it wrote. */
static inline void driver_keep_part(const void *bytes, size_t room, size_t written)
{
    driver_keep_output(bytes, written < room ? written : room);
}

static inline void driver_keep_text(const char *text)
{
    if (text)
        driver_keep_output(text, strlen(text));
}

/* Chooses what the next call gets. */
static inline void driver_pass(void)
{
    size_t choice = driver_output_count ? driver_number(1) % (2 * DRIVER_OUTPUTS) : DRIVER_OUTPUTS;
    driver_passed = (struct driver_output){NULL, 0};
    if (choice < DRIVER_OUTPUTS && choice < driver_output_count)
        driver_passed = driver_outputs[choice];
}
{%- endif %}

/* The number of bytes that a call gets. */
static inline size_t driver_length(size_t most)
{
{%- if outputs %}
    if (driver_passed.bytes)
        return driver_passed.count < most ? driver_passed.count : most;
{%- endif %}
    return driver_count(most);
}

/* A block with them: of the input, or what another function made, mostly as it was. */
static inline void *driver_data(size_t bytes)
{
{%- if outputs %}
    uint8_t *block = driver_passed.bytes ? driver_zeros(bytes) : NULL;
    if (block) {
        size_t some = bytes < driver_passed.count ? bytes : driver_passed.count, changes = driver_number(1);
        memcpy(block, driver_passed.bytes, some);
        for (changes = changes < 0xc0 ? 0 : changes % 4; some && changes; changes--)
            block[driver_choice(some)] = (uint8_t)driver_number(1);
        return block;
    }
{%- endif %}
    return driver_block(bytes);
}

/* The same, and more of the input behind them: C may read several rows, and elements of several bytes. */
static inline void *driver_padded(unsigned long long rows, size_t bytes)
{
    size_t more = 8 * (bytes < 256 ? bytes : 256) * (rows < 64 ? rows : 64);
    char *block = driver_zeros(bytes + more), *data = driver_data(bytes);
    if (!block || !data)
        return NULL;
    memcpy(block, data, bytes);
    driver_fill(block + bytes, more < 64 ? more : 64);
    return block;
}

/* How many bytes a call may write that reads so many: at least as many as the library's own functions said, unless they
 * meant an error. */
static inline size_t driver_needed(size_t bytes, const size_t *sizes, size_t count)
{
    size_t needed = 2 * bytes + 1024;
    for (size_t at = 0; at < count; at++)
        if (sizes[at] > needed && sizes[at] <= DRIVER_BYTES / 4)
            needed = sizes[at];
    return needed;
}

/* A block of this size that begins with these bytes. */
static inline void *driver_enlarged(const void *data, size_t bytes, size_t room)
{
    void *block = data ? driver_zeros(room) : NULL;
    return block ? memcpy(block, data, bytes) : NULL;
}

/* A block; the input fills its start, mostly less than 64 bytes. */
static inline void *driver_some(size_t bytes)
{
    void *block = driver_zeros(bytes);
    size_t number = driver_number(1), some = number < 0xf0 ? number % 64 : driver_count(bytes);
{%- if outputs %}
    if (block && driver_passed.bytes) {
        memcpy(block, driver_passed.bytes, bytes < driver_passed.count ? bytes : driver_passed.count);
        return block;
    }
{%- endif %}
    if (block)
        driver_fill(block, some < bytes ? some : bytes);
    return block;
}

/* The same with a NUL at its end. */
static inline void *driver_chars(size_t bytes)
{
    char *block = driver_some(bytes);
    if (block && bytes)
        block[bytes - 1] = 0;
    return block;
}

{%- if examples %}

/* Texts that tests and examples of the repository have. */
static const char *const driver_examples[] = {
{%- for example in examples %}
    {{ example }},
{%- endfor %}
};

/* One of them, mostly with a few other bytes. */
static inline void *driver_example(size_t most)
{
    const char *example = driver_examples[driver_choice(sizeof driver_examples / sizeof *driver_examples)];
    size_t bytes = strlen(example), changes = driver_number(1) % 4;
    char *text;
    if (bytes > most)
        bytes = most;
    text = driver_zeros(bytes + 1);
    if (text)
        memcpy(text, example, bytes);
    for (; text && bytes && changes; changes--)
        text[driver_choice(bytes)] = (char)driver_number(1);
    return text;
}
{%- endif %}

/* A text of the input, or one with which the C text compares. */
static inline void *driver_text(size_t most, const char *const *texts, size_t count)
{
    size_t choice = count ? driver_number(1) % (2 * count) : 0, bytes = 0;
    char *text;
    if (choice < count) {
        text = driver_zeros(strlen(texts[choice]) + 1);
        return text ? strcpy(text, texts[choice]) : NULL;
    }
{%- if outputs %}
    if (driver_passed.bytes && driver_passed.count <= most && driver_number(1) % 4 == 0) {
        text = driver_zeros(driver_passed.count + 1);
        return text ? memcpy(text, driver_passed.bytes, driver_passed.count) : NULL;
    }
{%- endif %}
{%- if examples %}
    if (driver_number(1) % 2)
        return driver_example(most);
{%- endif %}
    bytes = driver_count(most);
    text = driver_zeros(bytes + 1);
    if (text)
        driver_fill(text, bytes);
    return text;
}

/* The address of a pointer to a text; more of them may follow, and NULL behind the last one. */
static inline void **driver_texts(void)
{
    size_t count = driver_number(1) % DRIVER_TEXTS;
    void **texts = driver_zeros((DRIVER_TEXTS + 1) * sizeof *texts);
    for (size_t at = 0; texts && at < count + (count == 0); at++)
        texts[at] = driver_text(4096, NULL, 0);
    return texts;
}

/* The address of a number of so many bytes, on machines that keep the lowest byte first. */
static inline void *driver_number_at(size_t bytes, size_t number)
{
    void *place = driver_zeros(bytes);
    if (place)
        memcpy(place, &number, bytes < sizeof number ? bytes : sizeof number);
    return place;
}

/* A block that the library may free, with a NUL at its end. */
static inline void *driver_given(size_t most)
{
    size_t bytes = driver_count(most);
    char *block = malloc(bytes + 1);
    if (block) {
        driver_fill(block, bytes);
        block[bytes] = 0;
    }
    return block;
}

{%- if streams %}

/* A stream with bytes of the input, open until the run ends. */
static inline void *driver_stream(void)
{
    size_t bytes = 1 + driver_count(1024);
    void *block = driver_block(bytes);
    FILE *stream = block && driver_stream_count < DRIVER_CALLS ? tmpfile() : NULL;
    if (!stream) {
        driver_is_full = 1;
        return NULL;
    }
    fwrite(block, 1, bytes, stream);
    rewind(stream);
    return driver_streams[driver_stream_count++] = stream;
}
{%- endif %}

/* What callbacks get: one of 256 bytes, so that callbacks can tell them apart. */
static unsigned char driver_tokens[256];

static inline void *driver_token(void)
{
    /* Mostly one that others get, too: what is looked for is found. */
    size_t number = driver_number(1);
    number = number % 2 ? number / 2 % 16 : driver_number(1);
    driver_tokens[number] = (unsigned char)number;
    return &driver_tokens[number];
}

/* The number of one; -1 for other pointers. */
static inline int driver_token_number(const void *pointer)
{
    uintptr_t at = (uintptr_t)pointer - (uintptr_t)driver_tokens;
    return at < sizeof driver_tokens ? (int)at : -1;
}

static inline int driver_answer(void)
{
    return (int)(driver_number(1) % 4) - 1;
}

static inline int driver_hash(const void *a)
{
    int number = driver_token_number(a);
    return number < 0 ? driver_answer() : number * 2654435;
}

static inline int driver_compare(const void *a, const void *b)
{
    int first = driver_token_number(a), second = driver_token_number(b);
    return first < 0 || second < 0 ? driver_answer() : (first > second) - (first < second);
}

static inline int driver_is_equal(const void *a, const void *b)
{
    int first = driver_token_number(a), second = driver_token_number(b);
    return first < 0 || second < 0 ? driver_answer() : first == second;
}

static inline int driver_order(const void *a, const void *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return (int)*(const unsigned char *)a - (int)*(const unsigned char *)b;
}

/* Room for a new object. */
static inline void **driver_new(int kind)
{
    for (size_t at = 0; at < DRIVER_OBJECTS; at++)
        if (!driver_objects[kind][at])
            return &driver_objects[kind][at];
    return NULL;
}

/* Keeps an object that the library made, once. Returns its place, or NULL if it is not new or there is no room. */
static inline void **driver_keep(int kind, void *object)
{
    void **place = object ? driver_new(kind) : NULL;
    for (size_t at = 0; at < DRIVER_OBJECTS; at++)
        if (driver_objects[kind][at] == object)
            return NULL;
    if (place)
        *place = object;
    return place;
}
{%- if lent %}

/* Keeps an object that belongs to another one, until a function that may free is called. */
static inline void driver_borrow(int kind, void *object, const void *owner)
{
    void **place = driver_keep(kind, object);
    if (place)
        driver_owners[kind][place - driver_objects[kind]] = owner ? owner : driver_owners;
}

/* Forgets all objects that belong to others. */
static inline void driver_return_lent(void)
{
    for (size_t kind = 0; kind < DRIVER_KINDS; kind++)
        for (size_t at = 0; at < DRIVER_OBJECTS; at++)
            if (driver_owners[kind][at]) {
                driver_objects[kind][at] = NULL;
                driver_owners[kind][at] = NULL;
            }
}
{%- endif %}

/* An object of these kinds that there is; only one with this owner, unless any will do. */
static inline void **driver_find(const int *kinds, size_t count, const void *owner, int is_any)
{
    size_t first = driver_number(1);
    for (size_t at = 0; at < count * DRIVER_OBJECTS; at++) {
        size_t place = (first + at) % (count * DRIVER_OBJECTS);
        int kind = kinds[place % count];
        void **object = &driver_objects[kind][place / count];
{%- if lent %}
        if (!is_any && driver_owners[kind][place / count] != owner && (const void *)object != owner)
            continue;
{%- endif %}
        if (*object)
            return object;
    }
    (void)owner, (void)is_any;
    return NULL;
}

/* Whether there is an object of this kind. */
static inline int driver_has(int kind)
{
    for (size_t at = 0; at < DRIVER_OBJECTS; at++)
        if (driver_objects[kind][at])
            return 1;
    return 0;
}

static inline void **driver_old(const int *kinds, size_t count)
{
    return driver_find(kinds, count, NULL, 1);
}

/* One that the driver may end. */
static inline void **driver_own(const int *kinds, size_t count)
{
    return driver_find(kinds, count, NULL, 0);
}
{%- if lists %}

/* The place of the first element of a list, or of none: an empty list is a null pointer. */
static inline void **driver_list(int kind)
{
    void **old = driver_own(&kind, 1);
    void **empty = old && driver_number(1) % 4 ? NULL : driver_new(kind);
    return empty ? empty : old;
}
{%- endif %}
{%- if lent %}

/* One that this owner lent. */
static inline void **driver_part(const int *kinds, size_t count, const void *owner)
{
    return driver_find(kinds, count, owner, 0);
}
{%- endif %}
{%- for call in calls %}
{%- for function in call.functions %}

/* {{ call.name }} */
{{ function }}
{%- endfor %}
{%- endfor %}

static void driver_call(size_t choice)
{
{%- if outputs %}
    driver_pass();
{%- endif %}
    switch (choice) {
    {%- for call in calls %}
    case {{ loop.index0 }}: { /* {{ call.name }} */
        {%- for line in call.lines %}
        {{ line }}
        {%- endfor %}
        break;
    }
    {%- endfor %}
    }
}

{%- if adds %}

/* Calls a function that adds to an object, many times: tables grow only then. */
static void driver_repeat(size_t choice)
{
    static const unsigned char adds[] = { {{- adding | join(", ") -}} };
    size_t times = driver_number(1);
    driver_seed = (uint32_t)driver_number(2);
    driver_is_repeating = 1;
    /* Later calls need memory, too. */
    for (; times > 0 && adds[choice] && driver_block_count < DRIVER_BLOCKS / 2 && driver_bytes < DRIVER_BYTES / 2; times--)
        driver_call(choice);
    driver_is_repeating = 0;
}
{%- endif %}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    driver_at = data, driver_left = size;
    driver_block_count = driver_bytes = 0;
    {%- if outputs %}
    driver_output_count = 0;
    {%- endif %}
    {%- if streams %}
    driver_stream_count = 0;
    {%- endif %}
    driver_is_full = 0;
    memset(driver_objects, 0, sizeof driver_objects);
    {%- if lent %}
    memset(driver_owners, 0, sizeof driver_owners);
    {%- endif %}
    {%- if adds %}
    for (size_t calls = 0, last = 0; calls < DRIVER_CALLS && driver_left > 0 && !driver_is_full; calls++) {
        size_t choice = driver_choice({{ calls | length + 1 }});
        if (choice < {{ calls | length }})
            driver_call(last = choice);
        else
            driver_repeat(last);
    }
    {%- else %}
    for (size_t calls = 0; calls < DRIVER_CALLS && driver_left > 0 && !driver_is_full; calls++)
        driver_call(driver_choice({{ calls | length }}));
    {%- endif %}
    {%- if lent %}
    driver_return_lent();
    {%- endif %}
    {%- for end in ends %}
    /* {{ end.name }} */
    for (size_t at = 0; at < DRIVER_OBJECTS; at++)
        if (driver_objects[{{ end.kind }}][at])
            {{ end.name }}({{ end.address }}driver_objects[{{ end.kind }}][at]);
    {%- endfor %}
    {%- if streams %}
    while (driver_stream_count > 0)
        fclose(driver_streams[--driver_stream_count]);
    {%- endif %}
    while (driver_block_count > 0)
        free(driver_blocks[--driver_block_count]);
    return 0;
}
