#include "box.h"

#include <stdlib.h>

struct stack {
    int *values;
    size_t len;
    size_t cap;
    unsigned pushed; /* ever */
};

stack *stack_new(size_t cap)
{
    stack *s;

    if (cap == 0 || cap > 64)
        return NULL;
    s = malloc(sizeof(*s));
    if (s == NULL)
        return NULL;
    s->values = malloc(cap * sizeof(int));
    if (s->values == NULL) {
        free(s);
        return NULL;
    }
    s->len = 0;
    s->cap = cap;
    s->pushed = 0;
    return s;
}

int stack_push(stack *s, int value)
{
    if (s->len == s->cap)
        return -1;
    s->values[s->len++] = value;
    s->pushed++;
    return 0;
}

int stack_pop(stack *s, int *out)
{
    if (s->len == 0)
        return -1;
    *out = s->values[--s->len];
    return 0;
}

size_t stack_len(const stack *s)
{
    return s->len;
}

int stack_grow(stack *s)
{
    int *more;

    if (s->cap >= 256)
        return -1;
    more = realloc(s->values, 2 * s->cap * sizeof(int));
    if (more == NULL)
        return -1;
    s->values = more;
    s->cap *= 2;
    return 0;
}

const char *stack_state(const stack *s)
{
    return s->len == 0 ? "empty" : s->len == s->cap ? "full" : "some";
}

int *stack_top(stack *s)
{
    return s->len == 0 ? NULL : &s->values[s->len - 1];
}

void stack_free(stack *s)
{
    if (s == NULL)
        return;
    free(s->values);
    free(s);
}
